"""Discretised losses: what the errors are, and that planted ones are caught."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.fft import next_fast_len
from scipy.special import ndtr

from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.curves import transform
from sordino.losses.curves.composition import Convolution, tail_profile
from sordino.losses.curves.laws import AbstractLossLaw, Atoms, GaussianLaw, SampledLaw
from sordino.losses.curves.points import Floats
from sordino.losses.curves.tables import AbstractTableCurve
from sordino.losses.curves.transform import Grid, on_grid
from sordino.losses.loss import PureDP
from sordino.losses.thresholded import threshold_loss
from sordino.noise.laplace import LaplaceLaw, LaplaceLoss
from tests.batches import for_each

EPSILONS = np.array([0.0, 0.05, 0.2, 0.7, 1.5])


def delta_of(atoms: list[tuple[float, float, float]], epsilon: float) -> float:
    """Return the exact delta of atoms (loss, p, q)."""
    return math.fsum(max(p - math.exp(epsilon) * q, 0.0) for _, p, q in atoms)


def products(
    atoms: list[tuple[float, float, float]], times: int
) -> list[tuple[float, float, float]]:
    """Return every combination of the atoms of independent copies."""
    return [
        (
            sum(a[0] for a in row),
            math.prod(a[1] for a in row),
            math.prod(a[2] for a in row),
        )
        for row in itertools.product(atoms, repeat=times)
    ]


def test_a_composition_bounds_the_exact_enumeration() -> None:
    """For random pairs of laws composed 4 times, the bound is above and close."""
    generator = np.random.default_rng(3)
    for _ in range(25):
        p, q = generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(4))
        loss = np.log(p / q)
        order = np.argsort(loss)
        law = Atoms(loss[order], p[order], q[order], 0.0)
        sums = Convolution(((law, 4),))
        exact = products(list(zip(loss, p, q, strict=True)), 4)
        for depth in (0.0, 4.0):
            found = sums.profile(depth).delta_at(EPSILONS)
            truth = np.array([delta_of(exact, e) for e in EPSILONS.tolist()])
            assert (found >= truth - 1e-15).all()
            assert depth > 0 or (found <= truth + 1e-4).all()


def composed_delta(law: AbstractLossLaw, times: int) -> Floats:
    return Convolution(((law, times),), 1e-3).profile(0.0).delta_at(EPSILONS)


def test_a_grid_that_rounds_losses_down_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mutant with each cell's mass on its left end falls below the closed form."""
    truth = GaussianDP("sqrt(0.4)").delta_at(EPSILONS)
    assert (composed_delta(GaussianLaw(0.2), 10) >= truth).all()
    monkeypatch.setattr(transform, "_right_share", lambda p, *_: np.zeros_like(p))
    assert (composed_delta(GaussianLaw(0.2), 10) < truth).any()


@for_each("lengths", [(16, 16), (15, 16, 17), (16,), (1, 2, 16, 40)])
def test_no_factor_is_lost_when_pairs_are_made(lengths: tuple[int, ...]) -> None:
    """Factors as long as the longest that is paired, longer and shorter, all count."""
    factors = [
        transform.Factor(np.full(length, 1.5), times, 0.0)
        for times in (1, 2)
        for length in lengths
    ]
    before, after = (
        sum(one.times * math.log(one.masses.sum()) for one in found)
        for found in (factors, transform.convolve_pairs(factors, 64))
    )
    assert after == pytest.approx(before, rel=1e-12)


def test_what_a_law_doubts_is_charged() -> None:
    """A law that doubts a tenth of its masses is priced with a tenth more of P."""
    losses, q, p = np.array([-0.5, 0.5]), np.array([0.6, 0.4]), np.array([0.4, 0.6])
    laws = [Atoms(losses, p, q, 0.0, margin=margin) for margin in (0.0, 0.1)]
    sure, doubtful = (float(on_grid(law, 0.5).masses.sum()) for law in laws)
    assert doubtful >= 1.1 * sure * (1 - 1e-12)


def test_a_lost_tail_is_caught() -> None:
    masses = on_grid(GaussianLaw(1.0), 1e-2)
    honest = tail_profile(masses.masses, masses.start, 1e-2, 0.01)
    forgetful = tail_profile(masses.masses, masses.start, 1e-2, 0.0)
    truth = 0.01 + GaussianDP(1).delta_at(EPSILONS)
    assert (honest.delta_at(EPSILONS) >= truth).all()
    assert (forgetful.delta_at(EPSILONS) < truth).all()


def test_the_error_falls_with_the_square_of_the_step() -> None:
    """Halving the step of a composed density divides the excess by about four."""
    law = SampledLaw(GaussianLaw(1.0), 0.1)
    found = [
        Convolution(((law, 20),), step).profile(0.0).delta_at(EPSILONS)[1]
        for step in (8e-3, 4e-3, 2e-3, 2.5e-4)
    ]
    excess = np.array(found[:3]) - found[3]
    assert (excess > 0).all()
    np.testing.assert_allclose(excess[:-1] / excess[1:], 4, rtol=0.1)


