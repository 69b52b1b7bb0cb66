"""Methods, too, are verbs for what they do, or nouns for what they return.

A method, a property or a class's own constructor counts by its name, once for all
classes of a room that have it.
"""

import ast
from pathlib import Path
from typing import Final

from tests.syntax import SOURCE, nodes_of
from tests.test_names import is_bare

REASONS: Final = {
    "of": "the constructor that makes a value of what is given",
    "at": "`Ledger.at(path)` is public, and says where",
    "spent": "`session.spent` is public: what was spent",
    "about": "`release.about` is public: about how many all rows would be",
    "between": "`dice.between(1, 3)`: what is drawn",
    "adjusted": "`release.adjusted` is public: the tables that agree",
    "remaining": "`session.remaining` is public: what is left",
    "subsampled": "`loss.subsampled(q)` is public: the loss of a sample",
    "beginning": "the noun: the record with which a ledger begins",
    "rounding": "the noun: by how much numbers are rounded",
    "spread": "the noun: how wide noise lies",
    "split": "the verb",
}
"""Why a name that looks like a participle or a preposition is none, or must stay."""


def bare_methods() -> dict[str, set[str]]:
    """Return the public methods of each room that are named by one such word."""
    bare: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        names = {
            part.name
            for node in nodes_of(path)
            if isinstance(node, ast.ClassDef)
            for part in node.body
            if isinstance(part, ast.FunctionDef) and is_bare(part.name)
        }
        bare.setdefault(_room(path), set()).update(names - set(REASONS))
    return {room: names for room, names in bare.items() if names}


def _room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_methods_are_verbs_or_nouns() -> None:
    """What a method does, or what it returns: `given` says neither.

    Write `scale_totals` or `scale`, `finish` or `answer`.
    """
    assert bare_methods() == {}


def test_every_reason_is_of_a_method() -> None:
    named = {
        part.name
        for path in SOURCE.rglob("*.py")
        for part in nodes_of(path)
        if isinstance(part, ast.FunctionDef)
    }
    assert set(REASONS) - named == set()
