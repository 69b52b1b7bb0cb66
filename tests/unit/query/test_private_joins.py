"""Private joins of truncated tables: the price of lemma 4, and that it is reached."""

from collections import Counter
from typing import Any, Final

import sordino as sd
from sordino.data.limits import AbstractTruncation
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.plan.price import Price, price_request
from sordino.session.tables import Catalog, open_catalog
from tests.batches import for_each

Side = dict[str, list[Any]]

BUDGET: Final = sd.ApproxDP(1, "1e-6")
LEFT: Final[Side] = {"key": ["one", "one", "two", "two"], "a": [1, 2, 1, 2]}
RIGHT: Final[Side] = {"key": ["one", "one", "two", "two"], "b": [1, 2, 1, 2]}
TRIES: Final = 64
"""Rows that are tried; of three rows two are kept, by a hash whose key is fixed."""


def with_row(side: Side, key: str, value: int) -> Side:
    name = list(side)[1]
    return {"key": [*side["key"], key], name: [*side[name], value]}


def priced(
    left: Side, right: Side, first: AbstractTruncation, second: AbstractTruncation
) -> tuple[Price, Catalog]:
    """Return the price of all pairs, each in a group of its own, and its catalog."""
    one = sd.PrivateTable(left, protects=sd.AddOneRow())
    other = sd.PrivateTable(right, protects=sd.AddOneRow())
    engine = MemoryEngine(order=keyed_order(7))
    catalog = open_catalog(engine, {"left": one, "right": other})
    pairs = sd.table("left").join_private("right", "key", left=first, right=second)
    asked = pairs.group_by("key", "a", "b").agg(n=sd.count())
    return price_request(asked, catalog, BUDGET), catalog


def counted(left: Side, right: Side) -> Counter[tuple[Any, ...]]:
    """Return how often each pair stands in the join of two rows a key on each side."""
    found, catalog = priced(left, right, sd.DropExcess(2), sd.DropExcess(2))
    answer = catalog.engine.answer(found._purchase.plan.question)
    *keys, counts = (column.to_pylist() for column in answer.columns)
    return Counter(dict(zip(zip(*keys, strict=True), counts, strict=True)))


def moved(left: Side, right: Side) -> int:
    """Return how many pairs enter or leave when the tables change to these."""
    before, after = counted(LEFT, RIGHT), counted(left, right)
    return ((before - after) + (after - before)).total()


@for_each(
    ("first", "second", "most"),
    [
        (sd.DropExcess(2), sd.DropExcess(2), 8),
        (sd.DropExcess(3), sd.DropExcess(2), 10),
        (sd.DropExcess(2), sd.DropNonUnique(), 4),
        (sd.DropNonUnique(), sd.DropNonUnique(), 2),
    ],
)
def test_the_price_of_a_join(
    first: AbstractTruncation, second: AbstractTruncation, most: int
) -> None:
    """A row on each side moves tau_l s_r + tau_r s_l pairs."""
    found, _ = priced(LEFT, RIGHT, first, second)
    assert found._purchase.plan.relation.contribution.most_rows() == most


def test_two_rows_move_eight_pairs() -> None:
    """The bound of two `DropExcess(2)` is reached, and never passed: 4 is no bound."""
    seen = {
        moved(with_row(LEFT, "one", value), with_row(RIGHT, "two", value))
        for value in range(3, 3 + TRIES)
    }
    assert max(seen) == 8
