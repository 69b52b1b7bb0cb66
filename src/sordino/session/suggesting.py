"""The making of a suggestion: what is tried, and who tells what it would lose."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from sordino.aggregations.totals import Total
from sordino.engines.door import Settings
from sordino.engines.doors import engine_named
from sordino.errors import InvalidParameter
from sordino.expressions.literals import literal
from sordino.losses.base import Budget, PureDP
from sordino.numbers import probability
from sordino.planning.buying import best_purchase
from sordino.query.limit_effects import (
    ABOVE,
    UNITS,
    clamped_name,
    effects_request,
    kept_name,
)
from sordino.query.limit_grid import LimitChoice, LimitGrid, limit_grid
from sordino.query.question import Question
from sordino.query.request import Request
from sordino.query.tables import PrivateTable, PublicTable
from sordino.release.answer import noisy_answer
from sordino.release.release import Release
from sordino.schema import unknown
from sordino.session.catalog import Catalog, open_catalog
from sordino.session.desk import Desk
from sordino.session.suggestion import Suggestion
from sordino.session.tried_limits import CUT, Tried

_ENDLESS: Final = PureDP(10**12)
"""Noise that this buys is zero, to every digit that is shown."""
Number = tuple[float, float]
"""A number and its deviation."""


@final
@dataclass(frozen=True)
class _Effects:
    """What each choice keeps and clamps, and of how much, each with its deviation."""

    numbers: Mapping[str, Number]
    rows: Number | None
    """How many rows there are, None where only those that are kept are known."""
    source: str


def suggest(
    desk: Desk, request: Request, terms: tuple[Budget, Any, Any, Any], key: str | None
) -> Suggestion:
    """Return what limits and bounds would cost and lose.

    `terms` are the budget, a sample, the limits to try, and the share of the budget
    that the data may cost.
    """
    budget, sample, limits, share = terms
    desk.refuse_strangers()
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    with desk.catalog.explain_refusals():
        relation = request.rows.resolve(desk.catalog)
        grid = limit_grid(request, relation, limits)
        effects = effects_request(request, relation, grid)
    release = None
    if sample is None:
        part = _part(share)
        details = {"key": key, "why": "to suggest limits", "earmark": None}
        prices = _tried(desk.catalog, request, grid, budget.times(1 - part))
        release = desk.release(effects, budget.times(part), details)
        seen, budget = _of_release(release), budget.times(1 - part)
    else:
        prices = _tried(desk.catalog, request, grid, budget)
        seen = _of_sample(sample_catalog(desk.catalog, sample), request, effects)
    tried = tuple(
        Tried(choice, *price, _lost(choice, grid, seen))
        for choice, price in zip(grid.choices, prices, strict=True)
    )
    return Suggestion(tried, budget, seen.source, release)


def _part(share: Any) -> Fraction:
    """Return the share of the budget that the data may cost."""
    part = probability(share=share)
    if not 0 < part < 1:
        raise InvalidParameter(
            "share", share, "must lie between 0 and 1", 'Try share="0.05".'
        )
    return part


def _tried(
    catalog: Catalog, request: Request, grid: LimitGrid, budget: Budget
) -> list[tuple[Request, dict[str, float], float]]:
    """Return the request of each choice, its noise and its score: no data is read."""
    tried = []
    for choice in grid.choices:
        limited = choice.apply(request)
        bought = best_purchase(limited, catalog, budget)
        noise = {name: error.sd for name, error in bought.errors.items()}
        tried.append((limited, noise, bought.score))
    return tried


def _lost(
    choice: LimitChoice, grid: LimitGrid, seen: _Effects
) -> dict[str, tuple[float, float]]:
    """Return the share of rows cut off, and of units with a clamped value."""
    lost: dict[str, tuple[float, float]] = {}
    if choice.rows is not None:
        widest = seen.numbers[kept_name(*grid.pairs[-1])]
        part = seen.numbers[kept_name(choice.groups or 1, choice.rows)]
        share, sd = _share(part, seen.rows or widest)
        same = seen.rows is None and part is widest
        lost[CUT] = (1 - share, 0.0 if same else sd)
    for name, ends in choice.bounds:
        number = seen.numbers[clamped_name(name, ends)]
        share, sd = _share(number, seen.numbers[UNITS])
        lost[f"{name} clamped"] = (share, sd)
    return lost


def _share(part: Number, whole: Number) -> Number:
    """Return a part of a whole within [0, 1], and its deviation to first order."""
    size = max(whole[0], 1.0)
    share = min(max(part[0] / size, 0.0), 1.0)
    return share, (part[1] ** 2 + (share * whole[1]) ** 2) ** 0.5 / size


def _of_release(release: Release) -> _Effects:
    """Return what the data told, with the deviations of its noise."""
    numbers = {
        name: (
            float(release[name][0].as_py()),
            float(release.errors[f"{name} sd"][0].as_py()),
        )
        for name in release.names
    }
    source = f"from the data, for {release.price}"
    if ABOVE in numbers:
        above, sd = numbers[ABOVE]
        source += (
            ", of the rows that the widest limits keep; "
            f"above these are about {max(0, round(above)):,} ids (± {sd:.3g})"
        )
    return _Effects(numbers, None, source)


def _of_sample(catalog: Catalog, request: Request, effects: Request) -> _Effects:
    """Return what a sample tells, without noise."""
    engine = catalog.engine
    try:
        relation = request.rows.resolve(catalog)
        question = Question(relation.node, (), (Total(literal(1)),))
        rows = engine.prepare(question)().column(0)[0].as_py()
        bought = best_purchase(effects, catalog, _ENDLESS)
        answer = noisy_answer(bought, engine.prepare(bought.plan.question)(), {})
    finally:
        engine.close()
    numbers = {
        name: (round(float(answer.table[name][0].as_py()), 6), 0.0)
        for name in answer.table.column_names
    }
    source = f"from a sample of {rows:,} rows; nothing was charged"
    return _Effects(numbers, (float(rows), 0.0), source)


def sample_catalog(catalog: Catalog, sample: Any) -> Catalog:
    """Return the tables of a session with other rows: those of a sample.

    A sample of the only private table may be given alone, else by names.
    """
    names = list(catalog.units)
    named = sample
    if not isinstance(sample, Mapping) or not set(sample) <= set(names):
        if len(names) != 1:
            raise InvalidParameter(
                "sample",
                type(sample).__name__,
                "must be a dict from each private table to rows of its shape",
                "Try sample=sd.rehearsal(session).tables.",
            )
        named = {names[0]: sample}
    for name in names:
        if name not in named:
            raise unknown("private table of the sample", name, list(named))
    tables: dict[str, PrivateTable | PublicTable] = {
        name: PrivateTable(
            named[name],
            catalog.units[name],
            dict(catalog.relations[name].schema.columns),
        )
        for name in names
    }
    frozen = {name: catalog.engine.frozen_rows(name) for name in catalog.publics}
    tables |= {name: PublicTable(rows) for name, rows in frozen.items()}
    opened = open_catalog(engine_named("duckdb", Settings(None, None, False)), tables)
    for name, query in catalog.views.items():
        opened.view(name, query)
    return opened
