"""A mechanism that no law examines does not pass: each is listed in tests/cases.py."""

import importlib
import inspect
import pkgutil
from typing import Any

import pytest

import sordino.mechanisms
from sordino.mechanisms.randomised import AbstractRandomised
from tests.cases import MECHANISMS, SELECTIONS, THRESHOLDS


def concrete(kind: type[Any]) -> set[type[Any]]:
    """Return the classes beneath one that can be made."""
    beneath = {one for part in kind.__subclasses__() for one in concrete(part)}
    return beneath if inspect.isabstract(kind) else beneath | {kind}


def shipped() -> list[type[Any]]:
    """Return every mechanism of the library, whether or not anything imports it."""
    for module in pkgutil.iter_modules(sordino.mechanisms.__path__):
        importlib.import_module(f"sordino.mechanisms.{module.name}")
    found = concrete(AbstractRandomised)
    ours = (kind for kind in found if kind.__module__.startswith("sordino."))
    return sorted(ours, key=lambda kind: kind.__name__)


def listed() -> set[type[Any]]:
    """Return the kinds of mechanisms that the laws examine."""
    built: list[Any] = [build(1) for build in MECHANISMS.values()]
    built += [build(1, 9) for build in THRESHOLDS.values()]
    built += [choice.build(1) for choice in SELECTIONS.values()]
    return {type(mechanism) for mechanism in built}


@pytest.mark.parametrize("kind", shipped(), ids=lambda kind: kind.__name__)
def test_every_mechanism_is_a_case(kind: type[Any]) -> None:
    """Each mechanism stands in tests/cases.py, and so under the laws."""
    assert kind in listed()


@pytest.mark.parametrize("kind", shipped(), ids=lambda kind: kind.__name__)
def test_every_map_says_why_it_holds(kind: type[Any]) -> None:
    """Each map's docstring gives the reason in a line or links a proof."""
    reason = " ".join((inspect.getdoc(kind.map) or "").lower().split())
    reasons = "for any", "any shift", "docs/proofs", "each its own release"
    assert any(words in reason for words in reasons)
