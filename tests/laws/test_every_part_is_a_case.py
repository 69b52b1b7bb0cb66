"""A part that no law examines does not pass: each is listed in tests/cases.py."""

import inspect
from typing import Any

import sordino.losses
import sordino.noise
from sordino.losses.loss import Loss
from sordino.noise.additive import AbstractMechanism
from tests.batches import for_each
from tests.cases import LOSSES, MECHANISMS, SELECTIONS, SUMS, THRESHOLDS
from tests.shipped import shipped

every_mechanism = for_each(
    "kind",
    shipped(AbstractMechanism, sordino.noise),
    ids=lambda kind: kind.__name__,
)


def listed() -> set[type[Any]]:
    """Return the kinds of mechanisms that the laws examine."""
    built: list[Any] = [build(1) for build in MECHANISMS.values()]
    built += [build(1, 9) for build in THRESHOLDS.values()]
    built += [build(1, 9) for build in SUMS.values()]
    built += [choice.build(1) for choice in SELECTIONS.values()]
    return {type(mechanism) for mechanism in built}


@every_mechanism
def test_every_mechanism_is_a_case(kind: type[Any]) -> None:
    assert kind in listed()


@every_mechanism
def test_every_map_says_why_it_holds(kind: type[Any]) -> None:
    """Each map's docstring gives the reason in a line or links a proof."""
    reason = " ".join((inspect.getdoc(kind.map) or "").lower().split())
    reasons = "for any", "any shift", "docs/proofs", "each its own release"
    assert any(words in reason for words in reasons)


@for_each("kind", shipped(Loss, sordino.losses), ids=lambda kind: kind.__name__)
def test_every_loss_is_a_case(kind: type[Any]) -> None:
    assert kind in {type(loss) for loss in LOSSES.values()}
