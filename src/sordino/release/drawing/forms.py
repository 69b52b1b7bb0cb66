"""Which picture fits a table: bands, a line over periods, or a map of cells.

| keys | picture |
|---|---|
| none, one, or more than fit a map | bands, the largest first |
| one of dates, of names of periods, or a run of whole numbers | a line |
| two of up to 12 values each, more than half of all pairs | a map of cells |
| two, one of them of periods, the other of up to 6 values | a line for each of these |
"""

import datetime as dt
import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from sordino.errors import InvalidParameter
from sordino.release.drawing.parts import GroupTable, split_part

FORMS: Final = ("bands", "line", "cells")
_ACROSS: Final = 12
"""A map has at most so many rows and columns."""
_MOST: Final = 40
"""The same, where a map is asked for."""
_FACETS: Final = 6
_FEWEST: Final = 3
"""Periods that make a line."""
_RUN: Final = 13
"""Whole numbers without a gap that make a line: fewer may be codes."""
_PERIOD: Final = re.compile(r"\d{4}(-(\d\d(-\d\d)?|W\d\d|Q[1-4]))?", re.ASCII)


def part_forms(part: GroupTable, form: str | None) -> list[tuple[str, GroupTable]]:
    """Return the pictures of a part, each with what it is of."""
    if not len(part):
        return [("bands", part)]
    if form is None:
        facets = _facets(part)
        return facets or [(_choose_form(part), part)]
    _refuse_other_shapes(part, form)
    return [(form, part)]


def is_period(values: Sequence[Any]) -> bool:
    """Tell whether values of a key follow one another in time.

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
    """Tell whether values are many whole numbers without a gap."""
    if len(values) < _RUN or not all(type(value) is int for value in values):
        return False
    return all(later == before + 1 for before, later in pairwise(sorted(values)))


def _choose_form(part: GroupTable) -> str:
    """Return the picture that fits a table."""
    columns = _key_values(part)
    if len(columns) == 1 and is_period(columns[0]):
        return "line"
    sizes = _sizes(part)
    if len(sizes) == 2 and max(sizes) <= _ACROSS and 2 * len(part) > math.prod(sizes):
        return "cells"
    return "bands"


def _facets(part: GroupTable) -> list[tuple[str, GroupTable]]:
    """Return a line for each value of the key that is not of periods, if they fit."""
    columns = _key_values(part)
    if len(columns) != 2 or _choose_form(part) == "cells":
        return []
    periods = [is_period(values) for values in columns]
    if sum(periods) != 1:
        return []
    other = periods.index(False)
    if len(set(columns[other])) > _FACETS:
        return []
    return [("line", facet) for facet in split_part(part, part.keys[other])]


def _key_values(part: GroupTable) -> list[list[Any]]:
    """Return the values of each key."""
    return [part.table[name].to_pylist() for name in part.keys]


def _sizes(part: GroupTable) -> list[int]:
    """Return how many values each key has."""
    return [len(set(values)) for values in _key_values(part)]


def _refuse_other_shapes(part: GroupTable, form: str) -> None:
    """Refuse a picture that the keys cannot fill."""
    if form == "line" and len(part.keys) != 1:
        problem = f"is a line, and there are {len(part.keys)} keys"
        raise InvalidParameter("form", form, problem, "A line needs one key.")
    if form == "cells" and len(part.keys) != 2:
        problem = f"is a map of cells, and there are {len(part.keys)} keys"
        raise InvalidParameter("form", form, problem, "A map needs two keys.")
    if form == "cells" and max(_sizes(part)) > _MOST:
        problem = f"is a map of cells, and a key has more than {_MOST} values"
        raise InvalidParameter("form", form, problem, "Filter the groups.")