@for_each("depth", [0.0, 4.0, 8.0, 12.0])
def test_every_tilt_is_a_bound(depth: float) -> None:
    """Whatever tilt is asked, the sum of Gaussian losses lies above the closed form."""
    sums = Convolution(((GaussianLaw(0.3), 9),))
    epsilon = np.linspace(0, 12, 60)
    truth = GaussianDP("0.9").delta_at(epsilon)
    found = sums.profile(depth).delta_at(epsilon)
    assert (found >= truth * (1 - 1e-12)).all()
    sharp = np.abs(np.sqrt(-2 * np.log(np.maximum(truth, 1e-300))) - depth) < 1
    sharp &= truth > 1e-31
    np.testing.assert_allclose(found[sharp], truth[sharp], rtol=1e-3)


@pytest.mark.slow
def test_transform_errors_are_within_their_bound() -> None:
    """The error claimed for each mass covers the difference to an exact convolution."""
    generator = np.random.default_rng(5)
    weights = [generator.dirichlet(np.ones(40)) for _ in range(6)]
    factors = [
        transform.Factor(w, n, 0.0)
        for w, n in zip(weights, (1, 1, 1, 2, 3, 7), strict=True)
    ]
    unit = 2**90  # of which each mass is a multiple
    products, whole = np.array([1], dtype=object), 1
    for factor in factors:
        multiples = [Fraction(float(m)) * unit for m in factor.masses]
        assert {one.denominator for one in multiples} == {1}
        for _ in range(factor.times):
            products = np.convolve(products, [one.numerator for one in multiples])
            whole *= unit
    exact = np.array([float(Fraction(one, whole)) for one in products])
    found = transform.convolve(factors, 0, 1024)
    off = np.abs(found.masses[: len(exact)] - exact)
    assert off.max() <= found.error
    assert found.error < 1e-12


@for_each("size", [16, 45, 1000, 4096, 15625])
def test_a_transform_is_within_its_error(size: int) -> None:
    generator = np.random.default_rng(size)
    masses = generator.dirichlet(np.full(size, 0.1))
    places = generator.integers(0, size // 2 + 1, 40)
    turns = np.outer(places, np.arange(size)) % size
    angles = turns * (2 * np.arctan2(np.longdouble(0), -1) / size)
    allowed = transform._gamma(size) * float(masses.sum()) / 4
    wide = np.fft.rfft(masses)
    assert np.abs(wide[places].real - np.cos(angles) @ masses).max() < allowed
    assert np.abs(wide[places].imag + np.sin(angles) @ masses).max() < allowed
    back = np.fft.irfft(wide, size)
    most = transform._gamma(size) * np.abs(wide).sum() * 2 / size
    assert np.abs(back - masses).max() < most / 4


def test_sizes_of_transforms_are_the_next_fast_ones() -> None:
    """The least product of twos, threes and fives that is large enough, as in scipy."""
    for least in (*range(1, 3000), 10**6 + 1, 2**22, 2**22 + 1):
        assert transform.transform_size(least) == next_fast_len(least, real=True)


def test_a_law_meets_its_masses() -> None:
    for law in (LaplaceLaw(0.7), GaussianLaw(1.2), SampledLaw(LaplaceLaw(2.0), 0.3)):
        low, high = law.span
        p, q = law.masses(np.linspace(low, high, 501))
        assert math.fsum(p) == pytest.approx(1, abs=1e-14)
        assert math.fsum(q) == pytest.approx(1, abs=1e-14)


def test_an_empty_grid_costs_nothing() -> None:
    one = Grid(0, np.array([1.0]), 0.0)
    assert tail_profile(one.masses, one.start, 0.1, one.infinity).delta[0] == 0


def test_the_joint_threshold_is_tighter_than_the_sum() -> None:
    """New keys and kept keys are never the same: delta is a maximum, not a sum."""
    keys, chance = 3, "4.1576435955178394203e-7"
    joint = threshold_loss(
        lambda kept: LaplaceLoss(1) * kept, key_delta=chance, keys=keys
    )
    simple = LaplaceLoss(1) * keys + ApproxDP(0, chance) * keys
    for epsilon in (0.0, 0.2, 1.0, 2.9):
        assert joint.delta_at(epsilon) < simple.delta_at(epsilon)
    assert joint.delta_at(0.0) == pytest.approx(0.56768531471241720644, rel=1e-5)
    assert joint.guarantees.epsilon == 3


def test_the_joint_threshold_gives_the_published_noise() -> None:
    """One key, Gaussian: scale 4.225 and threshold 21.08 meet (1, 1e-6)."""
    chance = float(ndtr((1 - 21.08) / 4.225))
    made = threshold_loss(
        lambda kept: GaussianDP(1 / Fraction("4.226")) if kept else PureDP(0),
        key_delta=chance,
        keys=1,
    )
    assert made.delta_at(1.0) <= 1.01e-6


@for_each("times", [1, 10, 200])
def test_the_optimistic_side_lies_below(times: int) -> None:
    sums = Convolution(((GaussianLaw(0.1), times),))
    epsilon = np.linspace(0, 2, 30)
    truth = (
        GaussianDP("0.1").compose(*[GaussianDP("0.1")] * (times - 1)).delta_at(epsilon)
    )
    low, high = sums.least_delta(epsilon), sums.profile(0.0).delta_at(epsilon)
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low <= 0.02).all()


def test_the_optimistic_side_of_a_lattice_is_close() -> None:
    """On their own lattice the two sides differ by rounding alone."""
    many = PureDP("0.1") * 20
    curve = many.tradeoff
    assert isinstance(curve, AbstractTableCurve)
    for epsilon in (0.0, 0.3, 1.0):
        low, high = curve.least_delta(np.array([epsilon]))[0], many.delta_at(epsilon)
        assert low <= high <= low + 1e-10
