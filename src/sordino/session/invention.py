"""Invented rows: tables of the shape of private ones that hold nothing of them.

Only names, types and what may be missing are looked at: all of it is public. Columns of
one name hold the same values in all tables, so that joins find something, and those of
a public table's columns are its own.
"""

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.curves.points import Floats
from sordino.errors import InvalidParameter
from sordino.schema import Column, Schema, unknown

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES: Final = 6
_MISSING: Final = 0.03
_FIRST_DAY: Final = dt.date(2025, 1, 1)
_DAYS: Final = 365
_MOST: Final = 100
_HALF: Final = 0.5
_LIST: Final = 4
"""The longest list."""


@final
@dataclass(frozen=True)
class Inventor:
    """Makes up rows: always the same ones of one seed. None of this is noise."""

    rows: int
    seed: int
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """What a column may hold, by its name, where that is known."""

    def table(self, name: str, schema: Schema, ids: str | None) -> "pa.Table":
        """Return the rows of a table."""
        import pyarrow as pa  # noqa: PLC0415 slow to import

        columns = {
            column: pa.array(self._cells(name, column, facts, ids), facts.arrow)
            for column, facts in schema.columns
        }
        return pa.table(columns)

    def _cells(
        self, table: str, name: str, facts: Column, ids: str | None
    ) -> list[Any]:
        """Return the cells of a column."""
        if name == ids:
            return self._ids(table, facts)
        if facts.type.startswith("list["):
            inner = Column(facts.type.removeprefix("list[").removesuffix("]"))
            lengths = self._chances(table, name, "length") * (_LIST + 1)
            parts = [self._values(table, f"{name} {n}", inner) for n in range(_LIST)]
            cells = [
                [part[row] for part in parts[: int(length)]]
                for row, length in enumerate(lengths)
            ]
        else:
            cells = self._values(table, name, facts)
        missing = self._chances(table, name, "missing") < _MISSING
        return [
            None if facts.nullable and absent else cell
            for cell, absent in zip(cells, missing, strict=True)
        ]

    def _ids(self, table: str, facts: Column) -> list[Any]:
        """Return ids: a few with many rows each, and many with few."""
        people = max(self.rows // 3, 1)
        ends = np.cumsum(1 / np.arange(1, people + 1) ** 0.6)
        drawn = self._chances(table, "", "ids") * ends[-1]
        return [_id(int(person), facts.type) for person in np.searchsorted(ends, drawn)]

    def _values(self, table: str, name: str, facts: Column) -> list[Any]:
        """Return values, of those that are known to occur if any are."""
        drawn = self._chances(table, name, "values")
        known = self.values.get(name)
        if known is not None:
            return [known[int(chance * len(known))] for chance in drawn]
        return [_usual(name, facts.type, float(chance)) for chance in drawn]

    def _chances(self, *what: str) -> Floats:
        """Return a number of [0, 1) for each row, always the same ones."""
        words = repr((self.seed, what)).encode()
        bits = np.frombuffer(hashlib.shake_256(words).digest(8 * self.rows), np.uint64)
        chances: Floats = (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return chances


def _usual(name: str, kind: str, chance: float) -> Any:
    """Return a value of a column, knowing only its name and type."""
    match kind:
        case "i64":
            return int(chance * (_MOST + 1))
        case "f64":
            return round(chance * _MOST, 2)
        case "bool":
            return chance < _HALF
        case "text":
            return f"{name} {int(chance * _NAMES) + 1}"
        case "date":
            return _FIRST_DAY + dt.timedelta(int(chance * _DAYS))
        case _:
            midnight = dt.datetime.combine(_FIRST_DAY, dt.time())
            return midnight + dt.timedelta(seconds=int(chance * _DAYS * 86_400))


def _id(number: int, kind: str) -> Any:
    """Return an id."""
    match kind:
        case "i64":
            return number
        case "text":
            return f"person {number}"
        case _:
            return dt.date(1950, 1, 1) + dt.timedelta(number % 20_000)


def listed_values(
    values: Mapping[str, Any], columns: Mapping[str, Column]
) -> dict[str, list[Any]]:
    """Return the values that columns may hold, lists of their types; refuse the rest.

    >>> listed_values({"days": range(3)}, {"days": Column("i64")})
    {'days': [0, 1, 2]}
    """
    if not isinstance(values, Mapping):
        raise InvalidParameter(
            "values", values, "must be a dict of lists", 'Try {"ward": ["A", "B"]}.'
        )
    lists = {}
    for name, known in values.items():
        if name not in columns:
            raise unknown("column", name, columns)
        lists[name] = _cells_of(known, columns[name])
        if not lists[name]:
            raise InvalidParameter(
                f"values[{name!r}]",
                known,
                f"must be a list of at least one {columns[name].type} value",
                'Try ["A", "B"], or range(1, 31).',
            )
    return lists


def _cells_of(known: Any, facts: Column) -> list[Any]:
    """Return values of a column's type, none where some are not."""
    import pyarrow as pa  # noqa: PLC0415 slow to import

    if isinstance(known, (str, bytes, Mapping)):
        return []
    try:
        cells: list[Any] = pa.array(list(known), facts.arrow).to_pylist()
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return []
    return cells
