"""What holds for every mechanism that releases maps above a threshold."""

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sordino as sd
from sordino.mechanisms.thresholded import AbstractThresholdMechanism
from tests.cases import THRESHOLDS

mechanisms = pytest.mark.parametrize("build", THRESHOLDS.values(), ids=list(THRESHOLDS))
Build = Callable[[Any, Any], AbstractThresholdMechanism]


def test_every_threshold_is_a_case() -> None:
    """Each public thresholded mechanism stands in tests/cases.py."""
    public = {
        name
        for name in sd.__all__
        if inspect.isclass(getattr(sd, name))
        and issubclass(getattr(sd, name), AbstractThresholdMechanism)
    }
    assert public == {type(build(1, 9)).__name__ for build in THRESHOLDS.values()}


@mechanisms
def test_no_change_costs_nothing(build: Build) -> None:
    """Equal maps are indistinguishable, and no budget is needed for them."""
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
    """What comes back is sorted by key, and on the far side of the threshold."""
    mechanism = build(1, -9)
    given = dict.fromkeys(("c", "a", "b"), -100) | {"d": 100, "e": 0}
    answer = mechanism(given)
    assert list(answer) == ["a", "b", "c"]
    assert all(value <= -9 for value in answer.values())


@mechanisms
def test_survives_a_pickle_and_shows_itself(build: Build) -> None:
    """A used mechanism pickles to an equal one, and so does what its repr makes."""
    mechanism = build("1/3", 9)
    mechanism({"a": 100})
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    names = {name: getattr(sd, name) for name in sd.__all__}
    assert eval(repr(mechanism), names) == mechanism  # noqa: S307 our own
