"""From exact totals to an answer: noise, selection of groups, error bars, order.

totals of every group ── those that pass ── noise ── sorted by key ── columns

What is done to noisy answers is tried first on an answer that nobody is in, so that a
request that cannot be answered is refused before it is charged.

Kernel: charge.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from sordino.aggregations.aggregation import Noisy
from sordino.aggregations.count import CentredMeasurement, match_rows
from sordino.aggregations.intervals import (
    AnswerLaws,
    Noise,
    NumberForm,
    NumberNoises,
    error_names,
    rank_names,
    unknown_bars,
)
from sordino.aggregations.measurement import Numbers, draw
from sordino.data.key_columns import canonical_order
from sordino.errors import EngineFailure
from sordino.expressions.schema import arrow_type
from sordino.noise.sampling.bits import Bits, BitSource
from sordino.numbers.arrays import as_numpy, with_gaps
from sordino.plan.bundle import Bundle
from sordino.plan.plan import Plan
from sordino.plan.purchase import Purchase
from sordino.query.processing import NoisyRows
from sordino.query.request import RANK
from sordino.release.population import check_population
from sordino.release.table_figures import CutOff, adds_up, write_facts
from sordino.release.text import check_tables, coverage_table

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.query.nodes import Question


Mark: TypeAlias = tuple[Hashable, int]
"""A measurement, and the place of a number in it."""
Ask: TypeAlias = "Callable[[Question], pa.Table]"
"""Returns the exact totals of a question."""


def show_keys(purchase: Purchase, first: "pa.Table", ask: Ask) -> "pa.Table":
    """Return the keys that pass a round, sorted, from the totals of the first one.

    The first few groups are in the order in which they were chosen.
    What a round shows is public, and all that the next one knows of it.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    stage = purchase.plan.stage
    assert stage is not None  # noqa: S101 keys are shown first
    names = list(stage.names)
    shown = first.select(names).slice(0, 0)
    for place in range(purchase.stages):
        exact = ask(stage.question_after(shown)) if place else first
        # before the values: a key that does not pass leaves no trace in their noise
        passed = purchase.select(exact.column(len(names)).to_numpy(), place)
        shown = pa.concat_tables([shown, exact.select(names).take(passed)])
    shown = shown.combine_chunks()
    if purchase.first is not None:
        return shown
    return shown.take(canonical_order(shown))


def rank_tables(
    table: "pa.Table", errors: "pa.Table", shown: "pa.Table"
) -> "tuple[pa.Table, pa.Table]":
    """Return values and errors of groups in the order of `shown`, with their ranks.

    A rank has no interval. The columns of `shown` are the keys.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    by = shown.num_columns
    order = match_rows(table.select(range(by)), shown.select(table.column_names[:by]))
    ranks = pa.array(np.arange(1, order.size + 1))
    table = table.take(order).add_column(by, RANK, ranks)
    errors = errors.take(order)
    bars = unknown_bars(order.size).columns(RANK)
    for place, (name, column) in enumerate(bars.items()):
        errors = errors.add_column(by + place, name, column)
    return table, errors


@final
@dataclass(frozen=True, eq=False)
class Answer:
    """The noisy numbers of a release: all that a ledger keeps of it."""

    table: "pa.Table"
    errors: "pa.Table"
    coverage: "pa.Table | None" = None


def noisy_answer(
    purchase: Purchase,
    exact: "pa.Table",
    bins: "dict[Hashable, pa.Table]",
    counts: "Sequence[pa.Table]" = (),
    ask: "Ask | None" = None,
) -> Answer:
    """Return exact totals with the noise of a purchase that has been charged.

    `bins` holds, for each choice, the exact counts of its candidates; `counts` the
    answers to the questions of coverage. Keys that are shown first `ask` for the rest.
    """
    question = purchase.plan.question
    if question.totals and not question.by and exact.num_rows != 1:
        # how many rows an engine gave may be how many the table has: not to be told
        raise EngineFailure
    shown = exact
    if ask is not None and purchase.plan.stage is not None:
        shown = show_keys(purchase, exact, ask)
        second = purchase.plan.second_question(shown)
        exact = shown if second is None else ask(second)
    coverage = coverage_table(purchase, counts)
    noisy_counts = [] if coverage is None else coverage["count"].to_pylist()
    cut_off = CutOff.of(purchase, noisy_counts)
    table, errors = noisy_tables(purchase, exact, bins, Bits(), cut_off)
    if purchase.first is not None:
        table, errors = rank_tables(table, errors, shown)
    else:
        table, errors = order_ranges(purchase.plan, table, errors)
    return Answer(table, errors, coverage)


def order_ranges(
    plan: Plan, table: "pa.Table", errors: "pa.Table"
) -> "tuple[pa.Table, pa.Table]":
    """Return groups with their ranges in the order of edges, and not of texts.

    It depends on the keys that are shown, and on the edges, which are public.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed
    import pyarrow.compute as pc  # noqa: PLC0415 the same

    labels = {name: plan.relation.schema[name].labels for name in plan.request.by}
    if not any(labels.values()):
        return table, errors
    places = [
        column if labels[name] is None else pc.index_in(column, pa.array(labels[name]))
        for name, column in zip(plan.request.by, table.columns, strict=False)
    ]
    order = canonical_order(pa.table(places, list(plan.request.by)))
    return table.take(order), errors.take(order)


