"""Which of two changes costs more: the theorem of docs/proofs/losses.md, section 5.

In exact rationals, with losses as powers of q: nothing is rounded.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias

from tests.batches import for_each

Change: TypeAlias = tuple[int, ...]
Weights: TypeAlias = dict[int, Fraction]
RATES = [Fraction(1, 20), Fraction(1, 2), Fraction(9, 10)]
MOST = 7


def changes(whole: int, most: int) -> Iterator[Change]:
    """Return the descending ways to write a number as a sum."""
    if whole == 0:
        yield ()
    for first in range(min(whole, most), 0, -1):
        for rest in changes(whole - first, first):
            yield (first, *rest)


def majorises(one: Change, other: Change) -> bool:
    pairs = itertools.zip_longest(one, other, fillvalue=0)
    gains = itertools.accumulate(first - second for first, second in pairs)
    return one != other and min(gains) >= 0


def product(one: Weights, other: Weights) -> Weights:
    found: Counter[int] = Counter()
    for (i, p), (j, q) in itertools.product(one.items(), other.items()):
        found[i + j] += p * q  # type: ignore[assignment]
    return {place: Fraction(weight) for place, weight in found.items()}


def weights(shift: int, q: Fraction) -> Weights:
    if shift == 0:
        return {0: Fraction(1)}
    inner = dict.fromkeys(range(2 - shift, shift, 2), (1 - q) / (1 + q))
    return inner | {shift: 1 / (1 + q), -shift: 1 / (1 + q)}


def laws(change: Change, q: Fraction) -> tuple[Weights, Weights]:
    """Return the losses of a change under noise that is not shifted, and shifted.

    With P(x) proportional to q**abs(x), point by point; tails have one loss each.
    """
    found: tuple[Weights, Weights] = {0: Fraction(1)}, {0: Fraction(1)}
    for shift in change:
        ends = 1 / (1 + q), q**shift / (1 + q)
        points = range(1, shift)
        here = {shift - 2 * x: (1 - q) / (1 + q) * q**x for x in points}
        there = {shift - 2 * x: (1 - q) / (1 + q) * q ** (shift - x) for x in points}
        here |= {shift: ends[0], -shift: ends[1]}
        there |= {shift: ends[1], -shift: ends[0]}
        found = product(found[0], here), product(found[1], there)
    return found


def deltas(change: Change, q: Fraction) -> list[Fraction]:
    """Return delta at every loss that can occur, and between any two of them."""
    p, r = laws(change, q)
    at = [q**-k for k in range(-sum(change), sum(change) + 1)]
    between = [(one + other) / 2 for one, other in itertools.pairwise(at)]
    return [
        sum((max(p[loss] - t * r[loss], Fraction(0)) for loss in p), Fraction(0))
        for t in (*at, *between)
    ]


@for_each("q", RATES, ids=str)
@for_each("whole", range(2, MOST))
def test_what_majorises_costs_more(whole: int, q: Fraction) -> None:
    """For any two changes in the order, at every loss value and between them."""
    found = {change: deltas(change, q) for change in changes(whole, whole)}
    for one, other in itertools.permutations(found, 2):
        if majorises(one, other):
            assert all(a >= b for a, b in zip(found[one], found[other], strict=True))


@for_each("q", RATES, ids=str)
def test_the_converse_is_refuted(q: Fraction) -> None:
    """The planted mutant: the order turned round, or changes of another sum, fails."""
    whole, shared = deltas((3,), q), deltas((2, 1), q)
    assert any(a > b for a, b in zip(whole, shared, strict=True))
    assert not majorises((2, 1), (3,))
    assert not majorises((2, 2), (3, 1))
    assert not majorises((2, 1), (1, 1, 1, 1))


@for_each("q", RATES, ids=str)
def test_a_transfer_adds_what_the_proof_says(q: Fraction) -> None:
    """U(a+1) U(b-1) - U(a) U(b) is the product of step 2, as polynomials."""
    for b, extra in itertools.product(range(1, 5), range(4)):
        a = b + extra
        more = product(weights(a + 1, q), weights(b - 1, q))
        less = product(weights(a, q), weights(b, q))
        ladder = {extra - 2 * j: Fraction(1) for j in range(extra + 1)}
        last = {2: Fraction(1), -2: Fraction(1), 0: -(q + 1 / q)}
        said = product(ladder, last)
        for loss in {*more, *less, *said}:
            gained = more.get(loss, 0) - less.get(loss, 0)
            assert gained == q / (1 + q) ** 2 * said.get(loss, 0)
