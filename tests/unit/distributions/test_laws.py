"""Laws of noise: tails, quantiles, deviations, and what lies at their edges."""

from fractions import Fraction
from typing import Any

import mpmath as mp
import pytest
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st

from sordino.noise import gaussian
from sordino.noise.gaussian import ContinuousGaussianLaw, DiscreteGaussianLaw
from sordino.noise.laplace import (
    ContinuousLaplaceLaw,
    DiscreteLaplaceLaw,
    LaplaceSumLaw,
)
from sordino.noise.law import AbstractLatticeLaw, AbstractLaw, PointMass, _least
from sordino.noise.sums import GaussianBlend
from sordino.numbers import ball, fraction, sqrt
from sordino.numbers.exact import floor_exact
from tests.batches import for_each, sampled

F = Fraction
VARIANCES = [F(1, 100), F(1, 4), F(1), F(30), F(4095), F(4096), F(10**5)]
LATTICE: list[AbstractLatticeLaw] = [
    DiscreteLaplaceLaw(F(1, 3)),
    DiscreteLaplaceLaw(F(40), F(1, 8)),
    DiscreteGaussianLaw(F(9)),
    DiscreteGaussianLaw(F(10**6)),
    DiscreteGaussianLaw(F(9), F(4)),
]
CONTINUOUS: list[AbstractLaw] = [
    ContinuousLaplaceLaw(F(7, 2)),
    ContinuousGaussianLaw(F(9)),
    ContinuousGaussianLaw(sqrt(F(2))),
]
probabilities = st.fractions(F(1, 10**12), 1 - F(1, 10**12))


def discrete_gaussian_tail(variance: Fraction, k: int) -> Any:
    """Sum the tail directly to 40 digits."""
    v = mp.mpf(variance.numerator) / variance.denominator
    far = int(mp.sqrt(2 * v * 400)) + k + 10
    heights = {x: mp.exp(-(mp.mpf(x) ** 2) / (2 * v)) for x in range(far)}
    return sum(heights[x] for x in range(k, far)) / (2 * sum(heights.values()) - 1)


@sampled(11)
@for_each("variance", VARIANCES, ids=str)
@for_each("z", ["0.01", "0.7", "3", "20", "37"])
def test_discrete_gaussian_tail_encloses_the_sum(variance: Fraction, z: str) -> None:
    """The ball holds the directly summed tail and is narrow, down to 1e-300."""
    k = max(1, int(float(z) * float(variance) ** 0.5))
    with ctx.workprec(128), mp.workdps(50):
        tail = DiscreteGaussianLaw(variance).tail(k)
        expected = discrete_gaussian_tail(variance, k)
        low, high = fraction(tail.lower()), fraction(tail.upper())
        slack = expected * mp.mpf(10) ** -42
        assert mp.mpf(low.numerator) / low.denominator <= expected + slack
        assert mp.mpf(high.numerator) / high.denominator >= expected - slack
    assert tail.rel_accuracy_bits() > 90


@for_each("k", [1, 64, 200, 640, 2400])
def test_both_ways_to_sum_a_gaussian_tail_agree(k: int) -> None:
    """At the variance where the method changes, both enclosures overlap."""
    law = DiscreteGaussianLaw(F(64**2))
    with ctx.workprec(128):
        assert law._integral(k).overlaps(law._sum_from(k))


