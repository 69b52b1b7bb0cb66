"""What is done to noisy answers, tried on an answer that nobody is in.

What cannot be done to the columns of an answer is so refused before it is charged.
"""

from typing import TYPE_CHECKING

from sordino.planning.purchase import Purchase
from sordino.query.processing import NoisyRows
from sordino.release.answer import noisy_tables
from sordino.release.column_names import check_tables
from sordino.release.ranked_tables import rank_tables
from sordino.sampling.bits import Bits
from sordino.schema import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


def rehearse(purchase: Purchase) -> None:
    """Refuse what cannot be done to the answers of a request; no data is read."""
    plan = purchase.plan
    if not plan.request.processing:
        return
    bins = {key: no_totals(purchase, 2).slice(0, 0) for key in plan.choices}
    bins |= {key: _nobody() for key in plan.of_everything}
    exact = no_totals(purchase, plan.width)
    table, errors = noisy_tables(purchase, exact, bins, Bits())
    if purchase.first is not None:
        table, errors = rank_tables(table, errors, table.select(plan.request.by))
    rows = NoisyRows(table, errors, plan.request.by)
    for step in plan.request.processing:
        rows = step.apply(rows)
    check_tables(rows.table, rows.errors, rows.keys)


def no_totals(purchase: Purchase, totals: int) -> "pa.Table":
    """Return the totals of no group, or of one that nobody is in."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    schema, by = purchase.plan.relation.schema, purchase.plan.request.by
    keys = [pa.array([], arrow_type(schema[name].type)) for name in by]
    empty = pa.array([] if by else [0], pa.int64())
    names = [*by, *(f"total {place}" for place in range(totals))]
    return pa.Table.from_arrays([*keys, *([empty] * totals)], names=names)


def _nobody() -> "pa.Table":
    """Return the total of a table that nobody is in."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    return pa.table({"total 0": pa.array([0], pa.int64())})
