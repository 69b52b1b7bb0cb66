"""How exact an answer is: how far its intervals reach, and how many numbers are rough.

It is a function of published numbers, whoever reads them: a release that is in memory
here, workers where it lies in files.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.release.column_names import error_names

if TYPE_CHECKING:
    import pyarrow as pa

ROUGH: Final = 5
"""A number is rough whose interval reaches further than this part of it."""


@final
@dataclass(frozen=True)
class Reach:
    """How far the intervals of an answer reach, from the number to the farther end."""

    name: str
    least: float | None
    """None where no number of it has an interval with two ends."""
    most: float | None


@final
@dataclass(frozen=True)
class Exactness:
    """What is told of all numbers of an answer."""

    groups: int
    """How many rows there are."""
    numbers: int
    """How many there are, missing ones aside."""
    rough: int
    reaches: tuple[Reach, ...]

    @classmethod
    def read(cls, fields: dict[str, Any]) -> "Exactness":
        """Return what `fields` were."""
        reaches = tuple(starmap(Reach, fields["reaches"]))
        return cls(fields["groups"], fields["numbers"], fields["rough"], reaches)

    @property
    def fields(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "groups": self.groups,
            "numbers": self.numbers,
            "rough": self.rough,
            "reaches": [[each.name, each.least, each.most] for each in self.reaches],
        }


def exactness_of(
    table: "pa.Table", errors: "pa.Table", names: Iterable[str]
) -> Exactness:
    """Return how exact an answer is, of all numbers that have an interval."""
    numbers = rough = 0
    reaches = []
    for name in names:
        reach, many = _reach(name, table, errors)
        numbers += len(table[name]) - table[name].null_count
        rough += many
        reaches.append(reach)
    return Exactness(table.num_rows, numbers, rough, tuple(reaches))


def join_exactness(answers: Iterable[Exactness]) -> Exactness:
    """Return what is told of several answers together."""
    listed = [*answers]
    return Exactness(
        sum(each.groups for each in listed),
        sum(each.numbers for each in listed),
        sum(each.rough for each in listed),
        tuple(reach for each in listed for reach in each.reaches),
    )


def _reach(name: str, table: "pa.Table", errors: "pa.Table") -> tuple[Reach, int]:
    """Return how far the intervals of a column reach, and how many are rough."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    column = table[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return Reach(name, None, None), 0
    value, low, high = (
        each.to_numpy(zero_copy_only=False).astype(np.float64)
        for each in (column, *(errors[part] for part in error_names(name)[1:]))
    )
    known = np.isfinite(value) & np.isfinite(low) & np.isfinite(high)
    value, low, high = value[known], low[known], high[known]
    reach = np.maximum(high - value, value - low)
    rough = int(np.count_nonzero(reach > np.abs(value) / ROUGH))
    ends = (float(reach.min()), float(reach.max())) if len(reach) else (None, None)
    return Reach(name, *ends), rough
