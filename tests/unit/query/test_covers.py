"""The cover of each kind of node; the law of all is tests/laws/test_cover_laws.py."""

from typing import Any, Final

import pytest

from sordino.aggregations.measurement import Total
from sordino.expressions.language import col
from sordino.expressions.literals import literal
from sordino.expressions.schema import Column, Schema
from sordino.losses.budgets.blocks import WHOLE
from sordino.query.node_rules import BlockLayout, Cover, blocks_read, covers_of
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    FlatMap,
    Gathered,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Source,
    Unreadable,
    Without,
)
from tests.batches import for_each

ENDS: Final = {"a": ("a", "a"), "b": ("b", "b")}
GATE: Final = col("m").is_in(["a", "b"]).tree
BOTH: Final = frozenset("ab")
NAMES: Final = {"p": "i64", "m": "text", "x": "i64"}
SCHEMA: Final = Schema(tuple((name, Column(kind)) for name, kind in NAMES.items()))


def layouts(ids: str | None) -> dict[str, BlockLayout]:
    """Return two tables in blocks, and one without."""
    return {
        "t": BlockLayout(ids, "m", ENDS, GATE),
        "u": BlockLayout(ids, "m", ENDS, GATE),
        "w": BlockLayout(ids),
    }


def table(name: str = "t") -> AbstractNode:
    source = Source(name, SCHEMA)
    return source if name == "w" else Filter(source, GATE, SCHEMA)


def only(rows: AbstractNode, block: str = "a") -> Filter:
    return Filter(rows, (col("m") == block).tree, rows.schema)


def narrow(rows: AbstractNode, ids: str | None = "p") -> frozenset[str]:
    return blocks_read([only(rows)], layouts(ids))


def joined(
    left: AbstractNode, right: AbstractNode, *on: str, outer: bool = False
) -> Any:
    """Return a join, the columns of the right side under names of their own."""
    renamed = {name: name if name in on else f"{name}2" for name in right.schema}
    cells = tuple((renamed[name], col(name).tree) for name in right.schema)
    columns = tuple((renamed[name], column) for name, column in right.schema.columns)
    brought = tuple(pair for pair in columns if pair[0] not in on)
    schema = Schema((*left.schema.columns, *brought))
    return Join(left, Project(right, cells, Schema(columns)), on, outer, schema)


ROWS: Final = table()
PUBLIC: Final = Source("public", SCHEMA)
NARROW: Final[dict[str, AbstractNode]] = {
    "filter": Filter(ROWS, (col("x") > 3).tree, SCHEMA),
    "keep rows": KeepRows(ROWS, ("p",), ("m", "x"), 2, SCHEMA),
    "keep groups": KeepGroups(ROWS, ("p",), ("m",), 2, SCHEMA),
    "keep unique": KeepUnique(ROWS, ("p", "m"), SCHEMA),
    "crowded": Crowded(ROWS, ("p", "m"), (), 2, SCHEMA),
    "memberships": Memberships(ROWS, ("p",), ("m",), "size", SCHEMA),
    "gathered": Gathered(ROWS, ("p", "m"), (), (), SCHEMA),
    "map": MapRows(ROWS, dict, ("x",), SCHEMA),
    "flat map": FlatMap(ROWS, dict, ("x",), None, SCHEMA),
    "explode": Explode(ROWS, "x", None, SCHEMA),
    "kept": Kept(ROWS, "k", SCHEMA),
    "join with public rows": joined(ROWS, PUBLIC, "x"),
    "left join with public rows": joined(ROWS, PUBLIC, "x", outer=True),
    "join of ids": joined(ROWS, table("u"), "p"),
    "join of ids without blocks": joined(ROWS, table("w"), "p"),
    "left join of ids": joined(ROWS, table("w"), "p", outer=True),
    "without public rows": Without(ROWS, PUBLIC, ("p",), SCHEMA),
    "unreadable": Filter(Unreadable("t", "x", SCHEMA), GATE, SCHEMA),
}
"""Above these a filter on the blocks narrows what is read."""
WIDE: Final[dict[str, AbstractNode]] = {
    "keep rows": KeepRows(ROWS, ("x",), ("m", "p"), 2, SCHEMA),
    "keep groups": KeepGroups(ROWS, ("x",), ("m",), 2, SCHEMA),
    "keep unique": KeepUnique(ROWS, ("x",), SCHEMA),
    "crowded": Crowded(ROWS, ("m",), (), 2, SCHEMA),
    "memberships": Memberships(ROWS, ("m",), ("p",), "size", SCHEMA),
    "gathered": Gathered(ROWS, ("m",), (), (), SCHEMA),
    "gathered under its name": Gathered(
        ROWS, ("p",), (("m", Total(literal(1))),), (), SCHEMA
    ),
    "map": MapRows(ROWS, dict, ("m",), SCHEMA),
    "flat map": FlatMap(ROWS, dict, ("m",), None, SCHEMA),
    "explode": Explode(ROWS, "m", None, SCHEMA),
    "written anew": Project(ROWS, (("m", col("m").lower().tree),), SCHEMA),
    "another column": Project(ROWS, (("m", col("x").cast("text").tree),), SCHEMA),
    "join": joined(ROWS, table("u"), "x"),
    "without others": Without(ROWS, table("u"), ("p",), SCHEMA),
}
"""Above these it does not."""


