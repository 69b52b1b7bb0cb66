"""Mechanisms at their edges: what is refused, and searches that end."""

from fractions import Fraction
from typing import Any

import pytest
from flint import arb, ctx

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.noise.above_threshold import AboveThreshold
from sordino.noise.key_rounds import _Search
from sordino.noise.laplace import ContinuousLaplaceLaw, LaplaceNoise
from sordino.noise.numbers import ChoiceDomain, NumberDomain
from sordino.noise.sensitivity import Sensitivity
from sordino.noise.threshold import mechanism as appearance
from sordino.noise.threshold.fitting import _next
from sordino.noise.threshold.gaussian import _admitted_fit, _by_rho
from sordino.noise.threshold.laplace import LaplaceSumThreshold
from sordino.noise.threshold.mechanism import AbsentKeys, Change, _count, floor_to
from sordino.numbers import INFINITE, ball, sqrt
from tests.batches import for_each, sampled
from tests.planned_bits import PlannedBits

ENDLESS = float("inf")
APART = Change(1, Fraction(1), Fraction(1))


def test_absent_keys_are_drawn_by_a_function() -> None:
    absent = AbsentKeys(
        LaplaceNoise(Fraction(1)), Fraction(10), None, NumberDomain("f64")
    )
    with pytest.raises(InvalidParameter, match="draw_keys must be a function"):
        absent.release(3, ["a"])  # type: ignore[arg-type]


def test_a_walk_of_far_levels_ends_at_the_last_bin() -> None:
    """Where no noisy test holds before, the last bin is the bound."""
    bound = AboveThreshold("1/2")
    beyond = [9, 5, 1]
    assert bound._walked_far(beyond, -(10**30), PlannedBits()) == 2
    assert bound._walked_far(beyond, 10**30, PlannedBits()) == 0


def test_a_fit_that_no_variance_meets_is_refused() -> None:
    """After as many tries as one in doubt may need."""
    tried: list[Any] = []

    def fitted(variance: Any) -> Any:
        tried.append(variance)
        return sd.GaussianThreshold(variance=variance, threshold=9)

    with pytest.raises(InvalidParameter, match="cannot be met by any variance"):
        _admitted_fit(fitted, sd.PureDP(0), (1, 1, 1), Fraction(1))
    assert tried == sorted(tried)
    assert len(tried) > 1


@for_each("loss", [sd.PureDP(INFINITE), sd.ZCDP(0)])
def test_a_fit_by_rho_needs_one(loss: sd.Loss) -> None:
    with pytest.raises(InvalidParameter, match="must bound epsilon or rho"):
        _by_rho(loss, APART)


class Vague:
    """A law whose chances are known only at a high precision."""

    def __init__(self, digits: int) -> None:
        self.digits = digits

    def at_least(self, x: Fraction) -> arb:
        del x
        wide = arb(0, 2.0 ** (-20 if ctx.prec < self.digits else -ctx.prec))
        return ball(Fraction(1, 3)) + wide

    def chance_above(self, x: Fraction) -> arb:
        return self.at_least(x)


@for_each("digits", [10, 100, 700])
def test_a_vague_chance_is_asked_again(digits: int) -> None:
    """With more digits, until a short decimal is just above it."""
    chance = appearance.any_passes(Vague(digits), Fraction(1), 1)
    assert Fraction(1, 3) <= chance < Fraction(1, 3) * (1 + Fraction(1, 2**50))
    assert appearance._decimal_above(arb(0.5, 0.1)) is None


def test_integers_that_change_are_counted_by_their_norm() -> None:
    assert _count(INFINITE, Fraction(11, 2), "l1") == 5
    assert _count(INFINITE, sqrt(Fraction(7)), "l2") == 7
    assert _count(3, Fraction(11, 2), "l1") == 3
    assert floor_to(INFINITE, Fraction(1)) is INFINITE


def test_a_choice_is_of_an_integer() -> None:
    assert ChoiceDomain("bins", 3).is_integer


def test_a_delta_of_all_bounds_no_noise() -> None:
    """Where delta is 1 no scale is the largest, and none is found."""
    assert _Search(1.0, 1.0, 5, 0.0, 2).best() is None


def test_the_next_level_is_on_the_grid() -> None:
    """Or the next double where there is none."""
    assert _next(Fraction(5, 2), Fraction(1, 2)) == 3
    after = _next(Fraction(5, 2), None)
    assert 0 < after - Fraction(5, 2) < Fraction(1, 2**40)


