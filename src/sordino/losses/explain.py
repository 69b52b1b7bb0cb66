"""A loss in plain sentences.

>>> from sordino.losses.base import PureDP
>>> "at most 2.8 times in 100." in explain(PureDP(1))
True
"""

import math
from collections.abc import Callable
from typing import Any, Protocol

from sordino.losses.guarantees import Guarantees
from sordino.numbers import up

_FIELD = "In the terms of the field"
OUT_OF = (100, 1000)
"""In how many an attacker is allowed one false alarm."""


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
    sentences = [finds(loss.tpr_at, out_of) for out_of in OUT_OF]
    sentences += [_guesses(loss), _believes(loss), _headline(loss)]
    return "\n".join(sentence for sentence in sentences if sentence)


def finds(tpr_at: Callable[[float], Any], out_of: int) -> str:
    """Return how often the best attack finds a person, at 1 false alarm in so many."""
    times = _digits_above(float(tpr_at(1 / out_of)) * out_of)
    return (
        f"An attacker who is allowed 1 false alarm in {out_of} finds the person "
        f"at most {times} times in {out_of}."
    )


def _guesses(loss: Explained) -> str:
    """Say how often a guess between two equally likely databases is right."""
    right = _digits_above(50 * (1 + loss.advantage()))
    return (
        "Asked whether a person is in the data, when both answers are equally likely "
        f"beforehand, the best guess is right at most {right} times in 100, "
        "where a coin is right 50 times."
    )


def _believes(loss: Explained) -> str:
    """Say how far an outcome can move a belief, where a ratio bounds it."""
    ratio = up(loss.guarantees.epsilon)
    if loss.guarantees.delta > 0 or ratio > 3:
        return ""
    belief = 1 / (1 + 9 * math.exp(-ratio))
    return (
        "Whatever is published, a belief of 10 in 100 that the person is in the data "
        f"becomes at most {_digits_above(100 * belief)} in 100."
    )


def _headline(loss: Explained) -> str:
    """Say the exact parameters."""
    guarantees = loss.guarantees
    reserve = (
        f", with a reserve delta of {_digits_above(up(guarantees.delta))}"
        if guarantees.delta
        else ""
    )
    for name, value in (
        ("epsilon", guarantees.epsilon),
        ("mu", guarantees.mu),
        ("rho", guarantees.rho),
    ):
        if value != math.inf:
            return f"{_FIELD}: {name} = {_digits_above(up(value))}{reserve}."
    epsilon = _digits_above(float(loss.epsilon_at(1e-6)))
    return f"{_FIELD}: epsilon = {epsilon} at delta = 1e-06."


def _digits_above(value: float) -> str:
    """Return two digits, rounded up, so that a sentence never understates."""
    if value <= 0 or not math.isfinite(value):
        return f"{value:g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    upper = math.ceil(value / unit * (1 - 1e-12)) * unit
    return f"{upper:.2g}" if upper < 100 else f"{upper:.0f}"
