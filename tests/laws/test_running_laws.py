"""Figures over time: how far their forms move, by drawing, and what they add up to."""

import itertools
import math
import random
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.aggregations.running import STEPS, Factorisation, each_alone, square_root
from tests.batches import for_each, sampled

SIZES: Final = (2, 3, 5, 8)


def length_squared(factors: Factorisation, moved: list[int]) -> Fraction:
    blocks = np.array(moved, dtype=object).reshape(-1, factors.periods)
    forms = blocks @ factors.matrix.T.astype(object)
    return Fraction(int((forms * forms).sum()), 4**STEPS)


def furthest(factors: Factorisation, held: tuple[int, int, int], blocks: int) -> Any:
    """Return the greatest move of drawn changes of at most so many entries."""
    entries, largest, whole = held
    dice, numbers = random.Random(7), factors.periods * blocks
    greatest = Fraction(0)
    supports = list(itertools.combinations(range(numbers), min(entries, numbers)))
    for support in supports if len(supports) < 300 else dice.sample(supports, 300):
        for sign in (1, -1):
            moved, left = [0] * numbers, whole
            for place in dice.sample(support, len(support)):
                size = min(largest, left)
                left -= size
                moved[place] = size * dice.choice((1, sign))
            greatest = max(greatest, length_squared(factors, moved))
    return greatest


@for_each("blocks", [1, 2])
@for_each("size", SIZES)
@for_each("of", [square_root, each_alone])
def test_forms_move_within_their_bound(of: Any, size: int, blocks: int) -> None:
    """For drawn changes of every kind; with one block the bound is reached."""
    factors = of(size)
    for held in ((1, 1, 1), (2, 1, 2), (3, 2, 5), (size * blocks, 1, 99), (4, 3, 3)):
        entries, largest, whole = held
        bounds = Fraction(largest), Fraction(whole)
        bound = factors.change_squared(entries, bounds, blocks=blocks > 1)
        found = furthest(factors, held, blocks)
        assert found <= bound
        if blocks == 1 and entries <= size and entries * largest <= whole:
            assert found == bound


def test_orthogonal_columns_are_caught() -> None:
    """Squares of columns that overlap do not add up, nor are the last ones worst."""
    factors = square_root(8)
    found = furthest(factors, (3, 1, 3), 1)
    columns = factors.matrix.astype(object)
    assert found > 3 * Fraction(factors.squares[1], 4**STEPS)
    last = columns[:, -3:].sum(axis=1)
    assert found > Fraction(int((last * last).sum()), 4**STEPS)


@for_each("size", [2, 12, 52, 365])
@for_each("of", [square_root, each_alone])
def test_figures_are_unbiased_and_add_up(of: Any, size: int) -> None:
    """Forms in what is measured of any totals are their running sums and windows."""
    factors, dice = of(size), np.random.default_rng(2)
    exact = dice.integers(-(10**9), 10**9, size)
    measured = factors.measure(exact[None, :])[0]
    assert factors.forms(None) @ measured == pytest.approx(np.cumsum(exact))
    assert factors.forms(1) @ measured == pytest.approx(exact)
    window = factors.forms(2) @ measured
    assert window[1:] == pytest.approx(exact[1:] + exact[:-1])
    assert np.all(np.diff(factors.factors) <= 0)
    assert min(factors.factors) >= 0


def test_totals_stop_together() -> None:
    factors = square_root(3)
    huge = np.array([[2**53, 2**53, -(2**53)]])
    assert np.all(np.abs(factors.measure(huge)) <= 2.0 ** (53 - STEPS))
    apart = factors.measure(huge) - factors.measure(huge - np.array([[1, 0, 0]]))
    assert np.max(np.abs(apart)) <= 1


WEEKS: Final = list(range(1, 53))


def test_52_weeks_to_date_err_far_less() -> None:
    """2.3 deviations of one count at the end of a year, where 7.2 is usual."""
    rows = {"id": [1], "week": [1]}
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.GaussianDP(1))
    request = sd.table("t").cumulative("week", WEEKS, n=sd.count())
    price = session.price(request, sd.GaussianDP(1))
    assert price.errors["n"].sd == pytest.approx(2.3225, abs=1e-3)
    keys = sd.KeySet.from_dict({"week": WEEKS})
    plain = session.price(
        sd.table("t").group_by(keys).agg(n=sd.count()), sd.GaussianDP(1)
    )
    assert 7.2 < plain.errors["n"].sd * math.sqrt(52) < 7.6
    assert price.loss.mu <= 1


@pytest.mark.slow
@sampled(1, 1)
@for_each("budget", [sd.GaussianDP(1), sd.PureDP(1)], ids=repr)
def test_intervals_hold(budget: Any) -> None:
    """Of 400 releases of 12 periods; a false alarm once in 1e10 runs.

    Figures of one kind at one period are independent from release to release: fewer
    than 346 of 400 intervals at 95 % have a chance of 4e-11, and squares that add up to
    225 or to 655 in units of their variance one of 1e-13.
    """
    months = [month for month in range(1, 13) for _ in range(month)]
    table = sd.PrivateTable({"month": months}, protects=sd.AddOneRow())
    request = sd.table("t").cumulative("month", list(range(1, 13)), n=sd.count())
    session = sd.Session({"t": table}, budget.times(400))
    truth = {"n": 12, "n_to_date": 78}
    held = dict.fromkeys(truth, 0)
    far = 0.0
    for _ in range(400):
        release = session.release(request, budget)
        for name, exact in truth.items():
            low, high = (release.errors[f"{name} {end}"][11].as_py() for end in END)
            held[name] += low <= exact <= high
        far += (release["n_to_date"][11].as_py() - 78) ** 2
    assert min(held.values()) >= 346
    expected = session.price(request, budget).errors["n"].sd
    assert 0.75 < math.sqrt(far / 400) / expected < 1.28


END: Final = ("low", "high")
