"""From exact totals to a release: noise, selection of groups, error bars, order.

totals of every group ── those that pass ── noise ── sorted by key ── columns
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sordino.aggregations.base import Noisy
from sordino.aggregations.measurements import Numbers, draw
from sordino.keysets.canonical import canonical_order
from sordino.planning.price import CONFIDENCE, Price
from sordino.release.coverage_table import coverage
from sordino.release.notes import notes
from sordino.release.release import Release
from sordino.schema import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


def answered(
    price: Price,
    exact: "pa.Table",
    chosen: dict[Any, Any],
    counts: "Sequence[pa.Table]" = (),
) -> Release:
    """Return the release of exact totals under a price that has been charged.

    `chosen` holds, for each part that chooses, the exact counts of its candidates;
    `counts` the answers to the questions of coverage.
    """
    table, errors = noisy_columns(price, exact, chosen)
    return Release(
        table,
        errors,
        price.request.by,
        CONFIDENCE,
        price.loss,
        price.plan,
        notes(price),
        price.budget,
        coverage(price, counts),
    )


def noisy_columns(
    price: Price, exact: "pa.Table", chosen: dict[Any, Any]
) -> "tuple[pa.Table, pa.Table]":
    """Return the noisy answers beside their keys, and their errors."""
    by = len(price.request.by)
    keys = exact.select(range(by))
    totals = _totals(price, exact, by)
    noisy: dict[Any, Noisy] = {}
    values: tuple[Numbers, ...]
    if price.purchase.selection is not None:
        presence = price.purchase.plan.presence
        assert presence is not None  # noqa: S101 it is what is selected by
        passed = price.purchase.selection.passing(totals[presence.key][0])
        order = canonical_order(keys.take(passed.rows))
        rows = passed.rows[order]
        keys = keys.take(rows)
        totals = {key: [one[rows] for one in held] for key, held in totals.items()}
        values = (presence.taken(passed.answers[order]),)
        noisy[presence.key] = Noisy(values, price.purchase.selection)
    for part in price.measurements:
        if part.key not in noisy:
            mechanism = price.purchase.noise[part.key]
            values = draw(part, mechanism, totals[part.key])
            noisy[part.key] = Noisy(values, mechanism)
    for key, (part, _) in price.purchase.plan.choices.items():
        choice = price.purchase.choices[key]
        noisy[key] = Noisy(part.draw(choice, keys, chosen[key]), choice)
    return _columns(price, keys, noisy)


def _totals(price: Price, exact: "pa.Table", by: int) -> dict[Any, list[Numbers]]:
    """Return the exact totals of each part."""
    place, found = by, {}
    for part in price.measurements:
        columns = range(place, place + len(part.totals))
        found[part.key] = [exact.column(i).to_numpy() for i in columns]
        place += len(part.totals)
    return found


def _columns(
    price: Price, keys: "pa.Table", noisy: dict[Any, Noisy]
) -> "tuple[pa.Table, pa.Table]":
    """Return the columns of the answers beside their keys, and their errors."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    schema = price.relation.schema
    table = {
        name: keys[name].combine_chunks().cast(arrow_type(schema[name].type))
        for name in price.request.by
    }
    errors = dict(table)
    columns = zip(price.request.columns, price.purchase.plan.estimators, strict=True)
    for (name, asked), form in columns:
        parts = [noisy[part.key] for part in form.measurements]
        made = form.finish(parts, CONFIDENCE)
        for column, finished in zip(asked.columns(name), made, strict=True):
            table[column] = finished.values
            errors |= finished.bars.columns(column)
    return pa.table(table), pa.table(errors)