def answers_by_name(bundle: Bundle, measured: dict[str, Answer]) -> list[Answer]:
    """Return the answer of each request, in order: some are a column of a survey."""
    answers = []
    for name, purchase in bundle.purchases.items():
        if name not in bundle.places:
            answers.append(measured[name])
            continue
        survey, column = bundle.places[name]
        whole, request = measured[survey], purchase.plan.request
        ((wanted, _),) = request.columns
        by, table = list(request.by), whole.table.select([*request.by, column])
        errors = whole.errors.select([*by, *error_names(column)])
        answers.append(
            Answer(
                table.rename_columns([*by, wanted]),
                errors.rename_columns([*by, *error_names(wanted)]),
            )
        )
    return answers


def noisy_tables(
    purchase: Purchase,
    exact: "pa.Table",
    bins: "dict[Hashable, pa.Table]",
    bits: BitSource,
    cut_off: CutOff | None = None,
) -> "tuple[pa.Table, pa.Table]":
    """Keys with noisy numbers, and the errors of these.

    Where it was counted what limits cut off, intervals hold the table's figures. Noise
    of numbers is drawn from the bits; choices have bits of their own.
    """
    plan = purchase.plan
    by = len(plan.request.by)
    keys, totals = exact.select(range(by)), _totals(plan, exact, by, bins)
    noisy: dict[Hashable, Noisy] = {}
    if plan.presence is not None and plan.stage is None:
        key = plan.presence.key
        rows, values = plan.presence.select(purchase.selection, totals[key], bits)
        # sorted by key: the order of rows in a table is not part of the promise
        order = canonical_order(keys.take(rows))
        rows = rows[order]
        keys = keys.take(rows)
        totals = {
            name: [array[rows] for array in each] for name, each in totals.items()
        }
        shown = tuple(array[order] for array in values)
        noisy[key] = Noisy(shown, purchase.selection, purchase.selection.threshold)
    for key, mechanism in purchase.noise.items():
        drawn = draw(plan.measurements[key], mechanism, totals[key], bits)
        if key in plan.of_everything:  # one number, the same for every group
            drawn = tuple(np.repeat(array, keys.num_rows) for array in drawn)
        noisy[key] = Noisy(drawn, mechanism)
    for key, choice in purchase.choices.items():
        places = plan.choices[key].draw(choice, keys, bins[key])
        noisy[key] = Noisy(places, choice)
    if plan.request.minimum is not None:
        keys, noisy = _large_groups(plan, keys, noisy)
    return _columns(plan, keys, noisy, cut_off)