def test_sums_over_a_threshold_need_an_epsilon() -> None:
    """None and all of it buy no noise; the noise and its law are Laplace's."""
    for epsilon in (0, ENDLESS):
        with pytest.raises(InvalidParameter, match="positive epsilon"):
            LaplaceSumThreshold.for_loss(
                sd.ApproxDP(epsilon, "1e-6"), (1, 1, 1), numbers=2
            )
    pair = LaplaceSumThreshold(2, 30, numbers=2)
    assert pair.noise == LaplaceNoise(Fraction(2))
    assert pair.law == ContinuousLaplaceLaw(Fraction(2))


def test_thresholds_hide_no_change_without_bound() -> None:
    """No key is hidden, no loss finite; a long way of integers is priced by epsilon."""
    mechanism = sd.LaplaceThreshold(10, 50, dtype="i64")
    endless = Sensitivity(l0=2, linf=ENDLESS)
    apart = mechanism.change(endless)
    assert mechanism.noise_loss(apart) == sd.PureDP(INFINITE)
    assert mechanism.delta_of(apart, Fraction(50)) == 1
    far = mechanism.change(Sensitivity(l0=1, linf=10**7))
    assert mechanism.noise_loss(far) == sd.PureDP(10**6)


def test_a_truth_next_to_a_half_is_known_by_more_digits() -> None:
    """Half and a little: the first digits of its enclosure disagree."""
    response = sd.RandomizedResponse("1e-45", categories=2)
    assert response._level == 2**63


@for_each("l0", [1, 999_999, 10**6, 10**9, 10**12])
def test_as_many_keys_as_one_likes(l0: int) -> None:
    """All new keys but one leave 1 / l0 of delta: a search that keeps less is met."""
    loss = sd.ApproxDP(1, "1e-6")
    fitted = sd.GaussianThreshold.for_loss(loss, (l0, f"sqrt({l0})", 1))
    assert loss.admits(fitted.map((l0, f"sqrt({l0})", 1)))
    least = float(sd.Gaussian.for_loss(loss, f"sqrt({l0})").scale)
    assert least * (1 - 1e-6) <= float(fitted.scale) < 1.1 * least


def test_a_question_about_very_many_groups_has_a_price() -> None:
    """The same search behind the price of a question."""
    people = sd.PrivateTable({"g": ["a"], "id": [1]}, protects=sd.AddRowsWithID("id"))
    session = sd.Session(tables={"t": people}, budget=sd.ApproxDP(1, "1e-6"))
    limits = sd.MaxGroupsPerID("g", 10**6), sd.MaxRowsPerGroupPerID("g", 1)
    asked = sd.table("t").enforce(*limits).group_by("g").agg(n=sd.count())
    price = session.price(asked, sd.ApproxDP(1, "1e-6"))
    assert sd.ApproxDP(1, "1e-6").admits(price.loss)


@sampled(1)
@for_each("dtype", ["f64", "i64"])
@for_each(
    ("epsilon", "delta"), [("1e-4", "1e-6"), ("0.001", "1e-50"), ("0.01", "1e-300")]
)
def test_small_losses_are_met(epsilon: str, delta: str, dtype: Any) -> None:
    loss = sd.ApproxDP(epsilon, delta)
    fitted = sd.GaussianThreshold.for_loss(loss, (1, 1, 1), dtype=dtype)
    assert loss.admits(fitted.map((1, 1, 1)))


@sampled(1, 3)
@for_each(
    "bounds",
    [(1, 1, 1), (1, 3, 3), (3, "sqrt(3)", 1), (2, 2, 2), (30, "sqrt(30)", 1)],
)
@for_each(("epsilon", "delta"), [(1, "1e-6"), (4, "1e-3")])
@pytest.mark.slow
def test_integers_need_hardly_more_noise_than_floats(
    bounds: Any, epsilon: int, delta: str
) -> None:
    """Where the map of integers is exact the fit follows it: no 7 % for want of it."""
    loss = sd.ApproxDP(epsilon, delta)
    whole = sd.GaussianThreshold.for_loss(loss, bounds, dtype="i64")
    real = sd.GaussianThreshold.for_loss(loss, bounds)
    assert loss.admits(whole.map(bounds))
    exact = whole.is_exact(whole.change(bounds))
    assert float(whole.scale) < float(real.scale) * (1.02 if exact else 1.12)
