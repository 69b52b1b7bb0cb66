"""Trade-off curves lie beneath the exact hull of the test that exists."""

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.special import ndtr

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.losses.closed import GaussianDP
from sordino.losses.curves.tradeoff import PLRVs, get_beta
from sordino.losses.loss import PureDP
from tests.batches import for_each, sampled

PITFALLS = json.loads(
    (Path(__file__).parents[2] / "vectors" / "tradeoff_pitfalls.json").read_text()
)


def pair(p: ArrayLike, q: ArrayLike, step: float, *, symmetric: bool = False) -> PLRVs:
    """Return the variables of two laws whose log ratios are multiples of a step."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    both = (p > 0) & (q > 0)
    place = np.rint(np.log(p[both] / q[both]) / step).astype(int)
    low = int(place.min())
    return PLRVs(
        low,
        np.bincount(place - low, p[both]),
        float(p[q == 0].sum()),
        low,
        np.bincount(place - low, q[both]),
        float(q[p == 0].sum()),
        symmetric,
    )


def test_both_directions_are_bounded_when_the_losses_start_above_zero() -> None:
    """P002: a slice that assumes a loss of 0 over-claims beta by 0.09; not ours."""
    row = next(row for row in PITFALLS if row["id"] == "P002")
    rest = 1 - 0.5 * math.exp(-0.2) - 0.5 * math.exp(-1)
    variables = pair(
        [0.5, 0.5, 0], [0.5 * math.exp(-0.2), 0.5 * math.exp(-1), rest], 0.1
    )
    found = get_beta(variables, row["alpha"])
    np.testing.assert_allclose(found, row["exact"], atol=6e-5)


def test_exchanging_the_directions_changes_nothing() -> None:
    """P001: the bound for both directions is the same whichever is called P."""
    p, q = [0.7, 0.2, 0.1], [0.2, 0.3, 0.5]
    alpha = np.linspace(0, 1, 101)
    one = get_beta(_unordered(p, q), alpha)
    other = get_beta(_unordered(q, p), alpha)
    np.testing.assert_allclose(one, other, atol=1e-12)


def _unordered(p: ArrayLike, q: ArrayLike) -> PLRVs:
    """Return variables on a fine grid, losses rounded up, as a discretisation does."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    place = np.ceil(np.log(p / q) / 1e-6).astype(int)
    rank = np.argsort(place)
    dense = np.zeros(3)
    dense[:] = p[rank]
    shadow = q[rank]
    # only the order of the losses matters, not their distance
    return PLRVs(0, dense, 0.0, 0, shadow, 0.0, False)


def test_the_curve_is_never_above_the_test_that_exists() -> None:
    """For random pairs, no deterministic test in either direction beats the curve."""
    generator = np.random.default_rng(7)
    for _ in range(200):
        p, q = generator.dirichlet(np.ones(5)), generator.dirichlet(np.ones(5))
        order = np.argsort(p / q)
        variables = PLRVs(0, p[order], 0.0, 0, q[order], 0.0, False)
        for subset in range(32):
            accused = np.array([subset >> i & 1 for i in range(5)], dtype=bool)
            for null, other in ((q, p), (p, q)):
                alpha, beta = null[accused].sum(), other[~accused].sum()
                assert get_beta(variables, min(alpha, 1.0)) <= beta + 1e-12


def test_the_larger_of_both_directions_would_be_caught() -> None:
    """A mutant that returns max(T(P,Q), T(Q,P)) fails the test above."""
    p, q = np.array([0.1, 0.9]), np.array([0.5, 0.5])
    forward = get_beta(PLRVs(0, p, 0.0, 0, q, 0.0, True), 0.5)
    backward = get_beta(PLRVs(0, q[::-1], 0.0, 0, p[::-1], 0.0, True), 0.5)
    both = get_beta(PLRVs(0, p, 0.0, 0, q, 0.0, False), 0.5)
    assert both <= min(forward, backward) + 1e-12
    assert max(forward, backward) > both + 0.05


def test_a_discretised_gaussian_matches_its_closed_form() -> None:
    """On a grid of 1e-3 the curve lies below the Gaussian's, by less than 1e-6."""
    edges = np.arange(-7000, 7001) * 1e-3
    y, x = np.diff(ndtr(edges - 0.5)), np.diff(ndtr(edges + 0.5))
    missing = float(ndtr(-6.5))
    variables = PLRVs(-7000, y, missing, -7000, x, missing, True)
    alpha = np.linspace(0, 1, 1001)
    truth = GaussianDP(1).beta_at(alpha)
    found = get_beta(variables, alpha)
    np.testing.assert_allclose(found, truth, atol=1e-6)


def test_all_mass_at_infinity_means_no_privacy() -> None:
    nothing_shared = PLRVs(0, [], 1.0, 0, [], 1.0, False)
    assert get_beta(nothing_shared, [0, 0.3, 1]).tolist() == [0, 0, 0]


def test_masses_at_infinity_count_exactly() -> None:
    """A breach of chance 1/4 leaves beta = 3/4 - alpha."""
    breach = PLRVs(0, [0.75], 0.25, 0, [0.75], 0.25, True)
    assert get_beta(breach, [0, 0.25, 0.75, 1]).tolist() == [0.75, 0.5, 0, 0]


@for_each(
    "alpha",
    [0, 1, 0.5, np.float32(0.25), np.int64(1), np.array(0.5), [0, 1], [[0.9], [0.1]]],
)
def test_any_form_of_alpha_is_answered_in_kind(alpha: Any) -> None:
    """P009: integers, single floats, 0-d and unsorted arrays all give exact floats."""
    variables = PLRVs(0, [0.25, 0.75], 0.0, 0, [0.75, 0.25], 0.0, True)
    found = np.asarray(get_beta(variables, alpha))
    expected = np.interp(np.asarray(alpha), [0, 0.25, 1], [1, 0.25, 0])
    assert found.shape == np.shape(alpha)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, atol=1e-15)


