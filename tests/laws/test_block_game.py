"""Limits of blocks against every analyst: a game that is solved exactly.

One unit of charge is any pair of distributions of an answer, without and with a person,
so the law of n units is the n-fold product and adds up with equality. After each answer
the analyst, who also feeds the table, chooses the next release and its cover, and
whether rows of the person enter one more block, at most m of them. What tells the two
worlds apart best is found by trying everything, in rationals. It is the sum of the m
largest limits, neither more nor less (docs/proofs/filters.md, on blocks).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Final, final

from sordino.auditing.dice import Dice
from tests.batches import for_each, sampled
from tests.dice import rolled

SEED: Final = 20_261_122
Left = tuple[int, ...]
"""Units that are left of each block."""
Cover = frozenset[int]
Law = tuple[tuple[Fraction, Fraction], ...]
"""The chances of each answer without and with the person."""
LIMITS: Final = [(1, 1), (2, 1), (1, 2), (2, 2), (1, 1, 1), (1, 1, 2)]
THRESHOLDS: Final = [Fraction(1), Fraction(2), Fraction(3, 2), Fraction(5)]


@final
@dataclass(frozen=True)
class Rule:
    """What a ledger charges for a cover, and how many units the answer then reveals."""

    charges: Callable[[Left, Cover], Cover]
    reveals: Callable[[Cover], int] = lambda _: 1

    def after(self, left: Left, cover: Cover) -> Left | None:
        charged = self.charges(left, cover)
        if not charged or any(left[block] < 1 for block in charged):
            return None
        return tuple(rest - (block in charged) for block, rest in enumerate(left))


HONEST: Final = Rule(lambda _, cover: cover)
MUTANTS: Final = {
    "a refresh is charged to the newest block": Rule(
        lambda _, cover: frozenset([max(cover)])
    ),
    "spent blocks are passed over": Rule(
        lambda left, cover: frozenset(block for block in cover if left[block])
    ),
    "a price is split among the blocks": Rule(lambda _, cover: cover, len),
}


def advantage(
    limits: Left, law: Law, most: int, threshold: Fraction, rule: Rule
) -> Fraction:
    """Return the greatest P(S) - threshold Q(S) of any analyst and any person."""
    blocks = range(len(limits))
    covers = [
        frozenset(chosen)
        for size in range(1, len(limits) + 1)
        for chosen in combinations(blocks, size)
    ]
    answers = {cover: likelihoods(law, rule.reveals(cover)) for cover in covers}

    @cache
    def best(left: Left, entered: Cover, ratio: Fraction) -> Fraction:
        """Return it for each unit of P, where Q is so many times as likely."""
        values = [Fraction(0), 1 - threshold * ratio]
        if len(entered) < most:
            others = (block for block in blocks if block not in entered)
            values += [best(left, entered | {block}, ratio) for block in others]
        for cover in covers:
            after = rule.after(left, cover)
            if after is not None and cover & entered:
                branches = (
                    weight * best(after, entered, ratio * seen)
                    for seen, weight in answers[cover].items()
                )
                values.append(sum(branches, Fraction(0)))
        return max(values)

    return best(limits, frozenset(), Fraction(1))


def likelihoods(law: Law, units: int) -> dict[Fraction, Fraction]:
    """Return the chances, without the person, of each ratio after so many units."""
    seen = {Fraction(1): Fraction(1)}
    for _ in range(units):
        spread: dict[Fraction, Fraction] = defaultdict(Fraction)
        for (ratio, weight), (p, q) in product(seen.items(), law):
            if p:
                spread[ratio * q / p] += weight * p
        seen = spread
    return seen


def promise(limits: Left, law: Law, most: int, threshold: Fraction) -> Fraction:
    """Return what the sum of the largest limits allows, all at once."""
    units = sum(sorted(limits)[-most:])
    return sum(
        (
            weight * max(Fraction(0), 1 - threshold * ratio)
            for ratio, weight in likelihoods(law, units).items()
        ),
        Fraction(0),
    )


def drawn_law(dice: Dice) -> Law:
    """Return two distributions of two or three answers, impossible ones among them."""
    answers = range(dice.one([2, 3]))
    weights = [[dice.between(0, 5) for _ in answers] for _ in "PQ"]
    for column in weights:
        column[0] += not any(column)
    chances = [[Fraction(n, sum(column)) for n in column] for column in weights]
    return tuple(zip(*chances, strict=True))


def drawn_games(count: int) -> Iterator[tuple[Left, Law, int, Fraction]]:
    dice = rolled(SEED)
    for _ in range(count):
        limits = dice.one(LIMITS)
        most = dice.between(1, len(limits))
        yield limits, drawn_law(dice), most, dice.one(THRESHOLDS)


def test_the_best_analyst_reaches_the_largest_limits_and_no_more() -> None:
    """Whatever follows earlier answers, everything together is within the promise."""
    for game in drawn_games(300):
        assert advantage(*game, HONEST) == promise(*game)


@sampled(1)
@for_each("name", MUTANTS)
def test_a_ledger_that_charges_less_is_beaten(name: str) -> None:
    """Each way to charge less than every block of the cover breaks the promise."""
    beaten = [
        advantage(*game, MUTANTS[name]) > promise(*game) for game in drawn_games(150)
    ]
    assert sum(beaten) > 20
