"""What holds for every mechanism that releases maps above a threshold."""

import itertools
import math
import pickle
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sordino as sd
from sordino.noise.threshold.mechanism import AbstractThresholdMechanism
from tests.batches import for_each, sampled
from tests.cases import THRESHOLDS
from tests.events import Pair, breaks, descending, limits, together

mechanisms = for_each("build", THRESHOLDS.values(), ids=list(THRESHOLDS))
Build = Callable[[Any, Any], AbstractThresholdMechanism]


@mechanisms
def test_no_change_costs_nothing(build: Build) -> None:
    nothing = build(1, 9).map((0, 0, 0))
    assert sd.PureDP(0).admits(nothing)
    assert nothing.delta_at(0) == 0
    assert build(1, 9).check((0, 1, 1), sd.ApproxDP(0, 0))


@mechanisms
def test_curve_starts_below_one_and_ends_at_delta(build: Build) -> None:
    """Delta falls from less than 1 at epsilon 0 to the headline's delta."""
    loss = build(2, 30).map((2, 2, 1))
    deltas = loss.delta_at(np.array([0.0, 1.0, 3.0, 400.0]))
    assert 1 > deltas[0] >= deltas[1] >= deltas[2] >= deltas[3]
    assert deltas[3] == pytest.approx(float(loss.delta), rel=1e-6)


@mechanisms
def test_keys_are_sorted_and_pass(build: Build) -> None:
    mechanism = build(1, -9)
    given = dict.fromkeys(("c", "a", "b"), -100) | {"d": 100, "e": 0}
    answer = mechanism(given)
    assert list(answer) == ["a", "b", "c"]
    assert all(value <= -9 for value in answer.values())


@mechanisms
def test_survives_a_pickle_and_shows_itself(build: Build) -> None:
    mechanism = build("1/3", 9)
    mechanism({"a": 100})
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    names = {name: getattr(sd, name) for name in dir(sd)}
    assert eval(repr(mechanism), names) == mechanism  # noqa: S307 our own


EPSILONS = [0.0, 0.2, 0.5, 0.9, 1.4, 2.5]
CERTAIN = 10**4
"""A value so large that its key passes for certain."""

BOUNDS: list[tuple[int, Any, Any]] = [
    (1, 1, 1),
    (2, 2, 1),
    (3, "5/2", 1),
    (2, 3, 2),
    (2, "17/8", "9/8"),
]
"""Keys that change, the change in all (in l2 its root), and that of each."""


@cache
def key_cells(mechanism: Any, pair: tuple[Fraction, Fraction], cells: int) -> Pair:
    """Return the cells of what one key shows of its value, in two worlds.

    Nothing, or a noisy value in a cell at or beyond the threshold. A value is rounded
    to the grid, half upwards; one of 0 is absent. P[Z >= x] is P[Z <= -x].
    """
    unit = Fraction(mechanism.unit or 0)
    level = abs(mechanism.threshold)
    width = max(Fraction(mechanism.error("0.999")) / cells, unit)
    width = math.ceil(width / unit) * unit if unit else width
    near = max(level, min(pair) - cells * width)
    ends = [level, *(near + width * (i + Fraction(1, 2)) for i in range(2 * cells))]

    def masses(value: Fraction) -> Any:
        if value == 0:
            return np.array([1.0] + [0.0] * len(ends))
        if unit:
            value = math.floor(value / unit + Fraction(1, 2)) * unit
        tails = np.array([mechanism.cdf(value - end) for end in ends])
        return np.append(1 - tails[0], tails - np.append(tails[1:], 0.0))

    one, other = map(masses, pair)
    return one, other


