"""The walk upwards: price over every small table, exact law, and useful bounds."""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.noise import above_threshold
from sordino.noise.above_threshold import AboveThreshold
from sordino.noise.bin_counts import BinCounts
from sordino.noise.sampling.bits import Bits
from tests.batches import for_each, sampled
from tests.statistics import choices_follow

F = Fraction
Counts = tuple[int, ...]
FAR = 40
HALF = F(1, 2)
"""exp(-1 / scale): noise with P[Z = z] = (1/3) 2**-|z|, so that epsilon is 2 ln 2."""


def tail(least: int, ratio: Any) -> Any:
    if least > 0:
        return ratio**least / (1 + ratio)
    return 1 - ratio ** (1 - least) / (1 + ratio)


def law_of(
    beyond: Counts, left: int, ratio: Any = HALF, steps: Any = HALF
) -> list[Any]:
    """Return the chance of each answer, exactly but for levels that are too far.

    What is missing from 1 is at most the chance of a level FAR from 0. The noise of
    the level has its ratio, that of the steps another one, so that mutants can be told.
    """
    law: list[Any] = [0] * len(beyond)
    for level in range(-FAR, FAR + 1):
        going = (1 - ratio) / (1 + ratio) * ratio ** abs(level)
        for step, count in enumerate(beyond[:-1]):
            needed = left + level - count
            law[step] += going * tail(-needed, steps)
            going *= tail(needed + 1, steps)
        law[-1] += going
    return law


def tables(length: int, most: int) -> Iterator[Counts]:
    for counts in itertools.product(range(most + 1), repeat=length - 1):
        if list(counts) == sorted(counts, reverse=True):
            yield (*counts, 0)


def worst_of(length: int, most: int, law: Callable[[Counts], list[Any]]) -> float:
    """Return the greatest loss between tables of one row more, from below."""
    laws = {table: law(table) for table in tables(length, most)}
    worst = 0.0
    for table, found in laws.items():
        for place in range(length):
            more = tuple(count + (i < place) for i, count in enumerate(table))
            for p, q in zip(found, laws.get(more, found), strict=True):
                worst = max(worst, abs(math.log(p / q)))
    return worst


def rounded(losses: float) -> float:
    """Return a greatest loss in units of epsilon = 2 ln 2."""
    return losses / (2 * math.log(2))


@sampled(1)
@for_each("left", [0, 2, 5])
def test_the_walk_costs_epsilon(left: int) -> None:
    """For any small tables of one row apart the loss is at most epsilon: no factor 2.

    Each step's noise has the scale of the level's, 2 / epsilon.
    """
    worst = worst_of(4, 6, lambda table: law_of(table, left))
    assert rounded(worst) <= 1 + 1e-9


STEPS = 50
BEFORE, AFTER = (1,) * STEPS + (1, 0), (2,) * STEPS + (1, 0)
"""One row more beyond each of many bins, and none beyond the one that is told."""


def loss_of_stopping(steps: float) -> float:
    p, q = (law_of(table, 0, 0.5, steps)[STEPS] for table in (BEFORE, AFTER))
    return rounded(abs(math.log(p / q)))


def test_epsilon_is_needed() -> None:
    """Many steps near the level use up all of epsilon."""
    assert 0.999 < loss_of_stopping(0.5) <= 1 + 1e-9


def test_less_noise_in_the_steps_would_break_the_price() -> None:
    """The planted mutants: step noise of 10 % or of half less scale is caught."""
    assert loss_of_stopping(0.5**1.1) > 1.02
    assert loss_of_stopping(0.25) > 1.4


def test_a_second_answer_is_not_free() -> None:
    """Two walks over one level cost half as much again: only one index may be told."""

    def both(table: Counts) -> float:
        """Return the chance that two walks over one level end at the same step."""
        total = 0.0
        for level in range(-FAR, FAR + 1):
            walk = tail(table[-2] - level, 0.5)
            for count in table[:-2]:
                walk *= tail(level - count + 1, 0.5)
            total += 0.5 ** abs(level) / 3 * walk**2
        return total

    assert rounded(abs(math.log(both(BEFORE) / both(AFTER)))) > 1.49


def test_several_rows_share_epsilon() -> None:
    """For any two rows added, noise of twice the scale pays at distance 2."""
    mechanism = AboveThreshold(1, rows=2)
    assert mechanism.scale == 4
    assert mechanism.map(2).epsilon == 1
    assert mechanism.map(1).epsilon == HALF
    laws = {table: law_of(table, 2) for table in tables(4, 6)}
    for table, found in laws.items():
        for first, second in itertools.product(range(4), repeat=2):
            more = tuple(n + (i < first) + (i < second) for i, n in enumerate(table))
            for p, q in zip(found, laws.get(more, found), strict=True):
                assert rounded(abs(math.log(p / q))) <= 2 + 1e-9


def floats_of(beyond: Counts, left: int, scale: float) -> NDArray[np.float64]:
    ratio = math.exp(-1 / scale)
    return np.array(law_of(beyond, left, ratio, ratio))


@pytest.mark.slow
def test_answers_follow_the_law() -> None:
    """Chi-square, false alarm 1e-9; an epsilon 10 % off is rejected."""
    table, many = (2, 1, 0, 4, 1, 3), 200_000
    beyond = tuple(sum(table[place + 1 :]) for place in range(6))
    law = floats_of(beyond, 4, 2.0)
    held = np.flatnonzero(table)
    owner = np.repeat(np.arange(many), held.size)
    counts = np.tile(np.array(table)[held], many)
    bins = BinCounts.of(owner, np.tile(held, many), counts, groups=many, size=6)
    assert AboveThreshold(1).rows_left == 4
    assert choices_follow(AboveThreshold(1).find_groups(bins, Bits()), law)
    assert not choices_follow(AboveThreshold("1.1").find_groups(bins, Bits()), law)


