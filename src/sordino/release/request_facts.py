"""What a request says of itself, read from the words that a ledger keeps of it.

Words outlive versions (docs/ledger-format.md), so an answer that was just given and one
of years ago tell the same. What does not have the expected form is not told.

>>> from sordino.words import call, canonical_text
>>> table = call("table", name="visits", protects=call("AddOneRow"))
>>> days = call("mean", column=call("col", name="days"), low="0/1", high="30/1")
>>> request = call("agg", rows=[table], by=[], keys=None, columns=[["days", days]])
>>> facts = words_facts(canonical_text(call("release", request=request)))
>>> facts.units[0].verb, facts.groups, str(facts.bounds[0].high)
('AddOneRow', 'none', '30')
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, final

from sordino.display.formatting import format_key
from sordino.errors import InvalidParameter
from sordino.numbers import exact
from sordino.pages.request_words import PRIVATE, Verb, as_verb, verbs_in

Groups: TypeAlias = Literal["none", "public", "hidden", "mixed", "first", ""]
"""Which groups have a row; "" where it is not told."""
Arguments: TypeAlias = Mapping[str, Any]

LIMITS: Final = (
    *("MaxRowsPerID", "MaxGroupsPerID", "MaxRowsPerGroupPerID"),
    *("DropExcess", "flat_map"),
)
"""What says how many rows count."""
_LONGEST_NUMBER: Final = 400


@final
@dataclass(frozen=True)
class Protected:
    """Whom a private table protects, as it was declared."""

    table: str
    verb: str
    column: str = ""
    """Of ids, of groups, or of what adds up."""
    most: tuple[int, ...] = ()
    """The whole numbers of the unit, in the order of its arguments."""


@final
@dataclass(frozen=True)
class RowLimit:
    """How many rows, or groups, of one person count."""

    verb: str
    most: int
    columns: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class ValueBounds:
    """Between which bounds the values behind an answer count."""

    name: str
    """Of the column, or of the answer where it is computed."""
    low: Fraction
    high: Fraction


@final
@dataclass(frozen=True)
class RequestFacts:
    """What is told of a request."""

    units: tuple[Protected, ...] = ()
    limits: tuple[RowLimit, ...] = ()
    bounds: tuple[ValueBounds, ...] = ()
    groups: Groups = ""
    minimum: int | None = None
    """The noisy count that a group must reach to be shown, if one was asked for."""


NOTHING: Final = RequestFacts()


def words_facts(words: str, name: str = "") -> RequestFacts:
    """Return what the canonical words of a release say; of several, those of a name."""
    try:
        read = json.loads(words) if words else None
    except (RecursionError, ValueError):
        return NOTHING
    return request_facts(read, name)


def request_facts(words: Any, name: str = "") -> RequestFacts:
    """Return what words say that a ledger holds."""
    request = _request_of(words, name)
    if request is None:
        return NOTHING
    calls = list(verbs_in(list(request)))
    return RequestFacts(
        units=tuple(dict.fromkeys(_units(calls))),
        limits=tuple(dict.fromkeys(_limits(calls))),
        bounds=tuple(dict.fromkeys(_bounds(request[1].get("columns"), calls))),
        groups=_groups(*request),
        minimum=_minimum(request[1]),
    )


def _request_of(words: Any, name: str) -> Verb | None:
    """Return the one request that is meant, as a verb and its arguments."""
    release = as_verb(words)
    if release is None:
        return None
    if release[0] == "release":
        return as_verb(release[1].get("request"))
    pairs = release[1].get("requests")
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and pair[0] == name:
            return as_verb(pair[1])
    return None


def _units(calls: list[Verb]) -> Iterator[Protected]:
    """Yield whom the private tables protect."""
    for verb, arguments in calls:
        unit = as_verb(arguments.get("protects")) if verb == PRIVATE else None
        if unit is not None:
            yield Protected(
                _text(arguments.get("name")),
                unit[0],
                _text(unit[1].get("column")),
                tuple(most for most in unit[1].values() if type(most) is int),
            )


def _limits(calls: list[Verb]) -> Iterator[RowLimit]:
    """Yield the limits on rows of one person, or of one row."""
    for verb, arguments in calls:
        most = arguments.get("max_rows" if verb == "flat_map" else "limit")
        if type(most) is int and verb in LIMITS:
            yield RowLimit(verb, most, _texts(arguments.get("columns")))


def _bounds(columns: Any, calls: list[Verb]) -> Iterator[ValueBounds]:
    """Yield the bounds of values, those of answers with their names."""
    names: dict[int, str] = {}
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, list) and len(column) > 1 and as_verb(column[1]):
            names[id(column[1][1])] = _text(column[0])
    for verb, arguments in calls:
        low, high = _number(arguments.get("low")), _number(arguments.get("high"))
        if low is not None and high is not None:
            cell = as_verb(arguments.get("column"))
            named = cell is not None and cell[0] == "col"
            of = cell[1].get("name") if named and cell is not None else None
            yield ValueBounds(_text(of or names.get(id(arguments), verb)), low, high)


def _groups(verb: str, arguments: Arguments) -> Groups:
    """Return which groups have a row."""
    by, keys = arguments.get("by"), as_verb(arguments.get("keys"))
    if verb == "marginals":
        return "public"
    if verb != "agg" or not isinstance(by, list):
        return ""
    if not by:
        return "none"
    if "top" in arguments:
        return "first"
    if keys is None:
        return "hidden"
    known = set(_texts(keys[1].get("columns")))
    return "public" if known >= set(_texts(by)) else "mixed"


def _minimum(arguments: Arguments) -> int | None:
    """Return what a noisy count must reach."""
    least = _number(arguments.get("minimum"))
    return None if least is None else int(least)


def _number(words: Any) -> Fraction | None:
    """Return an exact number, None for what is none or too long to show."""
    if not isinstance(words, str) or len(words) > _LONGEST_NUMBER:
        return None
    try:
        size = exact(number=words)
    except InvalidParameter:
        return None
    return size if isinstance(size, Fraction) else None


def _text(value: Any) -> str:
    """Return a name on one line, empty for what is none."""
    return format_key(value) if isinstance(value, str) else ""


def _texts(values: Any) -> tuple[str, ...]:
    """Return names."""
    return tuple(map(_text, values)) if isinstance(values, list) else ()
