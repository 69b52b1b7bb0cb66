"""Finding the least noise and the least threshold within a loss."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sordino.errors import InvalidParameter
from sordino.mechanisms.appearance import each_passes, rational
from sordino.numbers import Exact, up

if TYPE_CHECKING:
    from sordino.losses.closed import ApproxDP, ApproxZCDP
    from sordino.mechanisms.thresholded import AbstractThresholdMechanism

_HALF = Fraction(1, 2)


def spread_within(whole: Exact | float, loss: "ApproxDP", d_in: Any) -> Exact:
    """Return the least scale of Laplace noise: whole / epsilon."""
    del d_in
    return whole / loss.epsilon


def least_threshold(
    mechanism: "AbstractThresholdMechanism", loss: "ApproxDP | ApproxZCDP", d_in: Any
) -> Fraction:
    """Return the least positive threshold whose delta is within that of the loss."""
    raise NotImplementedError
