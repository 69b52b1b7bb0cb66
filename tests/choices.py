"""What a mechanism that chooses is asked by the laws, and the chances it should have.

The chances are worked out here from the definition alone: no code of a mechanism is
used, so that a mechanism is held against its definition and its definition against its
price.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.losses.loss import Budget
from sordino.noise.additive import AbstractMechanism
from sordino.noise.bin_counts import BinCounts
from sordino.noise.sampling.bits import Bits

Chances: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = tuple[Any, ...]
World: TypeAlias = tuple[Numbers, Numbers, Any]
"""Two inputs and their distance."""


@final
@dataclass(frozen=True)
class Choice:
    """A mechanism that chooses, and how its laws are examined."""

    build: Callable[[Any], AbstractMechanism]
    """By what it costs at distance 1."""
    fit: Callable[[Budget, Any], AbstractMechanism]
    """By a budget and a distance."""
    worlds: tuple[World, ...]
    """Pairs of neighbours."""
    chances: Callable[[float, Numbers], Chances]
    """By the price and an input: the chance of each answer, by definition."""
    draw: Callable[[Any, Numbers, int], NDArray[np.int64]]
    """Draws so many answers to one input, numbered as the chances are."""


SCORES: tuple[World, ...] = (
    ((0, 0), (0, 1), 1),
    ((1, 0), (0, 1), 2),
    ((3, 0, 1), (3, 1, 2), 1),
    ((0, 0, 0, 0), (1, -1, 0, 1), 2),
    ((Fraction(1, 3), 2, 0), (Fraction(1, 2), 2, 0), Fraction(1, 6)),
    ((5, 1, 1), (7, 3, 3), 0),
)
"""Scores of candidates; the distance is the range of their changes."""

ANSWERS: tuple[World, ...] = (
    ((0,), (1,), 1),
    ((1,), (1,), 0),
    ((0, 1), (1, 0), 2),
    ((0, 1), (0, 0), 1),
)
"""Answers of people; the distance is how many of them change."""

TABLES: tuple[World, ...] = (
    ((1, 2, 0, 1), (2, 2, 0, 1), 1),
    ((1, 2, 0, 1), (1, 2, 0, 2), 1),
    ((3, 0, 2, 2), (3, 1, 2, 3), 2),
    ((0, 0, 0, 5), (0, 0, 0, 7), 2),
    ((6, 0, 0, 0), (5, 0, 0, 0), 1),
    ((0, 4, 0, 0), (0, 4, 0, 0), 0),
)
"""Rows in the bins of a grid; the distance is how many rows are added or removed."""


def by_scores(epsilon: float, scores: Numbers) -> Chances:
    """Return chances proportional to exp(epsilon * score)."""
    weights = np.exp([epsilon * float(score - max(scores)) for score in scores])
    return np.asarray(weights / weights.sum())


def by_truth(categories: int) -> Callable[[float, Numbers], Chances]:
    """Return chances in which the truth is exp(epsilon) times as likely as a lie."""

    def chances(epsilon: float, answers: Numbers) -> Chances:
        law = np.ones(1)
        for answer in answers:
            weights = np.ones(categories)
            weights[answer] = math.exp(epsilon)
            law = np.outer(law, weights / weights.sum()).ravel()
        return law

    return chances


def by_walk(epsilon: float, table: Numbers) -> Chances:
    """Return the chances of the first bin with few rows beyond it, both made noisy.

    Two-sided geometric noise of scale 2 / epsilon, and 4 / epsilon rows left over.
    """
    ratio, left = math.exp(-epsilon / 2), math.floor(4 / epsilon + 1e-9)
    far = math.ceil(70 / epsilon)
    beyond = [sum(table[place + 1 :]) for place in range(len(table))]

    def at_most(level: float) -> float:
        if level < 0:
            return float(ratio**-level / (1 + ratio))
        return float(1 - ratio ** (level + 1) / (1 + ratio))

    law = np.zeros(len(table))
    for noise in range(-far, far + 1):
        going = (1 - ratio) / (1 + ratio) * ratio ** abs(noise)
        for place, count in enumerate(beyond[:-1]):
            stops = at_most(left + noise - count)
            law[place] += going * stops
            going *= 1 - stops
        law[-1] += going
    return law


def by_recursion(
    *probabilities: Any, parts: int
) -> Callable[[float, Numbers], Chances]:
    """Return the chances of quantiles: the middle one, then those to either side.

    Each bin is divided into parts, and holds a share of each of its rows in each.
    """
    asked = tuple(Fraction(p) for p in probabilities)

    def chances(epsilon: float, table: Numbers) -> Chances:
        law = np.zeros(len(table) ** len(asked))
        divided = tuple(rows / parts for rows in table for _ in range(parts))
        recursion = Recursion(divided, epsilon / len(asked).bit_length())
        ends = (Fraction(0), -1), (Fraction(1), len(divided) - 1)
        for answer, chance in recursion.paths(asked, *ends):
            bins = np.array([answer]) // parts
            law[numbered(bins, len(table))[0]] += chance
        return law

    return chances


Cut: TypeAlias = tuple[Fraction, int]
"""A probability, and the part of a bin chosen for it."""


@final
@dataclass(frozen=True)
class Recursion:
    """Quantiles of a table, each chosen between two that are known."""

    table: Numbers
    epsilon: float
    """Of each level."""

    def paths(
        self, asked: tuple[Fraction, ...], low: Cut, high: Cut
    ) -> list[tuple[Numbers, float]]:
        """Return the answers to some probabilities, each with its chance."""
        if not asked:
            return [((), 1.0)]
        middle = len(asked) // 2
        found = []
        for c, chance in enumerate(self.chosen(asked[middle], low, high)):
            if chance:
                cut = asked[middle], c
                sides = itertools.product(
                    self.paths(asked[:middle], low, cut),
                    self.paths(asked[middle + 1 :], cut, high),
                )
                found += [((*a, c, *b), chance * p * q) for (a, p), (b, q) in sides]
        return found

    def chosen(self, probability: Fraction, low: Cut, high: Cut) -> Chances:
        share = (probability - low[0]) / (high[0] - low[0])
        before = np.cumsum((0, *self.table))
        first, last = before[low[1] + 1], before[high[1] + 1]
        bins = range(max(low[1], 0), high[1] + 1)
        missed = [
            max(
                (1 - share) * (before[c] - first) - share * (last - before[c]),
                share * (last - before[c + 1]) - (1 - share) * (before[c + 1] - first),
                0,
            )
            for c in bins
        ]
        rate = self.epsilon / (2 * float(max(share, 1 - share)))
        law = np.zeros(len(self.table))
        law[bins] = by_scores(rate, tuple(-one for one in missed))
        return law


def numbered(answers: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the number of each row of answers, read as digits."""
    found: NDArray[np.int64] = answers @ size ** np.arange(answers.shape[1])[::-1]
    return found


def draw_scores(mechanism: Any, scores: Numbers, count: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = mechanism.choose([list(scores)] * count)
    return found


def draw_answers(mechanism: Any, answers: Numbers, count: int) -> NDArray[np.int64]:
    drawn = mechanism(np.tile(np.array(answers, np.int64), count))
    return numbered(drawn.reshape(count, len(answers)), mechanism.categories)


def draw_walks(mechanism: Any, table: Numbers, count: int) -> NDArray[np.int64]:
    found: NDArray[np.int64] = mechanism.find_groups(_bins(table, count), Bits())
    return found


def draw_quantiles(mechanism: Any, table: Numbers, count: int) -> NDArray[np.int64]:
    found = mechanism.release_groups(_bins(table, count), Bits())
    return numbered(found, len(table))


def _bins(table: Numbers, count: int) -> BinCounts:
    """Return so many groups that all hold one table."""
    held = np.flatnonzero(table)
    owner = np.repeat(np.arange(count), held.size)
    rows = np.tile(np.array(table)[held], count)
    return BinCounts.of(
        owner, np.tile(held, count), rows, groups=count, size=len(table)
    )
