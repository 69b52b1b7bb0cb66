"""Keys that have an order of their own: ranges, and what follows in time."""

import datetime as dt
import re
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, Final

_FEWEST: Final = 3
"""Periods that make a line."""
_RUN: Final = 13
"""Whole numbers without a gap that make a line: fewer may be codes."""
_PERIOD: Final = re.compile(r"\d{4}(-(\d\d(-\d\d)?|W\d\d|Q[1-4]))?", re.ASCII)


def is_period(values: Sequence[Any]) -> bool:
    """Whether values of a key follow one another in time.

    >>> is_period(["2026-01", "2026-02", "2026-03"]), is_period(["A", "B", "C"])
    (True, False)
    """
    present = {value for value in values if value is not None}
    if len(present) < _FEWEST:
        return False
    if all(isinstance(value, dt.date) for value in present):
        return True
    if all(isinstance(value, str) for value in present):
        return all(_PERIOD.fullmatch(value) for value in present)
    return _is_run(present)


def _is_run(values: set[Any]) -> bool:
    if len(values) < _RUN or not all(type(value) is int for value in values):
        return False
    return all(later == before + 1 for before, later in pairwise(sorted(values)))


def own_places(values: Sequence[Any]) -> list[int] | None:
    """Where the values of a key stand in an order of their own; None without one."""
    if not is_period(values):
        return bin_places(values)
    known = sorted({value for value in values if value is not None})
    places = {value: place for place, value in enumerate(known)}
    return [places.get(value, len(known)) for value in values]


def bin_places(values: Sequence[Any]) -> list[int] | None:
    """Where ranges stand in the order of their edges, what is none last.

    None if these are no ranges.

    >>> bin_places(["[0, 5)", "[18, 40]", "[5, 18)", None]), bin_places(["A", "B"])
    ([0, 2, 1, 3], None)
    """
    present = {value for value in values if value is not None}
    ranges = {value: _BIN.fullmatch(value) for value in present if type(value) is str}
    edges = [match and _edge(match[1]) for match in ranges.values()]
    if not present or len(ranges) < len(present) or None in edges:
        return None
    ordered = sorted(zip(edges, ranges, strict=True), key=itemgetter(0))
    places = {value: place for place, (_, value) in enumerate(ordered)}
    return [places.get(value, len(places)) for value in values]


_BIN: Final = re.compile(r"[\[(]([^,]+), ([^,]+)[\])]")


def _edge(text: str) -> tuple[float, str]:
    """A number, or a date whose text is in its order."""
    try:
        return float(text), ""
    except ValueError:
        return 0.0, text
