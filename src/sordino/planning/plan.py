"""How a release is put together: its forms, the parts they share, and their weights.

Columns share the budget by their weights. Parts that several columns need add up their
shares and are drawn once; where the groups are not known, one more part counts whoever
is there to show that they exist, unless a column counts it already.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino.aggregations.base import AbstractEstimator, Setting
from sordino.aggregations.count import rows_measurement
from sordino.aggregations.count_ids import ids_measurement
from sordino.aggregations.measurements import AbstractMeasurement
from sordino.query.passage import Counted
from sordino.query.request import Request


@final
@dataclass(frozen=True)
class Plan:
    """Forms of the columns, and each part once with its weight."""

    estimators: tuple[AbstractEstimator, ...]
    weights: tuple[Fraction, ...]
    """Of the columns, adding up to at most 1."""
    additive: dict[Any, tuple[AbstractMeasurement, Fraction]]
    choices: dict[Any, tuple[Any, Fraction]]
    presence: AbstractMeasurement | None
    """What shows that a group exists, where groups are not known."""
    coverage: dict[Any, tuple[Counted, Fraction]]
    """What is counted of all rows together, beside the answers."""

    @property
    def width(self) -> int:
        """Return how many exact totals of each group are needed."""
        return sum(len(part.totals) for part, _ in self.additive.values())

    @property
    def apart(self) -> Fraction:
        """Return the weight of what is paid apart: choices and coverage."""
        held = (*self.choices.values(), *self.coverage.values())
        return sum((weight for _, weight in held), Fraction(0))


def plans(
    request: Request, setting: Setting, counts: Sequence[Counted] = ()
) -> Iterator[Plan]:
    """Return the ways to put the answers together, the forms of all columns alike."""
    options = [asked.estimators(setting) for _, asked in request.columns]
    presence = _presence(setting) if request.selects_keys else None
    for variant in range(max((len(forms) for forms in options), default=1)):
        forms = tuple(forms[min(variant, len(forms) - 1)] for forms in options)
        beside = request.coverage if counts else None
        yield _layout(forms, request.weights, presence, counts, beside or Fraction(0))


def _presence(setting: Setting) -> AbstractMeasurement:
    """Return the part that shows that a group exists: people, or else rows."""
    return (
        rows_measurement(setting) if setting.ids is None else ids_measurement(setting)
    )


def _layout(
    estimators: Sequence[AbstractEstimator],
    weights: Sequence[Fraction],
    presence: AbstractMeasurement | None,
    counts: Sequence[Counted],
    beside: Fraction,
) -> Plan:
    """Return the parts of some forms with their weights."""
    counted = {part.key for form in estimators for part in form.measurements}
    extra = presence is not None and presence.key not in counted
    whole = sum(weights, beside + int(extra))
    additive: dict[Any, tuple[AbstractMeasurement, Fraction]] = {}
    choices: dict[Any, tuple[Any, Fraction]] = {}
    for form, weight in zip(estimators, weights, strict=True):
        for part, share in zip(form.measurements, form.shares, strict=True):
            held = choices if form.chooses else additive
            _, before = held.get(part.key, (part, Fraction(0)))
            held[part.key] = (part, before + share * weight / whole)
    if presence is not None and extra:
        additive[presence.key] = (presence, 1 / whole)
    shares = tuple(weight / whole for weight in weights)
    coverage = {one.part.key: (one, beside / whole / len(counts)) for one in counts}
    return Plan(tuple(estimators), shares, additive, choices, presence, coverage)
