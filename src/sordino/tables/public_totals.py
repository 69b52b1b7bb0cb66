"""Tables that everybody knows: what is known of them needs no noise."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from sordino import _validate
from sordino.errors import InvalidParameter, show
from sordino.schema import unknown
from sordino.tables.coarser import add_up
from sordino.tables.lattice import Lattice, Levels, Name

if TYPE_CHECKING:
    import pyarrow as pa

_MOST: Final = 2**40
_EXAMPLE: Final = 'Try totals={(): 1200, "year": {2025: 700, 2026: 500}}.'


def read_totals(
    lattice: Lattice, totals: Mapping[Any, Any]
) -> dict[Levels, NDArray[np.int64]]:
    """Return the counts of tables that are known, refusing any that contradict."""
    if not isinstance(totals, Mapping):
        raise InvalidParameter(
            "totals", totals, "must be a dict from columns to counts", _EXAMPLE
        )
    known = {}
    for name, counts in totals.items():
        columns = (name,) if isinstance(name, str) else name
        table = find_table(lattice, columns)
        known[table] = _counts(lattice, table, counts, f"totals[{name!r}]")
    _refuse_contradictions(lattice, known)
    return known


def find_table(lattice: Lattice, columns: Any) -> Levels:
    """Return the table of some columns, in any order."""
    if isinstance(columns, tuple):
        for name, table in lattice.names.items():
            if len(name) == len(columns) and set(name) == set(columns):
                return table
    raise unknown("table", columns, [])


def _counts(
    lattice: Lattice, table: Levels, given: Any, argument: str
) -> NDArray[np.int64]:
    """Return the counts of a table that was given as a number or by its keys."""
    name = lattice.name(table)
    if not name:
        return np.asarray(_validate.integer(**{argument: given}, least=0, most=_MOST))
    keys = _listed(lattice.keys(table), name)
    wanted = set(keys)
    if not isinstance(given, Mapping) or set(given) != wanted:
        missing = wanted - set(given) if isinstance(given, Mapping) else wanted
        example = next(iter(missing), next(iter(wanted)))
        raise InvalidParameter(
            argument,
            f"{len(given)} counts" if isinstance(given, Mapping) else given,
            f"must have a count for each of the {len(wanted)} keys, such as "
            f"{show(example)}, and for no others",
            _EXAMPLE,
        )
    counts = [
        _validate.integer(**{argument: given[key]}, least=0, most=_MOST) for key in keys
    ]
    return np.array(counts, np.int64).reshape(lattice.shape(table))


def _listed(keys: "pa.Table", name: Name) -> list[Any]:
    """Return the keys of a table as Python has them: alone, or as tuples."""
    columns = [keys[column].to_pylist() for column in name]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _refuse_contradictions(
    lattice: Lattice, known: Mapping[Levels, NDArray[np.int64]]
) -> None:
    """Refuse tables that do not have the same sums, where they can be compared."""
    tables = list(known)
    for place, table in enumerate(tables):
        for other in tables[:place]:
            both = tuple(map(min, table, other))
            one, two = (
                add_up(lattice, each, known[each], both) for each in (table, other)
            )
            if not np.array_equal(one, two):
                at = np.flatnonzero(one.ravel() != two.ravel())[0]
                raise InvalidParameter(
                    "totals",
                    f"{_named(lattice, table)} and {_named(lattice, other)}",
                    f"contradict each other: one adds up to {one.ravel()[at]:,}, the "
                    f"other to {two.ravel()[at]:,}",
                    "Totals are public facts of the same rows: leave one out.",
                )


def _named(lattice: Lattice, table: Levels) -> str:
    """Return the columns of a table as they are written."""
    return ", ".join(lattice.name(table)) or "all rows"
