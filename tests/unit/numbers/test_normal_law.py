"""The normal law in doubles, against balls."""

import math
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
import pytest
from flint import arb
from mpmath import mp

from sordino.losses.closed import GaussianDP
from sordino.losses.curves.laws import GaussianLaw
from sordino.losses.curves.normal import near_gaussian_delta, tail
from sordino.numbers import normal
from sordino.numbers.normal import (
    NORMAL_ERROR,
    Doubles,
    log_normal_chance,
    normal_chance,
    normal_quantile_of,
    scaled_normal_tail,
)
from sordino.numbers.rounding import precision
from tests.batches import for_each

PLACES = 22
pytestmark = pytest.mark.usefixtures("digits")


@pytest.fixture
def digits() -> Iterator[None]:
    """Compute balls with 200 bits."""
    with precision(200):
        yield


def points() -> Doubles:
    """Return points that are dense, random, near 0, and at the ends of the doubles."""
    drawn = np.random.default_rng(1).uniform(-37, 9, 3000)
    ends = np.array([-37.0, -1e-300, 0.0, 5e-324, 8.2, 8.3])
    return np.concatenate((np.linspace(-37, 9, 4001), drawn, ends))


def farthest(found: Doubles, exact: Callable[[float], arb], x: Doubles) -> float:
    return max(
        abs(float((arb(value) / exact(point) - 1).mid()))
        for value, point in zip(found.tolist(), x.tolist(), strict=True)
    )


def exact_chance(x: float) -> arb:
    return tail(arb(-x))


def exact_log(x: float) -> arb:
    """Return ln Phi(x), without a difference of near numbers."""
    return (-tail(arb(x))).log1p() if x > 0 else tail(arb(-x)).log()


def exact_scaled(x: float) -> arb:
    """Return M(x); far out by the first terms of its series, within 3 / x^4."""
    if x < 2e4:
        return tail(arb(x)) * (arb(x) ** 2 / 2).exp()
    return (1 - 1 / arb(x) ** 2) / arb(x) / (2 * arb.pi()).sqrt()


def test_chances_are_within_their_error() -> None:
    """Down to 1e-300, less than what is allowed, and near what was proved."""
    x = points()
    assert farthest(normal_chance(x), exact_chance, x) < 9.2e-14 < NORMAL_ERROR


def test_logarithms_are_within_their_error() -> None:
    """Also far beyond the least double."""
    x = np.concatenate((points(), -np.geomspace(37, 1e100, 500)))
    assert farthest(log_normal_chance(x), exact_log, x) < 2e-14 < NORMAL_ERROR


def test_a_coefficient_that_is_slightly_wrong_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = (*normal._ABOVE[:6], normal._ABOVE[6] * (1 + 1e-12))
    monkeypatch.setattr(normal, "_ABOVE", wrong + normal._ABOVE[7:])
    x = points()
    assert farthest(normal_chance(x), exact_chance, x) > NORMAL_ERROR


def test_the_coefficients_are_those_that_the_proof_names() -> None:
    """Solved anew with 60 digits, they are the same doubles, and all positive."""
    with mp.workdps(60):
        turns = [mp.cos(mp.pi * (2 * i + 1) / (2 * PLACES)) for i in range(PLACES)]
        places = [mp.mpf("3.6") * (1 + t) / (1 - t) for t in turns]
        values = [mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2)) / 2 for x in places]
        rows, right = mp.matrix(PLACES, PLACES), mp.matrix(PLACES, 1)
        for i, (x, value) in enumerate(zip(places, values, strict=True)):
            scale = (1 + x) ** -11
            for j in range(11):
                rows[i, j] = x**j * scale
                rows[i, 11 + j] = -value * x ** (j + 1) * scale
            right[i] = value * scale
        found = [float(one) for one in mp.lu_solve(rows, right)]
    assert found[:11] == [*reversed(normal._ABOVE)]
    assert [1.0, *found[11:]] == [*reversed(normal._BENEATH)]
    assert min(found) > 0


def test_the_quotient_is_near_where_it_is_not_held_to() -> None:
    """P / Q in balls is within what coefficients are rounded by, for all x >= 0."""
    turns = np.cos(np.pi * np.arange(1, 1500) / 1500)
    x = np.concatenate(([0.0], 3.6 * (1 + turns) / (1 - turns)))
    above, beneath = (
        [sum(arb(c) * arb(v) ** i for i, c in enumerate(reversed(row))) for v in x]
        for row in (normal._ABOVE, normal._BENEATH)
    )
    for point, p, q in zip(x.tolist(), above, beneath, strict=True):
        assert abs(float((p / q / exact_scaled(point) - 1).mid())) < 3e-16


