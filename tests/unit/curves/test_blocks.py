"""Very many laws are summed block by block: bounds in the bulk and in the tail."""

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import sordino as sd
from sordino.losses.closed import GaussianDP
from sordino.losses.curves import composition
from sordino.losses.curves import laws as outlines
from sordino.losses.curves.composition import Convolution, condense, sum_blocks
from sordino.losses.curves.curve import response_law
from sordino.losses.curves.laws import GaussianLaw, Outline, Wide
from sordino.losses.curves.tables import SumCurve
from sordino.losses.curves.transform import Grid, GridSums
from sordino.losses.loss import PureDP, compose
from sordino.noise.gaussian import DiscreteGaussianLoss
from tests.batches import for_each, sampled
from tests.effort import by_night

Places: TypeAlias = NDArray[np.signedinteger[Any]]

MOST_MEGABYTES = 400
DISTINCT = 40_000


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "_MANY", 0)
    monkeypatch.setattr(composition, "_BLOCK", 1 << 13)


def grids(seed: int, count: int) -> Iterator[tuple[Grid, int]]:
    """Give laws of several lengths, some of them often, some with mass at infinity."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        masses = rng.dirichlet(np.full(int(rng.integers(2, 40)), 0.3))
        infinity = float(rng.choice([0.0, 1e-9, 1e-3]))
        start = int(rng.integers(-20, 20))
        yield Grid(start, masses * (1 - infinity), infinity), 1 + 3 * (place % 5 == 0)


def exactly(given: list[tuple[Grid, int]]) -> tuple[int, Wide, float]:
    """Return the sum by its definition, in long doubles, and its mass at infinity."""
    masses, start, finite = np.ones(1, np.longdouble), 0, 1.0
    for grid, times in given:
        for _ in range(times):
            masses = np.convolve(masses, grid.masses.astype(np.longdouble))
            start, finite = start + grid.start, finite * (1 - grid.infinity)
    return start, masses, 1 - finite


def tails(start: int, masses: Wide, infinity: float, places: Places) -> Wide:
    above = np.append(np.cumsum(masses[::-1].astype(np.longdouble))[::-1], 0.0)
    return above[np.clip(places - start, 0, len(masses))] + infinity


@for_each("seed", range(6))
def test_a_block_dominates_its_sum_and_is_sharp(seed: int) -> None:
    """At every threshold it has at least the mass, and hardly more down to 1e-30."""
    given = [*grids(seed, 30), (Grid(5, np.full(2, 0.5), 0.0), 1)]
    found = condense(GridSums(tuple(given)))
    start, masses, infinity = exactly(given)
    assert found.infinity >= infinity * (1 - 1e-12)
    assert found.infinity <= infinity * (1 + 1e-9) + 1e-60
    places = np.arange(start - 2, start + len(masses) + 2)
    truth = tails(start, masses, 0.0, places)
    bound = tails(found.start, found.masses, 0.0, places)
    # what lies beyond all windows is at infinity
    assert (bound + 1e-60 >= truth * (1 - 1e-15)).all()
    seen = truth > 1e-30
    assert (bound[seen] <= truth[seen] * (1 + 1e-8)).all()
    short = condense(GridSums(tuple(given[:-1])))
    lost = tails(short.start, short.masses, 0.0, places)
    assert (lost < truth * (1 - 1e-15)).any(), "a lost law is seen"


def test_a_gap_between_windows_moves_up() -> None:
    """Mass that no window holds goes to the least place of the next."""
    first, second = np.full(3, 0.25), np.full(2, 0.125)
    masses, wider = composition._least(first, 5, second, 0.25)
    assert wider
    assert masses.tolist() == [0.25, 0.25, 0.25, 0, 0, 0.375, 0.125]
    masses, wider = composition._least(np.full(3, 0.25), 1, np.full(1, 0.125), 0.5)
    assert not wider
    assert masses.tolist() == [0.25, 0.125, 0.25]


def test_certain_breaches_stay_certain() -> None:
    """A block with a law that lies at infinity lies there."""
    lost = Grid(3, np.zeros(1), 1.0)
    found = condense(GridSums(((lost, 1), *grids(0, 8))))
    assert found.infinity == 1


def test_few_laws_are_given_as_they_are() -> None:
    given = list(grids(1, 50))
    assert list(sum_blocks(given)) == given


@pytest.mark.usefixtures("small_blocks")
@sampled(2, 2)
@for_each("depth", [0.0, 4.0, 8.0, 12.0])
def test_distinct_gaussians_in_blocks_bound_the_closed_form(depth: float) -> None:
    """Two hundred distinct Gaussians lie above that of their squares, and close."""
    mus = [Fraction(1 + i % 7, 40) + Fraction(i, 10_000) for i in range(200)]
    sums = Convolution(tuple((GaussianLaw(float(mu)), 1) for mu in mus), 1e-3)
    assert len(sums.grids) < len(mus) / 2
    epsilon = np.linspace(0, 40, 60)
    whole = GaussianDP(float(np.sqrt(sum(float(mu) ** 2 for mu in mus))))
    truth = whole.delta_at(epsilon)
    found = sums.profile(depth).delta_at(epsilon)
    assert (found >= truth * (1 - 1e-12)).all()
    sharp = np.abs(np.sqrt(-2 * np.log(np.maximum(truth, 1e-300))) - depth) < 1
    sharp &= truth > 1e-28
    assert (found[sharp] <= truth[sharp] * (1 + 1e-3)).all()
    low = sums.least_delta(epsilon)
    assert (low <= truth).all()


def test_blocks_change_nothing_that_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curve by blocks is no higher than that of all laws at once, nor too low."""
    laws = tuple((response_law(Fraction(1, 40 + i)), 1) for i in range(300))
    epsilon = np.linspace(0, 4, 30)
    at_once = Convolution(laws)
    whole = at_once.profile(4.0).delta_at(epsilon)
    monkeypatch.setattr(composition, "_MANY", 0)
    monkeypatch.setattr(composition, "_BLOCK", 1 << 13)
    by_blocks = Convolution(laws).profile(4.0).delta_at(epsilon)
    assert not np.array_equal(by_blocks, whole)
    assert (by_blocks <= whole * (1 + 1e-6)).all()
    assert (by_blocks >= at_once.least_delta(epsilon)).all()


