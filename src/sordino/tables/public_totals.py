"""Tables that everybody knows: what is known of them needs no noise."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidParameter, show
from sordino.schema import unknown
from sordino.tables.coarser import add_up
from sordino.tables.crossing import Crossing, Levels, Name

if TYPE_CHECKING:
    import pyarrow as pa

_MOST: Final = 2**40
_EXAMPLE: Final = 'Try totals={(): 1200, "year": {2025: 700, 2026: 500}}.'


def read_totals(
    crossing: Crossing, totals: Mapping[Any, Any]
) -> dict[Levels, NDArray[np.int64]]:
    """Return the counts of tables that are known, refusing any that contradict."""
    if not isinstance(totals, Mapping):
        raise InvalidParameter(
            "totals", totals, "must be a dict from columns to counts", _EXAMPLE
        )
    known = {}
    for name, counts in totals.items():
        columns = (name,) if isinstance(name, str) else name
        table = find_table(crossing, columns)
        known[table] = _counts(crossing, table, (columns, counts), f"totals[{name!r}]")
    _refuse_contradictions(crossing, known)
    return known


def find_table(crossing: Crossing, columns: Any) -> Levels:
    """Return the table of some columns, in any order."""
    if isinstance(columns, tuple):
        for name, table in crossing.names.items():
            if len(name) == len(columns) and set(name) == set(columns):
                return table
    listed = [", ".join(name) for name in crossing.names if name]
    raise unknown("table", columns, listed)


def _counts(
    crossing: Crossing,
    table: Levels,
    columns_and_counts: tuple[Name, Any],
    argument: str,
) -> NDArray[np.int64]:
    """Return the counts of a table that was given as a number or by its keys.

    Keys are tuples in the order in which the columns were named.
    """
    name, counts = columns_and_counts
    if not name:
        return np.asarray(_validate.integer(**{argument: counts}, least=0, most=_MOST))
    keys = _list_keys(crossing.keys(table), name)
    wanted = set(keys)
    if not isinstance(counts, Mapping) or set(counts) != wanted:
        missing = wanted - set(counts) if isinstance(counts, Mapping) else wanted
        example = next(iter(missing), next(iter(wanted)))
        raise InvalidParameter(
            argument,
            f"{len(counts)} counts" if isinstance(counts, Mapping) else counts,
            f"must have a count for each of the {len(wanted)} keys, such as "
            f"{show(example)}, and for no others",
            _EXAMPLE,
        )
    numbers = [
        _validate.integer(**{argument: counts[key]}, least=0, most=_MOST)
        for key in keys
    ]
    return np.array(numbers, np.int64).reshape(crossing.shape(table))


def _list_keys(keys: "pa.Table", name: Name) -> list[Any]:
    """Return the keys of a table as Python has them: alone, or as tuples."""
    columns = [keys[column].to_pylist() for column in name]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _refuse_contradictions(
    crossing: Crossing, known: Mapping[Levels, NDArray[np.int64]]
) -> None:
    """Refuse tables that do not have the same sums, where they can be compared."""
    tables = list(known)
    for place, table in enumerate(tables):
        for other in tables[:place]:
            both = tuple(map(min, table, other))
            sums, others = (
                add_up(crossing, each, known[each], both) for each in (table, other)
            )
            if not np.array_equal(sums, others):
                at = np.flatnonzero(sums.ravel() != others.ravel())[0]
                raise InvalidParameter(
                    "totals",
                    f"{_title(crossing, table)} and {_title(crossing, other)}",
                    f"contradict each other: one adds up to {sums.ravel()[at]:,}, the "
                    f"other to {others.ravel()[at]:,}",
                    "Totals are public facts of the same rows: leave one out.",
                )


def _title(crossing: Crossing, table: Levels) -> str:
    """Return the columns of a table as they are written."""
    return ", ".join(crossing.name(table)) or "all rows"
