"""A lower bound on a loss from answers alone, and whether it breaks a claim.

samples of each input ─┬─ a quarter: what each value of an outcome tells (`events`)
                       ├─ a quarter: the event that breaks the claim most is chosen
                       └─ half: the event is judged, by bounds of Clopper and Pearson

An event is judged on samples that chose nothing, so choosing it costs no confidence.
"""

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import starmap
from operator import itemgetter
from statistics import NormalDist
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sordino.auditing.events import Columns, Signals, outcome_columns
from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from sordino.numbers.formatting import format_percent
from sordino.numbers.rounding import precision

Floats: TypeAlias = NDArray[np.float64]
Run: TypeAlias = Callable[..., Any]
_FEWEST: Final = 400
_LEVELS: Final = 200
_TINY: Final = 1e-300
_DIGITS: Final = 128


@final
@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What samples of two neighbouring inputs prove of the loss between them.

    `is_broken` says that the claim is false; a true claim is called false with a chance
    of at most 1 - `confidence`, over all pairs together. Nothing is proved where it is
    not broken.
    """

    claim: Any
    is_broken: bool
    epsilon: float
    """Least epsilon that the loss has at `delta`, at this confidence."""
    delta: float
    confidence: Fraction
    event: str
    """The event that tells the inputs apart."""
    alpha: float
    """Of an attacker who looks for the event: at most so many false positives ..."""
    beta: float
    """... and at most so many false negatives."""
    claimed_beta: float
    """False negatives that the claim says there are at `alpha`."""
    counts: tuple[tuple[int, int], tuple[int, int]]
    """How often the event was seen, of how many outcomes, of each input."""

    def explain(self) -> str:
        """Verdict, and the event with its counts, in sentences."""
        (a, of_a), (b, of_b) = self.counts
        named = getattr(self.claim, "__name__", repr(self.claim))
        verdict = f"Nothing speaks against the claim {named}."
        if self.claim is None:
            verdict = "No claim was given."
        elif self.is_broken:
            verdict = (
                f"The claim {named} is false: at a false positive rate of "
                f"{self.alpha:.4g} it says that at least {self.claimed_beta:.4g} are "
                f"missed, and at most {self.beta:.4g} are."
            )
        return (
            f"{verdict}\nThe loss is at least epsilon = {self.epsilon:.4g} at delta = "
            f"{self.delta:.3g}, at a confidence of {format_percent(self.confidence)}.\n"
            f"Event: {self.event}. Seen in {a} of {of_a} outcomes of the first input, "
            f"in {b} of {of_b} of the second."
        )

    def __repr__(self) -> str:
        """Show the verdict."""
        return self.explain()


def audit(  # noqa: PLR0913 by keyword, and most are left out
    run_a: Any,
    run_b: Any,
    claim: Any = None,
    *,
    samples: int = 100_000,
    confidence: Any = "0.999999",
    delta: Any = None,
    pairs: int = 1,
    by: str | None = None,
) -> Audit:
    """Test a claim of privacy on answers alone, of whatever library.

    `run_a` and `run_b` answer from two inputs that the claim says can hardly be told
    apart: called with a number they return so many outcomes, called with nothing they
    return one; or they are outcomes that were drawn before. An outcome is a number, a
    text, bytes, a mapping, a sequence or a table; an exception is one, too. `claim` is
    a loss such as `sd.PureDP(1)`, a `TradeoffCurve`, or a function from false positive
    rates to false negative rates. With `by`, a run returns a table with the rows of
    many trials, which this column numbers from 0: one release of disjoint groups is
    many trials.

    For any claim that is true, and outcomes that are drawn independently, `is_broken`
    is False with a chance of at least `confidence`, for all of `pairs` audits together.

    >>> import sordino as sd
    >>> noise = sd.Laplace(scale=1)
    >>> honest = sd.audit(lambda n: noise([0.0] * n), lambda n: noise([1.0] * n),
    ...     sd.PureDP(1), samples=20_000)
    >>> honest.is_broken
    False
    >>> sd.audit(lambda n: noise([0.0] * n), lambda n: noise([1.5] * n), sd.PureDP(1),
    ...     samples=20_000).is_broken
    True
    """
    samples = arguments.integer(least=_FEWEST, samples=samples)
    pairs = arguments.integer(least=1, pairs=pairs)
    sure = arguments.probability(confidence=confidence)
    if not 0 < sure < 1:
        raise InvalidParameter(
            "confidence", confidence, "must lie between 0 and 1", 'Try "0.999999".'
        )
    curve = _curve_of(claim)
    reserve = _reserve(claim, delta)
    # four bounds of Clopper and Pearson are stated, of this audit and of the others
    alarm = float((1 - sure) / (4 * pairs))
    parts = [
        _split_outcomes(*_outcomes(run, samples, name), by)
        for name, run in (("run_a", run_a), ("run_b", run_b))
    ]
    signals = Signals.learn(parts[0].learned.columns, parts[1].learned.columns)
    events = _choose(signals, [each.chosen for each in parts], curve, reserve, alarm)
    judged = [each.judged for each in parts]
    verdicts = [
        _judge(event, signals, judged, curve, (reserve, alarm)) for event in events
    ]
    broken = [each for each in verdicts if each.claimed > each.beta]
    epsilon = max(each.epsilon for each in verdicts)
    most = max(broken or verdicts, key=lambda each: each.claimed - each.beta)
    return Audit(
        claim,
        bool(broken),
        epsilon,
        reserve,
        sure,
        most.words,
        most.alpha,
        most.beta,
        most.claimed,
        most.counts,
    )


@final
class OutcomeColumns(NamedTuple):
    """Some of the outcomes of one input, as columns."""

    columns: Columns
    size: int


@final
class SplitOutcomes(NamedTuple):
    """Outcomes of one input, by what they are used for."""

    learned: OutcomeColumns
    chosen: OutcomeColumns
    judged: OutcomeColumns


@final
class Event(NamedTuple):
    """A signal that reaches a level, or does not; who sees it says `second`, or not."""

    signal: str
    level: float
    above: bool
    null: int
    """Input whose outcomes show it seldom."""


@final
class Judgement(NamedTuple):
    """What fresh samples say of an event."""

    alpha: float
    beta: float
    claimed: float
    epsilon: float
    words: str
    counts: tuple[tuple[int, int], tuple[int, int]]


def _outcomes(run: Any, samples: int, name: str) -> tuple[Any, int]:
    """Outcomes of a run, and how many there are."""
    if not callable(run):
        count = len(run)
        if count < _FEWEST:
            raise InvalidParameter(
                name, run, f"must be {_FEWEST} outcomes or more", "Draw more of them."
            )
        return run, count
    try:
        needed = [
            each
            for each in inspect.signature(run).parameters.values()
            if each.default is each.empty and each.kind < each.VAR_POSITIONAL
        ]
        takes_count = bool(needed)
    except ValueError:  # some functions of other languages do not say
        takes_count = True
    if takes_count:
        return run(samples), samples
    return [_run_once(run) for _ in range(samples)], samples


def _run_once(run: Run) -> Any:
    try:
        return run()
    except Exception as raised:  # noqa: BLE001 an exception is an outcome
        return raised


def _split_outcomes(outcomes: Any, count: int, by: str | None) -> SplitOutcomes:
    columns = outcome_columns(outcomes, count, by)
    first, second = count // 4, count // 2

    def part(begin: int, end: int) -> OutcomeColumns:
        cut = {name: values[begin:end] for name, values in columns.items()}
        return OutcomeColumns(cut, end - begin)

    return SplitOutcomes(part(0, first), part(first, second), part(second, count))


def _curve_of(claim: Any) -> Callable[[Floats], Floats]:
    """Least false negative rates that a claim allows; none without one."""
    if claim is None:
        return lambda alpha: np.full(alpha.shape, -np.inf)
    beta_at = claim if callable(claim) else getattr(claim, "beta_at", None)
    if beta_at is None:
        raise InvalidParameter(
            "claim",
            claim,
            "must be a loss, a curve, or a function of false positive rates",
            "Try sd.PureDP(1).",
        )

    def curve(alpha: Floats) -> Floats:
        if callable(claim):
            return np.array([float(beta_at(rate)) for rate in alpha.tolist()])
        return np.asarray(beta_at(alpha), np.float64)

    return curve


def _reserve(claim: Any, delta: Any) -> float:
    if delta is not None:
        return float(arguments.probability(delta=delta))
    own = getattr(claim, "delta", None)
    return float(own) if own is not None else 0.0


_GRID: Final = np.unique(
    np.concatenate([[0.0], np.logspace(-9, -2, 100), np.linspace(0.01, 1, 300)])
)


def _choose(
    signals: Signals,
    parts: list[OutcomeColumns],
    curve: Callable[[Floats], Floats],
    reserve: float,
    alarm: float,
) -> list[Event]:
    """Events that promise most: against the curve, and for a large epsilon.

    Against the curve counts how many times the gap is as wide as what confidence takes
    of it: an event that is ranked by its epsilon misses errors of Gaussian noise.
    """
    betas = curve(_GRID)
    best: list[tuple[float, Event]] = []
    for event, levels, (seen, sure), (missed, most) in _rates(signals, parts, alarm):
        at_seen, at_sure = (np.interp(each, _GRID, betas) for each in (seen, sure))
        with np.errstate(invalid="ignore"):
            gap = (at_seen - missed) / (at_seen - at_sure + most - missed)
        epsilon = np.log(np.maximum(1 - most - reserve, _TINY) / sure)
        scored = []
        for scores in (np.nan_to_num(gap, nan=-np.inf), epsilon):
            at = int(np.argmax(scores))
            scored.append((float(scores[at]), event._replace(level=float(levels[at]))))
        pairs = zip(best or scored, scored, strict=True)
        best = [max(pair, key=itemgetter(0)) for pair in pairs]
    return list(dict.fromkeys(event for _, event in best))


Rates: TypeAlias = tuple[Floats, Floats]
"""A rate as it was seen, and its upper bound."""


def _rates(
    signals: Signals, parts: list[OutcomeColumns], alarm: float
) -> Iterator[tuple[Event, Floats, Rates, Rates]]:
    """Give error rates of events, of many levels of a signal at once."""
    sizes = [part.size for part in parts]
    first_read, second_read = starmap(signals.read, parts)
    for (name, first), (_, second) in zip(first_read, second_read, strict=True):
        both = np.concatenate([first, second])
        both = np.sort(both[~np.isnan(both)])
        if not both.size:
            continue
        levels = np.unique(both[np.linspace(0, both.size - 1, _LEVELS).astype(int)])
        reached = [_count_reached(each, levels) for each in (first, second)]
        for null, above in ((0, True), (0, False), (1, True), (1, False)):
            other = 1 - null
            seen, unseen = reached[null], sizes[other] - reached[other]
            if not above:
                seen, unseen = sizes[null] - seen, reached[other]
            yield (
                Event(name, 0.0, above, null),
                levels,
                _bound_roughly(seen, sizes[null], alarm),
                _bound_roughly(unseen, sizes[other], alarm),
            )


def _count_reached(values: Floats, levels: Floats) -> NDArray[np.int64]:
    there = np.sort(values[~np.isnan(values)])
    return there.size - np.searchsorted(there, levels, side="left")


def _bound_roughly(count: NDArray[np.int64], size: int, alarm: float) -> Rates:
    """Rates, and bounds that twice as many samples will put on them, about (Wilson)."""
    rate = np.asarray((count + 0.25) / (size + 0.5), np.float64)
    z, total = -NormalDist().inv_cdf(alarm), 2 * size
    spread = z * np.sqrt(rate * (1 - rate) / total + z * z / (4 * total**2))
    bound = (rate + z * z / (2 * total) + spread) / (1 + z * z / total)
    return rate, np.minimum(bound, np.float64(1))


def _judge(
    event: Event,
    signals: Signals,
    parts: list[OutcomeColumns],
    curve: Callable[[Floats], Floats],
    limits: tuple[float, float],
) -> Judgement:
    """Bound both error rates of an event, of samples that did not choose it."""
    reserve, alarm = limits
    seen = []
    for part in parts:
        values = dict(signals.read(*part))[event.signal]
        seen.append(int(np.count_nonzero((values >= event.level) == event.above)))
    sizes = [part.size for part in parts]
    null, other = event.null, 1 - event.null
    alpha = upper_bound(seen[null], sizes[null], alarm)
    beta = upper_bound(sizes[other] - seen[other], sizes[other], alarm)
    power = max(1 - beta - reserve, 0.0)
    return Judgement(
        alpha,
        beta,
        float(curve(np.array([alpha]))[0]),
        max(float(np.log(power / alpha)), 0.0) if power else 0.0,
        signals.words(event.signal, event.level, above=event.above),
        ((seen[0], sizes[0]), (seen[1], sizes[1])),
    )


def upper_bound(count: int, trials: int, alarm: float) -> float:
    """Upper confidence bound of a chance (Clopper and Pearson).

    It is below the chance in at most a share `alarm` of all experiments.

    >>> upper_bound(0, 1000, 0.05), upper_bound(7, 7, 0.05)
    (0.0029912..., 1.0)
    """
    if count == trials:
        return 1.0
    low, high = count / trials, 1.0
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if _tail_roughly(count, trials, middle) < alarm:
            high = middle
        else:
            low = middle
    # doubles found it; what is returned is certainly on the safe side
    widen = 1e-9
    while high < 1 and not _tail(count, trials, high) < alarm:
        high, widen = min(high * (1 + widen), 1.0), widen * 4
    return high


def _tail_roughly(count: int, trials: int, chance: float) -> float:
    """Chance of `count` or fewer of some trials, summed downwards from `count`."""
    rest = trials - count
    log = math.lgamma(trials + 1) - math.lgamma(count + 1) - math.lgamma(rest + 1)
    log += count * math.log(chance) + rest * math.log1p(-chance)
    fewer = np.arange(count, max(count - 50 - 40 * math.isqrt(count), 0), -1.0)
    ratios = fewer * (1 - chance) / ((trials - fewer + 1) * chance)
    return math.exp(log) * (1 + float(np.cumprod(ratios).sum()))


def _tail(count: int, trials: int, chance: float) -> arb:
    """Chance of `count` or fewer of some trials, as a ball."""
    with precision(_DIGITS):
        left, right = arb(trials - count), arb(count + 1)
        return (1 - arb(chance)).beta_lower(left, right, regularized=True)
