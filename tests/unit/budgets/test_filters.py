"""Filters hold against the worst analyst, add exactly, and charge enough."""

import time
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.budgets.charge import GRID, LONGEST, Charge
from sordino.losses.budgets.filters import (
    MOST_RELEASES,
    AbstractFilter,
    ApproxSum,
    PureOrConcentrated,
    PureSum,
)
from sordino.losses.budgets.limits import (
    FILTERS,
    Headroom,
    Limit,
    concentrated_filter,
    filter_for,
    gaussian_filter,
    read_filter,
    written_limits,
)
from sordino.losses.budgets.risk import Advantage, ErrorRates
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Loss, PureDP
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import Gaussian
from sordino.noise.laplace import Laplace
from tests.adversary import (
    Release,
    State,
    Step,
    natural,
    response,
    reveal,
    stepping,
    worst,
)
from tests.batches import for_each, sampled

LIMITS: dict[str, Callable[[], AbstractFilter]] = {
    "epsilon": lambda: filter_for(PureDP(1)),
    "epsilon, delta": lambda: filter_for(ApproxDP(1, "0.01")),
    "rho": lambda: filter_for(ZCDP("0.06")),
    "rho, delta": lambda: filter_for(ApproxZCDP("0.06", "0.01")),
    "mu": lambda: filter_for(GaussianDP("0.35")),
    "mu, delta": lambda: filter_for(GaussianDP("0.35") + ApproxDP(0, "0.01")),
    "either": lambda: concentrated_filter(ApproxDP(1, "0.01"), reserve="0.005"),
    "concentrated": lambda: concentrated_filter(ApproxDP(1, "0.01")),
    "gaussian": lambda: gaussian_filter(ApproxDP(1, "0.01"), reserve="0.005"),
    "advantage": lambda: gaussian_filter(Advantage("0.1")),
    "error rates": lambda: gaussian_filter(
        ErrorRates(fpr="0.01", tpr="0.05"), reserve="0.001"
    ),
}
RELEASES = [*map(response, ("0.1", "0.3", "0.8", "1")), reveal("0.005")]
LOSSES: list[Loss] = [
    PureDP("0.1"),
    PureDP("0.03"),
    Laplace(20).map(1),
    Gaussian(scale=50).map(1),
    BoundedRangeLoss(Fraction("0.1")),
    GaussianDP("0.05"),
    PureDP(0),
]
each_limit = pytest.mark.parametrize("limit", LIMITS, indirect=True)


@cache
def filter_of(name: str) -> AbstractFilter:
    return LIMITS[name]()


@pytest.fixture(scope="module")
def limit(request: pytest.FixtureRequest) -> AbstractFilter:
    return filter_of(request.param)


def accepted(limit: AbstractFilter, losses: list[Loss]) -> tuple[int, Charge]:
    """Return how many of some releases a filter takes, and their sum."""
    spent, count = limit.zero, 0
    for loss in losses:
        try:
            _, spent = limit.accept(spent, limit.charge_for(loss, loss))
        except (BudgetExceeded, InvalidParameter):
            continue
        count += 1
    return count, spent


def test_every_filter_is_a_case() -> None:
    assert {filter_of(name).rule for name in LIMITS} == set(FILTERS)


@pytest.mark.sampled(12)
@each_limit
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.8, 1.0])
def test_the_worst_analyst_stays_within_the_promise(
    limit: AbstractFilter, epsilon: float
) -> None:
    """What adaptive choices can reach is at most the promised delta, at any epsilon."""
    reached = worst(RELEASES, limit.zero, stepping(limit), epsilon)
    assert reached <= limit.promise.delta_at(epsilon) + 1e-12
    assert reached > 0 or epsilon > 0.3


@for_each(
    ("wider", "promised"),
    [
        (PureSum(Fraction("1.1")), PureDP(1)),
        (ApproxSum(Fraction(1), Fraction("0.015")), ApproxDP(1, "0.01")),
        (ApproxSum(Fraction("1.1"), Fraction("0.01")), ApproxDP(1, "0.01")),
    ],
)
def test_a_wider_filter_is_caught(wider: AbstractFilter, promised: Loss) -> None:
    """The adversary reaches the promise exactly where it can, so a mutant fails."""
    releases = [response("0.1"), response("1"), response("1.1"), reveal("0.005")]
    reached = worst(releases, wider.zero, stepping(wider), 0.9)
    assert reached > promised.delta_at(0.9) * 1.01


