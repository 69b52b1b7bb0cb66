"""The tables of a release, each with the numbers that a picture can show."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from sordino.curves.points import Floats
from sordino.display import formatting
from sordino.release.cell_texts import Figure, figure_texts
from sordino.release.column_names import error_names, grouping_name
from sordino.release.release_view import ReleaseView

if TYPE_CHECKING:
    import pyarrow as pa

_LARGEST: Final = 1e300
"""Numbers beyond it are told in digits alone: their distance may be no double."""
_LONGEST: Final = 30


@final
class Series(NamedTuple):
    """The numbers of an aggregate, NaN where missing or without an end."""

    name: str
    value: Floats
    low: Floats
    high: Floats

    @property
    def intervals(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Return where there is an interval with two ends."""
        return ~np.isnan(self.value + self.low + self.high)

    @property
    def numbers(self) -> list[float]:
        """Return all numbers that a scale must hold."""
        ends = np.concatenate([
            self.value,
            self.low[self.intervals],
            self.high[self.intervals],
        ])
        return [float(end) for end in ends if np.isfinite(end)]


@final
@dataclass(frozen=True, eq=False)
class GroupTable:
    """A table of groups: its keys, and its numbers."""

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    names: tuple[str, ...]
    heading: str = ""
    """What it is among several tables."""

    def __len__(self) -> int:
        """Return the number of groups."""
        return int(self.table.num_rows)

    @cached_property
    def groups(self) -> list[tuple[Any, ...]]:
        """Return the keys of each group."""
        columns = [self.table[name].to_pylist() for name in self.keys]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    @cached_property
    def labels(self) -> list[str]:
        """Return the name of each group, long ones cut."""
        return [
            formatting.cut_text(" · ".join(map(key_text, group)), _LONGEST)
            for group in self.groups
        ]

    def series(self, name: str) -> Series:
        """Return the numbers of an aggregate."""
        low, high = (_numbers(self.errors[end]) for end in error_names(name)[1:])
        return Series(name, _numbers(self.table[name]), low, high)

    def figures(self, name: str) -> list[Figure]:
        """Return the numbers of an aggregate as texts."""
        return figure_texts(self.table, self.errors, name)

    def take(self, places: Any) -> "GroupTable":
        """Return some of the groups, in the order given."""
        return replace(
            self, table=self.table.take(places), errors=self.errors.take(places)
        )

    def drop_key(self, key: str) -> "GroupTable":
        """Return the same groups, called by their other keys."""
        return replace(self, keys=tuple(name for name in self.keys if name != key))


def release_parts(release: ReleaseView, names: tuple[str, ...]) -> list[GroupTable]:
    """Return the table of a release, or those that are stacked in it."""
    whole = whole_part(release, names)
    mark = grouping_name(()) if len(release.keys) > 1 else None
    if mark is None or release.keys[0] != mark or not len(whole):
        return [whole]
    return [_drop_absent_keys(part, part.heading) for part in split_part(whole, mark)]


def whole_part(release: ReleaseView, names: tuple[str, ...]) -> GroupTable:
    """Return the table of a release as it is."""
    return GroupTable(release.table, release.errors, release.keys, names)


def split_part(part: GroupTable, key: str) -> list[GroupTable]:
    """Return a part for each value of a key, in the order in which they come."""
    column = part.table[key].to_pylist()
    rest = part.drop_key(key)
    return [
        replace(
            rest.take([row for row, value in enumerate(column) if value == head]),
            heading=key_text(head),
        )
        for head in dict.fromkeys(column)
    ]


def key_text(value: Any) -> str:
    """Return the value of a key; what would print nothing has a name.

    >>> key_text(""), key_text(None), key_text(3)
    ('(empty text)', 'missing', '3')
    """
    return formatting.format_key(value) or "(empty text)"


def _drop_absent_keys(part: GroupTable, heading: str) -> GroupTable:
    """Return a part without the keys that its set of columns does not have."""
    columns = heading.split(", ")
    keys = tuple(
        name
        for name in part.keys
        if name in columns or part.table[name].null_count < len(part)
    )
    return replace(part, keys=keys)


def _numbers(column: Any) -> Floats:
    """Return a column as doubles, NaN where there is none that can be drawn."""
    values = np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    return np.where(np.abs(values) <= _LARGEST, values, np.nan)
