"""A loss in plain sentences.

>>> from sordino.losses.base import PureDP
>>> "at most 2.8 times in 100." in explain(PureDP(1))
True
"""

import math
from typing import Protocol

from sordino.losses.guarantees import Guarantees
from sordino.numbers import up

_FIELD = "In the terms of the field"
_RATES = ((100, 0.01), (1000, 0.001))


class Explained(Protocol):
    """What the sentences ask of a loss."""

    @property
    def guarantees(self) -> Guarantees:
        """Return the exact parameters."""

    def tpr_at(self, alpha: float) -> float:
        """Return the true positive rate at a false positive rate."""

    def epsilon_at(self, delta: float) -> float:
        """Return the epsilon at a delta."""

    def advantage(self) -> float:
        """Return the greatest true minus false positive rate."""


def explain(loss: Explained) -> str:
    """Return sentences on false alarms, on guessing, on belief, and the headline."""
    sentences = [_finds(loss, out_of, rate) for out_of, rate in _RATES]
    sentences += [_guesses(loss), _believes(loss), _headline(loss)]
    return "\n".join(sentence for sentence in sentences if sentence)


def _finds(loss: Explained, out_of: int, alpha: float) -> str:
    """Say how often the best attack finds a person at a false positive rate."""
    found = _upwards(float(loss.tpr_at(alpha)) * out_of)
    return (
        f"An attacker who is allowed 1 false alarm in {out_of} finds the person "
        f"at most {found} times in {out_of}."
    )


def _guesses(loss: Explained) -> str:
    """Say how often a guess between two equally likely databases is right."""
    right = _upwards(50 * (1 + loss.advantage()))
    return (
        "Asked whether a person is in the data, when both answers are equally likely "
        f"beforehand, the best guess is right at most {right} times in 100, "
        "where a coin is right 50 times."
    )


def _believes(loss: Explained) -> str:
    """Say how far an outcome can move a belief, where a ratio bounds it."""
    known = loss.guarantees
    if known.epsilon == math.inf or known.delta > 0 or up(known.epsilon) > 3:
        return ""
    after = 1 / (1 + 9 * math.exp(-up(known.epsilon)))
    return (
        "Whatever is published, a belief of 10 in 100 that the person is in the data "
        f"becomes at most {_upwards(100 * after)} in 100."
    )


def _headline(loss: Explained) -> str:
    """Say the exact parameters."""
    known = loss.guarantees
    reserve = (
        f", with a reserve delta of {_upwards(up(known.delta))}" if known.delta else ""
    )
    for name, value in (
        ("epsilon", known.epsilon),
        ("mu", known.mu),
        ("rho", known.rho),
    ):
        if value != math.inf:
            return f"{_FIELD}: {name} = {_upwards(up(value))}{reserve}."
    epsilon = _upwards(float(loss.epsilon_at(1e-6)))
    return f"{_FIELD}: epsilon = {epsilon} at delta = 1e-06."


def _upwards(value: float) -> str:
    """Return two digits, rounded up, so that a sentence never understates."""
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    rounded = math.ceil(value / unit * (1 - 1e-12)) * unit
    return f"{rounded:.2g}" if rounded < 100 else f"{rounded:.0f}"
