"""Thresholded releases against their exact law, and mutants that must be rejected."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import sordino as sd
from sordino.noise.numbers import FLOATS, INTEGERS
from sordino.noise.threshold.mechanism import AbstractThresholdMechanism
from tests.batches import for_each, sampled
from tests.statistics import FALSE_ALARM, alike

KEYS = 200_000
SCALE = 1.5
LEVEL = 3
MAKERS: dict[str, Callable[..., AbstractThresholdMechanism]] = {
    "Laplace": lambda t, **o: sd.LaplaceThreshold(SCALE, t, **o),
    "Gaussian": lambda t, **o: sd.GaussianThreshold(scale=SCALE, threshold=t, **o),
}
CASES = [
    pytest.param(kind, dtype, grid, sign, id=f"{kind} {dtype} {grid} {sign}")
    for kind in MAKERS
    for dtype in (*FLOATS, *INTEGERS)
    for grid in ((None, 0, -2, 1) if dtype == "f64" else (None,))
    for sign in ((1, -1) if dtype[0] != "u" else (1,))
]


def chance(kind: str, step: float | None, far: float) -> float:
    """Return P[Z >= far], far > 0, by sums and integrals written here again."""
    if step is None:
        if kind == "Laplace":
            return math.exp(-far / SCALE) / 2
        return math.erfc(far / SCALE / math.sqrt(2)) / 2
    points = np.arange(-200, 201) * step
    power = np.abs(points / SCALE) if kind == "Laplace" else (points / SCALE) ** 2 / 2
    mass = np.exp(-power)
    return float(mass[points >= far - 1e-9].sum() / mass.sum())


def plausible(successes: int, trials: int, rate: float) -> bool:
    """Tell whether a count follows a binomial law: wrongly not once in 1e9 runs."""
    return bool(stats.binomtest(successes, trials, rate).pvalue > FALSE_ALARM)


def released(mechanism: AbstractThresholdMechanism, value: float, keys: int) -> Any:
    """Return what a map gives back in which every key has the same value."""
    kind = mechanism.values.numpy
    return mechanism((np.arange(keys), np.full(keys, value, kind)))


@sampled(5, 14)
@for_each(("kind", "dtype", "grid", "sign"), CASES)
def test_measured_delta(kind: str, dtype: str, grid: int | None, sign: int) -> None:
    """Keys of one contributor pass with the stated chance, and with no mutant's."""
    mechanism = MAKERS[kind](sign * LEVEL, dtype=dtype, granularity=grid)
    step = 1.0 if dtype in INTEGERS else None if grid is None else 2.0**grid
    value, far = (1, LEVEL - 1) if grid != 1 else (2, 2)  # both on the grid of 2
    keys, values = released(mechanism, sign * value, KEYS)
    passed = len(keys)
    assert (sign * values.astype(float) >= LEVEL).all()
    assert plausible(passed, KEYS, chance(kind, step, far))
    delta = float(mechanism.map((1, value, value)).delta)
    assert passed <= stats.binom.isf(FALSE_ALARM, KEYS, delta)
    if step is not None:
        strictly = chance(kind, step, far + step)
        assert not plausible(passed, KEYS, strictly), "a mutant: > for >="
    for wrong in (far - max(step or 1, 1), far + max(step or 1, 1)):
        assert not plausible(passed, KEYS, chance(kind, step, wrong)), "off by one"