def test_ends_and_shapes() -> None:
    ends = np.array([-np.inf, -1e200, 0.0, np.inf, np.nan])
    np.testing.assert_array_equal(normal_chance(ends), [0, 0, 0.5, 1, np.nan])
    logs = log_normal_chance(ends)
    np.testing.assert_array_equal(logs[[0, 1, 3, 4]], [-np.inf, -np.inf, 0, np.nan])
    assert scaled_normal_tail(np.array([1e30]))[0] < 1e-27
    many = np.linspace(-9, 9, 30_000).reshape(3, 100, 100)
    for function in (normal_chance, log_normal_chance):
        alone = [function(row) for row in chain.from_iterable(many)]
        np.testing.assert_array_equal(function(many).reshape(-1, 100), alone)


def test_quantiles_are_the_inverse() -> None:
    """To the last digits, from the least double to 1 - 2^-53."""
    chances = np.concatenate((
        np.geomspace(5e-324, 0.5, 1500),
        1 - np.geomspace(2**-53, 0.5, 500),
    ))
    for chance, found in zip(
        chances.tolist(), normal_quantile_of(chances).tolist(), strict=True
    ):
        rest = arb(chance) if chance < 0.5 else 1 - arb(chance)
        exact = (2 * rest).erfcinv() * arb(2).sqrt() * (-1 if chance < 0.5 else 1)
        assert abs(float((found - exact).mid())) <= 4e-15 * (1 + abs(found))
    ends = normal_quantile_of(np.array([0.0, 1.0, np.nan]))
    np.testing.assert_array_equal(ends, [-np.inf, np.inf, np.nan])


@for_each("mu", [1e-3, 0.1, 1.0, 6.0])
def test_near_deltas_are_near(mu: float) -> None:
    """Of both signs of epsilon, and 0 without noise to tell apart."""
    epsilon = np.linspace(0, 4, 41)
    exact = GaussianDP(mu).delta_at(epsilon)
    near = near_gaussian_delta(np.array([mu]), epsilon)
    np.testing.assert_allclose(near, exact, rtol=1e-9, atol=1e-13)
    mirrored = -np.expm1(-epsilon) + np.exp(-epsilon) * near
    np.testing.assert_allclose(
        near_gaussian_delta(np.array([mu]), -epsilon), mirrored, rtol=1e-9, atol=1e-13
    )
    none = near_gaussian_delta(np.zeros(3), np.array([-1.0, 0.0, 1.0]))
    np.testing.assert_array_equal(none, [-math.expm1(-1), 0.0, 0.0])


@for_each("mu", [0.01, 1.0, 5.0])
def test_masses_of_the_gaussian_law_are_within_its_margin(mu: float) -> None:
    """The tails that cells add up to, on both sides, are within half of the margin."""
    law = GaussianLaw(mu)
    edges = np.linspace(*law.span, 400)
    for masses, shift in zip(law.masses(edges), (-mu / 2, mu / 2), strict=True):
        below = np.cumsum(masses[:-1])
        above = np.cumsum(masses[::-1])[-2::-1]
        for edge, low, high in zip(edges.tolist(), below, above, strict=True):
            x = arb(edge) / arb(mu) + arb(shift)
            shorter, found = (-x, low) if low < high else (x, high)
            assert abs(float((arb(float(found)) / tail(shorter) - 1).mid())) < 5e-13


def test_near_deltas_at_extremes() -> None:
    """No epsilon and no mu overflows: what remains is a chance, and the right one."""
    epsilon = np.array([0.0, 1e-300, 1e-9, 1.0, 700.0, 1e4, 1e8])[:, None]
    mu = np.geomspace(1e-300, 1e300, 121)
    for sign in (1, -1):
        near = near_gaussian_delta(mu, sign * epsilon)
        assert ((near >= 0) & (near <= 1)).all()
        assert (near[:, -1] == 1).all()
    large = np.sqrt(2e4)
    at_the_middle = near_gaussian_delta(np.array([large]), np.array([1e4]))
    assert at_the_middle == pytest.approx(0.5 - 0.39894 / large / 2, abs=1e-2)
