"""The joint curve of thresholded releases by enumeration, and fitting to a loss."""

import itertools
import math
import time
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.losses.thresholded import JointLoss
from tests.batches import for_each, sampled
from tests.effort import often

REACH = 400
HUGE = 10**6
"""A count so large that its key passes for certain."""


def law(kind: str, scale: float, center: int, level: int) -> dict[Any, float]:
    """Return the law of what one key gives: its noisy value, or nothing."""
    if center == 0:
        return {None: 1.0}
    points = range(-REACH, REACH + 1)
    power = 1 if kind == "Laplace" else 2
    heights = [math.exp(-(abs(x / scale) ** power) / power) for x in points]
    whole = math.fsum(heights)
    found: dict[Any, float] = {None: 0.0}
    for x, height in zip(points, heights, strict=True):
        place = center + x if center + x >= level else None
        found[place] = found.get(place, 0.0) + height / whole
    return found


def true_delta(
    pairs: list[tuple[dict[Any, float], dict[Any, float]]], epsilon: float
) -> float:
    """Return sup over events of P - exp(epsilon) Q for independent keys, enumerated."""
    losses: list[tuple[float, float]] = [(1.0, 1.0)]
    for p, q in pairs:
        single: dict[float, list[float]] = {}
        for place in {*p, *q}:
            a, b = p.get(place, 0.0), q.get(place, 0.0)
            ratio = math.inf if b == 0 else round(a / b, 12)
            cell = single.setdefault(ratio, [0.0, 0.0])
            cell[0] += a
            cell[1] += b
        losses = [
            (a * c, b * d)
            for (a, b), (c, d) in itertools.product(losses, single.values())
        ]
    return math.fsum(max(a - math.exp(epsilon) * b, 0.0) for a, b in losses)


SPLITS = [(b, c) for b in range(3) for c in range(3 - b)]


@for_each("kind", ["Laplace", "Gaussian"])
@for_each(("scale", "level"), [(1.0, 3), (1.5, 6), (0.75, 2)])
def test_curve_against_enumeration(kind: str, scale: float, level: int) -> None:
    """For every split of two keys into new, vanished and kept, the curve is not below.

    It exceeds the greatest of them by no more than 1 % and the delta of the threshold.
    """
    if kind == "Laplace":
        loss = sd.LaplaceThreshold(scale, level, dtype="i64").map((2, 2, 1))
    else:
        loss = sd.GaussianThreshold(scale=scale, threshold=level, dtype="i64").map((
            2,
            "sqrt(2)",
            1,
        ))
    assert isinstance(loss, JointLoss)
    new, gone = law(kind, scale, 1, level), law(kind, scale, 0, level)
    high, higher = law(kind, scale, HUGE, level), law(kind, scale, HUGE + 1, level)
    for epsilon in (0.0, 0.3, 0.9, 1.4, 2.5):
        worst = max(
            true_delta(
                [(new, gone)] * b + [(gone, new)] * c + [(higher, high)] * (2 - b - c),
                epsilon,
            )
            for b, c in SPLITS
        )
        found = float(loss.delta_at(epsilon))
        assert worst * (1 - 1e-9) <= found <= worst * 1.01 + float(loss.delta)
        assert found <= float(loss.headline.delta_at(epsilon)) * (1 + 1e-9)


def test_joint_curve_saves_a_quarter_of_laplace_noise() -> None:
    """With 30 keys (1, 1e-6) is met at a scale of 22, where the headline needs 30."""
    loss = sd.LaplaceThreshold("21.8", "361.5").map((30, 30, 1))
    assert loss.epsilon > Fraction(13, 10)
    assert loss.delta_at(1.0) <= 1e-6 < loss.headline.delta_at(1.0)


TARGETS = st.tuples(
    st.fractions(min_value=Fraction(1, 10), max_value=5, max_denominator=20),
    st.integers(1, 40).map(lambda digits: Fraction(1, 10**digits)),
)
DISTANCES = st.tuples(
    st.integers(1, 60),
    st.fractions(min_value=1, max_value=20, max_denominator=4),
    st.integers(1, 5),
)
FORMS: list[dict[str, Any]] = [
    {},
    {"dtype": "i64"},
    {"dtype": "f32", "negative": True},
    {"granularity": -3},
]


@for_each("options", FORMS, ids=str)
@given(target=TARGETS, distance=DISTANCES)
def test_laplace_for_loss(options: Any, target: Any, distance: Any) -> None:
    fitted = sd.LaplaceThreshold.for_loss(sd.ApproxDP(*target), distance, **options)
    check_fit(fitted, sd.ApproxDP(*target), distance)
    assert fitted.map(distance).epsilon == target[0]


