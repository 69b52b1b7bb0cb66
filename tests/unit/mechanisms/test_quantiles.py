"""Quantiles: price over every small table, exact law, monotone, and useful."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sordino.noise import quantile_intervals, quantiles
from sordino.noise.bin_counts import (
    AbstractWeights,
    BinCounts,
    CandidateRuns,
    EvenWeights,
    Pieces,
    QuantileCut,
)
from sordino.noise.laplace import Laplace
from sordino.noise.quantile_intervals import QuantileIntervals
from sordino.noise.quantiles import PARTS, Quantiles
from sordino.noise.sampling.bits import Bits
from sordino.noise.sampling.choice import Chosen, Runs
from tests.batches import for_each, sampled
from tests.statistics import choices_follow

F = Fraction
Table = tuple[int, ...]
Outcome = tuple[int, ...]
QUARTILES = (F(1, 4), F(1, 2), F(3, 4))
EPSILON = 1.0


class Script:
    """Stands for `choose`: takes planned candidates, and tells how likely each was.

    Also for the even draw of a part beside each candidate.
    """

    def __init__(self, plan: list[int], parts: int) -> None:
        self.plan, self.parts = plan, parts
        self.drawn = 0
        self.log_chance = 0.0
        self.missed = False

    def draw_part(self, limits: NDArray[np.int64], bits: Any) -> NDArray[np.int64]:
        """Return the planned part of the one group: all parts are equally likely."""
        del limits, bits
        self.log_chance -= math.log(self.parts)
        self.drawn += 1
        return np.array([self.plan[self.drawn - 1]])

    def __call__(self, runs: Runs, rate: Any, bits: Any) -> Chosen:
        """Return the planned candidate of the one group, and note its chance."""
        del bits
        assert (runs.sizes >= 1).all()
        assert runs.gaps.min() == 0
        run = np.repeat(np.arange(runs.sizes.size), runs.sizes)
        place = np.arange(run.size) - (np.cumsum(runs.sizes) - runs.sizes)[run]
        gaps = runs.gaps_at(run, place)
        weights = np.exp(-float(rate) * gaps) * runs.repeats[run]
        wanted = self.plan[self.drawn]
        self.drawn += 1
        self.missed |= wanted >= weights.size
        index = min(wanted, weights.size - 1)
        self.log_chance += math.log(weights[index] / weights.sum())
        return Chosen(run[[index]], place[[index]])


class Listed(AbstractWeights):
    """Weights from a list."""

    least = 1

    def __init__(self, weights: tuple[int, ...]) -> None:
        self.size = len(weights)
        self.sums = np.append(0, np.cumsum(weights))

    def weight_before(self, bins: NDArray[np.int64]) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self.sums[bins]
        return found


def law_of(
    mechanism: Quantiles | QuantileIntervals,
    table: Table,
    patch: pytest.MonkeyPatch,
    weights: tuple[int, ...] | None = None,
) -> dict[Outcome, float]:
    """Return the chance of every outcome, by walking every path of the code."""
    law: dict[Outcome, float] = {}
    held = [(p, n) for p, n in enumerate(table) if n]
    positions, counts = (np.array([row[i] for row in held], np.int64) for i in (0, 1))
    heavy, chosen = weights or (1,) * len(table), mechanism
    if isinstance(chosen, QuantileIntervals):
        chosen = chosen.quantiles
    draws = len(chosen.probabilities) * (1 if chosen is mechanism else 3)
    bins = BinCounts.of(positions * 0, positions, counts, groups=1, size=len(table))
    many = chosen.parts * sum(heavy)
    parts = chosen.parts if draws > 1 else 1  # nothing is left of the last cut
    pairs = itertools.product(range(many), range(parts))
    for plan in itertools.product(list(pairs), repeat=draws):
        script = Script([place for pair in plan for place in pair], parts)
        patch.setattr(quantiles, "choose", script)
        patch.setattr(quantiles, "uniform_below", script.draw_part)
        found = mechanism.release_groups(bins, Bits(), Listed(heavy))
        # of ends beside quantiles the bins come first, then the rows between them
        row = found[0] if chosen is mechanism else [cut[0] for cut in found[:draws]]
        outcome = tuple(int(place) for place in row)
        if not script.missed:
            law[outcome] = law.get(outcome, 0.0) + math.exp(script.log_chance)
    assert math.isclose(sum(law.values()), 1)
    return law


def tables(size: int, most: int) -> Iterator[Table]:
    for table in itertools.product(range(most + 1), repeat=size):
        if sum(table) <= most:
            yield table


def neighbours(table: Table) -> Iterator[Table]:
    for place in range(len(table)):
        yield (*table[:place], table[place] + 1, *table[place + 1 :])


def worst_of(
    mechanism: Quantiles | QuantileIntervals,
    size: int,
    most: int,
    patch: pytest.MonkeyPatch,
    weights: tuple[int, ...] | None = None,
) -> tuple[float, float, float]:
    """Return the greatest loss, range, and divergence over order, of neighbours."""
    laws = {t: law_of(mechanism, t, patch, weights) for t in tables(size, most)}
    worst, widest, steepest = 0.0, 0.0, 0.0
    for table, law in laws.items():
        for other in neighbours(table):
            if other not in laws:
                continue
            more = laws[other]
            losses = [math.log(law[outcome] / more[outcome]) for outcome in law]
            worst = max(worst, *map(abs, losses))
            widest = max(widest, max(losses) - min(losses))
            for p, q in ((law, more), (more, law)):
                moment = sum(p[o] ** 2 / q[o] for o in p)
                steepest = max(steepest, math.log(moment) / 2)
    return worst, widest, steepest


@sampled(2, 3)
@for_each("parts", [1, 3])
@for_each(
    ("q", "size", "most"),
    [
        ("0.5", 4, 4),
        ("0.25", 3, 9),
        ("0.9", 3, 12),
        ("1/3", 4, 6),
        ("0", 4, 4),
        ("1", 4, 4),
    ],
)
def test_one_quantile_costs_epsilon_in_range(
    q: str, size: int, most: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any small tables of one row apart: losses in a range of epsilon, nearly met.

    A mutant whose exponent is a quarter larger would be caught.
    """
    mechanism = Quantiles([q], F(EPSILON), parts=parts)
    worst, widest, steepest = worst_of(mechanism, size, most, monkeypatch)
    assert worst <= EPSILON + 1e-9
    assert 0.8 * EPSILON < widest <= EPSILON + 1e-9
    assert steepest <= float(mechanism.map(1).guarantees.rho) + 1e-9