@sampled(2)
@for_each(
    ("epsilon", "delta", "ratio"),
    [(1, 0.01, 1.898), (1, 0.001, 0.894), (2, 1e-3, 2.584)],
)
def test_composing_curves_so_far_is_no_filter(
    epsilon: float, delta: float, ratio: float
) -> None:
    """Negative control: the natural filter gives away up to 2.6 times its delta.

    The ratios are those of an independent computation.
    """
    reached = worst(RELEASES[:3], (), natural(epsilon, delta), epsilon)
    assert reached / delta == pytest.approx(ratio, abs=2e-3)


@sampled(1)
@for_each(("epsilon", "delta", "ratio"), [(1, "0.01", 0.265), (1, "1e-3", 0.079)])
def test_the_either_filter_is_as_loose_as_known(
    epsilon: int, delta: str, ratio: float
) -> None:
    """The adversary reaches what an independent computation found for this filter."""
    limit = concentrated_filter(ApproxDP(epsilon, delta))
    reached = worst(RELEASES[:3], limit.zero, stepping(limit), epsilon)
    assert reached / float(Fraction(delta)) == pytest.approx(ratio, abs=2e-3)


def either(*limits: Limit) -> tuple[State, Step]:
    """Return what accepts while any of some limits does: the choice comes last."""
    steps = [stepping(limit.rule) for limit in limits]

    @cache
    def step(state: State, release: Release) -> State | None:
        assert isinstance(state, tuple)
        pairs = zip(steps, state, strict=True)
        after = tuple(
            None if left is None else one(left, release) for one, left in pairs
        )
        return None if after.count(None) == len(after) else after

    return tuple(limit.rule.zero for limit in limits), step


def test_a_counting_is_chosen_before_the_first_answer() -> None:
    """Chosen with the first charge it promises what each does; chosen last, more."""
    asked = Limit.of(ApproxDP(1, "0.01"))
    by_mu = asked.by_mu
    assert by_mu is not None
    for limit in (asked, by_mu):
        assert worst(RELEASES, limit.rule.zero, stepping(limit.rule), 1.0) <= 0.01
    start, step = either(asked, by_mu)
    assert worst(RELEASES, start, step, 1.0) > 0.0105


TWO_ROUNDS = [response("0.1"), response("0.9000026793"), reveal("1e-6")]


def test_two_rounds_refute_the_natural_filter() -> None:
    """Each plan costs 1e-6, and choosing between them by the first answer 1.475e-6."""
    step = natural(1, 1.00001e-6)
    first = step((), TWO_ROUNDS[0])
    assert first is not None
    assert all(step(first, second) is not None for second in TWO_ROUNDS[1:])
    reached = worst(TWO_ROUNDS, (), step, 1.0)
    assert reached >= 1.475e-6 * 0.999


def test_two_rounds_do_not_refute_ours() -> None:
    """Every filter that promises (1, 1e-6) keeps it against that analyst."""
    promised = ApproxDP(1, "1e-6")
    for limit in (
        filter_for(promised),
        concentrated_filter(promised, reserve="5e-7"),
        concentrated_filter(promised, reserve="9e-7"),
        gaussian_filter(promised, reserve="5e-7"),
    ):
        assert worst(TWO_ROUNDS, limit.zero, stepping(limit), 1.0) <= 1e-6, limit


@each_limit
@given(order=st.permutations(LOSSES * 2))
def test_sums_do_not_depend_on_the_order(
    limit: AbstractFilter, order: list[Loss]
) -> None:
    prices = []
    for loss in order:
        try:
            prices.append(limit.charge_for(loss, loss))
        except InvalidParameter:
            continue
    spent = limit.zero
    for price in prices:
        spent = spent.plus(price)
    backwards = limit.zero
    for price in reversed(prices):
        backwards = backwards.plus(price)
    assert spent == backwards


@each_limit
@given(picks=st.lists(st.sampled_from(LOSSES), max_size=30), more=st.data())
def test_what_is_refused_stays_refused(
    limit: AbstractFilter, picks: list[Loss], more: st.DataObject
) -> None:
    _, spent = accepted(limit, picks)
    assert limit.holds(spent)
    loss = more.draw(st.sampled_from(LOSSES))
    try:
        price = limit.charge_for(loss, loss)
    except InvalidParameter:
        return
    if limit.holds(spent.plus(price)):
        assert limit.holds(spent.plus(limit.charge_for(PureDP(0), PureDP(0))))
    else:
        assert not limit.holds(spent.plus(price).plus(price))


