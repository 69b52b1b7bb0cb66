"""What is done to noisy answers, tried on an answer that nobody is in.

What cannot be done to the columns of an answer is so refused before it is charged.
"""

from typing import TYPE_CHECKING

from sordino.planning.price import Price
from sordino.query.processing import Answer
from sordino.release.answer import noisy_columns
from sordino.schema import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


def rehearse(price: Price) -> None:
    """Refuse what cannot be done to the answers of a request; no data is read."""
    steps = price.request.processing
    if not steps:
        return
    exact = _nothing(
        price, len([one for part in price.measurements for one in part.totals])
    )
    chosen = {key: _nothing(price, 2).slice(0, 0) for key in price.choice_questions}
    table, errors = noisy_columns(price, exact, chosen)
    answer = Answer(table, errors, price.request.by)
    for step in steps:
        answer = step.apply(answer)


def _nothing(price: Price, totals: int) -> "pa.Table":
    """Return the totals of no group, or of one that nobody is in."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    schema, by = price.relation.schema, price.request.by
    keys = [pa.array([], arrow_type(schema[name].type)) for name in by]
    empty = pa.array([] if by else [0], pa.int64())
    names = [*by, *(f"total {place}" for place in range(totals))]
    return pa.Table.from_arrays([*keys, *([empty] * totals)], names=names)