def _half_the_span(patch: pytest.MonkeyPatch) -> None:
    """Price inner shares as if scores moved one way alone."""
    patch.setattr(quantiles, "_span", lambda share: max(share, 1 - share))


def _no_span(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(quantiles, "_span", lambda _share: F(1))


def _whole_rows_in_each_part(patch: pytest.MonkeyPatch) -> None:
    made = CandidateRuns.of

    def of(bins: BinCounts, parts: int, weights: AbstractWeights) -> CandidateRuns:
        layout = made(bins, parts, weights)
        before, counts = layout.before * parts, layout.counts * parts
        return replace(layout, before=before, counts=counts)

    patch.setattr(CandidateRuns, "of", of)


@for_each("mutant", [_half_the_span, _no_span, _whole_rows_in_each_part])
def test_a_weak_choice_is_caught(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one rule of the scores broken, some small tables show more than epsilon."""
    mutant(monkeypatch)
    mechanism = Quantiles(["0.25"], F(EPSILON), parts=3)
    worst, widest, _ = worst_of(mechanism, 3, 4, monkeypatch)
    assert max(worst, widest) > 1.1 * EPSILON


@sampled(1, 1)
@for_each(("parts", "most"), [(1, 4), (2, 3)])
@pytest.mark.slow
def test_three_quantiles_cost_epsilon(
    parts: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any small tables: two levels cost epsilon, and the rho of two ranges."""
    mechanism = Quantiles(QUARTILES, F(EPSILON), parts=parts)
    worst, _, steepest = worst_of(mechanism, 3, most, monkeypatch)
    assert 0.45 * EPSILON < worst <= EPSILON + 1e-9
    assert steepest <= float(mechanism.map(1).guarantees.rho) + 1e-9


def _part_told_by_rows(patch: pytest.MonkeyPatch) -> None:
    """Take the first part of a bin without rows, however its parts were drawn."""
    made = Pieces.cut_at

    def cut_at(pieces: Pieces, q: F, chosen: Chosen, parts: Any) -> QuantileCut:
        return made(pieces, q, chosen, parts * 0)

    patch.setattr(Pieces, "cut_at", cut_at)


@for_each("mutant", [None, _part_told_by_rows])
def test_bins_of_any_weight_cost_epsilon(
    mutant: Callable[[pytest.MonkeyPatch], None] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For any small tables on uneven bins: what a cut leaves of one tells no row in it.

    Until a cut was a part of its bin, two quantiles in a bin without rows lost more.
    """
    if mutant is not None:
        mutant(monkeypatch)
    mechanism = Quantiles(["1/3", "2/3"], F(1, 100), parts=2)
    worst, _, _ = worst_of(mechanism, 3, 1, monkeypatch, (1, 4, 1))
    assert (worst <= 1 / 100 + 1e-9) == (mutant is None)


def _rows_move_ends_by_half(patch: pytest.MonkeyPatch) -> None:
    """Price ends as if a row could only improve their score."""
    patch.setattr(quantile_intervals, "_SPAN", 1)


@for_each(
    ("asked", "size", "most", "parts", "mutant"),
    [
        (["0.5"], 3, 3, 1, None),
        (["0.5"], 2, 1, 2, None),
        (["1/3", "2/3"], 2, 3, 1, None),
        (["0.5"], 3, 3, 1, _rows_move_ends_by_half),
    ],
)
def test_ends_cost_their_rate(
    asked: list[str],
    size: int,
    most: int,
    parts: int,
    mutant: Callable[[pytest.MonkeyPatch], None] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For any small tables: quantiles and ends lose no more than both cost together."""
    if mutant is not None:
        mutant(monkeypatch)
    cheap = Quantiles(asked, F(1, 1000), parts=parts)
    mechanism = QuantileIntervals(cheap, F(EPSILON), Laplace(1), 1)
    worst, _, _ = worst_of(mechanism, size, most, monkeypatch)
    price = EPSILON + 1 / 1000
    assert (worst <= price + 1e-9) == (mutant is None)
    assert worst > price / 5  # of several each end has half of it


@given(st.data())
def test_a_cut_counts_shares_of_rows(data: st.DataObject) -> None:
    """For any table a cut has all rows before its bin, and its parts of those in it.

    So a row adds to the cells between neighbouring cuts shares that add up to 1.
    """
    table = data.draw(st.lists(st.integers(0, 5), min_size=2, max_size=6))
    asked = data.draw(st.sampled_from([["0.5"], ["1/4", "1/2", "3/4"]]))
    held = np.flatnonzero(table)
    counts = np.array(table)[held]
    bins = BinCounts.of(held * 0, held, counts, groups=1, size=len(table))
    mechanism = QuantileIntervals(Quantiles(asked, 1, parts=4), F(1), Laplace(1), 2)
    (layout,) = mechanism.quantiles.layouts(bins, EvenWeights(bins.size))
    cuts = mechanism.choose_ends(
        layout, mechanism.quantiles.choose_cuts(layout, Bits()), Bits()
    )
    places = [(int(cut.bin[0]), int(cut.part[0])) for cut in cuts]
    assert places == sorted(places)
    for (bin_, part), cut in zip(places, cuts, strict=True):
        assert cut.rows[0] == 4 * sum(table[:bin_]) + (part + 1) * table[bin_]


def given_median(law: dict[Outcome, float], median: int, side: int) -> Any:
    chances = [0.0] * 3
    for outcome, chance in law.items():
        if outcome[1] == median:
            chances[outcome[side]] += chance
    return pytest.approx([one / sum(chances) for one in chances])


def test_a_row_is_in_one_slice_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """For any tables and any median: a row up to it moves no quantile beyond it.

    And a row beyond it moves none before it. With one part to a bin, equal rows stay
    together: those in the bin of the median are to its left.
    """
    mechanism = Quantiles(QUARTILES, F(4), parts=1)
    laws = {t: law_of(mechanism, t, monkeypatch) for t in tables(3, 4)}
    for table, law in laws.items():
        for place in range(3):
            more = laws.get((*table[:place], table[place] + 1, *table[place + 1 :]))
            for median in range(3) if more is not None else ():
                side = 2 if place <= median else 0
                told = given_median(law, median, side)
                assert given_median(more or {}, median, side).expected == told


def test_several_rows_share_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = Quantiles(["0.5"], F(EPSILON), rows=2, parts=2)
    assert mechanism.map(2).guarantees.epsilon == 1
    laws = {t: law_of(mechanism, t, monkeypatch) for t in tables(3, 4)}
    pairs = (
        (law, laws[other])
        for table, law in laws.items()
        for middle in neighbours(table)
        for other in neighbours(middle)
        if other in laws
    )
    for law, more in pairs:
        losses = [math.log(law[o] / more[o]) for o in law]
        assert max(losses) - min(losses) <= EPSILON + 1e-9


def missed_by(table: NDArray[Any], q: float) -> NDArray[np.float64]:
    """Return how many rows each bin is off: 0 where a share q ends within it."""
    up_to = np.cumsum(table)
    before = up_to - table
    wanted = q * table.sum()
    missed: NDArray[np.float64] = np.maximum(before - wanted, wanted - up_to).clip(0)
    return missed


def chances(
    table: Table, q: Fraction, epsilon: float, parts: int = 1, weights: Any = 1
) -> NDArray[np.float64]:
    missed = missed_by(np.repeat(np.array(table) / parts, parts), float(q))
    span = 2 * float(max(q, 1 - q)) if 0 < q < 1 else 1
    each = np.exp(-epsilon * missed / span).reshape(-1, parts).sum(axis=1) * weights
    law: NDArray[np.float64] = each / each.sum()
    return law


@given(
    bins=st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=6
    ),
    q=st.sampled_from([F(0), F(1, 4), F(1, 2), F(9, 10), F(1)]),
    parts=st.integers(1, 5),
    epsilon=st.sampled_from([1, 20]),
)
def test_runs_are_the_definition(
    bins: list[tuple[int, int]], q: Fraction, parts: int, epsilon: int
) -> None:
    """For any table, weights and parts the runs give each bin the stated chance."""
    table, weights = (tuple(column) for column in zip(*bins, strict=True))
    with pytest.MonkeyPatch.context() as patch:
        law = law_of(Quantiles([q], epsilon, parts=parts), table, patch, weights)
    stated = chances(table, q, epsilon, parts, np.array(weights))
    found = [law.get((place,), 0.0) for place in range(len(table))]
    np.testing.assert_allclose(found, stated, rtol=1e-9)


@pytest.mark.slow
def test_releases_follow_the_law() -> None:
    """Chi-square, false alarm 1e-9; an epsilon 10 % off is rejected."""
    table, many = (3, 0, 2, 5, 0, 1, 0), 150_000
    law = chances(table, F(1, 4), 1.0, PARTS)
    held = np.flatnonzero(table)
    group = np.repeat(np.arange(many), held.size)
    counts = np.tile(np.array(table)[held], many)
    bins = BinCounts.of(group, np.tile(held, many), counts, groups=many, size=7)
    drawn = Quantiles(["1/4"], 1).release_groups(bins, Bits())[:, 0]
    assert choices_follow(drawn, law)
    wrong = Quantiles(["1/4"], "1.1").release_groups(bins, Bits())[:, 0]
    assert not choices_follow(wrong, law)


rows_of_groups = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 30), st.integers(0, 5)),
    max_size=40,
    unique_by=itemgetter(0, 1),
)


