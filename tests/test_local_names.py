"""A variable has the name of the thing that it holds, not of what happened to it.

`for column in columns`, not `for one in columns`; `price`, not `found`. The fields of a
class are not variables: `entry.asked` is public, and says whose it is.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.batches import for_each
from tests.syntax import SOURCE, syntax

VAGUE: Final = frozenset({
    "asked",
    "found",
    "given",
    "held",
    "kept",
    "made",
    "one",
    "said",
    "told",
})
"""Words that say what was done with a thing, and not what it is."""

REMAINING: Final = {
    "aggregations": "given kept",
    "expressions": "given said",
    "query/sql": "asked given held kept",
}
"""Words by room that still stand for things with a name; it only shrinks.

The owner of a room takes off what the room no longer uses.
"""


def variables(tree: ast.AST) -> Iterator[str]:
    """Yield the names of variables: assigned, looped over, handed over or captured."""
    fields = {
        id(part.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if id(node) in fields:
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name


def room(path: Path) -> str:
    """Return the folder of a file; the rooms below `query` count by themselves."""
    folders = path.relative_to(SOURCE).parts[:-1] or (path.stem,)
    return "/".join(folders[:2]) if folders[0] == "query" else folders[0]


@cache
def vague_names() -> dict[str, set[str]]:
    """Return the vague words that variables of each room are called."""
    words: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        names = set(variables(syntax(path))) & VAGUE
        words.setdefault(room(path), set()).update(names)
    return {where: names for where, names in words.items() if names}


def test_a_variable_is_called_after_the_thing_that_it_holds() -> None:
    """Whoever reads the line alone knows what is in it.

    Write `column`, `price` or `row`: what it is, not that it was found or made.
    """
    extra = {
        where: names - set(REMAINING.get(where, "").split())
        for where, names in vague_names().items()
    }
    assert {where: names for where, names in extra.items() if names} == {}


def test_the_list_of_variables_shrinks() -> None:
    gone = {
        where: set(words.split()) - vague_names().get(where, set())
        for where, words in REMAINING.items()
    }
    assert {where: names for where, names in gone.items() if names} == {}


@for_each(
    "code",
    [
        "found = price(query)",
        "[one for one in columns]",
        "for one in columns: pass",
        "def shown(given): pass",
        "key = lambda one: one.name",
        "if (held := rows): pass",
        "match row:\n    case [told, *_]: pass",
    ],
)
def test_every_kind_of_variable_is_seen(code: str) -> None:
    assert VAGUE & set(variables(ast.parse(code)))