@for_each("rows", NARROW.values(), ids=list(NARROW))
def test_a_filter_above_narrows_what_is_read(rows: AbstractNode) -> None:
    """Each changed row is of a block that the person has a row in."""
    assert narrow(rows) == {"a"}


@for_each("rows", WIDE.values(), ids=list(WIDE))
def test_a_filter_above_narrows_nothing(rows: AbstractNode) -> None:
    """Rows of one block may move those of another, or say nothing of their block."""
    assert narrow(rows) == BOTH


@for_each("name", ["keep rows", "crowded", "gathered", "join of ids"])
def test_where_rows_are_protected_nobody_has_rows_of_his_own(name: str) -> None:
    """Grouped by the same columns, rows of one block push out those of another."""
    assert narrow(NARROW[name], ids=None) == BOTH


def test_a_join_of_rows_reads_the_blocks_of_both_sides() -> None:
    sides = (only(ROWS), only(table("u"), "b"))
    assert blocks_read([joined(*sides, "x")], layouts(None)) == BOTH
    assert blocks_read([joined(*sides, "p")], layouts("p")) == {"a"}
    whole = joined(only(ROWS), table("w"), "x")
    assert blocks_read([whole], layouts(None)) == {"a", WHOLE}


def test_both_columns_of_a_join_of_ids_narrow_their_own_side() -> None:
    """What is left of either is enough, and they are never mixed."""
    rows = joined(ROWS, table("u"), "p")
    right = Filter(rows, (col("m2") == "b").tree, rows.schema)
    assert {cover.blocks for cover in covers_of(right, layouts("p"))} == {
        BOTH,
        frozenset("b"),
    }
    both = {cover.blocks for cover in covers_of(only(right), layouts("p"))}
    assert both == {frozenset("a"), frozenset("b")}


def test_nobody_can_change_public_rows() -> None:
    """A question of these alone reads no block."""
    import pyarrow as pa  # noqa: PLC0415 as the library does

    given = PublicRows(pa.table({"p": [1]}), SCHEMA)
    for rows in (PUBLIC, given, joined(PUBLIC, given, "p")):
        assert covers_of(rows, layouts("p")) == ()
        assert blocks_read([rows], layouts("p")) == frozenset()


def test_questions_together_read_what_any_reads() -> None:
    rows = [only(ROWS), only(table("u"), "b"), table("w")]
    assert blocks_read(rows, layouts("p")) == {"a", "b", WHOLE}


def test_a_table_that_is_not_filtered_is_never_priced() -> None:
    """Rows of blocks that are not open would be read: the catalog filters them."""
    with pytest.raises(AssertionError):
        blocks_read([Source("t", SCHEMA)], layouts("p"))
    (cover,) = covers_of(ROWS, layouts("p"))
    assert cover == Cover(BOTH, frozenset("m"), frozenset("p"))
