"""Losses beyond what doubles can follow: all is revealed, and no question fails."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath

import sordino as sd
from tests.batches import for_each

SCALES = ["1e-400", "1e-300", "1e-120", "1e-90", "1e-10"]
OTHERS: dict[str, Callable[[sd.Loss], sd.Loss]] = {
    "alone": lambda loss: loss,
    "beside Laplace noise": lambda loss: loss + sd.Laplace(1).map(1),
    "beside integers": lambda loss: loss + sd.Geometric(1).map(1),
    "three times beside a curve": lambda loss: loss * 3 + sd.GaussianDP(1),
    "sampled": lambda loss: loss.subsampled("0.5") + sd.PureDP(1),
}
LOSSES: dict[str, Callable[[Any], sd.Loss]] = {
    "epsilon": lambda scale: sd.PureDP(1 / Fraction(scale)),
    "Laplace": lambda scale: sd.Laplace(scale).map(1),
    "geometric": lambda scale: sd.Geometric(scale).map(3),
    "Gaussian": lambda scale: sd.Gaussian(scale=scale).map(1),
    "discrete Gaussian": lambda scale: sd.DiscreteGaussian(scale=scale).map(1),
}


@for_each("beside", OTHERS)
@for_each("kind", LOSSES)
def test_next_to_no_noise_reveals_all(kind: str, beside: str) -> None:
    """Every question has an answer, and it is that the attacker knows."""
    least = 0.49 if beside == "sampled" else 0.999
    for scale in SCALES:
        loss = OTHERS[beside](LOSSES[kind](scale))
        assert loss.tpr_at(0.05) >= least
        assert loss.delta_at(1) >= least
        assert loss.advantage() >= least
        assert loss.epsilon_at("1e-6") > 20
        assert loss.explain()


@for_each("epsilon", [600, 700, 709, "709.5", "709.78", 710, 720, 740, 745, 800])
def test_rates_beyond_what_doubles_hold_are_the_attackers(epsilon: Any) -> None:
    """Where exp(epsilon) overflows, and rates are the least doubles that there are."""
    loss = sd.PureDP(epsilon)
    with mpmath.workdps(800):
        growth = mpmath.exp(mpmath.mpf(str(epsilon)))
        for alpha in (0.0, 5e-324, 1e-310, 1e-300, 0.5, 1 - 2.0**-53, 1.0):
            missed = max(1 - growth * alpha, (1 - mpmath.mpf(alpha)) / growth, 0)
            assert loss.tpr_at(alpha) >= 1 - missed
            assert loss.beta_at(alpha) <= missed