@each_limit
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_price_is_at_least_the_loss(limit: AbstractFilter, loss: Loss) -> None:
    """What a release is charged, read as a loss, bounds its curve everywhere."""
    try:
        price = limit.charge_for(loss, loss)
    except InvalidParameter:
        return
    epsilons = np.linspace(0, 2, 201)
    assert np.all(
        limit.loss_of(price).delta_at(epsilons) >= loss.delta_at(epsilons) - 1e-12
    )


@each_limit
def test_a_filter_is_written_and_read(limit: AbstractFilter) -> None:
    assert read_filter(limit.rule, written_limits(limit)) == limit


@each_limit
def test_what_is_left_can_be_spent(limit: AbstractFilter) -> None:
    small = PureDP("0.05")
    _, spent = limit.accept(limit.zero, limit.charge_for(small, small))
    left = limit.remainder(spent)
    price = limit.charge_for(left, left)
    assert limit.holds(spent.plus(price))
    if not isinstance(limit, PureOrConcentrated):
        with pytest.raises(BudgetExceeded, match="nothing was charged"):
            limit.accept(spent.plus(price), limit.charge_for(small, small))


def test_ten_tenths_are_one() -> None:
    """Ten times "0.1" of 1 is exactly spent, and 1e-30 more is refused."""
    limit = filter_for(PureDP(1))
    count, spent = accepted(limit, [PureDP("0.1")] * 11)
    assert (count, limit.remainder(spent)) == (10, PureDP(0))
    least = PureDP("1e-30")
    with pytest.raises(BudgetExceeded):
        limit.accept(spent, limit.charge_for(least, least))


def test_two_halves_of_gaussian_noise_fit() -> None:
    """Gaussian releases are charged what was asked, and two halves are a whole."""
    limit = filter_for(ApproxDP(1, "1e-6"))
    half = ApproxDP("0.5", "5e-7")
    loss = Gaussian.for_loss(half, 1).map(1)
    assert half.admits(loss)
    spent = limit.zero
    for _ in range(2):
        _, spent = limit.accept(spent, limit.charge_for(half, loss))
    assert limit.remainder(spent) == ApproxDP(0, 0)


def test_many_small_gaussian_releases_fit_where_rho_is_counted() -> None:
    """The concentrated filter takes 121 releases of mu 0.02 in (1, 1e-6)."""
    limit = concentrated_filter(ApproxDP(1, "1e-6"))
    assert accepted(limit, [GaussianDP("0.02")] * 200)[0] == 121
    assert (
        accepted(gaussian_filter(ApproxDP(1, "1e-6")), [GaussianDP("0.02")] * 200)[0]
        == 140
    )


def test_few_large_pure_releases_fit_where_either_is_counted() -> None:
    """The sum of epsilons is never worse: ten tenths fit, where rhos take five."""
    assert (
        accepted(concentrated_filter(ApproxDP(1, "1e-6")), [PureDP("0.1")] * 20)[0]
        == 10
    )


def test_one_delta_pays_for_one_event() -> None:
    """Beside a delta the epsilon and the rho may fail apart: then rho alone decides.

    Else nine tenths of the delta would pay for the failures of both branches.
    """
    limit = concentrated_filter(ApproxDP(1, "1e-6"), reserve="9e-7")
    without, beside = PureDP("0.1"), ApproxDP("0.1", "1e-12")
    assert accepted(limit, [without] * 20)[0] == 10
    assert accepted(limit, [beside] * 20)[0] == 4
    assert accepted(limit, [beside, *[without] * 20])[0] == 4


@for_each(
    ("epsilon", "delta", "part", "rho", "mu"),
    [
        ("0.5", "1e-6", "0.1", 0.006575, 0.12342),
        (1, "1e-6", "0.5", 0.022937, 0.22909),
        (1, "1e-9", "0.9", 0.013243, 0.17042),
        (3, "1e-8", "0", 0.136565, 0.54986),
        (10, "1e-10", "0.5", 0.967978, 1.44376),
    ],
)
def test_splits_match_the_table(
    epsilon: Any, delta: str, part: str, rho: float, mu: float
) -> None:
    budget = ApproxDP(epsilon, delta)
    reserve = Fraction(delta) * Fraction(part)
    split = concentrated_filter(budget, reserve)
    assert float(split.rho) == pytest.approx(rho, rel=1e-4)
    kept = ApproxDP(epsilon, (budget.delta - reserve) / (1 - reserve))
    assert Fraction(ZCDP(split.rho).delta_at(epsilon)) <= kept.delta
    found = gaussian_filter(budget, reserve).limits["square"]
    assert float(found) ** 0.5 == pytest.approx(mu, rel=1e-4)


