"""What the words of a request say that a reader must know.

The words are a tree of verbs with arguments (docs/ledger-format.md), kept for ever.
What is not known of one release is not known of all.

>>> limits = '["enforce",{"constraints":[["MaxRowsPerID",{"limit":3}]]}]'
>>> [verb for verb, _ in verbs_of(limits)]
['enforce', 'MaxRowsPerID']
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

Verb = tuple[str, Mapping[str, Any]]

PRIVATE: Final = "table"
UNITS: Final = (
    *("AddRowsWithID", "AddOneRow", "AddMaxRows", "AddMaxRowsInMaxGroups"),
    *("ChangeOneRow", "AddMaxTotal"),
)
"""Whom a table may protect."""
_FUNCTIONS: Final = ("code", "function")
_PUBLIC: Final = "public table"
_CUTS: Final = (
    *("MaxRowsPerID", "MaxGroupsPerID", "MaxRowsPerGroupPerID"),
    *("DropExcess", "DropNonUnique", "flat_map"),
)


def verbs_of(words: str) -> Iterator[Verb]:
    """Yield every verb of a request, none where its words are not known."""
    yield from verbs_in(json.loads(words) if words else None)


def verbs_in(tree: Any) -> Iterator[Verb]:
    """Yield every verb in words, outer ones first, in order."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            waiting += reversed([*node.values()])
        elif isinstance(node, list):
            if _is_verb(node):
                yield node[0], node[1]
            waiting += reversed(node)


def units_of(words: Iterable[str]) -> dict[str, Verb]:
    """Return whom each private table protects, by the name of the table."""
    units: dict[str, Verb] = {}
    for text in words:
        for verb, arguments in verbs_of(text):
            if verb == PRIVATE and _is_verb(arguments.get("protects")):
                unit = arguments["protects"]
                units[str(arguments.get("name"))] = (unit[0], unit[1])
    return dict(sorted(units.items()))


def vouchers_of(words: Iterable[str]) -> list[str]:
    """Return who answers for how the rows of tables are made, each once."""
    names = {
        str(arguments["vouched_by"])
        for text in words
        for verb, arguments in verbs_of(text)
        if verb == PRIVATE and "vouched_by" in arguments
    }
    return sorted(names)


def cuts_of(words: str) -> list[Verb]:
    """Return what was cut off: rows beyond limits, and values beyond bounds."""
    cuts = []
    for verb, arguments in verbs_of(words):
        bounded = "column" in arguments and {"low", "high"} <= set(arguments)
        limited = verb != "flat_map" or arguments.get("max_rows") is not None
        if (verb in _CUTS and limited) or bounded:
            cut = (verb if verb in _CUTS else "clamped", arguments)
            cuts += [] if cut in cuts else [cut]
    return cuts


def run_functions(words: Iterable[str]) -> bool | None:
    """Say whether any request ran a function of somebody's own; None if unknown."""
    return _any_verb(words, _FUNCTIONS)


def joined_public(words: Iterable[str]) -> bool | None:
    """Say whether any request joined a public table; None if unknown."""
    return _any_verb(words, (_PUBLIC,))


def columns_of(words: Any) -> list[str]:
    """Return the columns that an expression is about, each once."""
    names = [
        str(arguments.get("name"))
        for verb, arguments in verbs_of(json.dumps(words))
        if verb == "col"
    ]
    return list(dict.fromkeys(names))


def _any_verb(words: Iterable[str], names: tuple[str, ...]) -> bool | None:
    """Say whether a verb is among those of any request; None if one is not known."""
    known = list(words)
    if any(verb in names for text in known for verb, _ in verbs_of(text)):
        return True
    return None if "" in known else False


def as_verb(node: Any) -> Verb | None:
    """Return words as a verb with its arguments, None if they are none."""
    return (node[0], node[1]) if _is_verb(node) else None


def _is_verb(node: Any) -> bool:
    """Tell whether this is a verb with its arguments."""
    return (
        isinstance(node, list)
        and len(node) == 2
        and isinstance(node[0], str)
        and isinstance(node[1], dict)
    )
