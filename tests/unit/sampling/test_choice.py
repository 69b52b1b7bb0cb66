"""Weights dominate, doubles never decide wrongly, and the chances are as stated."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sordino.noise.sampling import choice
from sordino.noise.sampling.bits import Bits, uniform_below
from sordino.noise.sampling.choice import Runs, choose
from sordino.numbers import INFINITE, Exact, ball, sqrt
from tests.batches import for_each
from tests.planned_bits import PlannedBits
from tests.statistics import choices_follow

F = Fraction
MANY = 200_000
RATES: list[Exact] = [F(1, 3), F(1), F(1, 10**12), F(10**12), sqrt(F(2))]


def runs_of(groups: list[list[tuple[int, int]]]) -> Runs:
    """Return runs from the (gap, size) of each group, the best gap made 0."""
    least = [min(gap for gap, _ in group) for group in groups]
    rows = [
        (gap - low, size)
        for group, low in zip(groups, least, strict=True)
        for gap, size in group
    ]
    gaps, sizes = np.array(rows, np.int64).T
    ends = np.cumsum([len(group) for group in groups])
    return Runs.flat(np.ascontiguousarray(gaps), np.ascontiguousarray(sizes), ends)


def sloping(seed: int) -> Runs:
    """Return runs of two groups that rise and fall, their candidates repeated."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, 12)
    slopes, repeats = rng.integers(-3, 4, 12), rng.integers(1, 4, 12)
    gaps = rng.integers(0, 9, 12)
    gaps[[0, 6]] = 0
    return Runs(gaps, sizes, np.array([6, 12]), slopes, repeats)


def truth(gap: int, size: int, rate: Exact, unit: float) -> arb:
    exponent = ball(rate * F(gap)) if gap else arb(0)
    return size * (-exponent).exp() * arb(unit)


GROUPS = st.lists(
    st.lists(
        st.tuples(
            st.one_of(st.integers(0, 200), st.integers(0, 2**61)),
            st.one_of(st.integers(1, 5), st.integers(1, 2**50)),
        ),
        min_size=1,
        max_size=8,
    ),
    min_size=1,
    max_size=5,
)


@given(groups=GROUPS, rate=st.sampled_from(RATES))
def test_weights_dominate_and_fit(
    groups: list[list[tuple[int, int]]], rate: Exact
) -> None:
    """For any scores: no whole weight below the true one, and the sum fits."""
    runs = runs_of(groups)
    weights, falls = choice._weigh(runs, rate), choice._falls(runs.gaps, rate)
    assert sum(weights.whole.tolist()) < 2**63
    unit = np.repeat(weights.unit, np.diff(runs.ends, prepend=0))
    with ctx.workprec(400):
        for i in range(runs.gaps.size):
            gap, size = int(runs.gaps[i]), int(runs.sizes[i])
            true = truth(gap, size, rate, float(unit[i]))
            assert arb(int(weights.whole[i])) >= true
            double = arb(float(falls[i] * size * unit[i]))
            assert double * (1 + arb(2) ** -41) >= true
            if falls[i] > choice._FAINTEST:
                assert double * (1 - arb(2) ** -41) <= true


@given(seed=st.integers(0, 10**6), rate=st.sampled_from(RATES))
def test_a_run_weighs_no_less_than_its_candidates(seed: int, rate: Exact) -> None:
    """For any slopes: a run is proposed by no less than its candidates weigh."""
    runs = sloping(seed)
    weights = choice._weigh(runs, rate)
    unit = np.repeat(weights.unit, 6)
    with ctx.workprec(400):
        for i in range(12):
            places = np.arange(runs.sizes[i])
            for gap in runs.gaps_at(np.full(places.size, i), places).tolist():
                true = truth(gap, int(runs.numbers[i]), rate, float(unit[i]))
                assert arb(int(weights.whole[i])) >= true


class Digits(PlannedBits):
    """A planned word, and whatever digits follow it."""

    def __init__(self, word: int, after: int) -> None:
        super().__init__([np.array([word], np.uint64)])
        self.after = after

    def word(self, size: int) -> int:
        return self.after if size == 8 else self.after & 0xFF


@for_each("rate", RATES)
@for_each("gap", [0, 1, 2, 40, 63, 10**11])
def test_decisions_at_the_edge_are_the_exact_ones(rate: Exact, gap: int) -> None:
    """A word below decides, one above too, and the word itself by what follows it."""
    runs = runs_of([[(0, 7), (gap, 3)]])
    weights = choice._weigh(runs, rate)
    for run in (0, 1):
        with ctx.workprec(4000):
            true = truth(int(runs.gaps[run]), int(runs.sizes[run]), rate, 1.0)
            ratio = true * arb(float(weights.unit[0])) / int(weights.whole[run])
            edge = int((ratio * 2**64).floor().unique_fmpz() or 0)
        for word in {0, 1, edge - 2, edge - 1, edge + 1, edge + 2, 2**64 - 1} - {edge}:
            if not 0 <= word < 2**64:
                continue
            one = np.array([run])
            trial = choice._Trial(
                rate,
                runs.gaps[one],
                runs.sizes[one],
                np.ones_like(one),
                weights.whole[one],
                weights.unit,
            )
            assert bool(trial.accepts(Digits(word, 1))[0]) == (word < edge)
        if 0 < edge < 2**64 or 0 < gap * ball(rate) < 64:
            assert trial.accepts(Digits(edge, 0))[0]
            assert not trial.accepts(Digits(edge, 2**64 - 1))[0]