@for_each("kind", MAKERS)
@for_each("options", [{}, {"dtype": "i32"}], ids=str)
def test_measured_delta_of_several_keys(kind: str, options: dict[str, Any]) -> None:
    """One of l0 new keys appears with the stated delta, not with that of one key."""
    mechanism, l0 = MAKERS[kind](LEVEL + 1, **options), 5
    keys, _ = released(mechanism, 1, KEYS)
    seen, units = len(np.unique(keys // l0)), KEYS // l0
    delta = float(mechanism.map((l0, l0, 1)).delta)
    assert plausible(seen, units, delta)
    forgotten = float(mechanism.map((1, 1, 1)).delta)
    assert not plausible(seen, units, forgotten), "a mutant: l0 forgotten"


def test_exact_sum_decides_before_rounding() -> None:
    start, level = 2.0**25, 2**25 + 3  # neighbouring f32 lie 4 apart here
    mechanism = sd.LaplaceThreshold(SCALE, level, dtype="f32")
    keys, values = released(mechanism, start, KEYS)
    assert plausible(len(keys), KEYS, chance("Laplace", None, 3))
    rounded_first = chance("Laplace", None, 2)
    assert not plausible(len(keys), KEYS, rounded_first), "a mutant: rounds first"
    assert set(values.tolist()) <= {start + 4 * k for k in range(1, 20)}


def test_exact_sum_decides_before_saturation() -> None:
    """At the end of a dtype the sum is compared before it saturates."""
    for dtype, least, most in (("i8", -128, 127), ("u64", 0, 2**64 - 1)):
        above = sd.LaplaceThreshold(SCALE, most, dtype=dtype)
        keys, values = released(above, most - 2, KEYS)
        assert plausible(len(keys), KEYS, chance("Laplace", 1.0, 2))
        assert set(values.tolist()) == {most}
        if least:
            below = sd.LaplaceThreshold(SCALE, least, dtype=dtype)
            keys, values = released(below, least + 2, KEYS)
            assert plausible(len(keys), KEYS, chance("Laplace", 1.0, 2))
            assert set(values.tolist()) == {least}


def test_u64_beyond_the_signed_half() -> None:
    """An unsigned threshold on either side of 2**63 is compared as it is."""
    for level in (5, 2**63 - 1, 2**63, 2**63 + 5):
        mechanism = sd.LaplaceThreshold("1e-3", level, dtype="u64")
        assert mechanism({"b": level, "a": level - 3, "c": 2**64 - 1}) == {
            "b": level,
            "c": 2**64 - 1,
        }


def test_nothing_to_count_is_never_noised() -> None:
    """A value of 0 is absent: it does not pass even where its noise would."""
    for mechanism in (
        sd.LaplaceThreshold(100, 1),
        sd.GaussianThreshold(scale=100, threshold=-1, dtype="i64"),
        sd.LaplaceThreshold(100, 1, granularity=0),
    ):
        keys, _ = released(mechanism, 0, 1000)
        assert len(keys) == 0
    assert sd.LaplaceThreshold(100, 1)({"a": -0.0, "b": 0}) == {}


def shuffled(order: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return which keys, one in two of value 5, passed in this input order."""
    values = np.where(np.arange(order.size) % 2, 5, 1)
    mechanism = sd.LaplaceThreshold(SCALE, 4, dtype="i64")
    keys, _ = mechanism((order, values[order]))
    assert (np.diff(keys) > 0).all()
    passed = np.zeros(order.size, np.int64)
    passed[keys] = 1
    return passed


def test_order_of_input_tells_nothing() -> None:
    """Under any permutation each kind of key passes as often, in the same order."""
    count = 40_000
    generator = np.random.default_rng(7)
    straight, mixed = shuffled(np.arange(count)), shuffled(generator.permutation(count))
    sorted_by_value = shuffled(np.argsort(np.arange(count) % 2, kind="stable"))
    kinds = 2 * (np.arange(count) % 2)
    assert alike(straight + kinds, mixed + kinds)
    assert alike(straight + kinds, sorted_by_value + kinds)


@sampled(4, 8)
@for_each("kind", MAKERS)
@for_each(
    "options",
    [{}, {"dtype": "f32"}, {"dtype": "i16"}, {"granularity": -1}],
    ids=str,
)
@for_each("sign", [1, -1])
def test_absent_keys_have_the_law_of_noised_zeros(
    kind: str, options: dict[str, Any], sign: int
) -> None:
    """What absent keys add has the law of noising a 0 for each of them."""
    mechanism = MAKERS[kind](sign * 2, **options)
    step = 1.0 if "dtype" in options and options["dtype"][0] == "i" else None
    step = 0.5 if "granularity" in options else step
    trials = 20_000
    places, values = mechanism.release_absent(trials, lambda positions: positions)
    rate = chance(kind, step, 2)
    assert plausible(len(places), trials, rate)
    assert not plausible(len(places), trials, rate * 0.7), "a mutant of the chance"
    assert (np.diff(places) > 0).all()
    assert values.dtype == mechanism.values.numpy
    halves = np.bincount(places // (trials // 2), minlength=2)
    assert plausible(int(halves[0]), int(halves.sum()), 0.5)
    size = sign * values.astype(float)
    assert (size >= 2).all()
    further = chance(kind, step, 4) / rate
    assert plausible(int((size >= 4).sum()), len(size), further)


def test_absent_keys_cost_what_passes() -> None:
    """Of 10**15 absent keys a handful is drawn, and the keys asked for are theirs."""
    mechanism = sd.LaplaceThreshold(1, 31)
    asked: list[int] = []

    def listing(positions: NDArray[np.int64]) -> list[str]:
        asked.extend(positions.tolist())
        return [f"key {position}" for position in positions]

    keys, values = mechanism.release_absent(10**15, listing)
    assert keys == [f"key {position}" for position in asked]
    assert len(keys) == len(values) <= stats.poisson.isf(1e-9, 1e15 * math.exp(-31) / 2)
    none = sd.LaplaceThreshold.no_noise(3).release_absent(10**9, listing)
    assert len(none[0]) == len(none[1]) == 0
    with pytest.raises(sd.errors.InvalidParameter, match="draw_keys must return one"):
        sd.LaplaceThreshold(9, 1).release_absent(100, lambda _: [])
    with pytest.raises(sd.errors.InvalidParameter, match="n_absent_keys"):
        mechanism.release_absent(-1, listing)
