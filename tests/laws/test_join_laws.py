"""What one person moves in a join of private tables with bounds of every kind.

The tables hold more of one person than any bound allows, so that every bound binds; the
person is taken out, and each group is counted with and without.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest

import sordino as sd
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.plan.price import Price, price_request
from sordino.query.joins import _bound_pairs
from sordino.session.tables import Catalog, open_catalog
from tests.batches import for_each

BUDGET = sd.ApproxDP(1, "1e-6")
LEFT: dict[str, list[Any]] = {"id": [], "g": [], "x": []}
RIGHT: dict[str, list[Any]] = {"id": [], "h": [], "y": []}
for who, here, copy in itertools.product([1, 2], "abc", range(4)):
    LEFT["id"], LEFT["g"] = [*LEFT["id"], who], [*LEFT["g"], here]
    RIGHT["id"], RIGHT["h"] = [*RIGHT["id"], who], [*RIGHT["h"], here]
    LEFT["x"], RIGHT["y"] = [*LEFT["x"], copy], [*RIGHT["y"], copy]

ON_LEFT: dict[str, tuple[Any, ...]] = {
    "rows": (sd.MaxRowsPerID(3),),
    "rows of groups": (sd.MaxRowsPerGroupPerID("g", 2), sd.MaxGroupsPerID("g", 2)),
    "a row of groups": (sd.MaxRowsPerGroupPerID("g", 1), sd.MaxGroupsPerID("g", 2)),
    "all": (
        sd.MaxRowsPerGroupPerID("g", 2),
        sd.MaxGroupsPerID("g", 2),
        sd.MaxRowsPerID(3),
    ),
}
ON_RIGHT: dict[str, tuple[Any, ...]] = {
    "rows": (sd.MaxRowsPerID(3),),
    "one row": (sd.MaxRowsPerID(1),),
    "rows of groups": (sd.MaxRowsPerGroupPerID("h", 3), sd.MaxGroupsPerID("h", 2)),
}


def without(table: dict[str, list[Any]], person: int) -> dict[str, list[Any]]:
    kept = [place for place, who in enumerate(table["id"]) if who != person]
    return {name: [cells[place] for place in kept] for name, cells in table.items()}


def joined(
    left: dict[str, list[Any]], right: dict[str, list[Any]], bounds: Any, by: Any
) -> tuple[Price, Catalog]:
    """Return the price of counting pairs by group, and the catalog of the tables."""
    ids = sd.AddRowsWithID("id", id_space="people")
    catalog = open_catalog(
        MemoryEngine(order=keyed_order(3)),
        {
            "left": sd.PrivateTable(left, protects=ids),
            "right": sd.PrivateTable(right, protects=ids),
        },
    )
    few = sd.table("right").enforce(*ON_RIGHT[bounds[1]])
    catalog.relations["few"] = few.resolve(catalog)
    pairs = sd.table("left").enforce(*ON_LEFT[bounds[0]]).join_private("few", "id")
    groups = sd.KeySet.from_dict({key: ["a", "b", "c"] for key in by})
    return price_request(
        pairs.group_by(groups).agg(n=sd.count()), catalog, BUDGET
    ), catalog


def counts(bounds: Any, by: Any, *, present: bool) -> Counter[Any]:
    """Return how many pairs each group holds, with the person or without."""
    tables = [table if present else without(table, 1) for table in (LEFT, RIGHT)]
    found, catalog = joined(tables[0], tables[1], bounds, by)
    *keys, numbers = (
        column.to_pylist()
        for column in catalog.engine.answer(found._purchase.plan.question).columns
    )
    return Counter(dict(zip(zip(*keys, strict=True), numbers, strict=True)))


def moves(bounds: Any, by: Any) -> Counter[Any]:
    here, gone = (counts(bounds, by, present=present) for present in (True, False))
    here.subtract(gone)
    return Counter({group: number for group, number in here.items() if number})


def priced(bounds: Any, by: Any) -> sd.Sensitivity:
    """Return how far the price says that a person can move the groups."""
    relation = joined(LEFT, RIGHT, bounds, by)[0]._purchase.plan.relation
    versions = frozenset(relation.schema[name].version for name in by)
    known = relation.contribution.sensitivity(versions)
    assert known is not None
    return known


BOUNDS = list(itertools.product(ON_LEFT, ON_RIGHT))


@for_each("by", [("g",), ("h",), ("g", "h")], ids=str)
@for_each("bounds", BOUNDS, ids=str)
def test_a_person_moves_pairs_within_the_price(bounds: Any, by: Any) -> None:
    """For each pair of bounds, the groups that move are within the sensitivity."""
    known, moved = priced(bounds, by), moves(bounds, by)
    assert len(moved) <= known.l0
    assert sum(moved.values()) <= known.l1
    assert sum(number**2 for number in moved.values()) <= known.l2**2
    assert max(moved.values()) <= known.linf


@for_each("right", ON_RIGHT)
def test_the_price_of_pairs_of_a_group_is_reached(right: str) -> None:
    """Two rows of a group meet every row of the other table: no lesser bound holds."""
    bounds = "rows of groups", right
    assert max(moves(bounds, ("g",)).values()) == priced(bounds, ("g",)).linf


def test_pairs_counted_as_rows_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted mutant: bounds on groups that forget the rows of the other side."""

    def forgetful(one: Any, other: Any) -> Any:
        """Return the bounds on pairs as if each row met a single one."""
        honest = _bound_pairs(one, other)
        return type(honest)(honest.rows, honest.groups, one.group_rows)

    monkeypatch.setattr("sordino.query.joins._bound_pairs", forgetful)
    bounds = "rows of groups", "rows"
    assert max(moves(bounds, ("g",)).values()) > priced(bounds, ("g",)).linf