def test_a_missing_term_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the correction terms off by 2 % the two enclosures no longer overlap."""
    law = DiscreteGaussianLaw(F(64**2))
    original = gaussian._bernoulli
    monkeypatch.setattr(gaussian, "_bernoulli", lambda n: original(n) * F(51, 50))
    with ctx.workprec(128):
        assert not law._integral(200).overlaps(law._sum_from(200))


@for_each("law", LATTICE, ids=repr)
def test_points_belong_to_the_closed_tail_only(law: AbstractLatticeLaw) -> None:
    unit = law.unit
    for k in (-2, 0, 1, 3):
        at, between = k * unit, (k + F(1, 2)) * unit
        assert law.at_least(at) > law.chance_above(at)
        assert law.at_least(between).overlaps(law.chance_above(between))
        assert law.chance_above(at).overlaps(law.at_least(at + unit))
        assert law.at_most(at).overlaps(1 - law.chance_above(at))


@for_each("law", LATTICE, ids=repr)
@given(p=probabilities)
def test_lattice_quantiles_are_the_least_points(
    law: AbstractLatticeLaw, p: Fraction
) -> None:
    """P[Z <= x] >= p at the quantile, and not one step below it."""
    x = law.quantile(p)
    assert isinstance(x, Fraction)
    assert fraction(law.at_most(x).upper()) >= p
    assert fraction(law.at_most(x - law.unit).lower()) <= p


@for_each("law", CONTINUOUS, ids=repr)
@given(p=probabilities)
def test_continuous_quantiles_are_tight_from_above(
    law: AbstractLaw, p: Fraction
) -> None:
    """P[Z <= x] encloses p to 1e-20 relative at the quantile."""
    with ctx.workprec(128):
        x = law.quantile(p)
        assert isinstance(x, Fraction)
        found = fraction(law.at_most(x).mid())
    assert abs(found - p) <= min(p, 1 - p) / 10**15


@for_each("law", [*LATTICE, *CONTINUOUS], ids=repr)
def test_laws_are_symmetric(law: AbstractLaw) -> None:
    for x in (F(0), F(1, 2), F(5), F(77, 3)):
        assert law.at_most(-x).overlaps(law.at_least(x))
    assert law.quantile(F(1, 2)) == 0


def summed(law: AbstractLatticeLaw) -> Any:
    """Sum the squares of a lattice law to 30 digits, from its tails."""
    with mp.workdps(40):
        tails: list[Any] = []
        while not tails or tails[-1] > mp.mpf(10) ** -45:
            tail = fraction(law.tail(len(tails) + 1).mid())
            tails.append(mp.mpf(tail.numerator) / tail.denominator)
        # E[K**2] = 2 sum over k >= 1 of (2 k - 1) P[K >= k]
        unit = mp.mpf(law.unit.numerator) / law.unit.denominator
        total = sum((2 * k - 1) * tail for k, tail in enumerate(tails, 1))
        return unit * mp.sqrt(2 * total)


@sampled(5)
@for_each(
    "law",
    [
        DiscreteLaplaceLaw(F(1, 3)),
        DiscreteLaplaceLaw(F(40), F(1, 8)),
        DiscreteLaplaceLaw(sqrt(F(2)), F(3)),
        *(DiscreteGaussianLaw(v) for v in VARIANCES if v < 4000),
        DiscreteGaussianLaw(F(899, 100)),
        DiscreteGaussianLaw(F(9)),
        DiscreteGaussianLaw(F(2), F(1, 4)),
    ],
    ids=repr,
)
def test_lattice_deviations_are_rounded_up(law: AbstractLatticeLaw) -> None:
    """The deviation is the double next above the sum of squares."""
    with ctx.workprec(160):
        exact = summed(law)
    assert law.deviation == pytest.approx(float(exact), rel=1e-15)
    assert mp.mpf(law.deviation) >= exact * (1 - mp.mpf(10) ** -30)


@for_each("law", CONTINUOUS, ids=repr)
def test_continuous_deviations_are_rounded_up(law: AbstractLaw) -> None:
    """The deviation is that of the integral of 2 x P[Z > x], twice, rounded up."""

    def tail(x: Any) -> Any:
        point = fraction(law.chance_above(Fraction(float(x))).mid())
        return 2 * x * mp.mpf(point.numerator) / point.denominator

    with ctx.workprec(64):
        exact = mp.sqrt(2 * mp.quad(tail, [0, 5, 20, 80, 320]))
    assert law.deviation == pytest.approx(float(exact), rel=1e-12)


def test_known_deviations() -> None:
    laplace = F(ContinuousLaplaceLaw(F(1)).deviation)
    assert laplace**2 > 2 > (laplace - F(2) ** -52) ** 2
    assert ContinuousGaussianLaw(F(9)).deviation == 3.0
    assert DiscreteGaussianLaw(F(10**12)).deviation == 10.0**6
    assert PointMass().deviation == 0.0
    assert 0 < DiscreteGaussianLaw(F(1, 10**6)).deviation < 1e-300
    assert 0 < DiscreteLaplaceLaw(F(1, 1000)).deviation < 1e-100


def test_known_values() -> None:
    assert float(ContinuousGaussianLaw(F(1)).quantile(F("0.975"))) == pytest.approx(
        1.959963984540054, rel=1e-15
    )
    q = mp.exp(-1)
    assert float(DiscreteLaplaceLaw(F(1)).at_least(F(9)).mid()) == pytest.approx(
        float(q**9 / (1 + q)), rel=1e-15
    )


@for_each("p", ["0.25", "0.75", "0.999"])
def test_quantiles_of_wide_noise_are_found_at_once(p: str) -> None:
    """Where doubles are 1e14 steps apart, the last step is still the least that is."""
    law = DiscreteLaplaceLaw(F(10**30))
    found = law.quantile(F(p))
    assert isinstance(found, Fraction)
    with ctx.workprec(256):
        assert law.at_most(found) >= ball(F(p))
        assert law.at_most(found - 1) < ball(F(p))


@for_each("guess", [0, 4, 5, 6, 100, 10**9])
@for_each("least", [0, 1, 5])
def test_the_least_is_found_from_any_guess(guess: int, least: int) -> None:
    assert _least(lambda k: k >= least, guess) == least


@for_each("whole", [0, 1, 2, 9, 10, 80, 81, 82, 10**6])
def test_the_floor_of_roots_is_exact(whole: int) -> None:
    root = sqrt(Fraction(whole))
    assert floor_exact(root) ** 2 <= whole < (floor_exact(root) + 1) ** 2
    fourth = sqrt(root)
    assert floor_exact(fourth) ** 4 <= whole < (floor_exact(fourth) + 1) ** 4


@for_each("variance", [Fraction(1, 3), Fraction(7, 2), Fraction(40)])
def test_masses_of_a_discrete_gaussian_are_all_there_is(variance: Fraction) -> None:
    law = DiscreteGaussianLaw(variance)
    total = sum((law.mass(k) for k in range(-60, 61)), law.mass(0) * 0)
    assert abs(float(total.mid()) - 1) < 1e-12
    beyond = sum((law.mass(k) for k in range(4, 61)), law.mass(0) * 0)
    assert abs(float((beyond - law.tail(4)).mid())) < 1e-12
    assert isinstance(law.blend, GaussianBlend)
    assert law.deviation <= law.spread == float(law.spread)


def test_a_point_of_a_sum_of_laplace_noises_has_no_mass() -> None:
    law = LaplaceSumLaw(3, Fraction(2))
    for x in (Fraction(0), Fraction(5), Fraction(-1, 3)):
        above, least = law.chance_above(x), law.at_least(x)
        assert (above.mid(), above.rad()) == (least.mid(), least.rad())
