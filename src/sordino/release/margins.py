"""Releases of margins.

Kernel: charge.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.intervals import Bars, error_names
from sordino.aggregations.margins.crossing import Levels, Numbers, add_up, parts_of
from sordino.aggregations.margins.fitting import JointFit
from sordino.aggregations.margins.measuring import Tally, contrasts_of, measure, restore
from sordino.aggregations.margins.tables import AdjustedTables, NoisyTables, draw_people
from sordino.expressions.schema import arrow_type
from sordino.noise.sampling.bits import Bits
from sordino.numbers import arguments
from sordino.numbers.formatting import format_key
from sordino.plan.margins import MarginsPurchase
from sordino.query.groups import COUNT, Marginals
from sordino.release.answer import Answer
from sordino.release.explanation import UNKNOWN, Provenance, note_protection
from sordino.release.release import Release
from sordino.release.text import grouping_name

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
        # what is known is whole, but for what doubles err
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
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    columns = purchase.request.keyset.columns
    keys: dict[str, pa.Array] = {grouping_name({*columns, COUNT}): _marks(purchase)}
    keys |= _stack_keys(purchase)
    values = pa.array(np.concatenate([table.ravel() for table in tables.values()]))
    bars = _bars(purchase, tables)
    return pa.table(keys | {COUNT: values}), pa.table(keys | bars.columns(COUNT))


def _marks(purchase: MarginsPurchase) -> "pa.Array":
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    crossing = purchase.request.crossing
    titles = [", ".join(name) or "all" for name in crossing.names]
    sizes = [crossing.cells(table) for table in crossing.tables]
    return pa.array(titles, pa.string()).take(
        pa.array(np.repeat(np.arange(len(sizes)), sizes))
    )


def _stack_keys(purchase: MarginsPurchase) -> "dict[str, pa.Array]":
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
            # a table that is not divided by a column lacks its key
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
    return Bars(sds, low, high).clip(0.0, np.inf)


_MOST_PEOPLE: Final = 10**8
_DIGITS: Final = np.uint64(11)
_UNIT: Final = 2.0**-53


@final
@dataclass(frozen=True, eq=False, repr=False)
class Margins:
    """The tables of a release of margins, and what is fitted to them."""

    purchase: MarginsPurchase
    answer: Answer

    @cached_property
    def tables(self) -> NoisyTables:
        """Return the unbiased tables by their columns; they add up."""
        request = self.purchase.request
        names = (COUNT, *error_names(COUNT))
        numbers = self.answer.errors.append_column(COUNT, self.answer.table[COUNT])
        columns = {
            name: split_tables(request, numbers[name].to_numpy()) for name in names
        }
        bars = {name: columns[name] for name in names[1:]}
        called = request.crossing.names
        return NoisyTables(request.crossing, called, {COUNT: columns[COUNT]}, bars)

    @cached_property
    def adjusted(self) -> AdjustedTables:
        """Return tables that agree and are not negative."""
        called = self.purchase.request.crossing.names
        return AdjustedTables(called, COUNT, self.fit, self.fit.cells)

    @cached_property
    def fit(self) -> JointFit:
        """Cells of the finest table, fitted to all tables."""
        request = self.purchase.request
        noisy = self.tables.columns[COUNT]
        contrasts = {}
        for table, cells in noisy.items():
            for part in parts_of(table):
                if part not in contrasts:  # any table that has the part says the same
                    sums = add_up(request.crossing, table, cells, part)
                    contrasts[part] = contrasts_of(request.crossing, part, sums)
        precisions = {
            part: float(precision)
            for part, precision in self.purchase.precisions.parts.items()
        }
        known = known_contrasts(request)
        return JointFit(
            request.crossing,
            request.crossing.tables,
            contrasts | known,
            precisions,
            request.totals,
        )

    def synthetic(self, rows: Any) -> "pa.Table":
        """Return invented rows of the law that is fitted to all tables."""
        many = arguments.integer(rows=rows, least=0, most=_MOST_PEOPLE)
        words = Bits().words(many) >> _DIGITS  # a double holds 53 of 64 bits
        return draw_people(self.fit, words.astype(np.float64) * _UNIT)


def margins_release(
    purchase: MarginsPurchase, answer: Answer, provenance: Provenance = UNKNOWN
) -> Release:
    """Return an answer with what it cost and how it was made."""
    first, *names = answer.table.column_names
    keys = purchase.request.keyset.columns
    # another key set of the same tables may have its columns in another order
    rest = [name for name in names if name not in keys]
    errors = [name for name in answer.errors.column_names if name not in {first, *keys}]
    return Release(
        answer.table.select([first, *keys, *rest]),
        answer.errors.select([first, *keys, *errors]),
        (first, *keys),
        purchase.request.confidence,
        purchase.loss,
        purchase.plan,
        _notes(purchase),
        purchase.budget,
        related=Margins(purchase, answer),
        provenance=provenance,
    )


def _notes(purchase: MarginsPurchase) -> tuple[str, ...]:
    known = ", ".join(
        " and ".join(map(format_key, purchase.request.crossing.name(table))) or "all"
        for table in purchase.request.totals
    )
    return (
        note_protection(purchase.relation),
        "All tables add up; rows with other values than the public keys are in none.",
        "Intervals belong to these unbiased numbers, not to adjusted ones.",
        *([f"Known beforehand, and exact: {known}."] if known else []),
    )