def _large_groups(
    plan: Plan, keys: "pa.Table", noisy: dict[Hashable, Noisy]
) -> "tuple[pa.Table, dict[Hashable, Noisy]]":
    """Return the groups whose noisy count reaches the reader's minimum.

    That is done to noisy numbers, at no price. What a count had to reach is kept with
    it, as with a threshold: intervals hold for groups that show, given that they do.
    """
    counted, least = plan.counted, plan.request.minimum
    assert counted is not None  # noqa: S101 asked where a minimum was given
    assert least is not None  # noqa: S101 the same
    counts = noisy[counted.key]
    # of noisy counts alone: the exact ones must not decide what is seen
    rows = np.flatnonzero(np.sum(counts.values, axis=0) >= float(least * counted.size))
    shown = {
        key: replace(number, values=tuple(each[rows] for each in number.values))
        for key, number in noisy.items()
    }
    # a rounding may have lifted the count to the minimum
    cut = least * counted.size - counted.noise(counts.mechanism).rounding
    # both had to be reached
    cut = cut if counts.cut is None else max(cut, counts.cut)
    # intervals hold given that the group shows: they have to know what it had to reach
    shown[counted.key] = replace(shown[counted.key], cut=cut)
    return keys.take(rows), shown


def _totals(
    plan: Plan, exact: "pa.Table", first: int, beside: "dict[Hashable, pa.Table]"
) -> dict[Hashable, list[Numbers]]:
    totals: dict[Hashable, list[Numbers]] = {
        key: [as_numpy(beside[key].column(0))] for key in plan.of_everything
    }
    for key, measurement in plan.of_groups.items():
        places = range(first, first + len(measurement.totals))
        totals[key] = [as_numpy(exact.column(place)) for place in places]
        if isinstance(measurement, CentredMeasurement):
            (ids,) = totals[measurement.ids.key]
            totals[key] = measurement.less(totals[key], int(ids[0]))
        first = places.stop
    return totals


def _columns(
    plan: Plan,
    keys: "pa.Table",
    noisy: dict[Hashable, Noisy],
    cut_off: CutOff | None,
) -> "tuple[pa.Table, pa.Table]":
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    holds: dict[str, str] = {}
    schema = plan.relation.schema
    table: dict[str, Any] = {
        name: keys[name].combine_chunks().cast(arrow_type(schema[name].type))
        for name in plan.request.by
    }
    errors = dict(table)
    for (name, aggregation), estimator in zip(
        plan.request.columns, plan.estimators, strict=True
    ):
        numbers = [noisy[measurement.key] for measurement in estimator.measurements]
        columns = aggregation.columns(name)
        if cut_off is None:
            finished = [*estimator.finish(numbers, plan.request.confidence)]
        else:
            finished, words = cut_off.finish(aggregation, estimator, numbers)
            holds |= zip(columns, words, strict=True)
        for column, answer in zip(columns, finished, strict=True):
            table[column] = answer.values
            errors |= answer.bars.columns(column)
            if answer.ranks is not None:
                ends = map(with_gaps, answer.ranks[1:])
                errors |= dict(zip(rank_names(column), ends, strict=True))
    answers, ends = pa.table(table), pa.table(errors)
    if cut_off is None:
        return answers, ends
    sums = (name for name, question in plan.request.columns if adds_up(question))
    return answers, write_facts(ends, holds, cut_off.about_factor(answers), sums)


