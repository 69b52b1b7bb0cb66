"""Margins that cannot be asked for: typed errors, from public facts."""

from collections.abc import Callable
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import SordinoError
from tests.asked_margins import ASKED, BUDGET, KEYS, NESTED, VISITS, WIDE, opened
from tests.batches import for_each


def marginals(**more: Any) -> Callable[[], Any]:
    """Return a call with other arguments."""
    usual: dict[str, Any] = {"keyset": KEYS, "order": 2, "hierarchies": NESTED}
    return lambda: opened().price(VISITS.marginals(**usual | more), BUDGET)


WRONG: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "no keys": (marginals(keyset=["a"]), "KeySet"),
    "order 0": (marginals(order=0), "order must be at least 1"),
    "order too large": (marginals(order=4), "must be at most 3"),
    "order a text": (marginals(order="2"), "order"),
    "unknown column": (marginals(keyset=WIDE["c0", "c1"], hierarchies=()), "c0"),
    "60 columns": (marginals(keyset=WIDE, order=5, hierarchies=()), "limit is 10,000"),
    "large": (
        marginals(
            keyset=sd.KeySet.from_dict({
                "year": range(5000),
                "town": map(str, range(5000)),
            }),
            hierarchies=(),
        ),
        "cells",
    ),
    "float keys": (
        marginals(
            keyset=sd.KeySet.from_dict({"cost": [1, 2]}), order=1, hierarchies=()
        ),
        "f64",
    ),
    "gaps": (marginals(hierarchies=()), "every combination"),
    "wrong way up": (marginals(hierarchies=[("town", "state")]), "must nest"),
    "not nested": (
        marginals(
            keyset=sd.KeySet.from_tuples(
                [("n", "a"), ("s", "a")], columns=("state", "town")
            ),
            order=1,
        ),
        "'a' of 'town' lies in several of 'state'",
    ),
    "hierarchy of no column": (marginals(hierarchies=[("state", "city")]), "city"),
    "hierarchies that share": (
        marginals(hierarchies=[("state", "town"), ("state", "year")]),
        "two of them",
    ),
    "hierarchies a text": (marginals(hierarchies="state"), "a list of columns from"),
    "totals a number": (marginals(totals=7), "totals"),
    "totals of no table": (marginals(totals={"month": {}}), "month"),
    "a key is missing": (marginals(totals={"year": {2025: 3}}), "2026"),
    "a negative total": (marginals(totals={(): -1}), "at least 0"),
    "a total that is no number": (marginals(totals={(): 2.5}), "integer"),
    "totals that contradict": (
        marginals(totals={(): 10, "year": {2025: 4, 2026: 5}}),
        "contradict each other: one adds up to 9, the other to 10",
    ),
    "totals of towns and states": (
        marginals(totals={"state": {"n": 4, "s": 5}, "town": {"a": 1, "b": 2, "c": 6}}),
        "contradict",
    ),
    "all is known": (
        marginals(
            keyset=KEYS["year",],
            order=1,
            hierarchies=(),
            totals={"year": {2025: 4, 2026: 5}},
        ),
        "all that these tables say",
    ),
    "count": (
        marginals(keyset=sd.KeySet.from_dict({"count": [1]}), order=1, hierarchies=()),
        "count",
    ),
    "a name of errors": (
        marginals(
            keyset=sd.KeySet.from_dict({"count low": [1]}), order=1, hierarchies=()
        ),
        "count low",
    ),
    "tables within tables": (
        marginals(
            keyset=sd.KeySet.from_dict({f"c{n}": [0, 1] for n in range(13)}),
            order=12,
            hierarchies=(),
        ),
        "tables within tables",
    ),
    "no keys at all": (
        marginals(
            keyset=sd.KeySet.from_dict({"year": [2025]}).filter(sd.col("year") > 9999),
            order=1,
            hierarchies=(),
        ),
        "must have keys",
    ),
    "no noise for it": (
        lambda: opened().price(ASKED, sd.PureDP(1)),
        "margins have Gaussian noise",
    ),
    "no budget": (lambda: opened().price(ASKED, 1), "budget"),  # type: ignore[call-overload]
    "together with others": (
        lambda: opened().release_all({"a": ASKED}, BUDGET),  # type: ignore[dict-item]
        "price and a release of their own",
    ),
    "confidence": (
        lambda: opened().price(ASKED, BUDGET, confidence=2),
        "confidence",
    ),
}


@for_each(("ask", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_asked_is_refused(ask: Callable[[], Any], message: str) -> None:
    with pytest.raises(SordinoError, match=message):
        ask()
