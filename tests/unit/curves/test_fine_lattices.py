"""Noise of a wide scale: its losses lie on a lattice too fine to follow."""

import numpy as np

import sordino as sd
from sordino.noise.laplace import GeometricLoss, LaplaceLoss
from tests.batches import for_each

SCALES = [10**k for k in range(3, 16)] + [10**k + 7 for k in range(6, 16)]
MOST_POINTS = 1 << 21


@for_each("scale", SCALES)
def test_the_cost_does_not_follow_the_scale(scale: int) -> None:
    """A grid has a bounded number of points, and bounds that are true and tight.

    Geometric noise tells its two laws apart nearly as well as Laplace noise does: by
    less than the mass of a step, and by 1e-7 for the rounding of a grid.
    """
    loss, near = GeometricLoss(scale, scale), LaplaceLoss(1)
    (sums,) = loss.tradeoff.convolutions
    assert len(sums.grids[0][0].masses) < MOST_POINTS
    asked = np.linspace(0, 1.1, 45)
    apart = loss.delta_at(asked) - near.delta_at(asked)
    assert (np.abs(apart) < 1 / scale + 1e-7).all()
    alphas = np.geomspace(1e-6, 1, 45)
    assert (np.abs(loss.tpr_at(alphas) - near.tpr_at(alphas)) < 1 / scale + 1e-7).all()


def test_a_coarse_grid_is_on_the_safe_side() -> None:
    """What a coarse grid says of a lattice is never below what the lattice says."""
    for scale in (999, 1000, 4001):
        exact = GeometricLoss(scale, scale)
        (fine,) = exact.tradeoff.convolutions
        for cells in (7, 20, 333):
            coarse = type(fine)(fine.parts, fine.step * cells)
            asked = np.linspace(0, 1.05, 64)
            found = coarse.profile(0.0).delta_at(asked)
            assert (found >= fine.profile(0.0).delta_at(asked) - 1e-13).all()


def test_sentences_on_a_wide_sum() -> None:
    """A release of a wide sum explains itself as one of a narrow sum does."""
    said = []
    for high in (100_000, 10**12):
        table = sd.PrivateTable({"x": [1, 2]}, protects=sd.AddOneRow())
        session = sd.Session({"t": table}, sd.PureDP(1))
        query = sd.table("t").agg(n=sd.sum("x", 0, high))
        said.append(session.release(query, sd.PureDP(1)).loss.explain())
    assert said[0] == said[1]