def test_time_and_size_stay_constant() -> None:
    """The last of ten thousand charges takes no longer than the first ones."""
    limit = filter_for(PureDP(10))
    odd = [Fraction(1, 10**6 + 2 * n + 1) for n in range(10_000)]
    spent, marks = limit.zero, [time.process_time()]
    for start in range(0, len(odd), 2500):
        for epsilon in odd[start : start + 2500]:
            _, spent = limit.accept(spent, Charge(limit.coordinates, (epsilon,)))
        marks.append(time.process_time())
    assert isinstance(spent.amounts[0], Fraction)
    assert spent.amounts[0].denominator.bit_length() <= LONGEST + GRID.bit_length()
    assert 0 <= spent.amounts[0] - sum(odd[:50]) < 10
    quarters = [b - a for a, b in pairwise(marks)]
    assert quarters[-1] < 5 * quarters[1] + 0.05


def test_a_rounded_charge_is_not_less() -> None:
    """A charge that would make the sum too long is rounded up by less than 2**-256."""
    spent = Charge(("epsilon",), (Fraction(1, 3**1300),))
    charge = Charge(("epsilon",), (Fraction(1, 7),))
    (fitted,) = charge.shorten(spent).amounts
    assert 0 < fitted - Fraction(1, 7) < Fraction(1, GRID)
    assert charge.shorten(Charge(("epsilon",), (Fraction(1, 3),))) == charge


@each_limit
def test_what_is_asked_in_the_terms_of_a_limit_is_charged_as_asked(
    limit: AbstractFilter,
) -> None:
    """One that costs less makes no room for more; one that costs nothing is free."""
    for kind in limit.own[:1]:
        asked: Any = kind("1/1000")  # type: ignore[call-arg]
        charged = limit.charge_for(asked, kind("1/2000"))  # type: ignore[call-arg]
        assert charged == limit.charge_for(asked, asked)
        assert charged != limit.zero
        assert limit.charge_for(asked, PureDP(0)) == limit.zero


ROOMS: Final[dict[str, tuple[Callable[[], Limit], Loss]]] = {
    "as asked": (lambda: Limit.of(ApproxDP(1, "1e-6")), ApproxDP("0.1", "2e-7")),
    "pure of approximate": (lambda: Limit.of(ApproxDP(1, "1e-6")), PureDP("0.3")),
    "pure": (lambda: Limit.of(PureDP("0.7")), PureDP("0.1")),
    "rho": (lambda: Limit.of(ZCDP("0.1")), ZCDP("0.03")),
    "rho of pure": (lambda: Limit.of(ZCDP("0.1")), PureDP("0.1")),
    "mu": (lambda: Limit.of(GaussianDP(1)), GaussianDP("0.3")),
    "concentrated": (
        lambda: Limit.of(ApproxDP(1, "1e-6"), counting="concentrated"),
        PureDP("0.1"),
    ),
    "nothing": (lambda: Limit.of(PureDP(1)), PureDP(2)),
    "without a delta": (lambda: Limit.of(ApproxDP(1, 0)), PureDP("0.3")),
    "nearly everything": (lambda: Limit.of(ApproxDP(10**7, "0.9")), PureDP(10**6)),
}


@for_each("name", ROOMS)
def test_as_many_fit_as_are_told(name: str) -> None:
    """Counted one by one, at first and after each release."""
    opened, asked = ROOMS[name]
    limit = opened()
    rule, spent = limit.rule, limit.rule.zero
    told = rule.count_releases(spent, asked, asked)
    assert told is not None
    for done in range(told + 1):
        room = Headroom.of(rule.promise, rule, spent, (asked, asked))
        assert room.more == told - done
        charge = rule.charge_for(asked, asked)
        if done == told:
            with pytest.raises(BudgetExceeded):
                rule.accept(spent, charge)
        else:
            _, spent = rule.accept(spent, charge)


def test_what_cannot_be_counted_is_told() -> None:
    """And which counting answers more, of a limit that could have been another."""
    rule, small, rho = filter_for(ApproxDP(1, "1e-6")), PureDP("0.02"), ZCDP("0.01")
    none = Headroom.of(rule.promise, rule, rule.zero, (rho, rho))
    assert none.more is None
    assert "cannot be counted" in str(none)
    many = Headroom.of(rule.promise, rule, rule.zero, (small, small))
    assert many.by_counting == {"asked": 50, "concentrated": 121, "gaussian": 89}
    assert "counts as 'concentrated' (sd.Limit.of) 121 such fit" in many.advice
    assert rule.count_releases(rule.zero, PureDP(0), PureDP(0)) == MOST_RELEASES
