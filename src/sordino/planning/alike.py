"""Requests that are priced alike: a hundred questions of a batch are often of one kind.

What a budget buys for a plan follows from how far its numbers can move, from how they
share the budget, and from whom the rows protect; which rows and which columns they are
is nowhere in it (docs/adr/0174-columns-of-one-kind-are-priced-alike.md).
"""

from collections.abc import Hashable, Mapping
from dataclasses import fields
from typing import Any, Final

from sordino.planning.plan import Plan

_KEY: Final = object()
"""Marks a place that stands for a key."""


def alike_names(ways: Mapping[str, tuple[Plan, ...]]) -> list[list[str]]:
    """Return the names of requests, those together whose plans are priced alike."""
    names: dict[Hashable, list[str]] = {}
    for name, plans in ways.items():
        names.setdefault(tuple(map(_priced_by, plans)), []).append(name)
    return list(names.values())


def _priced_by(plan: Plan) -> Hashable:
    """Return all that the price and the errors of a plan follow from.

    Measurements are equal if their changes and units are, whatever they add up; keys
    only tell which of them are the same, so they are replaced by their places.
    """
    keys = (*plan.measurements, *plan.choices, *plan.coverage)
    places = {key: place for place, key in enumerate(keys)}
    counts = tuple(count.measurement for count in plan.coverage.values())
    parts = (plan.measurements, plan.choices, counts, plan.shares)
    return (
        plan.family,
        plan.weights,
        *(_without_keys(part, places) for part in (plan.estimators, *parts)),
        _without_keys(plan.presence, places),
        _without_keys(plan.counted, places),
        plan.stage is not None,
        plan.in_rounds,
        plan.scores,
        plan.relation.spread,
        plan.request.selects_keys,
        plan.request.keyset is None,
        plan.request.confidence,
    )


def _without_keys(value: Any, places: Mapping[Hashable, int]) -> Hashable:
    """Return what makes a value equal to others, with places instead of keys.

    A value that is not equal by its fields is taken whole.
    """
    if isinstance(value, Mapping):
        return tuple(_without_keys(pair, places) for pair in value.items())
    if isinstance(value, tuple | str) and value in places:
        return _KEY, places[value]
    if isinstance(value, tuple):
        return tuple(_without_keys(item, places) for item in value)
    how: Any = getattr(type(value), "__dataclass_params__", None)
    if how is None or not how.eq:
        whole: Hashable = value
        return whole
    parts = [getattr(value, field.name) for field in fields(value) if field.compare]
    return type(value), *(_without_keys(part, places) for part in parts)
