"""What holds for every mechanism that chooses."""

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from numpy.typing import NDArray

from sordino.errors import InvalidParameter
from sordino.losses.closed import ZCDP, GaussianDP
from sordino.losses.guarantees import NOTHING
from sordino.losses.loss import Loss, PureDP
from sordino.noise.exponential import Exponential
from sordino.noise.sampling.bits import Bits
from tests.batches import for_each, sampled
from tests.cases import SELECTIONS
from tests.choices import Choice, Numbers
from tests.events import breaks, limits
from tests.planned_bits import SpreadBits
from tests.statistics import choices_follow

every_choice = for_each("choice", SELECTIONS.values(), ids=SELECTIONS)
EPSILONS = [0.0, 0.05, 0.1, 0.3, 0.5, 1.0, 1.7]
PRICES = ["1/3", 1, "2.5"]
MANY = 20_000


def overdrawn(choice: Choice, price: Any) -> list[Any]:
    """Return where the chances of two neighbours differ by more than map allows."""
    mechanism, size = choice.build(price), float(Fraction(price))
    found = []
    for one, other, distance in choice.worlds:
        pair = choice.chances(size, one), choice.chances(size, other)
        bad = breaks(limits(mechanism.map(distance), EPSILONS), pair)
        found += [(one, other, epsilon) for epsilon in bad]
    return found


def strays(choice: Choice, price: Any, patch: pytest.MonkeyPatch) -> list[Any]:
    """Return the inputs whose answers, from planned bits, do not have the chances."""
    mechanism, size = choice.build(price), float(Fraction(price))
    inputs = {one for world in choice.worlds for one in world[:2]}
    found = []
    for given_ in sorted(inputs, key=repr):
        with patch.context() as planned:
            source = SpreadBits()
            planned.setattr(Bits, "words", lambda _, count, s=source: s.words(count))
            planned.setattr(Bits, "word", lambda _, size, s=source: s.word(size))
            drawn = choice.draw(mechanism, given_, MANY)
        if not choices_follow(drawn, choice.chances(size, given_)):
            found.append(given_)
    return found


@every_choice
@for_each("price", PRICES)
def test_no_event_beats_the_map(choice: Choice, price: Any) -> None:
    """For every set of answers and both directions, the chances are within map."""
    assert overdrawn(choice, price) == []


@sampled(1, 2)
@every_choice
@for_each("price", PRICES)
def test_answers_have_the_stated_chances(
    choice: Choice, price: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bits that are spread evenly give the stated shares: the same in every run.

    By chi-square, which for random bits would err once in a billion runs; that the
    planned bits are more even only makes the true law fit better.
    """
    assert strays(choice, price, monkeypatch) == []


@every_choice
def test_random_answers_have_the_stated_chances(choice: Choice) -> None:
    """The same with the system's bits: a false alarm in 10**8 runs of all cases."""
    for one, _, _ in choice.worlds[:2]:
        assert choices_follow(
            choice.draw(choice.build(1), one, MANY), choice.chances(1.0, one)
        )


class Best:
    """The planted mutant: an exponential mechanism that always takes the best."""

    def __init__(self, price: Any) -> None:
        self.map = Exponential(price).map

    def choose(self, groups: list[Any]) -> NDArray[np.int64]:
        return np.array([np.argmax(group) for group in groups])


def best_chances(epsilon: float, scores: Numbers) -> NDArray[np.float64]:
    del epsilon
    chances: NDArray[np.float64] = np.eye(len(scores))[int(np.argmax(scores))]
    return chances


def sharper(price: Any) -> Exponential:
    """Return the planted mutant that chooses a tenth more sharply than it says."""
    mechanism = Exponential(Fraction(price) * Fraction(11, 10))
    vars(mechanism).update(map=Exponential(price).map)
    return mechanism


EXPONENTIAL = SELECTIONS["Exponential"]
PLANTED: dict[str, Choice] = {
    "best, said to be fair": replace(EXPONENTIAL, build=cast("Any", Best)),
    "best": replace(EXPONENTIAL, build=cast("Any", Best), chances=best_chances),
    "a tenth sharper": replace(EXPONENTIAL, build=sharper),
}


@sampled(1, 3)
@for_each("name", PLANTED)
def test_a_weak_choice_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = PLANTED[name]
    assert overdrawn(choice, 1) or strays(choice, 1, monkeypatch)


@every_choice
def test_map_is_exact_and_proportional(choice: Choice) -> None:
    """A distance of 1 costs epsilon, nothing costs nothing, and loss grows with it."""
    mechanism = choice.build("1/3")
    assert mechanism.map(0).guarantees == NOTHING
    assert mechanism.map(1).guarantees.epsilon == Fraction(1, 3)
    assert mechanism.map(3).guarantees.epsilon == 1
    assert mechanism.map(1).guarantees.rho <= mechanism.map(2).guarantees.rho


@every_choice
def test_check_reads_numbers_losses_and_risks(choice: Choice) -> None:
    """A budget admits what it covers and nothing more; incomparable ones say no."""
    mechanism = choice.build(1)
    assert mechanism.check(1, 1)
    assert mechanism.check(1, PureDP(1))
    assert not mechanism.check(1, "0.999")
    assert not mechanism.check(1, PureDP("0.999"))
    assert mechanism.check(1, ZCDP(1))
    assert not mechanism.check(1, ZCDP("0.01"))


@every_choice
@for_each("epsilon", [0, -1, math.nan, math.inf, True, "x", None])
def test_senseless_epsilon_is_refused(choice: Choice, epsilon: Any) -> None:
    with pytest.raises(InvalidParameter, match="epsilon"):
        choice.build(epsilon)


@every_choice
def test_repr_makes_an_equal_mechanism(choice: Choice) -> None:
    mechanism = choice.build("0.7")
    names = {kind.__name__: kind for kind in (type(mechanism), Fraction)}
    assert eval(repr(mechanism), names) == mechanism  # noqa: S307 our own repr
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@every_choice
def test_public_facts(choice: Choice) -> None:
    mechanism = choice.build(1)
    assert not mechanism.adds_no_noise
    assert not mechanism.is_interactive
    assert mechanism.input_metric in {"range", "l0", "rows"}
    assert str(mechanism.output_type) == "int64"
    assert issubclass(mechanism.output_measure, Loss)  # type: ignore[arg-type]


@every_choice
@for_each("loss", [PureDP("0.3"), ZCDP("0.02"), GaussianDP("0.4")])
def test_for_loss_is_within_and_hardly_less(choice: Choice, loss: Loss) -> None:
    mechanism: Any = choice.fit(loss, 3)
    assert mechanism.check(3, loss)
    sharper = copy.copy(mechanism)
    vars(sharper).update(epsilon=mechanism.epsilon * Fraction(100_001, 100_000))
    assert not sharper.check(3, loss)


@every_choice
def test_for_loss_is_exact_for_pure_budgets(choice: Choice) -> None:
    assert choice.fit(PureDP("0.3"), 3).map(3).guarantees.epsilon == Fraction(3, 10)


@every_choice
@for_each("wrong", [0, -1, math.inf, math.nan, True, None])
def test_for_loss_refuses_senseless_distances(choice: Choice, wrong: Any) -> None:
    with pytest.raises(InvalidParameter, match="d_in"):
        choice.fit(PureDP(1), wrong)
