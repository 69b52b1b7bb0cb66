"""How much two databases really lose: what reaches the noise, and what it hides.

request ── plan (public facts) ── totals of each database ── a recorder ── noise
                                                               │
             scale and exact vector, of both ── loss of the pair ── beside the charge

A recorder stands where a carrier stands: it notes the sampler and the exact values, and
hands both on, so noise is drawn as ever. No claim of planning is used: neither how far
answers move, nor what they cost. Keys that are not known beforehand are let show if
both databases have them; what one alone has is a chance that it shows. Where keys show
in rounds, or groups are chosen one by one, a few orders of that are tried, and the one
that loses most is told: the round in which a key shows decides what the next one is of.

The exact values of two tables decide what is told: it is for invented tables.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.aggregations.margins.measuring import Tally, contrast_noise
from sordino.data.source import sort_values, values_of
from sordino.engines.engine import AbstractEngine
from sordino.errors import InvalidQuery
from sordino.losses.closed import GaussianDP
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import RoundsLoss
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import DiscreteGaussianLoss, GaussianShape
from sordino.noise.key_rounds import TopKeys
from sordino.noise.laplace import (
    GeometricLoss,
    Laplace,
    LaplaceLoss,
    LaplaceShape,
    LaplaceSumLaw,
)
from sordino.noise.numbers import AbstractCarrier, Passing
from sordino.noise.sampling.bits import BitSource
from sordino.noise.sampling.floats import AbstractSampler, FloatSampler
from sordino.noise.sampling.integers import IntegerSampler
from sordino.noise.threshold.laplace import LaplaceSumThreshold, ShownRows
from sordino.numbers import INFINITE, root, up
from sordino.plan.margins import MarginsPurchase, buy_margins
from sordino.plan.purchase import Purchase
from sordino.query.groups import Marginals
from sordino.release.answer import noisy_answer
from sordino.session.charging import Remarks, Terms
from sordino.session.executor import Desk
from sordino.session.session import open_desk
from sordino.session.tables import open_catalog

Values: TypeAlias = NDArray[Any]
Key: TypeAlias = tuple[Any, ...]
Tables: TypeAlias = Mapping[str, Any]
_NO_NOISE: Final = PureDP(INFINITE)
_NEARLY: Final = 1e-9


@final
class Note(NamedTuple):
    """What reached a noise: its sampler, and the exact values it was added to."""

    sampler: AbstractSampler
    values: Values


@final
class Scores(NamedTuple):
    """Scores of groups that are chosen one by one, in the order that is tried."""

    mechanism: TopKeys
    ranked: dict[Key, int]
    """Of the groups that both databases have; the first ones are chosen."""

    def losses(self, beside: "Scores") -> list[Loss]:
        """Loss of each choice: by how far the scores of those left lie apart."""
        moved = [beside.ranked[key] - score for key, score in self.ranked.items()]
        moved += [] if self.mechanism.end is None else [0]  # the end sign is public
        left = (moved[place:] for place in range(self.mechanism.scores.most))
        ranges = [max(each) - min(each) for each in left if each]
        return [
            BoundedRangeLoss(self.mechanism.rate * width) for width in ranges if width
        ]


@final
class MovedRows(NamedTuple):
    """Rows that moved from bin to bin, of which a mechanism chooses."""

    mechanism: Any
    rows: dict[tuple[Key, Any], int]
    """How many rows each bin of a group has."""


Seen: TypeAlias = list[Note | MovedRows | Scores]
Ask: TypeAlias = Callable[[Any], pa.Table]


@final
class Recording(NamedTuple):
    """What reached the noise from one database."""

    seen: Seen
    breach: float = 0.0
    """Chance that a key shows which the other database does not have."""


@final
@dataclass(frozen=True)
class RecordingCarrier(AbstractCarrier):
    """Notes what comes, and hands it on to the carrier that draws."""

    carrier: AbstractCarrier
    sampler: AbstractSampler
    seen: Seen = field(repr=False)

    def one(self, value: Any, bits: BitSource) -> Any:
        self.seen.append(Note(self.sampler, np.array([value])))
        return self.carrier.one(value, bits)

    def many(self, values: Values, bits: BitSource) -> Values:
        self.seen.append(Note(self.sampler, values.copy()))
        return self.carrier.many(values, bits)

    def select(self, values: Values, threshold: Any, bits: BitSource) -> Passing:
        del values, threshold, bits
        # which keys pass depends on the data: RecordingSelection stands for thresholds
        raise InvalidQuery(
            "keys that show themselves are measured by their threshold",
            "Measure the purchase as a whole.",
        )


@final
@dataclass(frozen=True)
class PairLoss:
    """The loss of a pair of databases beside what their release is charged."""

    losses: tuple[Loss, ...]
    """Of each noise that hides a difference."""
    breach: float
    """Chance that a key shows which one of the databases does not have."""
    charged: Loss
    ratio: float
    """Loss seen over loss charged, in the terms of the budget; above 1 it is broken."""
    why: str = ""
    """Why the two databases cannot be compared: their noise is not the same."""

    @property
    def is_broken(self) -> bool:
        """Tell whether more is lost than is charged."""
        return self.ratio > 1 + _NEARLY or bool(self.why)


def worst_of(losses: Iterable[PairLoss]) -> PairLoss:
    """Return the loss that is furthest beyond its charge, or nearest to it."""
    return max(losses, key=lambda loss: (bool(loss.why), loss.ratio))


@final
@dataclass(frozen=True)
class Meter:
    """A request that was bought of one database, to be measured against neighbours.

    `request` is a request, margins, several requests by name that are planned together,
    or one that is asked of each part of a table.
    """

    desk: Desk
    request: Any
    budget: Loss

    @staticmethod
    def open(
        tables: Tables, request: Any, budget: Loss, engine: AbstractEngine
    ) -> "Meter":
        """Open tables of an own, with a book in which nothing is ever charged."""
        terms = Terms(budget, None, None, Remarks(), None, None)
        return Meter(open_desk(tables, terms, engine), request, budget)

    def move(self, tables: Tables, engine: AbstractEngine) -> "Meter":
        """Measure from other tables; what was bought, of public facts alone, stays."""
        desk = Desk(engine, open_catalog(engine, tables), self.desk.book)
        moved: Meter = _change(self, desk=desk, basket=self.basket)
        vars(moved).pop("exact", None)
        return moved

    @cached_property
    def basket(self) -> "Basket":
        """Purchases planned from the public facts of the first database."""
        return Basket.at(self.desk, self.request, self.budget)

    @cached_property
    def exact(self) -> list[Any]:
        """Exact totals of the first database, for each purchase."""

        def answer(question: Any) -> pa.Table:
            # what fails for public reasons is refused, as before a charge
            return self.desk.engine.prepare(question)()

        return [exact_totals(each, answer) for each in self.basket.purchases]

    def costs_the_same(self, tables: Tables, engine: AbstractEngine) -> bool:
        """Tell whether plan and charge are those of other tables, as they must be."""
        desk = Desk(engine, open_catalog(engine, tables), self.desk.book)
        there = Basket.at(desk, self.request, self.budget)
        return there.text == self.basket.text

    def measure(self, tables: Tables, engine: AbstractEngine) -> PairLoss:
        """Loss between the first database and this one, beside what is charged.

        `engine` keeps rows by the same key as that of the first.
        """
        open_catalog(engine, tables)
        beside = [exact_totals(each, engine.answer) for each in self.basket.purchases]
        pairs = list(zip(self.exact, beside, strict=True))
        charged, budget = self.basket.charged, self.basket.budget
        return worst_of(each.compare(charged, budget) for each in losses_of(pairs))


@final
class PairsLost(NamedTuple):
    """What tells some pairs of exact totals apart."""

    losses: list[Loss]
    breach: float
    why: str

    @staticmethod
    def of(pairs: Sequence[tuple[Any, Any]], order: int) -> "PairsLost":
        """Compare what reached the noise, keys shown in an order."""
        why, breach, losses = "", 0.0, list[Loss]()
        for exact, beside in pairs:
            common = [key for key in exact.present if key in beside.present]
            first, second = (each.record(common, order) for each in (exact, beside))
            if len(first.seen) != len(second.seen):
                why = "other noise was drawn"
            for pair in zip(first.seen, second.seen, strict=False):
                losses += pair_losses(*pair)
            breach = _any([breach, max(first.breach, second.breach)])
        return PairsLost(losses, breach, why)

    def compare(self, charged: Loss, budget: Loss) -> PairLoss:
        """Hold it against what is charged."""
        ratio = loss_ratio(self.losses, self.breach, charged, budget)
        return PairLoss(tuple(self.losses), self.breach, charged, ratio, self.why)


def losses_of(pairs: Sequence[tuple[Any, Any]]) -> list[PairsLost]:
    """What tells some pairs of exact totals apart, for each order that is tried."""
    orders = _ORDERS if any(exact.has_stage for exact, _ in pairs) else 1
    return [PairsLost.of(pairs, order) for order in range(orders)]


@final
class InParts(NamedTuple):
    """A request that is asked of each part of a table, by the values of a column."""

    table: str
    by: str
    values: list[Any]
    request: Any


@final
class Basket(NamedTuple):
    """Purchases of a request, what all of them are charged together, and may be."""

    purchases: tuple[Any, ...]
    charged: Loss
    budget: Loss

    @staticmethod
    def at(desk: Desk, request: Any, budget: Loss) -> "Basket":
        """Buy at a desk; nothing is charged, and nothing private decides."""
        if isinstance(request, Marginals):
            margins = buy_margins(request, desk.catalog, budget)
            return Basket((margins,), margins.loss, budget)
        if isinstance(request, Mapping):
            bundle = desk.buy_together(dict(request), budget, None)
            bought = tuple(bundle.charged_purchases.values())
            return Basket(bought, bundle.loss, budget)
        if isinstance(request, InParts):
            table, by, values, inner = request
            parts = desk.price_parts(table, by, values, budget, "")
            each = (replace(desk, catalog=rows) for rows in parts.catalogs.values())
            bought = tuple(at_part.buy(inner, budget) for at_part in each)
            return Basket(bought, parts.priced.loss, parts.priced.loss)
        purchase = desk.buy(request, budget)
        return Basket((purchase,), desk.charge_of(purchase).loss, budget)

    @property
    def text(self) -> str:
        """Plans and the charge."""
        plans = (
            each.plan if isinstance(each, MarginsPurchase) else each.plan_text
            for each in self.purchases
        )
        return "\n".join([*plans, repr(self.charged)])


def exact_totals(purchase: Any, ask: Ask) -> "Exact | ExactMargins":
    """Exact totals of a purchase in one database, which is asked now and later."""
    if isinstance(purchase, MarginsPurchase):
        return ExactMargins(purchase, ask(purchase.question))
    return Exact.of(purchase, ask)


@final
@dataclass(frozen=True)
class ExactMargins:
    """The exact counts of margins in one database."""

    purchase: MarginsPurchase
    totals: pa.Table
    has_stage: bool = False

    @property
    def present(self) -> dict[Key, int]:
        """No key: all are known."""
        return {}

    def record(self, common: list[Key], order: int) -> Recording:
        """Contrasts of the tables, as they reach the noise."""
        del common, order  # every cell is known
        tally = Tally.of(self.purchase.request.crossing, self.totals)
        noises = contrast_noise(self.purchase.precisions, tally)
        return Recording([
            Note(each.mechanism.carrier.sampler, each.values) for each in noises
        ])


@final
@dataclass(frozen=True)
class Exact:
    """The exact totals of a purchase in one database."""

    purchase: Purchase
    totals: pa.Table
    bins: dict[Any, pa.Table]
    counts: list[pa.Table]
    ask: Ask = field(repr=False)
    recorded: dict[tuple[int, tuple[Key, ...]], "Recording"] = field(
        default_factory=dict
    )
    """What reached the noise, by the keys that show: it is the same at each pair."""

    @staticmethod
    def of(purchase: Purchase, ask: Ask) -> "Exact":
        """Ask all that the plan asks at first."""
        plan = purchase.plan
        bins = {key: ask(each) for key, each in plan.choice_questions.items()}
        counts = [ask(question) for question in plan.coverage_questions]
        return Exact(purchase, ask(plan.question), bins, counts, ask)

    @property
    def has_stage(self) -> bool:
        """Tell whether keys are shown first, in one of several orders."""
        return self.purchase.plan.stage is not None

    @cached_property
    def present(self) -> dict[Key, int]:
        """Rows of the keys that have anything to show by, where none are known."""
        plan, first = self.purchase.plan, len(self._shown_by)
        if plan.presence is None:
            return {}
        for key, measurement in plan.of_groups.items() if plan.stage is None else ():
            if key == plan.presence.key:
                break
            first += len(measurement.totals)
        columns = range(first, first + len(plan.presence.totals))
        numbers = _rows(self.totals, columns)
        return {
            key: place
            for place, (key, counts) in enumerate(
                zip(_keys(self.totals, len(self._shown_by)), numbers, strict=True)
            )
            # a group is chosen by its score, whatever it is
            if any(counts) or self.purchase.first is not None
        }

    @property
    def _shown_by(self) -> tuple[str, ...]:
        plan = self.purchase.plan
        return plan.request.by if plan.stage is None else plan.stage.names

    def record(self, common: list[Key], order: int = 0) -> "Recording":
        """Draw the answer once, and return what reached the noise on the way."""
        keys = order, tuple(common)
        if keys not in self.recorded:
            self.recorded[keys] = self._record(common, order)
        return self.recorded[keys]

    def _record(self, common: list[Key], order: int) -> "Recording":
        seen: Seen = []
        chances: list[float] = []
        purchase, plan = self.purchase, self.purchase.plan

        def watch(mechanism: Any) -> Any:
            carrier = mechanism.carrier
            recorder = RecordingCarrier(carrier, carrier.sampler, seen)
            return _change(mechanism, carrier=recorder)

        parts: dict[str, Any] = {
            name: {key: watch(mechanism) for key, mechanism in noises.items()}
            for name, noises in (
                ("noise", purchase.noise),
                ("coverage", purchase.coverage),
            )
        }
        shown = None
        stage = RecordingStage(
            purchase, tuple(_in_order(common, order)), order, self.ask, seen, chances
        )
        if plan.stage is not None:
            parts |= stage.parts(self.totals)
            shown = set(stage.path)
        elif plan.presence is not None:
            shown = set(common)
            alone = [at for key, at in self.present.items() if key not in shown]
            both = np.array([self.present[key] for key in common], np.intp)
            recorder = RecordingSelection(
                purchase.selection, both, alone, seen, chances
            )
            parts["selection"] = _change(purchase.selection, select=recorder.select)
        noisy_answer(
            _change(purchase, **parts), self.totals, self.bins, self.counts, stage.asks
        )
        names = [plan.request.by.index(name) for name in self._shown_by]
        seen += [
            _move(purchase.choices[key], self.bins[key], shown, names)
            for key in plan.choices
        ]
        return Recording(seen, _any(chances))


_ORDERS: Final = 3


def _in_order(keys: list[Key], order: int) -> list[Key]:
    """Return keys as they are, the last one first, or half of them behind the rest."""
    half = len(keys) // 2
    return [keys, keys[::-1], keys[half:] + keys[:half]][order]


def _any(chances: Iterable[float]) -> float:
    """Chance that one of some independent things happens, without cancelling."""
    logs = (math.log1p(-chance) if chance < 1 else -math.inf for chance in chances)
    return -math.expm1(math.fsum(logs))


def _change(value: Any, **parts: Any) -> Any:
    """Copy of a frozen value in which some parts are others."""
    copied = copy(value)
    for name, part in parts.items():
        object.__setattr__(copied, name, part)
    return copied


def _rows(table: pa.Table, places: Iterable[int]) -> list[Key]:
    columns = [values_of(table.column(at).combine_chunks()) for at in places]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _keys(table: pa.Table, count: int) -> list[Key]:
    return [sort_values(row) for row in _rows(table, range(count))]


def _move(
    mechanism: Any, bins: pa.Table, shown: set[Key] | None, names: list[int]
) -> MovedRows:
    """Return the rows of each bin; of groups alone whose key in `names` shows."""
    counts = bins.column(bins.num_columns - 1).to_pylist()
    keys = _keys(bins, bins.num_columns - 1)
    return MovedRows(
        mechanism,
        {
            key: count
            for key, count in zip(keys, counts, strict=True)
            if shown is None or tuple(key[name] for name in names) in shown
        },
    )


@final
@dataclass(frozen=True)
class RecordingSelection:
    """Notes the values by which keys show, and lets those show that both have.

    Noise is drawn as ever; that the same keys show in both databases is what the two
    recordings are compared under. What a key alone gives away is told by its chance.
    """

    mechanism: Any
    both: Values
    alone: list[int]
    seen: Seen
    chances: list[float]

    def select(self, values: Any, bits: BitSource) -> Any:
        """Return the rows that both databases have, with noisy numbers."""
        threshold = self.mechanism.threshold
        is_sum = isinstance(self.mechanism, LaplaceSumThreshold)
        columns = [np.asarray(each) for each in (values if is_sum else [values])]
        law: Any = self.mechanism.law
        if is_sum:
            carrier = Laplace(self.mechanism.scale).carrier
            law = LaplaceSumLaw(self.mechanism.numbers, self.mechanism.scale)
        else:
            carrier = self.mechanism.carrier
        drawn = []
        for column in columns:
            numbers = column[self.both]
            self.seen.append(Note(carrier.sampler, numbers))
            drawn.append(carrier.many(numbers, bits))
        for place in self.alone:
            total = sum(Fraction(column[place].item()) for column in columns)
            self.chances.append(float(law.at_least(threshold - total).lower()))
        if is_sum:
            return ShownRows(self.both, tuple(drawn))
        return Passing(self.both, drawn[0])


@final
@dataclass(frozen=True, eq=False)
class RecordingStage:
    """Stands where keys are shown first, and lets them show in an order.

    The rounds ask and add up as ever; what a key shows by is noted in each round until
    it does. In the first order all that both databases have show at once, in the second
    in the last round, in the third in turn.
    """

    purchase: Purchase
    common: tuple[Key, ...]
    order: int
    ask: Ask = field(repr=False)
    seen: Seen = field(repr=False)
    chances: list[float] = field(repr=False)
    keys: list[Key] = field(default_factory=list, repr=False)
    """Those that the last question told of."""

    @property
    def path(self) -> tuple[Key, ...]:
        """The keys that show."""
        first = self.purchase.first
        return self.common if first is None else self.common[: first.scores.most]

    def parts(self, totals: pa.Table) -> dict[str, Any]:
        """Parts of the purchase that show keys, which note on the way."""
        self._look_at(totals)
        if self.purchase.first is not None:
            return {"first": _change(self.purchase.first, select=self.choose)}
        if self.purchase.rounds is None:
            shows = partial(self.select, self.purchase.selection, 0)
            return {"selection": _change(self.purchase.selection, select=shows)}
        rounds = tuple(
            _change(mechanism, select=partial(self.select, mechanism, place))
            for place, mechanism in enumerate(self.purchase.rounds.mechanisms)
        )
        return {"rounds": _change(self.purchase.rounds, mechanisms=rounds)}

    def asks(self, question: Any) -> pa.Table:
        """Ask, and look at which keys are told of."""
        table = self.ask(question)
        self._look_at(table)
        return table

    def _look_at(self, table: pa.Table) -> None:
        stage = self.purchase.plan.stage
        self.keys[:] = _keys(table, 0 if stage is None else len(stage.names))

    def select(self, mechanism: Any, place: int, values: Any, bits: BitSource) -> Any:
        """Note what keys show by in a round; return those whose turn it is."""
        numbers = np.asarray(values)
        there = {self.keys[at]: at for at in np.flatnonzero(numbers).tolist()}
        # in one order for both databases: an engine gives rows in any
        left = [key for key in self.common if key in there]
        alone = [at for key, at in there.items() if key not in self.common]
        both = np.array([there[key] for key in left], np.intp)
        noted = RecordingSelection(mechanism, both, alone, self.seen, self.chances)
        drawn = noted.select(numbers, bits)
        turns = [self._turn(self.common.index(key)) == place for key in left]
        return Passing(drawn.rows[turns], drawn.answers[turns])

    def _turn(self, at: int) -> int:
        last = self.purchase.stages - 1
        return (0, last, at % (last + 1))[self.order]

    def choose(self, totals: Any, place: int = 0) -> Passing:
        """Note all scores, and the chance of what one database alone has."""
        del place
        top = self.purchase.first
        assert top is not None  # noqa: S101 asked where groups are chosen
        scores = dict(zip(self.keys, np.asarray(totals).tolist(), strict=True))
        self.seen.append(Scores(top, {key: scores[key] for key in self.common}))
        alone = [scores[key] for key in scores if key not in self.common]
        for chosen in range(top.scores.most if alone else 0):
            left = [scores[key] for key in self.common[chosen:]]
            left += [] if top.end is None else [top.end]
            most = max(left + alone)
            odds = [
                math.exp(float(top.rate * (score - most))) for score in left + alone
            ]
            self.chances.append(math.fsum(odds[len(left) :]) / math.fsum(odds))
        rows = np.array([self.keys.index(key) for key in self.path], np.int64)
        return Passing(rows, np.asarray(totals)[rows])


def pair_losses(first: Any, second: Any) -> list[Loss]:
    """Losses of one noise between two databases, from the values that reached it."""
    if isinstance(first, Scores):
        return first.losses(second)
    if isinstance(first, MovedRows):
        return _choice_loss(first, second)
    noise = _noise(first.sampler)
    if noise != _noise(second.sampler) or first.values.shape != second.values.shape:
        return [_NO_NOISE]
    moved = _shifts(first, second)
    if not moved:
        return []
    return [_NO_NOISE] if noise is None else noise.losses(moved)


@final
class NoiseFacts(NamedTuple):
    """A noise as its sampler draws it: scale or variance, and whether of integers."""

    is_laplace: bool
    spread: Any
    is_whole: bool

    def losses(self, moved: list[Fraction]) -> list[Loss]:
        """Losses of numbers that moved so far, each or together."""
        if self.is_laplace and self.is_whole:
            return [GeometricLoss(int(shift), self.spread) for shift in moved]
        if self.is_laplace:
            return [LaplaceLoss(shift / self.spread) for shift in moved]
        if self.is_whole:
            return [DiscreteGaussianLoss(int(shift), self.spread) for shift in moved]
        squares = sum((shift**2 for shift in moved), Fraction(0))
        return [GaussianDP(root(squares / self.spread))]


def _shifts(first: Note, second: Note) -> list[Fraction]:
    apart = np.flatnonzero(first.values != second.values)
    before, after = (each.values[apart].tolist() for each in (first, second))
    pairs = zip(before, after, strict=True)
    return [abs(Fraction(number) - Fraction(moved)) for number, moved in pairs]


def _noise(sampler: AbstractSampler) -> NoiseFacts | None:
    match sampler:
        case FloatSampler(exponent=exponent, shape=shape):
            is_whole = False
        case IntegerSampler(depth=exponent, shape=shape):
            is_whole = True
        case _:
            return None
    match shape:
        case LaplaceShape(scale=scale):
            return NoiseFacts(True, scale * Fraction(2) ** exponent, is_whole)
        case GaussianShape(variance=variance):
            return NoiseFacts(False, variance * Fraction(4) ** exponent, is_whole)
        case _:
            return None


def _choice_loss(first: MovedRows, second: MovedRows) -> list[Loss]:
    """Losses of a choice, by its own map at the rows that moved in each group."""
    moved: Counter[Key] = Counter()
    for key in {**first.rows, **second.rows}:
        moved[key[:-1]] += abs(first.rows.get(key, 0) - second.rows.get(key, 0))
    return [first.mechanism.map(rows) for rows in moved.values() if rows]


def loss_ratio(
    losses: Sequence[Loss], breach: float, charged: Loss, budget: Loss
) -> float:
    """Loss that is seen over loss that is charged, in the terms of the budget."""
    # it may be less than the budget; a composed curve has no epsilon of its own
    most = charged.guarantees
    if budget.guarantees.delta and most.epsilon > budget.guarantees.epsilon:
        most = budget.guarantees
    seen = [loss.guarantees for loss in losses]
    match budget.stated_by:
        case "rho":
            part = _share(sum(up(each.rho) for each in seen), most.rho)
        case "mu":
            part = _share(math.hypot(*(up(each.mu) for each in seen)), most.mu)
        case _:
            part = _share(sum(up(each.epsilon) for each in seen), most.epsilon)
            if part > 1 and breach < most.delta:
                rest = most.delta - Fraction(breach)
                part = _share(compose(losses).epsilon_at(rest), most.epsilon)
            if part > 1 and 0 < breach < most.delta:
                # the chances of both are no sum: what shows a key tells nothing else
                both = RoundsLoss(((Fraction(breach), compose(losses)),))
                part = _share(both.epsilon_at(most.delta), most.epsilon)
    return max(part, _share(breach, most.delta))


def _share(seen: float, most: Any) -> float:
    if not seen:
        return 0.0
    return seen / up(most) if most else math.inf
