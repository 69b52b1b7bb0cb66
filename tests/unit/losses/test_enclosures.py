"""Every answer of a curve bounds the truth, rounding included, at every argument."""

import numpy as np
import pytest
from mpmath import mp, mpf

import sordino as sd


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", "40"])
def test_small_false_positive_rates_of_laplace_noise(epsilon: str) -> None:
    """The rate of true positives is exp(epsilon) alpha, and keeps all its digits."""
    loss = sd.LaplaceLoss(epsilon)
    alphas = np.geomspace(1e-300, min(1e-6, np.exp(-float(epsilon)) / 3), 300)
    with mp.workdps(400):
        truth = [mp.exp(mpf(epsilon)) * mpf(float(alpha)) for alpha in alphas]
        for alpha, found, true in zip(alphas, loss.tpr_at(alphas), truth, strict=True):
            assert mpf(float(found)) >= true
            assert mpf(float(found)) <= true * (1 + mpf("1e-13")) + mpf(5e-324)
            assert loss.tpr_at(float(alpha)) == found
    rates = sd.ErrorRates(fpr="1e-17", tpr="1.01e-17")
    assert not rates.admits(loss)
