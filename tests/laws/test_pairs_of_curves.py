"""Every curve beside every other, and what is made of such pairs, at 60 digits.

Two losses composed are held against the product of the worlds they stand for, both
ways; so are the pair beside a reserve, on a Poisson sample, and kept above a threshold.
Nothing of ours is used on the other side: worlds are lists of chances (`oracles`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import pytest

import sordino as sd
from sordino.losses.noise_losses import (
    DiscreteGaussianLoss,
    GeometricLoss,
    LaplaceLoss,
    RandomizedResponseLoss,
)
from sordino.losses.thresholded import threshold_loss
from tests import oracles
from tests.oracles import Worlds, breach, mpf, real

if TYPE_CHECKING:
    from sordino.losses.base import Loss

Ways: TypeAlias = list[Worlds]
"""The worlds of one direction: the loss is the worst of them."""

FAINT: Final = mpf("1e-12")


class Form(NamedTuple):
    """A loss, and its worlds when a unit is removed, and when one is added."""

    loss: Loss
    removing: Ways
    adding: Ways


def alike(loss: Loss, worlds: Worlds) -> Form:
    """Return a loss whose second direction is the first with the worlds exchanged."""
    return Form(loss, [worlds], [worlds.swapped()])


def sampled() -> Form:
    """Return a response on a Poisson sample: its directions differ."""
    removing, adding = oracles.sampled(oracles.response("1.1"), "0.3")
    return Form(sd.PureDP("1.1").subsampled("0.3"), [removing], [adding])


def above_a_threshold() -> Form:
    """Return two keys above a threshold, each new, gone or kept."""
    ways = oracles.splits(2, "0.01", lambda kept: oracles.response("0.3").times(kept))
    loss = threshold_loss(
        lambda kept: sd.PureDP("0.3") * kept, key_delta="0.01", keys=2
    )
    return Form(loss, ways, ways)


FORMS: Final[dict[str, Callable[[], Form]]] = {
    "response": lambda: alike(sd.PureDP("0.7"), oracles.response("0.7")),
    "response that may fail": lambda: alike(
        sd.ApproxDP("0.4", "0.02"),
        breach(real("0.02"), real("0.02")).beside(oracles.response("0.4")),
    ),
    "several categories": lambda: alike(
        RandomizedResponseLoss("0.9", 5), oracles.response("0.9", 5)
    ),
    "geometric": lambda: alike(GeometricLoss(3, "2.5"), oracles.geometric(3, "2.5")),
    "discrete gaussian": lambda: alike(
        DiscreteGaussianLoss(1, "1.3"), oracles.lattice(1, "1.3")
    ),
    "gaussian": lambda: alike(sd.GaussianDP("0.8"), oracles.gaussian("0.8")),
    "laplace": lambda: alike(LaplaceLoss("0.6"), oracles.laplace("0.6")),
    "sampled": sampled,
    "above a threshold": above_a_threshold,
}
PAIRS: Final = list(itertools.combinations_with_replacement(FORMS, 2))
OF_ATOMS: Final = [pair for pair in PAIRS if not {"gaussian", "laplace"} & {*pair}]
LOOSE: Final = 1e-5
"""By how much delta may exceed the truth, relatively: about twice what was seen."""
LOOSE_ABOVE: Final = 0.6
"""For each release above a threshold: its cases are bounded in blocks."""
LOOSE_SAMPLED: Final = 0.4
"""A sample of a sum whose directions differ takes the worse of them for both."""


CONTINUOUS: Final[dict[tuple[str, str], Callable[[], Worlds]]] = {
    ("gaussian", "gaussian"): lambda: oracles.gaussian("sqrt(32/25)"),
    ("gaussian", "laplace"): lambda: oracles.beside_laplace(
        "0.6", oracles.gaussian("0.8")
    ),
    ("laplace", "laplace"): lambda: oracles.two_laplace("0.6", "0.6"),
}
"""What two continuous losses are together: worlds hold one of them at most."""


def pair_of(first: str, second: str) -> Form:
    """Return two forms composed, direction by direction."""
    one, other = FORMS[first](), FORMS[second]()
    loss = one.loss + other.loss
    if (first, second) in CONTINUOUS:
        return alike(loss, CONTINUOUS[first, second]())
    return Form(
        loss,
        [x.beside(y) for x in one.removing for y in other.removing],
        [x.beside(y) for x in one.adding for y in other.adding],
    )


def truth(form: Form, epsilon: float) -> Any:
    """Return the greatest delta of all worlds of both directions."""
    return max(world.delta(epsilon) for world in (*form.removing, *form.adding))


def looseness(names: tuple[str, str]) -> float:
    """Return how loose a pair may be."""
    return LOOSE + LOOSE_ABOVE * names.count("above a threshold")


def held(form: Form, loose: float, share: float = 1.0) -> bool:
    """Tell whether a loss lies above the truth at every epsilon, and close to it."""
    most = min(float(form.loss.guarantees.epsilon), 3.0)
    for epsilon in (0.0, 0.13 * most, 0.37 * most, 0.71 * most):
        exact = truth(form, epsilon)
        found = mpf(form.loss.delta_at(epsilon) * share)
        if not exact <= found <= exact * (1 + mpf(loose)) + FAINT:
            return False
    return True


@pytest.mark.parametrize("names", PAIRS, ids=" beside ".join)
@pytest.mark.sampled(6)
def test_a_pair_is_the_product_of_its_worlds(names: tuple[str, str]) -> None:
    """For every two forms: never below the truth, and hardly above."""
    form = pair_of(*names)
    assert held(form, looseness(names))


@pytest.mark.parametrize("names", PAIRS, ids=" beside ".join)
@pytest.mark.sampled(8)
def test_a_thousandth_less_than_a_pair_is_caught(names: tuple[str, str]) -> None:
    """The planted mutant: curves too low by what is allowed and a thousandth more."""
    form = pair_of(*names)
    share = 1 / (1 + looseness(names))
    assert not held(form, looseness(names), share * (1 - 1e-3))


@pytest.mark.parametrize("names", PAIRS, ids=" beside ".join)
@pytest.mark.sampled(8)
def test_a_pair_beside_a_reserve(names: tuple[str, str]) -> None:
    """A chance of total breach is independent of all else."""
    plain, lost = pair_of(*names), breach(real("0.003"), real("0.003"))
    form = Form(
        plain.loss + sd.ApproxDP(0, "0.003"),
        [lost.beside(world) for world in plain.removing],
        [lost.beside(world) for world in plain.adding],
    )
    assert held(form, looseness(names))


@pytest.mark.parametrize("names", OF_ATOMS, ids=" beside ".join)
@pytest.mark.sampled(8)
def test_a_pair_on_a_sample(names: tuple[str, str]) -> None:
    """Removing mixes the first world with the second, adding the second with it."""
    plain = pair_of(*names)
    form = Form(
        plain.loss.subsampled("0.2"),
        [oracles.sampled(world, "0.2")[0] for world in plain.removing],
        [oracles.sampled(world, "0.2")[1] for world in plain.adding],
    )
    assert held(form, looseness(names) + LOOSE_SAMPLED * ("sampled" in names))
