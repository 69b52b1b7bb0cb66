"""Intervals: whatever lies within the reach of the noise lies within the bars."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sordino.aggregations.intervals import (
    Bars,
    Noise,
    additive,
    ratio,
    share,
    stdev,
    variance,
)
from sordino.errors import InvalidParameter
from sordino.mechanisms.gaussian import Gaussian
from sordino.mechanisms.geometric import Geometric
from sordino.mechanisms.laplace import Laplace
from tests.statistics import FALSE_ALARM

F = Fraction
ONE = Noise(Geometric(1))
FINE = Noise(Laplace(1), unit=F(1, 8))
WITHIN = (-3.0, 5.0)
CENTRE = 1.0
MECHANISMS = [Geometric(7), Laplace("7.5"), Gaussian(scale=6), Laplace(3, dtype="f32")]
sums = st.integers(-400, 400)
counts = st.integers(1, 200)
shifts = st.fractions(-1, 1)
"""How far the noise goes, in shares of its reach at the confidence asked."""


@dataclass(frozen=True)
class Halved:
    """A mutant: a mechanism that takes its error for half of what it is."""

    mechanism: Any

    @property
    def law(self) -> Any:
        """Return the law as it is."""
        return self.mechanism.law

    def error(self, confidence: Any) -> float:
        """Return half the error."""
        return float(self.mechanism.error(confidence)) / 2


def inside(bars: Bars, exact: Any) -> bool:
    """Tell whether exact answers lie within their bars."""
    return bool(((bars.low <= exact) & (exact <= bars.high)).all())


def moved(exact: Fraction, noise: Noise, shift: Fraction, confidence: Fraction) -> Any:
    """Return an exact number moved by a share of the reach, as a double."""
    return float(exact + shift * F(noise.reach(confidence)))


@given(n=sums, shift=shifts)
def test_a_number_within_reach_is_covered(n: int, shift: Fraction) -> None:
    """For noise within its reach, the exact number lies within the bars."""
    noisy = moved(F(n), FINE, shift, F(9, 10))
    assert inside(additive([noisy], FINE, "0.9"), n)


@given(top=sums, n=counts, up=shifts, across=shifts)
def test_a_ratio_of_sums_within_reach_is_covered(
    top: int, n: int, up: Fraction, across: Fraction
) -> None:
    """For both sums within their reach, the exact mean lies within the bars."""
    noises = FINE, ONE
    exact = np.clip(CENTRE + top / n, *WITHIN)
    top = round((exact - CENTRE) * n)
    noisy = [
        moved(F(x), noise, s, F(95, 100))
        for x, noise, s in zip((top, n), noises, (up, across), strict=True)
    ]
    bars = ratio([noisy[0]], [noisy[1]], noises, "0.9", WITHIN, CENTRE)
    assert inside(bars, np.clip(CENTRE + top / n, *WITHIN))
    assert bars.low >= WITHIN[0]
    assert bars.high <= WITHIN[1]


@given(a=counts, b=counts, up=shifts, across=shifts)
def test_a_share_of_sums_within_reach_is_covered(
    a: int, b: int, up: Fraction, across: Fraction
) -> None:
    """For both sums within their reach, the exact mean lies within the bars."""
    noisy = [moved(F(x), ONE, s, F(95, 100)) for x, s in ((a, up), (b, across))]
    bars = share([noisy[0]], [noisy[1]], (ONE, ONE), "0.9", WITHIN)
    assert inside(bars, WITHIN[0] + 8 * a / (a + b))


@given(
    values=st.lists(st.integers(-24, 40), min_size=1), moves=st.tuples(*[shifts] * 3)
)
def test_a_variance_of_moments_within_reach_is_covered(
    values: list[int], moves: tuple[Fraction, ...]
) -> None:
    """For all moments within their reach, the exact variance lies within the bars."""
    eighths = [F(value, 8) for value in values]
    centred = [x - 1 for x in eighths]
    moments = F(len(values)), sum(centred, F(0)), sum((x * x for x in centred), F(0))
    noises = ONE, FINE, FINE
    noisy = [
        [moved(x, noise, s, 1 - F(1, 30))]
        for x, noise, s in zip(moments, noises, moves, strict=True)
    ]
    exact = float(moments[2] / moments[0] - (moments[1] / moments[0]) ** 2)
    assert inside(variance(noisy, noises, "0.9", WITHIN), exact)
    assert inside(stdev(noisy, noises, "0.9", WITHIN), np.sqrt(exact))


@given(count=st.integers(40, 200), s1=sums, s2=st.integers(0, 900))
def test_the_range_of_a_variance_is_the_tightest(count: int, s1: int, s2: int) -> None:
    """A search of the box finds nothing outside the bars, and comes near both ends."""
    noises = ONE, FINE, ONE
    bars = variance([[count], [s1], [s2]], noises, "0.9", (-100.0, 100.0))
    ends = [
        np.linspace(
            middle - noise.reach(1 - F(1, 30)), middle + noise.reach(1 - F(1, 30)), 81
        )
        for middle, noise in zip((count, s1, s2), noises, strict=True)
    ]
    c, first, second = np.meshgrid(*ends)
    found = np.maximum(second, 0) / c - (first / c) ** 2
    wide = found.max() - found.min()
    assert bars.high == pytest.approx(max(found.max(), 0), abs=0.02 * wide)
    assert bars.low == pytest.approx(max(found.min(), 0), abs=0.02 * wide)


def test_integers_keep_integer_bars() -> None:
    """Counts with integer noise have integer ends, cut to the public range."""
    bars = additive(np.array([120, 3, -20]), Noise(Geometric(2)), "0.95", least=0)
    assert bars.low.tolist() == [114, 0, 0]
    assert bars.high.tolist() == [126, 9, 0]
    assert bars.sd.tolist() == [Geometric(2).law.deviation] * 3


def test_integers_beyond_the_doubles_are_covered() -> None:
    """Where doubles are farther apart than 1, the bars are wider, never narrower."""
    values = np.array([2**53 + 1, -(2**62) - 1, 2**63 - 1])
    bars = additive(values, Noise(Geometric.no_noise()), "0.95")
    for value, low, high in zip(values.tolist(), bars.low, bars.high, strict=True):
        assert F(low) <= value <= F(high)


def test_missing_values_have_no_bars() -> None:
    """NaN gives NaN in every part, and the neighbours are as ever."""
    two, gap = [50.0, np.nan], [60.0, 60.0]
    noises, three = (ONE, ONE), (ONE, ONE, ONE)
    for bars in (
        additive(two, ONE, "0.95"),
        ratio(two, gap, noises, "0.95", WITHIN),
        share(gap, two, noises, "0.95", WITHIN),
        variance([gap, gap, two], three, "0.95", WITHIN),
        stdev([two, gap, gap], three, "0.95", WITHIN),
    ):
        assert all(np.isnan(part[1]) for part in bars)
        assert np.isfinite([bars.low[0], bars.high[0]]).all()
        assert bars.columns("n")["n low"].null_count == 1


@pytest.mark.parametrize("count", [0.0, 1.0, -7.0])
def test_a_count_that_may_be_zero_says_nothing(count: float) -> None:
    """The bars are then the whole public range, without a standard deviation."""
    noises, wide = (ONE, ONE), ONE.reach(F(975, 1000))
    assert wide >= 1
    for bars, whole in (
        (ratio([2.0], [count], noises, "0.95", WITHIN, CENTRE), WITHIN),
        (share([count], [-1.0], noises, "0.95", WITHIN), WITHIN),
        (variance([[count], [2.0], [9.0]], (ONE, *noises), "0.95", WITHIN), (0, 16)),
        (stdev([[count], [2.0], [9.0]], (ONE, *noises), "0.95", WITHIN), (0, 4)),
    ):
        assert (bars.low[0], bars.high[0]) == whole
        assert np.isnan(bars.sd[0])


def test_certainty_is_the_public_range() -> None:
    """At confidence 1 nothing but the public range is certain."""
    bars = additive([5.0], ONE, 1, least=0)
    assert (bars.low[0], bars.high[0]) == (0, np.inf)
    assert ratio([9.0], [900.0], (ONE, ONE), 1, WITHIN).low[0] == WITHIN[0]


def test_no_noise_has_no_width() -> None:
    """Without noise the bars close on the exact answer, up to rounding."""
    none = Noise(Geometric.no_noise())
    assert [part[0] for part in additive([7], none, "0.95")] == [0, 7, 7]
    bars = ratio([1.0], [3.0], (none, none), "0.95", WITHIN)
    assert bars.high - bars.low < 1e-14
    bars = variance([[4.0], [2.0], [9.0]], (none, none, none), "0.95", WITHIN)
    assert bars.low == pytest.approx(2.0, rel=1e-14)
    assert bars.high == pytest.approx(2.0, rel=1e-14)
    assert bars.sd == 0


@pytest.mark.parametrize("scale", ["0.2", "0.5", "1", "4"])
def test_rounding_after_the_noise_is_counted(scale: str) -> None:
    """A rounded Gaussian has at most the stated deviation, and nearly so if wide."""
    noise = Noise(Gaussian(scale=scale), rounding=F(1, 2))
    whole = np.arange(-200, 201)
    normal = stats.norm(scale=float(scale))
    mass = normal.cdf(whole + 0.5) - normal.cdf(whole - 0.5)
    exact = np.sqrt((mass * whole**2).sum())
    assert exact <= noise.sd * (1 + 1e-9)
    assert exact >= noise.sd * (0.98 if float(scale) >= 0.5 else 0.2)
    assert noise.reach(F(1, 2)) >= normal.ppf(0.75) + 0.5


def test_a_confidence_is_a_probability() -> None:
    """Percent written as 95 is refused by name."""
    with pytest.raises(InvalidParameter, match="confidence must lie between 0 and 1"):
        additive([1], ONE, 95)


# --- By simulation -----------------------------------------------------------------

DRAWS = 100_000
DTYPES: dict[str, Any] = {"i64": np.int64, "f64": np.float64, "f32": np.float32}


def covers(share_found: Any, nominal: float) -> bool:
    """Tell whether coverage may be nominal: it is denied once in 1e9 runs if so."""
    hits = int(np.count_nonzero(share_found))
    return bool(stats.binom.cdf(hits, len(share_found), nominal) > FALSE_ALARM)


def counted(noise: Noise, exact: float) -> Any:
    """Return draws of noisy numbers around an exact one."""
    mechanism: Any = noise.mechanism
    zeros = np.zeros(DRAWS, DTYPES[mechanism.dtype])
    return exact + mechanism(zeros).astype(np.float64)


def simulated(kind: str, noise: Noise, told: Noise) -> tuple[Bars, Any]:
    """Return the bars of many releases of one answer, and that answer.

    One of the sums decides nearly all of the error, so that the intervals, made for the
    worst, are not twice as wide as need be.
    """
    eight = counted(noise, 800.0)
    noisy = counted(noise, 300.0)
    match kind:
        case "additive":
            return additive(noisy, told, "0.9", least=0), 300.0
        case "ratio":
            return ratio(noisy, eight, (told, told), "0.9", WITHIN, CENTRE), 1.375
        case "share":
            return share(noisy, eight, (told, told), "0.9", WITHIN), -3 + 8 * 3 / 11
    moments = eight, counted(noise, 0.0), counted(noise, 100.0)
    exact = 0.125
    if kind == "variance":
        return variance(moments, (told, told, told), "0.9", WITHIN), exact
    return stdev(moments, (told, told, told), "0.9", WITHIN), exact**0.5


KINDS = ["additive", "ratio", "share", "variance", "stdev"]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_coverage_is_at_least_nominal(kind: str, mechanism: Any) -> None:
    """Of 100,000 releases at least 90 % cover, and halved bars are caught."""
    noise = Noise(mechanism)
    bars, exact = simulated(kind, noise, noise)
    assert covers((bars.low <= exact) & (exact <= bars.high), 0.9)
    bars, exact = simulated(kind, noise, Noise(Halved(mechanism)))  # type: ignore[arg-type]
    assert not covers((bars.low <= exact) & (exact <= bars.high), 0.9)


def estimates(kind: str, noise: Noise) -> tuple[Bars, Any]:
    """Return the bars of many releases of one answer, and the noisy answers."""
    told = noise, noise
    count, first = counted(noise, 4000.0), counted(noise, 3000.0)
    second = counted(noise, 9000.0)
    spread = second / count - (first / count) ** 2
    return {
        "additive": (additive(first, noise, "0.9"), first),
        "ratio": (ratio(first, count, told, "0.9", WITHIN), first / count),
        "share": (
            share(first, count, told, "0.9", WITHIN),
            8 * first / (first + count),
        ),
        "variance": (
            variance((count, first, second), (noise, *told), "0.9", WITHIN),
            spread,
        ),
        "stdev": (
            stdev((count, first, second), (noise, *told), "0.9", WITHIN),
            np.sqrt(spread),
        ),
    }[kind]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_deviations_are_those_of_the_estimates(kind: str, mechanism: Any) -> None:
    """At large counts the sd is right to 3 %, over ten times the error of the test.

    The relative error of the deviation of 100,000 draws is at most 0.36 % (Laplace, of
    kurtosis 6), and one of 8 sigma has a chance below 1e-14; the delta method adds less
    than 0.1 % here. A deviation 5 % off is caught.
    """
    bars, noisy = estimates(kind, Noise(mechanism))
    found, told = float(np.std(noisy)), float(np.mean(bars.sd))
    assert found == pytest.approx(told, rel=0.03)
    assert found != pytest.approx(told * 1.065, rel=0.03)
