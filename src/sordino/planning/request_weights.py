"""How several requests share one budget: evenly, by hand, or by a rule with a name."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, final

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.numbers import positive
from sordino.query.request import Request
from sordino.schema import unknown
from sordino.words import Words, number, worded_pairs

Given: TypeAlias = Mapping[str, Any] | Literal["cells"] | None
"""Weights as they are given: by hand, by the number of cells, or none."""

_EXAMPLE: Final = 'Try weights={"by ward": 2}, or weights="cells".'
_HEAVIEST: Final = Fraction(2) ** 40
_FINEST: Final = 2**12


@final
@dataclass(frozen=True)
class RequestWeights:
    """The share of each request in the budget, and by which rule it was found."""

    shares: Mapping[str, Fraction]
    """By name; they add up to 1."""
    rule: str = ""
    """In words, empty where nothing was said: then shares are even."""

    @property
    def words(self) -> Words:
        """Return the shares by name, None where nothing was said."""
        if not self.rule:
            return None
        return worded_pairs(
            (name, number(share)) for name, share in self.shares.items()
        )

    def describe(self, name: str) -> str:
        """Return the share of a request in words, nothing where it was not asked for.

        >>> even = Fraction(1, 2)
        >>> RequestWeights({"a": even, "b": even}, "by hand").describe("a")
        '50 % of the budget, by hand'
        """
        percent = f"{float(100 * self.shares[name]):.3g}"
        return f"{percent} % of the budget, {self.rule}" if self.rule else ""


def share_budget(requests: Mapping[str, Request], weights: Given) -> RequestWeights:
    """Return the shares of requests; anything that is not a weight is refused."""
    if weights is None:
        even = Fraction(1, len(requests))
        return RequestWeights(dict.fromkeys(requests, even))
    if isinstance(weights, str) and weights == "cells":
        counts = {
            name: _weight_of_cells(name, request) for name, request in requests.items()
        }
        return _shares(counts, "by log2(8 + 4 cells)")
    if not isinstance(weights, Mapping):
        raise InvalidParameter(
            "weights",
            weights,
            'must be a dict from names of requests to numbers, or "cells"',
            _EXAMPLE,
        )
    for name in weights:
        if name not in requests:
            raise unknown("request", name, requests)
    return _shares(
        {name: _read_weight(weights.get(name, 1)) for name in requests}, "by hand"
    )


def _shares(weights: Mapping[str, Fraction], rule: str) -> RequestWeights:
    """Return weights as parts of 1."""
    whole = sum(weights.values(), Fraction(0))
    return RequestWeights(
        {name: weight / whole for name, weight in weights.items()}, rule
    )


def _read_weight(weight: Any) -> Fraction:
    """Return a weight that was given."""
    value = positive(weights=weight)
    if not isinstance(value, Fraction) or not 1 / _HEAVIEST <= value <= _HEAVIEST:
        raise InvalidParameter(
            "weights", weight, "must be rational, from 2**-40 to 2**40", _EXAMPLE
        )
    return value


def _weight_of_cells(name: str, request: Request) -> Fraction:
    """Return the weight of a table by its public number of groups.

    Doubles are rounded to a short rational: it is the same on every machine.
    """
    if request.selects_keys:
        raise InvalidQuery(
            f"requests[{name!r}] has groups that are not known beforehand, so nobody "
            "knows how many cells it has",
            "Group by a sd.KeySet, or give weights by hand.",
        )
    cells = 1 if request.keyset is None else request.keyset.size
    return Fraction(round(math.log2(8 + 4 * cells) * _FINEST), _FINEST)
