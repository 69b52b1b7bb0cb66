"""From exact counts of combinations of keys to all tables of their margins."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from sordino.aggregations.intervals import Bars
from sordino.planning.margins_purchase import MarginsPurchase
from sordino.query.marginals import COUNT, Marginals
from sordino.release.answer import Answer
from sordino.release.column_names import grouping_name
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


def split_tables(request: Marginals, values: Numbers) -> dict[Levels, Numbers]:
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

    columns = purchase.request.keyset.columns
    keys: dict[str, pa.Array] = {grouping_name({*columns, COUNT}): _marks(purchase)}
    keys |= _stack_keys(purchase)
    values = pa.array(np.concatenate([table.ravel() for table in tables.values()]))
    bars = _bars(purchase, tables)
    return pa.table(keys | {COUNT: values}), pa.table(keys | bars.columns(COUNT))


def _marks(purchase: MarginsPurchase) -> "pa.Array":
    """Return of which table each row is."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    crossing = purchase.request.crossing
    titles = [", ".join(name) or "all" for name in crossing.names]
    sizes = [crossing.cells(table) for table in crossing.tables]
    return pa.array(titles, pa.string()).take(
        pa.array(np.repeat(np.arange(len(sizes)), sizes))
    )


def _stack_keys(purchase: MarginsPurchase) -> "dict[str, pa.Array]":
    """Return the keys of all tables, missing where a table is not divided by them."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    crossing = purchase.request.crossing
    many = sum(map(crossing.cells, crossing.tables))
    keys = {}
    for place, tree in enumerate(crossing.trees):
        nodes = np.full((tree.depth, many), -1)
        first = 0
        for table in crossing.tables:
            end = first + crossing.cells(table)
            if table[place]:
                nodes[table[place] - 1, first:end] = crossing.nodes(table, place)
            first = end
        for column, values, at in zip(tree.columns, tree.values, nodes, strict=True):
            kind = arrow_type(purchase.relation.schema[column].type)
            keys[column] = values.take(pa.array(at, mask=at < 0)).cast(kind)
    return {name: keys[name] for name in purchase.request.keyset.columns}


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