@for_each("options", FORMS, ids=str)
@given(target=TARGETS, distance=DISTANCES)
def test_gaussian_for_zcdp(options: Any, target: Any, distance: Any) -> None:
    budget = sd.ApproxZCDP(*target)
    fitted = sd.GaussianThreshold.for_loss(budget, distance, **options)
    check_fit(fitted, budget, distance)
    assert fitted.map(distance).rho == target[0]


def check_fit(fitted: Any, budget: Any, distance: Any) -> None:
    """Require that a fit is within its budget and that its threshold is the least."""
    assert budget.admits(fitted.map(distance))
    level = abs(fitted.threshold)
    lower = level - fitted.unit if fitted.unit else level * (1 - Fraction(1, 10**6))
    if lower > 0:
        nearer = fitted.delta_of(fitted.change(distance), lower)
        assert nearer > budget.delta * (1 - Fraction(1, 10**9))


@sampled(1)
@for_each("options", [{}, {"dtype": "i32"}], ids=str)
@settings(max_examples=often(3, 8))
@given(target=TARGETS, keys=st.sampled_from([1, 2, 9, 40]))
def test_gaussian_for_approximate_dp(options: Any, target: Any, keys: int) -> None:
    budget, distance = sd.ApproxDP(*target), (keys, keys, 1)
    fitted = sd.GaussianThreshold.for_loss(budget, distance, **options)
    assert budget.admits(fitted.map(distance))


@for_each(
    ("keys", "scale", "threshold"),
    [(1, 4.225, 21.09), (10, 13.37, 70.5), (100, 42.3, 239)],
)
def test_gaussian_fit_is_tight(keys: int, scale: float, threshold: float) -> None:
    """Scale and threshold of (1, 1e-6) are those of the exact joint analysis."""
    budget, distance = sd.ApproxDP(1, "1e-6"), (keys, f"sqrt({keys})", 1)
    fitted = sd.GaussianThreshold.for_loss(budget, distance)
    assert float(fitted.scale) <= scale
    assert float(fitted.threshold) <= threshold


def test_for_loss_is_quick() -> None:
    """Scale and threshold are solved in milliseconds, not in seconds."""
    budget = sd.ApproxDP(1, "1e-6")
    for maker in (sd.LaplaceThreshold, sd.GaussianThreshold):
        maker.for_loss(budget, (3, 3, 1))
        start = time.process_time()
        for _ in range(20):
            maker.for_loss(budget, (3, 3, 1))
        assert time.process_time() - start < 20 * 0.02


@for_each(
    ("loss", "distance", "options", "named"),
    [
        (sd.ApproxDP(1, 0), (1, 1, 1), {}, "loss"),
        (sd.PureDP(1), (1, 1, 1), {}, "loss"),
        (sd.ApproxDP(0, "1e-6"), (1, 1, 1), {}, "loss"),
        (5, (1, 1, 1), {}, "loss"),
        (sd.ApproxDP(1, "1e-6"), (0, 1, 1), {}, "d_in"),
        (sd.ApproxDP(1, "1e-6"), (1, 1, 0), {}, "d_in"),
        (sd.ApproxDP(1, "1e-6"), (1, float("inf"), float("inf")), {}, "d_in"),
        (sd.ApproxDP(1, "1e-6"), (90, 90, 1), {"dtype": "i8"}, "dtype"),
    ],
)
def test_what_cannot_be_fitted(
    loss: Any, distance: Any, options: Any, named: str
) -> None:
    for maker in (sd.LaplaceThreshold, sd.GaussianThreshold):
        if maker is sd.GaussianThreshold and loss == sd.ApproxDP(0, "1e-6"):
            continue  # Gaussian noise meets epsilon 0 by its delta
        with pytest.raises(sd.errors.InvalidParameter, match=f"^{named} "):
            maker.for_loss(loss, distance, **options)


@for_each("bounds", [(3, 2, 2), (2, "sqrt(3)", 2), (3, 3, 3)])
def test_kept_integers_cost_what_a_step_of_each_costs(
    bounds: tuple[Any, ...],
) -> None:
    """Where what is left is no square, its keys still change by a whole step each."""
    kept = sd.GaussianThreshold(scale=1, threshold=50, dtype="i64").map(bounds).kept
    assert kept is not None
    steps = [kept(keys) for keys in range(1, bounds[0])]
    step = sd.DiscreteGaussian(scale=1).map(sd.Sensitivity(l0=1, linf=1))
    assert all(loss.advantage() >= step.advantage() for loss in steps)
    rising = [loss.advantage() for loss in steps]
    assert rising == sorted(rising)
