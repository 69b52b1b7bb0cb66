"""Methods, too, are verbs for what they do, or nouns for what they return.

A method, a property or a class's own constructor counts by its name, once for all
classes of a room that have it.
"""

import ast
from pathlib import Path
from typing import Final

from tests.test_names import SOURCE, is_bare

REASONS: Final = {
    "of": "the constructor that makes a value of what is given",
    "at": "`Ledger.at(path)` is public, and says where",
    "spent": "`session.spent` is public: what was spent",
    "remaining": "`session.remaining` is public: what is left",
    "subsampled": "`loss.subsampled(q)` is public: the loss of a sample",
    "beginning": "the noun: the record with which a ledger begins",
    "rounding": "the noun: by how much numbers are rounded",
    "spread": "the noun: how wide noise lies",
    "split": "the verb",
}
"""Why a name that looks like a participle or a preposition is none, or must stay."""

REMAINING: Final = {
    "budgets": {"spending"},
    "losses": {"spending"},
}
"""Names of methods by room that are still to be found better ones; it only shrinks."""


def bare_methods() -> dict[str, set[str]]:
    """Return the public methods of each room that are named by one such word."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        names = {
            part.name
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ClassDef)
            for part in node.body
            if isinstance(part, ast.FunctionDef) and is_bare(part.name)
        }
        found.setdefault(_room(path), set()).update(names - set(REASONS))
    return {room: names for room, names in found.items() if names}


def _room(path: Path) -> str:
    """Return the folder of a file, or its own name where it lies in none."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_methods_are_verbs_or_nouns() -> None:
    """What a method does, or what it returns: `given` says neither.

    Write `scale_totals` or `scale`, `finish` or `answer`.
    """
    extra = {room: names - REMAINING.get(room, set()) for room, names in ROOMS.items()}
    assert {room: names for room, names in extra.items() if names} == {}


def test_the_list_of_methods_shrinks() -> None:
    """A name that stands nowhere any more is taken off the list, or its reason."""
    gone = {room: names - ROOMS.get(room, set()) for room, names in REMAINING.items()}
    assert {room: names for room, names in gone.items() if names} == {}
    named = {
        part.name
        for path in SOURCE.rglob("*.py")
        for part in ast.walk(ast.parse(path.read_text()))
        if isinstance(part, ast.FunctionDef)
    }
    assert set(REASONS) - named == set()


ROOMS: Final = bare_methods()
