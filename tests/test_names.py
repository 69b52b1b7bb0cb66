"""One word, one meaning: public names stand once, and functions are verbs or nouns.

A module is known by its last name, a public class or function of a module by its own.
The lists below hold what may differ, each with its reason.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple, final

from tests.batches import for_each
from tests.syntax import SOURCE, nodes_of, syntax

SHARED: Final = {
    ("function", "main"): "where a program begins",
    ("function", "sqrt"): "the square root: of an exact number, of an expression",
}
"""Names that stand more than once, and mean one thing."""

VERBS_ALL_THE_SAME: Final = {
    "up": "the direction of a rounding is all that its name has to say",
    "down": "the same",
    "like": "the operator of SQL, by its name there",
}
"""Functions that are named by a preposition, and why."""

PREPOSITIONS: Final = frozenset(
    re.findall(
        r"\w+",
        "about above across after against along among around as at before behind below "
        "beneath beside besides between beyond by down during for from in inside into "
        "like near of off on onto out over past per since than through till to toward "
        "towards under until up upon upwards via with within without apart together",
    )
)
IRREGULAR: Final = frozenset(
    re.findall(
        r"\w+",
        "begun born bought bound built caught chosen cut done drawn driven fallen fed "
        "felt found frozen given gone grown heard held hidden kept known laid led left "
        "lost made meant met paid put said seen sent set shown sold split spoken spent "
        "spread stood taken taught thought thrown told torn understood won written",
    )
)
NOT_PARTICIPLES: Final = frozenset({"need", "seed", "feed", "string", "embed", "speed"})


@final
class Definition(NamedTuple):
    """A public name: what it is the name of, and where that stands."""

    kind: str
    name: str
    file: str


def definitions() -> Iterator[Definition]:
    """Yield every public class and function of a module."""
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        for node in syntax(path).body:
            if isinstance(node, ast.ClassDef):
                yield Definition("class", node.name, file)
            if isinstance(node, ast.FunctionDef):
                yield Definition("function", node.name, file)


@cache
def public_names() -> tuple[Definition, ...]:
    named = (name for name in definitions() if not name.name.startswith("_"))
    return tuple(dict.fromkeys(named))


def repeated() -> set[Definition]:
    """Return the definitions whose name stands elsewhere, too."""
    by_name = defaultdict(list)
    for one in public_names():
        by_name[one.kind, one.name].append(one)
    return {
        one
        for name, many in by_name.items()
        if len(many) > 1 and name not in SHARED
        for one in many
    }


def is_bare(name: str) -> bool:
    participle = re.fullmatch(r"[a-z]{2,}(ed|ing)", name) is not None
    return name in PREPOSITIONS | IRREGULAR or (
        participle and name not in NOT_PARTICIPLES
    )


def bare() -> set[Definition]:
    """Return the functions whose name is neither a verb nor a noun."""
    return {
        one
        for one in public_names()
        if one.kind == "function"
        and is_bare(one.name)
        and one.name not in VERBS_ALL_THE_SAME
    }


def test_a_public_name_means_one_thing() -> None:
    """No class or function is called like another; a file is known by its folder, too.

    Give it the name of what it is about: `price_page`, not `page`.
    """
    assert sorted(repeated()) == []


def test_a_function_is_named_by_a_verb_or_a_noun() -> None:
    """What a function does, or what it returns: `opened` says neither.

    Write `open_table` or `table`, `scale_change` or `change_by`.
    """
    assert sorted(bare()) == []


PRIVATE: Final = {
    "aggregations": "_bound",
    "engines": (
        "_between _cased _checked _chosen _closed _compared _elapsed "
        "_fixed _known _leaving _like _quoted _rounded _scaled _shortened "
        "_signed _told _translated _zoned"
    ),
    "expressions": (
        "_built _checked _compiled _enclosed _meaning _missing _named _refused "
        "_settled _truncated _typed _written"
    ),
    "office": "_quoted",
    "query": (
        "_between _bounded _capped _clamped _fixed _grouping _in _kept _listed _meaning"
    ),
    "session": "_lost _shown _tried",
}
"""Private functions by room that still are such words; it only shrinks."""


def private() -> dict[str, set[str]]:
    """Return the private functions and methods of each room that are such words."""
    bare_names: dict[str, set[str]] = defaultdict(set)
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef) and is_bare(node.name[1:]):
                bare_names[room] |= {node.name} if node.name.startswith("_") else set()
    return {room: names for room, names in bare_names.items() if names}


def test_a_private_function_is_named_so_too() -> None:
    """Whoever reads a file meets its private functions first.

    Write `_open_table` or `_lines`, not `_opened` or `_listed`. A room is on the list
    above only as long as such a word stands in it.
    """
    rooms = {room: set(words.split()) for room, words in PRIVATE.items()}
    assert private() == rooms


def test_every_exception_is_one() -> None:
    names = {(one.kind, one.name) for one in public_names()}
    assert set(SHARED) <= names
    assert {("function", name) for name in VERBS_ALL_THE_SAME} <= names


@for_each("name", ["opened", "made", "beside", "watching", "told"])
def test_a_bare_participle_is_caught(name: str) -> None:
    assert is_bare(name)


@for_each("name", ["open_table", "price", "seed", "is_bounded", "read"])
def test_verbs_and_nouns_are_let_through(name: str) -> None:
    assert not is_bare(name)
