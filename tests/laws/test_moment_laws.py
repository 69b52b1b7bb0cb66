"""The lemmas of docs/proofs/moments.md, in exact arithmetic; each refutes a mutant."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import Any, Final

import numpy as np
import pytest
from scipy.signal import fftconvolve

from sordino.aggregations.aggregation import Setting
from sordino.aggregations.count import CentredMeasurement, centred_estimator
from sordino.aggregations.lattice import Clamped
from sordino.aggregations.measurement import Total
from sordino.aggregations.moments import (
    Moments,
    divided_moments,
    rows_measurement,
    separate_moments,
)
from sordino.data.contribution import Contribution
from sordino.engines.memory import exact_total
from sordino.expressions.bins import portion
from sordino.expressions.language import col
from sordino.expressions.schema import Column, Schema
from sordino.noise.laplace import LaplaceSumLaw
from sordino.noise.sensitivity import Sensitivity
from sordino.plan.candidates import best_shares
from tests.batches import for_each

Portions = tuple[int, int, int]
HALF: Final = Fraction(1, 2)


def portions(k: int, width: int, finer: int) -> Portions:
    """Return the three integers of a number of steps, as the engines are told them."""
    found = [
        portion(col("x"), 0, width, 0, place, finer).value({"x": k})
        for place in (0, 1, 2)
    ]
    first, second, third = found
    return first, second, third


def rounded_portions(k: int, width: int, finer: int) -> Portions:
    square = math.floor(Fraction(k * k << finer, width) + HALF)
    first = 2 * ((k << finer) - square)
    return (width << finer) - first - square, first, square


def wrong_portions(divide: Callable[[int, int, int], Portions]) -> Iterator[str]:
    """Yield what lemma 1 says that is not so."""
    wide = ((2**24 - 1, 7), (2**31, 0), (94, 17), (1, 23))
    small = itertools.product(range(1, 40), (0, 1, 5))
    for width, finer in itertools.chain(small, wide):
        steps = range(width + 1) if width < 100 else (0, 1, width // 3, width)
        for k in steps:
            found, whole = divide(k, width, finer), width << finer
            if min(found) < 0 or sum(found) != whole:
                yield f"{k} of {width}: {found} is no division of {whole}"
            if found[1] + 2 * found[2] != 2 * k << finer:
                yield f"{k} of {width}: {found} has another first moment"
            if not 0 <= Fraction(k * k << finer, width) - found[2] < 1:
                yield f"{k} of {width}: {found} has another square"


def test_a_number_is_divided_without_a_rest() -> None:
    """Lemma 1, for every number of steps of small widths and some of the greatest."""
    assert not list(wrong_portions(portions))
    assert list(wrong_portions(rounded_portions))


def setting(degree: int, *, nullable: bool = False) -> tuple[Setting, Clamped]:
    """Return rows of one column, of which a unit holds one, and what is asked of it."""
    schema = Schema.of([("x", Column("i64", nullable=nullable, nan=False))])
    clamped = Clamped("x", -3, 11, "drop" if nullable else None, degree)
    rows = Contribution().with_rows(1)
    return Setting(schema, rows, (), None, None, (clamped,), needs_rows=True), clamped


WAYS: Final[dict[str, tuple[Any, int, bool]]] = {
    f"{name}, {'squares' if degree > 1 else 'sums'}{', gaps' if nullable else ''}": (
        way,
        degree,
        nullable,
    )
    for name, way in (("separate", separate_moments), ("divided", divided_moments))
    for degree in (1, 2)
    for nullable in (False, True)
}


def numbers(moments: Moments, values: Sequence[int | None]) -> list[Fraction]:
    """Return the exact numbers of some rows, each in what a row can add to it."""
    found = []
    for one, unit in zip(moments.measurements, moments.units, strict=True):
        step = Fraction(one.scale_totals(np.array([1])).item())
        rows = [{"x": value} for value in values]
        found += [step * exact_total(total, rows) / unit for total in one.totals]
    return found


@for_each("name", WAYS)
def test_moments_are_those_of_the_values(name: str) -> None:
    way, degree, nullable = WAYS[name]
    moments: Moments = way(*setting(degree, nullable=nullable))
    values = [-3, 0, 4, 4, 11, 50, *([None, None] if nullable else [])]
    held = [min(11, max(-3, x)) for x in values if x is not None]
    exact = numbers(moments, values)

    def of(form: Sequence[Fraction]) -> Fraction:
        return sum((a * x for a, x in zip(form, exact, strict=True)), Fraction(0))

    if moments.rows is not None:
        assert of(moments.rows) == len(values)
    assert (moments.rows is None) == (nullable and way is separate_moments)
    assert of(moments.count) == len(held)
    assert of(moments.total) == sum(held)
    if degree == 2:
        square = sum(Fraction(x + 3, 14) ** 2 for x in held)
        assert 0 <= square - of(moments.second) <= moments.rounding * len(held)


@for_each("name", WAYS)
def test_a_row_adds_no_more_than_its_measurements_say(name: str) -> None:
    """Lemma 2, for every row: sizes and their squares over all numbers of each part."""
    way, degree, nullable = WAYS[name]
    moments: Moments = way(*setting(degree, nullable=nullable))
    for value in [*range(-5, 14), *([None] if nullable else [])]:
        exact = iter(numbers(moments, [value]))
        for one, unit in zip(moments.measurements, moments.units, strict=True):
            moved = [next(exact) * unit for _ in one.totals]
            assert sum(map(abs, moved)) <= one.change.l1
            assert sum(x * x for x in moved) <= one.change.l2**2
            assert max(map(abs, moved)) <= one.change.linf
            if way is divided_moments and (value is not None or moments.rows):
                assert sum(moved) == unit


def test_centred_squares_of_wide_integers_pay_for_their_rounding() -> None:
    """Next to the middle of a wide range a row adds more than the width, by rounding.

    Never more than is claimed; without the 8 steps for it the claim would be wrong.
    """
    beyond = 0
    for width in (2**25 + 1, 2**25 + 3, 2**24 - 1):
        clamped = Clamped("x", 0, width, None, 2)
        rows = Contribution().with_rows(1)
        schema = Schema.of([("x", Column("i64", nullable=False, nan=False))])
        held = Setting(schema, rows, (), None, None, (clamped,))
        squares = separate_moments(held, clamped).measurements[2]
        (total,) = squares.totals
        assert isinstance(total, Total)
        for k in range(width // 2 - 20, width // 2 + 20):
            middle = total.expression.value({"x": k})
            assert isinstance(middle, int)
            size = abs(total.factor * middle + total.shift)
            unit = Fraction(squares.scale_totals(np.array([1])).item())
            assert size * unit <= squares.change.linf
            beyond += size * unit > width
    assert beyond > 10


def test_rates_beyond_the_region_of_lemma_3_cost_more() -> None:
    """On a grid of rates: within epsilon for all values iff the lemma says so."""
    grid = [Fraction(k, 4) for k in range(1, 9)]
    places = [Fraction(k, 64) for k in range(65)]
    for r0, r1, r2 in itertools.product(grid, repeat=3):
        worst = max(
            r0 * (1 - t) ** 2 + 2 * r1 * t * (1 - t) + r2 * t**2 for t in places
        )
        free = (1 - r0) * (1 - r2)
        inside = max(r0, r2) <= 1 and (r1 <= 1 or (r1 - 1) ** 2 <= free)
        assert worst <= 1 or not inside
        if not inside and (r1 > 1 or max(r0, r2) > 1):
            # the greatest cost may lie between the places, at a distance of 1/128
            assert worst > 1 - Fraction(1, 64)


Q: Final = Fraction(1, 2)
REACH: Final = 16
"""Noisy numbers below minus this or above twice this are left out."""


@cache
def mass(k: int) -> Fraction:
    return (1 - Q) / (1 + Q) * Q ** abs(k)


@cache
def shown_law(
    numbers_: tuple[int, int] | None, level: int
) -> dict[tuple[int, int] | None, Fraction]:
    if numbers_ is None:
        return {None: Fraction(1)}
    found: dict[Any, Fraction] = {
        told: mass(told[0] - numbers_[0]) * mass(told[1] - numbers_[1])
        for told in itertools.product(range(-REACH, 2 * REACH), repeat=2)
        if sum(told) >= level
    }
    return found | {None: 1 - tail(level - sum(numbers_))}


def apart(one: Any, other: Any, ratio: Fraction) -> Fraction:
    """Return delta of two laws at the epsilon of a ratio, in the worse direction."""
    both = ((one, other), (other, one))
    return max(
        sum((max(Fraction(0), p - ratio * b.get(x, 0)) for x, p in a.items()), Q - Q)
        for a, b in both
    )


def tail(level: int) -> Fraction:
    if level < 1:
        return 1 - tail(1 - level)
    rest = level + (1 + Q**2) / (1 - Q**2) + Q / (1 - Q)
    return Q**level * (1 - Q) / (1 + Q) ** 2 * rest


def worst_joint(level: int, priced: int) -> Fraction:
    """Return the greatest delta over the price, of a row of size 2 in one key."""
    width, worst = 2, Fraction(0)
    chance = tail(priced - width)
    for ratio in (Fraction(1), Fraction(3, 2), Fraction(3), 1 / Q**width):
        noise = sum(
            (
                max(Fraction(0), mass(k - width) - ratio * mass(k))
                for k in range(-60, 61)
            ),
            Fraction(0),
        )
        bound = max(chance, noise)
        for held in (None, (3, 2), (9, 8)):
            for more in range(width + 1):
                before = held or (0, 0)
                after = before[0] + more, before[1] + width - more
                found = apart(shown_law(after, level), shown_law(held, level), ratio)
                worst = max(worst, found / bound)
    return worst


@pytest.mark.slow
def test_a_key_and_its_numbers_cost_no_sum() -> None:
    """Lemma 4 by enumeration: never above the price, and a lower level is caught."""
    assert Fraction(99, 100) < worst_joint(9, 9) <= 1
    assert worst_joint(8, 9) > 1


def test_the_tail_of_a_sum_of_laplace_noises_is_that_of_its_times() -> None:
    """Against the definition: the convolution of densities on a fine grid."""
    step = 2.0**-7
    grid = np.arange(-32, 32, step) + step / 2
    density = np.exp(-np.abs(grid)) / 2
    law = density.copy()
    for count in (1, 2, 3, 4):
        places = np.arange(len(law)) * step + count * grid[0]
        for level in (0.5, 3.0, 9.0):
            beyond = float(law[places >= level].sum() * step)
            told = float(
                LaplaceSumLaw(count, Fraction(1)).at_least(Fraction(level)).mid()
            )
            assert told == pytest.approx(beyond, rel=0.02)
        law = fftconvolve(law, density) * step
    three = [Fraction(comb(2 + i, i), 2 ** (3 + i)) for i in range(3)]
    factors = [sum(three[: 3 - j], Fraction(0)) / factorial(j) for j in range(3)]
    assert factors == [Fraction(8, 16), Fraction(5, 16), Fraction(1, 16)]


def mean_logarithm(table: Any, weights: Any, shares: Any, power: int) -> float:
    variances = (table / np.asarray(shares, float) ** power).sum(axis=1)
    return float(np.asarray(weights, float) @ np.log(variances))


def test_shares_are_the_errors_that_they_cause() -> None:
    """Lemma 5: no other shares have a smaller mean logarithm of the errors.

    Neither for Laplace nor for Gaussian noise; and even shares are mostly worse.
    """
    generator, worse = np.random.default_rng(7), 0
    for _ in range(40):
        answers, measurements, power = generator.integers(1, (6, 6, 3))
        table = generator.uniform(0, 2, (answers, measurements)) ** 3
        table[table < 0.05] = 0
        table += 0.01
        weights = [Fraction(int(k)) for k in generator.integers(1, 9, answers)]
        rows = tuple(map(tuple, table.tolist()))
        found = best_shares(rows, tuple(weights), int(power))
        assert sum(found) == 1
        least = mean_logarithm(table, weights, found, power)
        for other in generator.dirichlet(np.ones(measurements), 50):
            nearer = 0.9 * np.array(found, float) + 0.1 * other
            assert mean_logarithm(table, weights, nearer, power) >= least - 1e-5
        even = np.full(measurements, 1 / measurements)
        worse += mean_logarithm(table, weights, even, power) > least + 0.01
    assert worse > 20


def test_a_measurement_that_nothing_needs_has_hardly_a_share() -> None:
    found = best_shares(((1.0, 0.0), (2.0, 0.0)), (Fraction(1), Fraction(1)), 2)
    assert 0 < found[1] < Fraction(1, 10**6)


def test_centred_counts_cost_what_lemma_6_says() -> None:
    """For every unit of few groups: |x - c|^2 is at most k (1 - 2 c) + d c^2."""
    parts = (Fraction(0), Fraction(1, 7), Fraction(1, 2))
    for d, c in ((d, c) for d in range(1, 8) for c in parts):
        for k in range(1, d + 1):
            units = [v for v in itertools.product((0, 1), repeat=d) if sum(v) <= k]
            moved = max(sum((x - c) ** 2 for x in unit) for unit in units)
            assert moved == k * (1 - 2 * c) + d * c**2


def known_groups(groups: int, most: int, each: int) -> Setting:
    schema = Schema.of([("g", Column("i64")), ("id", Column("i64"))])
    by = frozenset([schema["g"].version])
    bounded = Contribution().with_groups(by, most).with_group_rows(by, each)
    return Setting(schema, bounded, ("g",), "id", groups=groups)


def test_centred_counts_move_no_further_than_they_say() -> None:
    """Lemma 6 for every id in 8 groups, with one row in each or with up to two."""
    groups, reached = 8, set()
    for most, each in ((8, 1), (5, 1), (2, 2), (3, 2)):
        setting = known_groups(groups, most, each)
        found = centred_estimator(setting, rows_measurement(setting))
        if found is None:
            continue
        whole, centred = found.moments.measurements
        assert isinstance(centred, CentredMeasurement)
        change = centred.change
        assert whole.change == Sensitivity(l0=1, linf=1)
        for unit in itertools.product(range(each + 1), repeat=groups):
            if sum(map(bool, unit)) > most:
                continue
            (moved,) = centred.less([np.array(unit)], 1)
            exact = [Fraction(int(one), 64) for one in moved]
            squares = sum(one**2 for one in exact)
            assert squares <= change.l2**2
            assert sum(map(abs, exact)) <= change.l1
            assert max(map(abs, exact)) <= change.linf
            reached |= {squares == change.l2**2}
    assert True in reached


def test_centred_counts_are_the_counts() -> None:
    setting = known_groups(100, 20, 3)
    found = centred_estimator(setting, rows_measurement(setting))
    assert found is not None
    _, centred = found.moments.measurements
    assert isinstance(centred, CentredMeasurement)
    (held,) = centred.less([np.array([0, 5, 4000])], 1300)
    share, one = found.form
    told = [share * 1300 + one * Fraction(int(value), 64) for value in held]
    assert told == [0, 5, 4000]


@for_each(("groups", "most"), [(1, 1), (100, 1), (7, 7)], ids=["one", "apart", "few"])
def test_counts_are_not_centred_without_gain(groups: int, most: int) -> None:
    setting = known_groups(groups, most, 1)
    assert centred_estimator(setting, rows_measurement(setting)) is None