def chances(runs: Runs, rate: float) -> list[NDArray[np.float64]]:
    """Return the chances of every candidate of every group, by definition."""
    listed, start = [], 0
    for end in runs.ends.tolist():
        weights = []
        for run in range(start, end):
            slope, size = int(runs.slopes[run]), int(runs.sizes[run])
            for place in range(size):
                steps = size - 1 - place if slope < 0 else place
                gap = int(runs.gaps[run]) + abs(slope) * steps
                weights.append(int(runs.repeats[run]) * np.exp(-rate * gap))
        listed.append(np.array(weights) / sum(weights))
        start = end
    return listed


def repeated(runs: Runs, times: int) -> Runs:
    """Return the same groups many times."""
    many = np.arange(times)[:, None] * runs.ends[-1]
    return Runs(
        np.tile(runs.gaps, times),
        np.tile(runs.sizes, times),
        (many + runs.ends).ravel(),
        np.tile(runs.slopes, times),
        np.tile(runs.repeats, times),
    )


FLAT = runs_of([
    [(0, 2), (20, 15), (3, 5), (1, 1)],
    [(0, 1)],
    [(4, 9), (0, 1), (9, 400)],
])


def agrees(
    rate: Exact,
    told: float,
    times: int = MANY,
    runs: Runs = FLAT,
    drawn: Runs | None = None,
) -> bool:
    """Test draws at one rate against the chances at another, in every group."""
    chosen = choose(repeated(drawn or runs, times), rate, Bits())
    before = np.cumsum(np.append(0, runs.sizes))
    first = before[np.append(0, runs.ends[:-1])]
    run = chosen.run.reshape(times, -1) % runs.gaps.size
    index = before[run] - first + chosen.place.reshape(times, -1)
    law = chances(runs, told)
    return all(choices_follow(index[:, g], law[g]) for g in range(len(law)))


@pytest.mark.slow
@for_each("rate", [F(1, 10), F(1, 2), F(2)])
def test_choices_follow_the_law(rate: Fraction) -> None:
    """Chi-square, false alarm 1e-9 a group; a rate 10 % off is rejected."""
    assert agrees(rate, float(rate))
    assert not agrees(rate * F(11, 10), float(rate))


@pytest.mark.slow
@for_each("doubt", ["_DOUBT", "_MARGIN"])
def test_the_exact_path_has_the_same_law(
    doubt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every doubt enlarged, balls decide and proposals are often refused."""
    monkeypatch.setattr(choice, doubt, 0.5)
    assert agrees(F(1, 2), 0.5, 4000)
    assert not agrees(F(1, 2), 0.8, 4000)


@for_each("seed", [1, 2, 3])
def test_sloping_runs_follow_the_law(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chi-square, false alarm 1e-9 a group; a slope that is left out is rejected."""
    runs = sloping(seed)
    assert agrees(F(1, 3), 1 / 3, MANY // 10, runs)
    level = Runs(runs.gaps, runs.sizes, runs.ends, runs.slopes * 0, runs.repeats)
    assert not agrees(F(1, 3), 1 / 3, MANY // 10, runs, level)
    monkeypatch.setattr(choice, "_DOUBT", 0.5)
    assert agrees(F(1, 3), 1 / 3, 2000, runs)


def test_an_infinite_rate_chooses_the_best() -> None:
    """Without noise only candidates of the best score are chosen, each of them."""
    runs = runs_of([[(5, 3), (0, 2), (1, 9), (0, 1)]] * 200)
    chosen = choose(runs, INFINITE, Bits())
    assert set((chosen.run % 4).tolist()) == {1, 3}
    assert set(chosen.place.tolist()) == {0, 1}


@given(st.lists(st.integers(1, 2**62), min_size=1, max_size=50))
def test_uniform_stays_below(limits: list[int]) -> None:
    drawn = uniform_below(np.array(limits, np.int64), Bits())
    assert (drawn >= 0).all()
    assert (drawn < np.array(limits)).all()


@for_each("limit", [1, 2, 3, 4, 5, 7, 8, 2**53 + 1, 2**62])
def test_uniform_rejects_whole_words(limit: int) -> None:
    """Digits are kept if below the limit, drawn anew if not: nothing is folded."""
    digits = (limit - 1).bit_length()
    mask = (1 << max(digits, 1 if limit > 1 else 0)) - 1
    words = [mask, limit, limit - 1] if limit - 1 < mask else [limit - 1]
    words = [word for word in words if word & mask >= limit] + [limit - 1]
    planned = PlannedBits(np.array([word], np.uint64) for word in words)
    assert uniform_below(np.array([limit]), planned).tolist() == [limit - 1]


@pytest.mark.slow
@for_each("limit", [2, 3, 10, 100])
def test_uniform_is_uniform(limit: int) -> None:
    """Chi-square, false alarm 1e-9; a draw folded by a remainder is rejected."""
    limits = np.full(MANY, limit)
    drawn = uniform_below(limits, Bits())
    even = np.ones(limit)
    assert choices_follow(drawn, even)
    folded = uniform_below(np.full(MANY, limit + 1), Bits()) % limit
    assert not choices_follow(folded, even)