@pytest.mark.slow
def test_far_levels_are_walked_by_the_same_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square, false alarm 1e-9: the walk in long integers has the law as well."""
    monkeypatch.setattr(above_threshold, "_FAR", 0)
    many = 20_000
    bins = BinCounts.of(
        np.arange(many), np.full(many, 3), np.full(many, 6), groups=many, size=5
    )
    found = AboveThreshold(1).find_groups(bins, Bits())
    assert choices_follow(found, floats_of((6, 6, 6, 0, 0), 4, 2.0))
    assert not choices_follow(found, floats_of((6, 6, 6, 0, 0), 4, 1.6))


@for_each(
    ("epsilon", "rows", "left"),
    [(1, 1, 4), ("0.3", 1, 13), (1, 5, 20), ("sqrt(2)", 1, 2), (100, 1, 0)],
)
def test_rows_left(epsilon: Any, rows: int, left: int) -> None:
    """Two scales of the noise, rounded down."""
    assert AboveThreshold(epsilon, rows).rows_left == left


@for_each(("epsilon", "scales"), [(1, 2), (1, 4), (2, 3)])
@for_each("bins", [1, 2, 5, 40])
def test_the_chance_of_passing_empty_bins(epsilon: Any, scales: int, bins: int) -> None:
    """What is told is the chance that the law gives; one scale less would be seen."""
    mechanism = AboveThreshold(epsilon, scales=scales)
    law = floats_of((0,) * (bins + 1), mechanism.rows_left, float(mechanism.scale))
    assert mechanism.chance_to_pass(bins) == pytest.approx(law[bins:].sum(), rel=1e-3)
    other = AboveThreshold(epsilon, scales=scales + 1)
    assert other.chance_to_pass(bins) < 0.7 * mechanism.chance_to_pass(bins)


def test_passing_is_nearly_one_in_many() -> None:
    """For noise of any size about exp(-scales) / (bins + 1)."""
    for epsilon in ("0.1", "1e-9", "1e-30"):
        passing = AboveThreshold(epsilon, scales=4).chance_to_pass(60)
        assert passing == pytest.approx(math.exp(-4) / 61, rel=0.05)


def test_bounds_are_found_for_every_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardly any noise: the first bin with no row beyond, in any chunks."""
    owner = [0, 0, 1, 1, 3]
    where, counts = [3, 6, 0, 9, 5], [10, 10, 10, 1, 1]
    bins = BinCounts.of(owner, where, counts, groups=4, size=10)
    sharp = AboveThreshold(1000)
    assert sharp.rows_left == 0
    for cells in (1 << 20, 10, 1):
        monkeypatch.setattr(above_threshold, "_CELLS", cells)
        assert sharp.find_groups(bins, Bits()).tolist() == [6, 9, 0, 5]
    nothing = BinCounts.of([], [], [], groups=0, size=10)
    assert sharp.find_groups(nothing, Bits()).tolist() == []


@for_each("epsilon", ["1e-12", "1e-19", "1e-25"])
def test_boundless_noise_is_no_hindrance(epsilon: str) -> None:
    """Levels beyond 64 digits are compared exactly; the answer stays on the grid."""
    assert 0 <= AboveThreshold(epsilon).find([4], [100], 9, Bits()) < 9


POPULATIONS: dict[str, Callable[[Any], NDArray[np.float64]]] = {
    "lognormal(3, 1)": lambda rng: rng.lognormal(3, 1, 100_000),
    "lognormal(3, 2)": lambda rng: rng.lognormal(3, 2, 100_000),
    "Pareto 1.5": lambda rng: 1 + rng.pareto(1.5, 100_000),
}


@pytest.mark.slow
@for_each("name", POPULATIONS)
def test_few_rows_lie_beyond_a_found_bound(name: str) -> None:
    """On a log grid of step 2**(1/4): about 4 / epsilon rows lie beyond, hardly more.

    In 100 releases the middle one leaves between 1 and 28 rows of 100,000, and 95 of
    100 lie within a factor of 2**4 above the bin that leaves 14.
    """
    rng, bounds = np.random.default_rng(3), AboveThreshold("0.3")
    left, over = [], []
    for turn in range(100):
        if turn % 10 == 0:  # drawing people costs more than releases
            data = POPULATIONS[name](rng)
        steps = np.clip(np.ceil(4 * (np.log2(data) + 10)), 0, 160).astype(np.int64)
        where, counts = np.unique(steps, return_counts=True)
        found = bounds.find(where, counts, 161, Bits())
        left.append(int((steps > found).sum()))
        over.append(found - int(np.sort(steps)[-bounds.rows_left - 1]))
    assert 1 <= np.median(left) <= 2 * bounds.rows_left
    assert max(left) <= 1000
    assert np.quantile(over, 0.95) <= 16


@for_each("scales", [0, 1, above_threshold.MOST_SCALES])
def test_a_walk_may_leave_so_many_scales(scales: int) -> None:
    """Down to none at all; no further, and not without end."""
    assert AboveThreshold(1, scales=scales).scales == scales
    for bad in (-1, above_threshold.MOST_SCALES + 1):
        with pytest.raises(InvalidParameter, match="scales"):
            AboveThreshold(1, scales=bad)