def answer_laws(
    purchase: Purchase, table: "pa.Table", origin: tuple[Any, str] | None = None
) -> AnswerLaws | None:
    """Write each printed answer as a form in the noisy numbers that were bought.

    `origin` is the charge that drew them, None where nobody knows.

    A function of the request, its price and the answers: one that is read from a ledger
    has the same. None where no answer is a form in noisy numbers.
    """
    plan = purchase.plan
    forms: dict[str, NumberForm] = {}
    noises: dict[Mark, Noise] = {}
    for (name, aggregation), estimator in zip(
        plan.request.columns, plan.estimators, strict=True
    ):
        columns = aggregation.columns(name)
        # none of what is no form; the rest has one for each of its columns
        for column, form in zip(columns, estimator.number_forms, strict=False):
            keyed: dict[Mark, float] = {}
            for (place, number), factor in form.factors.items():
                measurement = estimator.measurements[place]
                mark = measurement.key, number
                mechanism = _mechanism(purchase, measurement.key)
                noises[mark] = measurement.noise(mechanism)
                keyed[mark] = factor
            forms[column] = replace(form, factors=keyed)
    if not noises:
        return None
    answers = {
        name: table[name].to_numpy(zero_copy_only=False).astype(np.float64)
        for name in forms
    }
    cuts = tuple(
        (frozenset(mark for mark in noises if mark[0] == key), cut)
        for key, cut in _cuts(purchase).items()
    )
    shared = frozenset(mark for mark in noises if mark[0] in plan.of_everything)
    numbers = NumberNoises(noises, cuts, shared)
    laws = AnswerLaws.of(forms, answers, numbers, plan.request.confidence)
    return replace(laws, origins=frozenset() if origin is None else frozenset({origin}))


def _mechanism(purchase: Purchase, key: Hashable) -> Any:
    plan = purchase.plan
    shows = plan.presence is not None and plan.stage is None
    if shows and plan.presence is not None and key == plan.presence.key:
        return purchase.selection
    return purchase.noise[key]


def _cuts(purchase: Purchase) -> dict[Hashable, float]:
    """Least value that each number had to reach for its group to be shown."""
    plan, cuts = purchase.plan, dict[Hashable, float]()
    if plan.presence is not None and plan.stage is None:
        cuts[plan.presence.key] = float(purchase.selection.threshold)
    if plan.request.minimum is not None and plan.counted is not None:
        counted = plan.counted
        noise = counted.noise(_mechanism(purchase, counted.key))
        cut = float(plan.request.minimum * counted.size - noise.rounding)
        cuts[counted.key] = max(cut, cuts.get(counted.key, cut))
    return cuts


def rehearse(purchase: Purchase) -> None:
    """Refuse what cannot be done to the answers of a request; no data is read."""
    plan = purchase.plan
    if plan.request.population:
        check_population(plan)
    cut_off = CutOff.of(purchase, [0] * len(plan.coverage))
    if not plan.request.processing and cut_off is None:
        return
    bins = {key: no_totals(purchase, 2).slice(0, 0) for key in plan.choices}
    bins |= {key: _nobody() for key in plan.of_everything}
    exact = no_totals(purchase, plan.width)
    table, errors = noisy_tables(purchase, exact, bins, Bits(), cut_off)
    if purchase.first is not None:
        table, errors = rank_tables(table, errors, table.select(plan.request.by))
    # with their laws: what fails here would else fail after the charge
    laws = answer_laws(purchase, table)
    rows = NoisyRows(table, errors, plan.request.by, laws=laws)
    for step in plan.request.processing:
        rows = step.apply(rows)
    check_tables(rows.table, rows.errors, rows.keys)


def no_totals(purchase: Purchase, totals: int) -> "pa.Table":
    """Return the totals of no group, or of one that nobody is in."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    schema, by = purchase.plan.relation.schema, purchase.plan.request.by
    keys = [pa.array([], arrow_type(schema[name].type)) for name in by]
    # without keys there is always one row
    empty = pa.array([] if by else [0], pa.int64())
    names = [*by, *(f"total {place}" for place in range(totals))]
    return pa.Table.from_arrays([*keys, *([empty] * totals)], names=names)


def _nobody() -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    return pa.table({"total 0": pa.array([0], pa.int64())})
