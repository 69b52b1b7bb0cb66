"""A choice of limits and bounds with what it costs and loses: a row of a suggestion."""

import math
from dataclasses import dataclass
from typing import Final, final

from sordino.query.limit_grid import LimitChoice
from sordino.query.request import Request

CUT: Final = "rows cut off"
"""The name of the share of rows that limits cut off."""


@final
@dataclass(frozen=True)
class Tried:
    """A choice, the request with it, and what it costs and loses."""

    choice: LimitChoice
    request: Request
    noise: dict[str, float]
    """The deviation of each answer that the budget buys."""
    score: float
    """The mean logarithm of the errors; less is better."""
    lost: dict[str, tuple[float, float]]
    """The shares that are cut off and clamped, each with its deviation."""

    @property
    def most_lost(self) -> float:
        """Return the greatest of the shares that it loses."""
        return self.losses[0]

    @property
    def losses(self) -> tuple[float, float, float]:
        """Return the greatest share, their sum and the score, in order of weight."""
        shares = [share for share, _ in self.lost.values()]
        return max(shares, default=0.0), math.fsum(shares), self.score
