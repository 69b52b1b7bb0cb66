"""What holds for every mechanism that chooses."""

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from sordino.errors import InvalidParameter
from sordino.losses.base import NOTHING, Loss
from sordino.losses.closed import ZCDP, GaussianDP, PureDP
from sordino.mechanisms.above_threshold import AboveThreshold
from sordino.mechanisms.exponential import Exponential
from sordino.mechanisms.quantiles import Quantiles
from sordino.mechanisms.randomised import AbstractRandomised
from sordino.mechanisms.randomized_response import RandomizedResponse
from tests.cases import SELECTIONS

Build = Callable[[Any], AbstractRandomised]
NAMES = {
    kind.__name__: kind
    for kind in (AboveThreshold, Exponential, Quantiles, RandomizedResponse, Fraction)
}
every_selection = pytest.mark.parametrize("build", SELECTIONS.values(), ids=SELECTIONS)


@every_selection
def test_map_is_exact_and_proportional(build: Build) -> None:
    """A distance of 1 costs epsilon, nothing costs nothing, and loss grows with it."""
    mechanism = build("1/3")
    assert mechanism.map(0).guarantees == NOTHING
    assert mechanism.map(1).guarantees.epsilon == Fraction(1, 3)
    assert mechanism.map(3).guarantees.epsilon == 1
    assert mechanism.map(1).guarantees.rho <= mechanism.map(2).guarantees.rho


@every_selection
def test_check_reads_numbers_losses_and_risks(build: Build) -> None:
    """A budget admits what it covers and nothing more; incomparable ones say no."""
    mechanism = build(1)
    assert mechanism.check(1, 1)
    assert mechanism.check(1, PureDP(1))
    assert not mechanism.check(1, "0.999")
    assert not mechanism.check(1, PureDP("0.999"))
    assert mechanism.check(1, ZCDP(1))
    assert not mechanism.check(1, ZCDP("0.01"))


@every_selection
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, True, "x", None])
def test_senseless_epsilon_is_refused(build: Build, epsilon: Any) -> None:
    """A price that cannot be is refused by its name."""
    with pytest.raises(InvalidParameter, match="epsilon"):
        build(epsilon)


@every_selection
def test_repr_makes_an_equal_mechanism(build: Build) -> None:
    """What is shown can be evaluated; what is pickled comes back."""
    mechanism = build("0.7")
    assert eval(repr(mechanism), NAMES) == mechanism  # noqa: S307 our own repr
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@every_selection
def test_public_facts(build: Build) -> None:
    """Metric, domain, type of the answer, and that noise is there."""
    mechanism = build(1)
    assert not mechanism.adds_no_noise
    assert not mechanism.is_interactive
    assert mechanism.input_metric in {"range", "l0", "rows"}
    assert str(mechanism.output_type) == "int64"
    assert issubclass(mechanism.output_measure, Loss)  # type: ignore[arg-type]


FITTED: dict[str, Callable[[Any, Any], AbstractRandomised]] = {
    "Exponential": Exponential.for_loss,
    "RandomizedResponse": RandomizedResponse.for_loss,
    "Quantiles": lambda loss, d_in: Quantiles.for_loss(loss, d_in, ["0.1", "0.5"]),
    "AboveThreshold": AboveThreshold.for_loss,
}


@pytest.mark.parametrize("fit", FITTED.values(), ids=FITTED)
@pytest.mark.parametrize("loss", [PureDP("0.3"), ZCDP("0.02"), GaussianDP("0.4")])
def test_for_loss_is_within_and_hardly_less(fit: Any, loss: Loss) -> None:
    """The mechanism fits the budget, and one of 1e-5 more epsilon would not."""
    mechanism = fit(loss, 3)
    assert mechanism.check(3, loss)
    sharper = copy.copy(mechanism)
    vars(sharper).update(epsilon=mechanism.epsilon * Fraction(100_001, 100_000))
    assert not sharper.check(3, loss)


@pytest.mark.parametrize("fit", FITTED.values(), ids=FITTED)
def test_for_loss_is_exact_for_pure_budgets(fit: Any) -> None:
    """A pure budget is spent to the last digit."""
    assert fit(PureDP("0.3"), 3).map(3).guarantees.epsilon == Fraction(3, 10)


@pytest.mark.parametrize("fit", FITTED.values(), ids=FITTED)
@pytest.mark.parametrize("wrong", [0, -1, math.inf, math.nan, True, None])
def test_for_loss_refuses_senseless_distances(fit: Any, wrong: Any) -> None:
    """A distance that no choice can answer for is refused by its name."""
    with pytest.raises(InvalidParameter, match="d_in"):
        fit(PureDP(1), wrong)