@given(rows=rows_of_groups, epsilon=st.sampled_from(["0.1", 3, 1000]))
def test_quantiles_ascend_and_stay_on_the_grid(
    rows: list[tuple[int, int, int]], epsilon: Any
) -> None:
    """For any groups, also empty ones: answers ascend and are bins."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    bins = BinCounts.of(*columns, groups=5, size=31)
    found = Quantiles(("0.1", "0.5", "0.8", "0.95"), epsilon).release_groups(
        bins, Bits()
    )
    assert found.shape == (5, 4)
    assert (np.diff(found, axis=1) >= 0).all()
    assert ((found >= 0) & (found < 31)).all()


@given(rows=rows_of_groups)
def test_groups_are_answered_as_if_alone(rows: list[tuple[int, int, int]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    bins = BinCounts.of(*columns, groups=5, size=31)
    found = Quantiles(["0.5"], 10**6).release_groups(bins, Bits())[:, 0]
    for group in range(5):
        table = np.zeros(31, np.int64)
        for owner, place, count in rows:
            if owner == group:
                table[place] = count
        missed = missed_by(table, 0.5)
        assert missed[found[group]] == missed.min()


def test_chunks_hold_every_group(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = np.repeat(np.arange(50), 3)
    places = np.tile([2, 5, 9], 50)
    bins = BinCounts.of(owner, places, np.full(150, 1000), groups=50, size=12)
    whole = Quantiles(["2/3"], 100).release_groups(bins, Bits())
    monkeypatch.setattr(quantiles, "_CHUNK", 7)
    parts = Quantiles(["2/3"], 100).release_groups(bins, Bits())
    assert ((whole >= 5) & (whole <= 9)).all()
    assert ((parts >= 5) & (parts <= 9)).all()


@for_each("q", ["0", "0.01", "0.5", "0.99", "1"])
@for_each("place", [0, 5, 30])
def test_equal_rows_have_one_quantile(q: str, place: int) -> None:
    """Of rows that are all equal every inner quantile is their bin; none is far off."""
    found = [Quantiles([q], 10).release([place], [1000], 31, Bits())[0] for _ in "abc"]
    if q not in {"0", "1"}:
        assert found == [place] * 3
    else:  # the least may lie before, the greatest behind
        assert all((one <= place) if q == "0" else (one >= place) for one in found)
