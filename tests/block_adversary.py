"""The analyst who gets the most out of blocks: exact, by dynamic programming.

Besides each release and the blocks that it reads, the analyst chooses after every
answer whether rows of the person come, and into which block: data that react to answers
at their worst. Releases are those of `tests.adversary`; one that reads no block of the
person has one law in both worlds and is left out, for it only spends.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import TypeAlias

from sordino.losses.budgets.charge import Amount, Charge
from sordino.losses.budgets.filters import AbstractFilter
from tests.adversary import Release

Pricing: TypeAlias = Callable[[Charge, int], Charge]
"""What each block of a cover is charged, by how many they are."""
Spent: TypeAlias = tuple[Charge, ...]
"""What each block was charged."""


def whole(charge: Charge, blocks: int) -> Charge:
    del blocks
    return charge


def part(charge: Charge, blocks: int) -> Charge:
    return _divided(charge, Fraction(blocks))


def root(charge: Charge, blocks: int) -> Charge:
    """Charge as if blocks were independent: squares of mu add up. Not valid."""
    return _divided(charge, Fraction(math.sqrt(blocks)))


def _divided(charge: Charge, by: Fraction) -> Charge:
    amounts: list[Amount] = [Fraction(amount) / by for amount in charge.amounts]
    return Charge(charge.coordinates, tuple(amounts))


def worst_in_blocks(
    limit: AbstractFilter,
    releases: Sequence[Release],
    shape: tuple[int, int],
    epsilon: float,
    pricing: Pricing = whole,
) -> float:
    """Return the greatest delta that an analyst reaches against one person.

    `shape` is how many blocks there are, and into how many the person may come.
    """
    blocks, most = shape
    moves = list(_moves(limit, releases, blocks, pricing))

    @cache
    def value(spent: Spent, there: frozenset[int], loss: float) -> float:
        best = max(0.0, -math.expm1(epsilon - loss))
        for block in set(range(blocks)) - there if len(there) < most else ():
            best = max(best, value(spent, there | {block}, loss))
        for release, cover, charge in moves:
            after = _after(spent, cover, charge)
            if cover & there and all(map(limit.holds, after)):
                best = max(best, _expected(release, after, there, loss))
        return best

    def _expected(
        release: Release, after: Spent, there: frozenset[int], loss: float
    ) -> float:
        if release.chance:
            return release.chance + (1 - release.chance) * value(after, there, loss)
        likely = 1 / (1 + math.exp(-release.epsilon))
        up = value(after, there, round(loss + release.epsilon, 12))
        down = value(after, there, round(loss - release.epsilon, 12))
        return likely * up + (1 - likely) * down

    return value((limit.zero,) * blocks, frozenset(), 0.0)


def _moves(
    limit: AbstractFilter, releases: Sequence[Release], blocks: int, pricing: Pricing
) -> Iterator[tuple[Release, frozenset[int], Charge]]:
    for release in releases:
        charge = limit.charge_for(release.loss, release.loss)
        for size in range(1, blocks + 1):
            for cover in combinations(range(blocks), size):
                yield release, frozenset(cover), pricing(charge, size)


def _after(spent: Spent, cover: frozenset[int], charge: Charge) -> Spent:
    return tuple(
        total.plus(charge) if block in cover else total
        for block, total in enumerate(spent)
    )