def of_equal(epsilon: float, times: int, at: float) -> float:
    """Return delta of equal randomised responses, by the binomial law."""
    heads = np.arange(times + 1)
    masses = binom.pmf(heads, times, 1 / (1 + np.exp(-epsilon)))
    return float(
        masses @ np.maximum(-np.expm1(at - (2 * heads - times) * epsilon), 0.0)
    )


BETWEEN = """
import subprocess, sys
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
"""A small process between: a child begins with the peak of the one that starts it."""
SCRIPT = f"""
import json, resource
from fractions import Fraction
import sordino as sd
n = {DISTINCT}
losses = [sd.PureDP(Fraction(1, 100) * (1 + Fraction(i, 10_000 * n))) for i in range(n)]
whole = sd.compose(losses)
told = [[at, whole.delta_at(at)] for at in (6.0, 11.0)]
print(json.dumps([told, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


TABLED = """
import json, resource
from fractions import Fraction
import sordino as sd
from sordino.losses.curves import laws as outlines
n = 6000
losses = [sd.DiscreteGaussianLoss(1, 40 + Fraction(i, n)) for i in range(n)]
alike = sd.DiscreteGaussianLoss(1, 40) * n, sd.DiscreteGaussianLoss(1, 41) * n
told = [loss.delta_at(9.0) for loss in (alike[1], sd.compose(losses), alike[0])]
tables = 3 * 140 * n
held = losses[0].tradeoff.laws()[0].table_size
print(json.dumps([told, outlines._MOST_HELD < tables / 2, held]))
"""


@by_night
@pytest.mark.slow
def test_distinct_tables_are_dropped_and_made_again() -> None:
    """Most tables of six thousand discrete Gaussians are made twice, and lie between.

    Each variance lies between 40 and 41: so many equal ones of either end enclose it.
    """
    run = subprocess.run(
        [sys.executable, "-c", TABLED], capture_output=True, text=True, check=True
    )
    (least, delta, most), many, held = json.loads(run.stdout)
    assert many
    assert held > 300
    assert least * (1 - 1e-5) < delta < most * (1 + 1e-5)


def test_a_law_made_again_is_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no room for tables at all a composition is what it was, bit for bit."""
    parts = [
        DiscreteGaussianLoss(1, 30),
        DiscreteGaussianLoss(2, 41),
        GaussianDP(1).subsampled("0.2"),
        PureDP("0.1"),
    ]
    epsilon = np.linspace(0, 4, 30)
    held = compose(parts).delta_at(epsilon)
    monkeypatch.setattr(outlines, "_MOST_HELD", 0)
    again = compose(parts)
    curve = again.tradeoff
    assert isinstance(curve, SumCurve)
    laws = [law for sums in curve.convolutions for law, _ in sums.parts]
    assert any(isinstance(law, Outline) for law in laws)
    assert all(law.table_size == 0 for law in laws)
    assert again.delta_at(epsilon).tolist() == held.tolist()


def test_outlines_take_the_memory_of_few_tables() -> None:
    """Tables of 800 wide discrete Gaussians would take 27 MB; 8 MB of them are kept."""
    losses = [DiscreteGaussianLoss(1, 4000 + Fraction(i, 800)) for i in range(800)]
    whole = compose(losses)
    curve = whole.tradeoff
    assert isinstance(curve, SumCurve)
    tracemalloc.start()
    try:
        (sums,) = curve.convolutions
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    held = sum(law.table_size for law, _ in sums.parts)
    assert (
        held
        <= outlines._MOST_HELD
        < sum(loss.tradeoff.laws()[0].table_size for loss in losses) / 3
    )
    assert taken < 16 * 2**20


def test_a_distinct_loss_keeps_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its curve and its outline each discrete Gaussian keeps 1.2 kB, not 2.

    A hundred thousand so keep 120 MB; composed, they took 431 MB at most, for which
    blocks and profiles of up to a million points account (143 s on one processor).
    """
    monkeypatch.setattr(outlines, "_MOST_HELD", 0)

    def composed(count: int) -> object:
        losses = [DiscreteGaussianLoss(1, 4 + Fraction(i, count)) for i in range(count)]
        curve = compose(losses).tradeoff
        assert isinstance(curve, SumCurve)
        return losses, curve, curve.convolutions

    composed(10)
    tracemalloc.start()
    try:
        few = composed(100)
        before = tracemalloc.get_traced_memory()[0]
        many = composed(300)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert few != many
    assert taken < 300 * 2000


def test_a_law_keeps_nothing_that_it_was_worked_out_from() -> None:
    """Asked for its law alone, a loss of losses holds no table afterwards."""
    above = sd.LaplaceThreshold(2, 20).map((3, 4, 2))
    for loss in (above, PureDP("0.1") * 5 + GaussianDP(1)):
        curve = loss.tradeoff
        before = set(vars(curve))
        curve.laws()
        assert set(vars(curve)) == before


@by_night
@pytest.mark.slow
def test_many_distinct_losses_fit_into_little_memory() -> None:
    """Forty thousand take less than 400 MB, and lie between the least and greatest.

    Each epsilon lies between 1/100 and a ten-thousandth more: so many equal ones of
    either end enclose the sum. Held at once, the laws took 1.8 GB.
    """
    run = subprocess.run(
        [sys.executable, "-c", BETWEEN, SCRIPT],
        capture_output=True,
        text=True,
        check=True,
    )
    told, megabytes = json.loads(run.stdout)
    for at, delta in told:
        assert of_equal(0.01, DISTINCT, at) < delta
        assert delta < of_equal(0.01 * (1 + 1e-4), DISTINCT, at) * (1 + 1e-5)
    assert megabytes < MOST_MEGABYTES
