"""From exact counts of combinations of keys to all tables of their margins."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sordino.aggregations.intervals import Bars
from sordino.planning.margins_purchase import MarginsPurchase
from sordino.query.marginals import COUNT, Marginals
from sordino.release.answer import Answer
from sordino.release.stacked import grouping_name
from sordino.schema import arrow_type
from sordino.tables.coarser import add_up
from sordino.tables.crossing import Levels, parts_of
from sordino.tables.halving import Numbers
from sordino.tables.measuring import Tally, contrasts_of, measure, restore

if TYPE_CHECKING:
    import pyarrow as pa

_ROUNDING: Final = 2.0**-40
"""More than sums and divisions in doubles round, relative to the largest number."""


def margins_answer(purchase: MarginsPurchase, exact: "pa.Table") -> Answer:
    """Return all tables below each other, a first column says which a row is of."""
    crossing = purchase.request.crossing
    contrasts = measure(purchase.precisions, Tally.of(crossing, exact))
    contrasts |= known_contrasts(purchase.request)
    tables = {}
    for table in crossing.tables:
        numbers = restore(crossing, table, contrasts)
        exact_cells = purchase.precisions.variances(table) == 0
        tables[table] = np.where(exact_cells, np.rint(numbers), numbers)
    return Answer(*_stack_tables(purchase, tables))


def known_contrasts(request: Marginals) -> dict[Levels, Numbers]:
    """Return the contrasts of all parts of tables that everybody knows."""
    crossing = request.crossing
    return {
        part: contrasts_of(crossing, part, add_up(crossing, table, counts, part))
        for table, counts in request.totals.items()
        for part in parts_of(table)
    }


def read_tables(request: Marginals, values: Numbers) -> dict[Levels, Numbers]:
    """Return the tables of which the numbers stand below each other."""
    crossing, first, tables = request.crossing, 0, {}
    for table in crossing.tables:
        end = first + crossing.cells(table)
        tables[table] = values[first:end].reshape(crossing.shape(table))
        first = end
    return tables


def _stack_tables(
    purchase: MarginsPurchase, tables: Mapping[Levels, Numbers]
) -> "tuple[pa.Table, pa.Table]":
    """Return the numbers beside their keys, and their errors."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    crossing, columns = purchase.request.crossing, purchase.request.keyset.columns
    names: list[pa.Array] = []
    keys: dict[str, list[Any]] = {name: [] for name in columns}
    for table in tables:
        rows = crossing.keys(table) if any(table) else None
        cells = crossing.cells(table)
        mark = ", ".join(crossing.name(table)) or "all"
        names.append(pa.array([mark] * cells, pa.string()))
        for name, parts in keys.items():
            there = rows is not None and name in rows.column_names
            kind = arrow_type(purchase.relation.schema[name].type)
            parts.append(
                rows[name].combine_chunks() if there and rows else pa.nulls(cells, kind)
            )
    joined = {grouping_name({*columns, COUNT}): pa.concat_arrays(names)}
    joined |= {name: pa.concat_arrays(parts) for name, parts in keys.items()}
    flat = np.concatenate([table.ravel() for table in tables.values()])
    bars = _bars(purchase, tables)
    return (
        pa.table(joined | {COUNT: pa.array(flat)}),
        pa.table(joined | bars.columns(COUNT)),
    )


def _bars(purchase: MarginsPurchase, tables: Mapping[Levels, Numbers]) -> Bars:
    """Return deviations and intervals: each cell is exact plus a sum of Gaussians.

    What is known publicly has none. Counts are not negative, so no interval is.
    """
    sds = np.concatenate([
        np.sqrt(purchase.precisions.variances(table)).ravel() for table in tables
    ])
    values = np.concatenate([table.ravel() for table in tables.values()])
    pad = _ROUNDING * (np.abs(values).max() + sds.max())
    reach = np.where(sds > 0, sds * purchase.reach + pad, 0.0)
    low, high = values - reach, values + reach
    return Bars(sds, np.maximum(low, 0.0), np.maximum(high, 0.0))
