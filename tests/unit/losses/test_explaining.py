"""The numbers in the sentences are those of the curve, two digits, rounded up."""

import re
from typing import Any

import pytest

import sordino as sd
from tests.batches import for_each
from tests.oracles import mp, mpf, real

EPSILONS = ["1/10", "1/2", "1", "2", "3"]


def two_digits_up(value: Any) -> float:
    """Return the least number of two digits that is not below a value."""
    unit = mpf(10) ** (mp.floor(mp.log10(value)) - 1)
    return float(mp.ceil(value / unit * (1 - mpf("1e-12"))) * unit)


def numbers(text: str) -> list[float]:
    """Return what follows "at most" in each sentence."""
    return [float(found) for found in re.findall(r"at most ([0-9.e+-]*[0-9])", text)]


@for_each("epsilon", EPSILONS)
def test_a_pure_loss_says_what_an_attacker_can_do(epsilon: str) -> None:
    gain = mp.exp(real(epsilon))
    least = mp.exp(-real(epsilon))
    said = numbers(sd.PureDP(epsilon).explain())
    truths = [
        100 * min(gain / 100, 1 - least * (1 - mpf(1) / 100)),
        1000 * min(gain / 1000, 1 - least * (1 - mpf(1) / 1000)),
        100 * gain / (1 + gain),
        100 / (1 + 9 * least),
    ]
    assert said == pytest.approx([two_digits_up(one) for one in truths], rel=1e-9)
