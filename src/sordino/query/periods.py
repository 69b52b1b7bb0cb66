"""Periods as users list them: weeks, days or months, in order and without gaps."""

import datetime as dt
from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any, Final

from sordino import _validate
from sordino.aggregations.running import Periods
from sordino.errors import InvalidParameter
from sordino.keysets import KeySet

_MOST: Final = 2000
_MONTHS: Final = 12


def read_periods(name: str, periods: Any) -> tuple[KeySet, Periods]:
    """Return the keys of listed periods, and where each stands among them."""
    listed = _listed(periods)
    keys = KeySet.from_dict({name: listed})
    if keys.size != len(listed):
        raise InvalidParameter(
            "periods", periods, "list a period twice", "Give each period once."
        )
    _refuse_gaps(listed)
    places = {value: place for place, (value,) in enumerate(_rows(keys))}
    return keys, Periods(tuple(places[value] for value in listed))


def read_last(last: Any, size: int) -> tuple[int, ...]:
    """Return over how many of the last periods figures are added up, each once."""
    windows = (last,) if isinstance(last, int) else last
    if not isinstance(windows, (list, tuple)):
        raise InvalidParameter(
            "last", last, "must be numbers of periods", "Try last=(4, 13)."
        )
    numbers = tuple(_validate.integer(last=few, least=2, most=size) for few in windows)
    if len(set(numbers)) < len(numbers):
        raise InvalidParameter("last", last, "names one twice", "Give each once.")
    return numbers


def _rows(keys: KeySet) -> Sequence[tuple[Any, ...]]:
    """Return the keys in their order."""
    return [tuple(row.values()) for row in keys.table().to_pylist()]


def _listed(periods: Any) -> list[Any]:
    """Return periods as a list of values of one kind, none of them missing."""
    if not isinstance(periods, (list, tuple, range)) or not 2 <= len(periods) <= _MOST:
        raise InvalidParameter(
            "periods",
            periods,
            f"must list 2 to {_MOST} periods in order",
            "Try range(1, 53).",
        )
    listed = list(periods)
    kinds = {type(value) for value in listed}
    if len(kinds) > 1 or kinds & {bool, float, type(None)}:
        raise InvalidParameter(
            "periods",
            periods,
            "must be whole numbers, dates or texts",
            'Try range(1, 53), or ["2026-01", "2026-02"].',
        )
    return listed


def _refuse_gaps(listed: list[Any]) -> None:
    """Refuse numbers and dates that do not follow each other: rows would be lost."""
    first = listed[0]
    if isinstance(first, dt.datetime) or not isinstance(first, (int, dt.date)):
        return  # of texts the order is what is listed
    for before, after in pairwise(listed):
        if after <= before:
            raise InvalidParameter(
                "periods", after, f"stands after {before}", "List periods in order."
            )
    steps = list(starmap(_steps, pairwise(listed)))
    if not set.intersection(*map(set, steps)):
        place = next(
            place for place in range(1, len(steps)) if not {*steps[0]} & {*steps[place]}
        )
        raise InvalidParameter(
            "periods",
            listed[place + 1],
            f"leaves a gap after {listed[place]}: its rows would be in no figure",
            "List every period, those without rows as well.",
        )


def _steps(before: Any, after: Any) -> list[tuple[str, int]]:
    """Return how far two periods lie apart: in numbers or days, and in months."""
    if isinstance(before, int):
        return [("number", after - before)]
    steps = [("days", (after - before).days)]
    if before.day == after.day:
        months = _MONTHS * (after.year - before.year) + after.month - before.month
        steps.append(("months", months))
    return steps
