"""The first few keys by an exact score, chosen one after another.

Each choice is an exponential mechanism among the keys that are left. Where keys are
not known, an end sign of a public score is among them, and ends the list
(docs/proofs/first-few.md).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.curves.search import find_least
from sordino.errors import InvalidParameter
from sordino.losses.allowance import largest_parameter
from sordino.losses.base import Loss, compose
from sordino.losses.bounded_range import BoundedRangeLoss
from sordino.losses.closed import ApproxZCDP
from sordino.mechanisms.kit.carrier import Passing
from sordino.numbers import INFINITE, down, finite, rational_above, shortest, up
from sordino.sampling.bits import Bits
from sordino.sampling.choice import Runs, choose

_SAFE: Final = 1 + 2.0**-30
"""Far more than doubles err in a logarithm and a quotient."""
_FARTHEST: Final = 2**61
_BELOW: Final = 1 - Fraction(1, 2**40)
_CLOSE: Final = 2.0**-20


@final
@dataclass(frozen=True)
class TopScores:
    """What is known of the scores: whole numbers of a public unit."""

    most: int
    """How many keys are sought."""
    width: Fraction
    """The range within which one unit moves the scores of common keys, in steps."""
    unit: Fraction
    """The size of a step."""
    fresh: Fraction | None = None
    """The greatest score of a key of one unit alone; None where keys are known."""
    keys: int = 0
    """How many such keys a unit has at most."""


@final
@dataclass(frozen=True)
class TopKeys:
    """Choices of a rate, and where the list may end.

    For any two databases that differ by the protected change, the list of chosen keys
    has at most the loss of `loss`.
    """

    scores: TopScores
    epsilon: Fraction
    """The range of the losses of one choice."""
    seen: Fraction
    """The chance that a key of one unit alone is chosen, at most."""
    limit: Loss
    """What all choices together are within."""

    def __repr__(self) -> str:
        """Show how many are chosen, and how far scores err."""
        end = "" if self.end is None else f", down to about {float(self.least):.4g}"
        return f"first {self.scores.most}, chosen (scale {self.scale:.4g}{end})"

    @property
    def rate(self) -> Fraction:
        """Return the exponent of one step of the scores."""
        return self.epsilon / self.scores.width

    @property
    def scale(self) -> float:
        """Return by how much scores must differ for odds of e to one."""
        return up(self.scores.unit / self.rate)

    @cached_property
    def end(self) -> int | None:
        """Return the score of the end sign in steps, None where keys are known.

        It is rounded up, so that keys of one unit alone are seen no more often.
        """
        if self.scores.fresh is None:
            return None
        odds = self.scores.most * self.scores.keys / self.seen
        above = _SAFE * math.log(up(odds)) / down(self.rate)
        if above > _FARTHEST:
            raise InvalidParameter(
                "budget",
                self.epsilon,
                "buys choices so blunt that no key would reach the end of the list",
                "Use a larger budget, or group by a sd.KeySet.",
            )
        return math.ceil(self.scores.fresh) + math.ceil(above)

    @property
    def least(self) -> Fraction:
        """Return the score at which the list ends as likely as it goes on."""
        return Fraction(self.end or 0) * self.scores.unit

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of all choices."""
        return _loss(self.epsilon, self.scores.most, self.seen)

    def distance_apart(self, confidence: float) -> float:
        """Return the distance of two scores, the greater of which comes first."""
        return self.scale * math.log(confidence / (1 - confidence))

    def select(self, totals: NDArray[np.int64], place: int = 0) -> Passing:
        """Return the places of the chosen keys, the first one first."""
        del place  # there is one round
        chosen = np.array(list(self._choose(totals)), np.int64)
        return Passing(chosen, totals[chosen])

    def _choose(self, totals: NDArray[np.int64]) -> "list[int]":
        """Return the places of the keys: equal scores are one run of candidates."""
        values, sizes = np.unique(totals, return_counts=True)
        order = np.argsort(totals, kind="stable")
        members = np.split(order, np.cumsum(sizes)[:-1]) if values.size else []
        left = [list(places) for places in members]
        listed: list[int] = []
        while len(listed) < min(self.scores.most, totals.size):
            numbers = np.array([len(places) for places in left], np.int64)
            drawn = self._draw(values, numbers)
            if drawn is None:
                break
            run, place = drawn
            listed.append(int(left[run].pop(place)))
        return listed

    def _draw(
        self, values: NDArray[np.int64], sizes: NDArray[np.int64]
    ) -> tuple[int, int] | None:
        """Return a run and a place in it, None where the list ends."""
        runs = np.flatnonzero(sizes)
        scores, numbers = values[runs], sizes[runs]
        if self.end is not None:
            scores, numbers = np.append(scores, self.end), np.append(numbers, 1)
        gaps = scores.max() - scores
        ends = np.array([scores.size])
        chosen = choose(Runs.flat(gaps, numbers, ends), self.rate, Bits())
        run = int(chosen.run[0])
        if run == runs.size:
            return None
        return int(runs[run]), int(chosen.place[0])


def fit_top_keys(scores: TopScores, limit: Loss) -> TopKeys:
    """Return the sharpest choices within a limit.

    Of delta half is for the end sign, the rest for the curve of several choices; one
    choice has none to leave.
    """
    seen = Fraction(0)
    if scores.fresh is not None:
        delta = rational_above(finite(limit.guarantees.delta))
        seen = delta if scores.most == 1 else delta / 2
    top = TopKeys(scores, _largest_range(limit, scores.most, seen), seen, limit)
    top.end  # noqa: B018 refuses what has none, before anything is charged
    return top


@lru_cache(maxsize=64)
def _largest_range(limit: Loss, most: int, seen: Fraction) -> Fraction:
    """Return the greatest range of one choice; requests of a batch share it.

    Ranges of an epsilon over the number of choices add up to it, and no choice can have
    more than all of it.
    """
    whole = limit.guarantees.epsilon
    if whole is INFINITE:
        return largest_parameter(limit, lambda epsilon: _loss(epsilon, most, seen))
    least = rational_above(whole) / most * _BELOW
    if most == 1:
        return least

    def within(bluntness: float) -> bool:
        return limit.admits(_loss(shortest(1 / bluntness), most, seen))

    bluntest = down(1 / least)
    bluntness = find_least(within, bluntest / most, bluntest, _CLOSE)
    return least if bluntness == math.inf else shortest(1 / bluntness)


def _loss(epsilon: Fraction, most: int, seen: Fraction) -> Loss:
    """Return the loss of so many choices, and of a chance to see a new key."""
    choices: list[Loss] = [BoundedRangeLoss(epsilon)] * most
    return compose([*choices, ApproxZCDP(0, seen)] if seen else choices)