def key_changes(size: Fraction, level: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return ways in which one key can change: new, gone, surely there, nearly."""
    near = Fraction(max(math.floor(level), 1))
    return [
        (Fraction(0), size),
        (size, Fraction(0)),
        (Fraction(CERTAIN), CERTAIN + size),
        (CERTAIN + size, Fraction(CERTAIN)),
        (near, near + size),
    ]


def changes(mechanism: Any, bounds: tuple[int, Any, Any]) -> Iterator[list[Fraction]]:
    """Return the sizes of changes within bounds: whole numbers where values are."""
    keys, whole, each = bounds[0], Fraction(bounds[1]), Fraction(bounds[2])
    finest = Fraction(1) if mechanism.values.is_integer else each / 2
    power = 1 if mechanism.norm == "l1" else 2
    for sizes in descending(each, keys, keys * each, finest):
        if sum(size**power for size in sizes) <= whole:
            yield [size for size in sizes if size]


def told_apart(mechanism: Any, loss: Any, bounds: tuple[int, Any, Any]) -> list[Any]:
    """Return the changes of a map that are told apart better than a loss allows."""
    level, found = abs(mechanism.threshold), []
    allowed = limits(loss, EPSILONS)
    for sizes in changes(mechanism, bounds):
        cells = 40 if len(sizes) < 3 else 8
        ways = [
            [key_cells(mechanism, pair, cells) for pair in key_changes(size, level)]
            for size in sizes
        ]
        for way in itertools.product(*ways):
            bad = breaks(allowed, together(way))
            found += [(sizes, epsilon) for epsilon in bad]
    return found


def priced(mechanism: Any, bounds: tuple[int, Any, Any]) -> Any:
    """Return the loss of a change of so many keys, in the mechanism's own norm."""
    keys, whole, each = bounds
    return mechanism.map((
        keys,
        whole if mechanism.norm == "l1" else f"sqrt({whole})",
        each,
    ))


@sampled(6, 20)
@mechanisms
@for_each("bounds", BOUNDS, ids=str)
@for_each("level", [2, -4])
def test_no_event_beats_the_map(build: Build, bounds: Any, level: int) -> None:
    """For any keys that are new, gone or changed, and events of all of them at once."""
    mechanism = build("3/2", level)
    assert told_apart(build("3/2", abs(level)), priced(mechanism, bounds), bounds) == []


@mechanisms
@for_each("bounds", BOUNDS, ids=str)
def test_no_event_on_kept_keys_beats_the_map(build: Build, bounds: Any) -> None:
    """Where hardly any key can appear, the noise on keys of both maps is all there is.

    With finer cells, so that what is left of a change beside its greatest is seen.
    """
    mechanism = build("3/2", 40)
    allowed = limits(priced(mechanism, bounds), EPSILONS)
    for sizes in changes(mechanism, bounds):
        pairs = [(Fraction(CERTAIN), CERTAIN + size) for size in sizes]
        cells = together(key_cells(mechanism, pair, 24) for pair in pairs)
        assert breaks(allowed, cells) == [], sizes


@mechanisms
def test_a_map_of_less_noise_or_a_lower_threshold_is_caught(build: Build) -> None:
    """The planted mutants: half the noise that is priced, or a threshold one lower."""
    for bounds in BOUNDS[:2]:
        loss = priced(build("3/2", 4), bounds)
        assert told_apart(build("3/4", 4), loss, bounds)
        assert told_apart(build("3/2", 3), loss, bounds)


KEYS = 150_000


def passing(mechanism: Any, value: int) -> Any:
    values = np.full(KEYS, value, mechanism.values.numpy)
    return mechanism((np.arange(KEYS), values))[1].astype(float)


def off(mechanism: Any, noisy: Any, value: int) -> list[Any]:
    """Return the levels that are not reached as often as the law says.

    By a binomial test of each level: false alarm once in 10**9.
    """
    first = float(mechanism.threshold)
    levels = [first, first + 1, first + 3]
    chances = [mechanism.cdf(value - Fraction(level)) for level in levels]
    reached = [int((noisy >= level).sum()) for level in levels]
    tests = zip(levels, reached, chances, strict=True)
    return [k for k, n, p in tests if stats.binomtest(n, KEYS, p).pvalue < 1e-9]


@mechanisms
@for_each("value", [1, 3])
def test_keys_pass_as_often_as_the_law_says(build: Build, value: int) -> None:
    """The threshold itself is passed, and what passes has the law of the noise."""
    mechanism = build("3/2", 4)
    assert off(mechanism, passing(mechanism, value), value) == []


@mechanisms
def test_keys_that_pass_too_often_are_caught(build: Build) -> None:
    """The planted mutants: values one higher, or a tenth more noise, are told apart.

    Both are missed less than once in 1e30 runs, by the binomial laws of the threshold.
    """
    mechanism = build("3/2", 4)
    assert off(mechanism, passing(mechanism, 2), 1)
    assert off(mechanism, passing(build("33/20", 4), 1), 1)
