"""Draws follow the stated law, on the fast path and on every fallback."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from sordino.noise.gaussian import GaussianShape
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling import blocks
from sordino.noise.sampling.bits import Bits
from sordino.noise.sampling.floats import F64, float_sampler
from sordino.noise.sampling.integers import integer_sampler
from tests.batches import for_each
from tests.statistics import integers_follow, reals_follow

F = Fraction
Points = NDArray[np.int64]
Masses = NDArray[np.float64]
MANY = 1_000_000
SCALES = [F(1, 5), F(1), F(7, 2), F(40), F(200), F(1000)]
pytestmark = pytest.mark.slow


def laplace_integers(scale: Fraction, count: int) -> NDArray[np.int64]:
    zeros = np.zeros(count, np.int64)
    return integer_sampler(LaplaceShape(scale)).add(zeros, Bits())


def gaussian_integers(scale: Fraction, count: int) -> NDArray[np.int64]:
    zeros = np.zeros(count, np.int64)
    return integer_sampler(GaussianShape(scale**2)).add(zeros, Bits())


def laplace_mass(scale: float) -> Callable[[Points], Masses]:
    q = np.exp(-1 / float(scale))
    return lambda k: (1 - q) / (1 + q) * q ** np.abs(k)


def gaussian_mass(scale: float) -> Callable[[Points], Masses]:
    scale = float(scale)
    k = np.arange(-int(12 * scale) - 3, int(12 * scale) + 4)
    total = np.exp(-(k**2) / (2 * scale**2)).sum()
    return lambda k: np.exp(-(k**2) / (2 * scale**2)) / total


def laplace_agrees(draws: NDArray[np.int64], scale: Fraction) -> bool:
    return integers_follow(draws, laplace_mass(float(scale)), int(9 * scale) + 3)


def gaussian_agrees(draws: NDArray[np.int64], scale: Fraction) -> bool:
    return integers_follow(draws, gaussian_mass(float(scale)), int(5 * scale) + 3)


@for_each("scale", SCALES)
def test_integer_laplace(scale: Fraction) -> None:
    """The law holds (false alarm 1e-9), and a scale wrong by 2 % is rejected."""
    assert laplace_agrees(laplace_integers(scale, MANY), scale)
    assert not laplace_agrees(laplace_integers(scale * F(51, 50), MANY), scale)


@for_each("scale", [F(1, 2), F(1), F(7, 2), F(40), F(200), F(1000)])
def test_integer_gaussian(scale: Fraction) -> None:
    """The law holds (false alarm 1e-9), and a scale wrong by 2 % is rejected."""
    assert gaussian_agrees(gaussian_integers(scale, MANY), scale)
    assert not gaussian_agrees(gaussian_integers(scale * F(51, 50), MANY), scale)


@for_each("scale", [F(1, 3), F(10), F(3, 2) * 2**80])
def test_real_laplace(scale: Fraction) -> None:
    """Continuous noise follows Laplace's law, and a 2 % wrong scale is rejected."""
    law = stats.laplace(scale=float(scale)).cdf
    zeros = np.zeros(4 * MANY)
    assert reals_follow(
        float_sampler(LaplaceShape(scale), None, F64).add(zeros, Bits()), law
    )
    wrong = float_sampler(LaplaceShape(scale * F(51, 50)), None, F64)
    assert not reals_follow(wrong.add(zeros, Bits()), law)


@for_each("scale", [F(1, 3), F(10), F(3, 2) * 2**80])
def test_real_gaussian(scale: Fraction) -> None:
    """Continuous noise follows the normal law, and a 2 % wrong scale is rejected."""
    law = stats.norm(scale=float(scale)).cdf
    zeros = np.zeros(4 * MANY)
    assert reals_follow(
        float_sampler(GaussianShape(scale**2), None, F64).add(zeros, Bits()), law
    )
    wrong = float_sampler(GaussianShape((scale * F(51, 50)) ** 2), None, F64)
    assert not reals_follow(wrong.add(zeros, Bits()), law)


@for_each("grid", [-3, 0, 2])
def test_noise_on_a_grid(grid: int) -> None:
    """On a grid the noise is discrete: every answer on it, the law the stated one."""
    scale = F(5)
    sampler = float_sampler(LaplaceShape(scale), grid, F64)
    steps = sampler.add(np.zeros(MANY), Bits()) / 2.0**grid
    assert (steps == np.rint(steps)).all()
    assert laplace_agrees(steps.astype(np.int64), scale / F(2) ** grid)


def test_scalars_follow_the_same_law() -> None:
    laplace, gaussian = LaplaceShape(F(7, 2)), GaussianShape(F(49, 4))
    for family, agrees in ((laplace, laplace_agrees), (gaussian, gaussian_agrees)):
        sampler, bits = integer_sampler(family), Bits()
        draws = np.array([sampler.add_to_one(0, bits) for _ in range(100_000)])
        assert agrees(draws, F(7, 2))
    real = float_sampler(GaussianShape(F(4)), None, F64)
    draws = np.array([real.add_to_one(0.0, Bits()) for _ in range(50_000)])
    assert reals_follow(draws, stats.norm(scale=2).cdf)


@pytest.fixture
def fresh_tables() -> Iterator[None]:
    blocks.block_table.cache_clear()
    yield
    blocks.block_table.cache_clear()


@pytest.mark.usefixtures("fresh_tables")
def test_forced_fallback_leaves_the_law_unchanged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With every residual decision taken in balls the law is the same."""
    monkeypatch.setattr(blocks, "_DOUBT", 2.0)
    assert laplace_agrees(laplace_integers(F(100), 200_000), F(100))
    assert gaussian_agrees(gaussian_integers(F(100), 200_000), F(100))


@pytest.mark.usefixtures("fresh_tables")
@for_each("scale", [F(3), F(200)])
def test_draws_beyond_the_table_have_the_right_law(
    monkeypatch: pytest.MonkeyPatch, scale: Fraction
) -> None:
    monkeypatch.setattr(
        LaplaceShape, "reach", lambda self: int(1.5 * float(self.scale)) + 1
    )
    monkeypatch.setattr(
        GaussianShape, "reach", lambda self: int(1.2 * float(self.variance) ** 0.5) + 1
    )
    assert laplace_agrees(laplace_integers(scale, 60_000), scale)
    assert gaussian_agrees(gaussian_integers(scale, 60_000), scale)


@pytest.mark.usefixtures("fresh_tables")
def test_a_truncated_tail_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant that drops draws beyond the table does not pass."""
    monkeypatch.setattr(
        LaplaceShape, "reach", lambda self: int(1.5 * float(self.scale)) + 1
    )
    monkeypatch.setattr(blocks.BlockTable, "_tail", lambda *_: None)
    assert not laplace_agrees(laplace_integers(F(3), 60_000), F(3))
