"""What the limits of a request are, in sentences, and what is known of their effect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from sordino.numbers.formatting import format_key, format_number
from sordino.query.dropped_rows import CUT_OFF, ROWS, TOGETHER
from sordino.release.explanation import (
    LIMITS_OF_IDS,
    Arguments,
    RequestFacts,
    RowLimit,
)
from sordino.release.text import whole_names

if TYPE_CHECKING:
    import pyarrow as pa


def limits_text(
    facts: RequestFacts,
    coverage: "pa.Table | None" = None,
    holds: Mapping[str, str] = MappingProxyType({}),
    about: Sequence[str] = (),
) -> str:
    """Name the limits of a request, and say what was measured of what they cut off.

    >>> from fractions import Fraction
    >>> from sordino.release.explanation import Protected, RowLimit, ValueBounds
    >>> days = ValueBounds("days", Fraction(0), Fraction(30))
    >>> limits = (RowLimit("MaxRowsPerID", 3),)
    >>> unit = Protected("visits", "AddRowsWithID", "patient")
    >>> limits_text(RequestFacts((unit,), limits, (days,)))
    'Limits: 3 rows of one patient; days from 0 to 30. What they cut off was not ...'
    """
    person = next((unit.column for unit in facts.units if unit.column), "id")
    listed = [*dict.fromkeys(_limit_text(limit, person) for limit in facts.limits)]
    for each in facts.bounds:
        ends = " to ".join(format_number(float(end)) for end in (each.low, each.high))
        listed.append(f"{each.name} from {ends}")
    if not listed:
        return ""
    sentences = [f"Limits: {'; '.join(listed)}"]
    if coverage is None:
        sentences.append("What they cut off was not measured (coverage=True)")
    else:
        rows = rows_cut_off(coverage)
        if len(rows) != 1:
            sentences.append("What they cut off is counted")
        elif facts.promised is None:
            sentences.append(_cut_text(*rows[0]))
        else:
            sentences += _promise_text(facts, person, *rows[0])
    sentences.append(_held_text(holds))
    if about:
        names = _list(about)
        sentences.append(
            f'"About" is what {names} would be had each group lost alike: no promise'
        )
    return "".join(f"{sentence}. " for sentence in sentences).rstrip()


def _held_text(holds: Mapping[str, str]) -> str:
    """Say which intervals include what limits cut off."""
    tables = whole_names(holds)
    if not tables:
        return "Intervals do not include it"
    sentence = f"Intervals of {_list(tables)} hold the figures of the whole table"
    rest = [name for name in holds if name not in tables]
    return f"{sentence}, those of {_list(rest)} do not" if rest else sentence


def _promise_text(
    facts: RequestFacts, person: str, rows: Arguments, beyond: Arguments
) -> Iterator[str]:
    """Say what was promised, what is lost by it, and whether counts contradict it."""
    limits = (limit.most for limit in facts.limits if limit.verb in LIMITS_OF_IDS)
    most_lost = max(0, (facts.promised or 0) - min(limits, default=0))
    seen = int(rows["what"].split("up to ")[-1].split(" ")[0].replace(",", ""))
    # by the promise nobody loses more, or nobody anything
    counts = [rows] * (most_lost == 0) + [beyond] * (most_lost <= seen)
    # twice as far from 0 as an interval reaches: noise does that once in 800 times
    broken = any(2 * each["low"] > max(each["count"], 0) for each in counts)
    promise = f"Promised: no {person} has more than {facts.promised:,} rows"
    if most_lost:
        yield _cut_text(rows, beyond)
    elif not broken:
        promise += ", so nothing is cut off"
    if broken:
        promise += ". Counts say that some do: no interval may rest on it"
    yield promise


def rows_cut_off(coverage: "pa.Table") -> list[tuple[Arguments, Arguments]]:
    """Return how many rows limits cut off, each with the ids that lost more."""
    cut = [row for row in coverage.to_pylist() if row["kind"] == CUT_OFF]
    return [(a, b) for a, b in pairwise(cut) if a["counted"] == ROWS]


def _cut_text(rows: Arguments, beyond: Arguments) -> str:
    """Say how many rows limits cut off, as far as they were counted."""
    least, most = (format_number(rows[end]) for end in ("low", "high"))
    about = format_number(max(rows["count"], 0))
    few, many = (format_number(beyond[end]) for end in ("low", "high"))
    up_to = rows["what"].removeprefix(TOGETHER)
    return (
        f"They cut off about {about} rows ({least} to {most}), {up_to}; "
        f"{few} to {many} lose more"
    )


def _limit_text(limit: RowLimit, person: str) -> str:
    columns, row = ", ".join(limit.columns), "row" if limit.most == 1 else "rows"
    most = f"{limit.most:,}"
    match limit.verb:
        case "MaxRowsPerID":
            return f"{most} {row} of one {person}"
        case "MaxGroupsPerID":
            value = "value" if limit.most == 1 else "values"
            return f"{most} {value} of {columns} of one {person}"
        case "MaxRowsPerGroupPerID":
            return f"{most} {row} of one {person} for each {columns}"
        case "DropExcess":
            return f"{most} {row} of one key in a join"
        case _:
            return f"{most} {row} made of one row"


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(format_key, names))
