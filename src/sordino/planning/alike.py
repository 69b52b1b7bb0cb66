"""Requests that are priced alike: a hundred questions of a batch are often of one kind.

What a budget buys for a plan follows from how far its numbers can move, from how they
share the budget, and from whom the rows protect; which rows they are is nowhere in it.
"""

from collections.abc import Hashable, Mapping

from sordino.planning.plan import Plan


def alike_names(ways: Mapping[str, tuple[Plan, ...]]) -> list[list[str]]:
    """Return the names of requests, those together whose plans are priced alike."""
    names: dict[Hashable, list[str]] = {}
    for name, plans in ways.items():
        names.setdefault(tuple(map(_priced_by, plans)), []).append(name)
    return list(names.values())


def _priced_by(plan: Plan) -> Hashable:
    """Return all that the price and the errors of a plan follow from.

    Measurements are equal if their changes and units are, whatever they add up.
    """
    return (
        plan.family,
        plan.estimators,
        plan.weights,
        tuple(plan.measurements.items()),
        tuple(plan.choices.items()),
        tuple((key, count.measurement) for key, count in plan.coverage.items()),
        plan.presence,
        tuple(plan.shares.items()),
        plan.counted,
        plan.stage is not None,
        plan.in_rounds,
        plan.scores,
        plan.relation.spread,
        plan.request.selects_keys,
        plan.request.keyset is None,
        plan.request.confidence,
    )
