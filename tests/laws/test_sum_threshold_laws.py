"""Keys shown by the sum of their noisy numbers: the mechanism against its map.

Chances are compared by binomial tests of 1e-9 each; every law rejects a planted mutant.
"""

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pytest
from scipy import stats

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.noise.laplace import LaplaceSumLaw
from sordino.noise.threshold.laplace import LaplaceSumThreshold
from tests.batches import for_each
from tests.cases import SUMS

KEYS: Final = 100_000
ALARM: Final = 1e-9
Build = Callable[[Any, Any], LaplaceSumThreshold]
mechanisms = for_each("build", SUMS.values(), ids=list(SUMS))


@mechanisms
def test_no_change_costs_nothing(build: Build) -> None:
    assert sd.PureDP(0).admits(build(1, 9).map((0, 0, 0)))
    assert build(1, 9).map((1, np.inf, np.inf)).delta == 1


@mechanisms
def test_curve_starts_below_one_and_ends_at_delta(build: Build) -> None:
    """Delta falls from less than 1 at epsilon 0 to the headline's delta."""
    loss = build(2, 40).map((2, 2, 1))
    deltas = loss.delta_at(np.array([0.0, 1.0, 3.0, 400.0]))
    assert 1 > deltas[0] >= deltas[1] >= deltas[2] >= deltas[3]
    assert deltas[3] == pytest.approx(float(loss.delta), rel=1e-6)


@mechanisms
def test_survives_a_pickle_and_shows_itself(build: Build) -> None:
    mechanism = build("1/3", 9)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    names = {"LaplaceSumThreshold": LaplaceSumThreshold}
    assert eval(repr(mechanism), names) == mechanism  # noqa: S307 our own


@mechanisms
def test_a_fitted_mechanism_is_within_its_loss_and_not_far(build: Build) -> None:
    """The least threshold is met exactly: a little lower, and delta is beyond."""
    numbers = build(1, 9).numbers
    for change in ((1, 1, 1), (3, 6, 2)):
        loss = sd.ApproxDP("0.7", "1e-5")
        fitted = LaplaceSumThreshold.for_loss(loss, change, numbers=numbers)
        assert loss.admits(fitted.map(change))
        less = fitted.threshold * Fraction(999_999, 1_000_000)
        lower = LaplaceSumThreshold(fitted.scale, less, numbers=numbers)
        assert lower.map(change).delta > loss.delta


def shown(mechanism: LaplaceSumThreshold, sums: float) -> int:
    held = [np.full(KEYS, sums / mechanism.numbers)] * mechanism.numbers
    return len(mechanism(held).rows)


def off(mechanism: LaplaceSumThreshold, found: int, sums: Any) -> bool:
    law = LaplaceSumLaw(mechanism.numbers, mechanism.scale)
    chance = float(law.at_least(mechanism.threshold - Fraction(sums)).mid())
    return bool(stats.binomtest(found, KEYS, min(chance, 1.0)).pvalue < ALARM)


@mechanisms
@pytest.mark.slow
def test_keys_show_as_often_as_the_law_says(build: Build) -> None:
    """And a sum that is one higher, or a tenth more noise, is told apart."""
    mechanism = build("3/2", 4)
    assert not off(mechanism, shown(mechanism, 1.0), 1)
    assert off(mechanism, shown(mechanism, 2.0), 1)
    assert off(mechanism, shown(build("33/20", 4), 1.0), 1)


@mechanisms
@pytest.mark.slow
def test_no_event_beats_the_map(build: Build) -> None:
    """A row in one number tells no more than the curve; three rows are seen to."""
    mechanism = build(1, 2)
    loss = mechanism.map((1, 1, 1))

    def told(row: float) -> Any:
        """Return a number for each key: what its numbers came to, or -1000."""
        held = [np.full(KEYS, 0.5)] * mechanism.numbers
        found = mechanism([held[0] + row, *held[1:]])
        answers = np.full(KEYS, -1000.0)
        answers[found.rows] = found.answers[0]
        return answers

    sure = str(1 - ALARM)
    assert not sd.audit(told(0.0), told(1.0), loss, confidence=sure).is_broken
    assert sd.audit(told(0.0), told(3.0), loss, confidence=sure).is_broken


def test_a_key_without_anything_never_shows() -> None:
    mechanism = LaplaceSumThreshold(100, "1e-9", numbers=2)
    held = np.zeros(1000)
    held[7] = 1
    found = mechanism([held, np.zeros(1000)])
    assert set(found.rows.tolist()) <= {7}


@for_each("given", [0, -1, "sqrt(2)", np.nan, True])
def test_a_senseless_threshold_is_refused(given: Any) -> None:
    with pytest.raises(InvalidParameter, match="threshold"):
        LaplaceSumThreshold(1, given, numbers=2)


def test_the_numbers_must_be_as_many_as_were_said() -> None:
    with pytest.raises(InvalidParameter, match="value"):
        LaplaceSumThreshold(1, 9, numbers=2)([np.ones(3)])
    with pytest.raises(InvalidParameter, match="numbers"):
        LaplaceSumThreshold(1, 9, numbers=5)


@for_each(
    ("numbers", "threshold"), [(1, 14.1224), (2, 16.2787), (3, 17.9870), (4, 19.4635)]
)
def test_thresholds_are_those_of_the_tails(numbers: int, threshold: float) -> None:
    """At (1, 1e-6), a row of size 1: where e^-t times a polynomial is 1e-6, plus 1."""
    loss = sd.ApproxDP(1, "1e-6")
    fitted = LaplaceSumThreshold.for_loss(loss, (1, 1, 1), numbers=numbers)
    assert float(fitted.threshold) == pytest.approx(threshold, abs=1e-4)