@for_each(
    "alpha",
    [
        math.nan,
        math.inf,
        1.5,
        -0.1,
        [0.1, math.nan, 0.5],
        True,
        "x",
        1j,
        [[0.1], [1, 2]],
    ],
)
def test_senseless_alphas_are_refused_by_name(alpha: Any) -> None:
    """P010: NaN, infinity and rates outside [0, 1] are refused, never answered."""
    variables = PLRVs(0, [0.25, 0.75], 0.0, 0, [0.75, 0.25], 0.0, True)
    with pytest.raises(InvalidParameter, match="alpha"):
        get_beta(variables, alpha)


@for_each(
    ("field", "value"),
    [
        ("y0", 0.5),
        ("x0", True),
        ("pmf_Y", [0.5, -0.1]),
        ("pmf_Y", [math.nan]),
        ("pmf_Y", [[0.5]]),
        ("pmf_X", [0.6, 0.6]),
        ("pmf_X", "mass"),
        ("pmf_X", []),
        ("infinity_mass_Y", 1.5),
        ("infinity_mass_Y", math.nan),
        ("minus_infinity_mass_X", [0.0]),
        ("is_symmetric", 1),
    ],
)
def test_senseless_fields_are_refused_by_name(field: str, value: object) -> None:
    fields: dict[str, object] = {
        "y0": 0,
        "pmf_Y": [0.5, 0.5],
        "infinity_mass_Y": 0.0,
        "x0": 0,
        "pmf_X": [0.5, 0.5],
        "minus_infinity_mass_X": 0.0,
        "is_symmetric": False,
    }
    with pytest.raises(InvalidParameter, match=field):
        PLRVs(**(fields | {field: value}))  # type: ignore[arg-type]


def test_a_curve_is_drawn_and_saved(tmp_path: Path) -> None:
    curve = (PureDP("0.5") + GaussianDP("0.5")).curve()
    for name in ("curve.png", "curve.svg"):
        axes = curve.plot(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    labels = [line.get_label() for line in axes.get_lines()]
    assert {"perfect privacy", "this release", "no privacy"} <= set(map(str, labels))
    with pytest.raises(InvalidParameter, match="path"):
        curve.plot(tmp_path / "curve.bmp")


def test_a_curve_answers_between_its_points_from_the_safe_side() -> None:
    """What the arrays say between two points is never above the loss itself."""
    loss = GaussianDP(1)
    curve = loss.curve()
    alpha = np.linspace(0, 1, 333)
    assert (curve.beta_at(alpha) <= loss.beta_at(alpha) + 1e-15).all()


RATES = [5e-324, 1e-320, 1e-300, 1e-17, 0.01, 0.1, 0.3, 0.5, 0.9, 1 - 2.0**-53]


def exact_beta(y: Any, x: Any, lost: float, alpha: Fraction) -> Fraction:
    """Return the height of the lower hull at alpha: the least of all chords."""
    masses_y, masses_x = (
        [Fraction(float(p)) for p in y],
        [Fraction(float(p)) for p in x],
    )
    tests = [(Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))]
    for place in range(len(masses_y) + 1):
        rate = min(sum(masses_x[place:], Fraction(0)), Fraction(1))
        missed = min(sum(masses_y[:place], Fraction(0)), 1 - Fraction(lost))
        tests += [(rate, missed), (missed, rate)]
    best = Fraction(1)
    for a, high in tests:
        for b, low in tests:
            if a == alpha:
                best = min(best, high)
            elif a < alpha <= b:
                best = min(best, high - (high - low) * (alpha - a) / (b - a))
    return best


@sampled(3)
@for_each("case", range(8))
def test_beta_is_beneath_the_exact_hull_and_close(case: int) -> None:
    """For any masses, at any rate, read as a double and as its decimal."""
    rng = np.random.default_rng(case)
    size = int(rng.integers(1, 9))
    y, x = (np.exp(rng.normal(0, 4, size)) for _ in range(2))
    y, x = y / y.sum() * (1 - 1e-12), x / x.sum() * (1 - 1e-12)
    lost = 0.01 * (case % 2)
    pair = sd.PLRVs(0, y * (1 - lost), lost, 0, x, 0.0, False)
    for alphas in (RATES, RATES * 10):
        for alpha, beta in zip(alphas, sd.get_beta(pair, alphas), strict=True):
            truths = [
                exact_beta(pair.pmf_Y, pair.pmf_X, lost, read)
                for read in {Fraction(alpha), Fraction(repr(alpha))}
            ]
            assert Fraction(float(beta)) <= min(truths)
            assert float(beta) >= float(min(truths)) - 1e-14


def test_short_binary_fractions_are_met_exactly() -> None:
    """Where all corners are short fractions the line is its own double."""
    pair = sd.PLRVs(0, [0.25, 0.75], 0.0, 0, [0.75, 0.25], 0.0, True)
    assert sd.get_beta(pair, [0.0, 0.125, 0.25, 0.625, 1.0]).tolist() == [
        1.0, 0.625, 0.25, 0.125, 0.0,
    ]  # fmt: skip


@for_each("far", [10**7, 10**18, 10**40, -(10**30)])
def test_supports_may_lie_as_far_apart_as_they_like(far: int) -> None:
    """Thresholds between two supports are one test: nothing is allocated for them."""
    pair = sd.PLRVs(0, [0.5, 0.5], 0.0, far, [0.25, 0.75], 0.0, False)
    expected = 0.5 if far > 0 else 0.0
    assert sd.get_beta(pair, 0.5) == expected
