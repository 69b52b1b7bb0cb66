"""The tables that laws of queries draw are what they say."""

import math

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from sordino.expressions.schema import PLAIN, Column
from tests.batches import for_each, sampled
from tests.effort import by_night
from tests.tables import (
    POOLS,
    Table,
    neighbours_by_id,
    neighbours_by_row,
    permutations,
    tables,
    values,
)

TYPES = {"id": "i64", "ward": "text", "share": "f64"}


@given(tables())
def test_tables_keep_their_facts(table: Table) -> None:
    for name, column in table.schema.columns:
        given_values = table.columns[name]
        assert column.nullable or None not in given_values
        assert column.nan or not any(one != one for one in given_values)  # noqa: PLR0124 NaN alone differs from itself
        assert table.arrow.schema.field(name).type == column.arrow
    back = [tuple(row.values()) for row in table.arrow.to_pylist()]
    assert table.with_rows(back).counted() == table.counted()
    assert [tuple(row.values()) for row in table.records] == list(table.rows)


@given(st.data())
def test_permutations_keep_all_rows(data: st.DataObject) -> None:
    table = data.draw(tables())
    assert data.draw(permutations(table)).counted() == table.counted()


@given(st.data(), st.integers(1, 3))
def test_neighbours_by_row_differ_in_rows(data: st.DataObject, most: int) -> None:
    table = data.draw(tables(TYPES))
    other = data.draw(neighbours_by_row(table, most))
    more, less = table.counted() - other.counted(), other.counted() - table.counted()
    assert {0 < more.total() <= most, 0 < less.total() <= most} == {True, False}
    assert other.schema is table.schema


@given(st.data())
def test_neighbours_by_id_differ_in_one_id(data: st.DataObject) -> None:
    table = data.draw(tables(TYPES))
    other = data.draw(neighbours_by_id(table, "id"))
    ours, theirs = set(table.columns["id"]), set(other.columns["id"])
    (changed,) = ours ^ theirs
    for one in (table, other):
        rest = one.with_rows(row for row in one.rows if row[0] != changed)
        assert rest.counted() == (table.counted() & other.counted())


@sampled(2)
@for_each("kind", PLAIN)
def test_every_hard_value_is_drawn(kind: str) -> None:
    column = Column(kind)
    for wanted in (*POOLS[kind], None, *((math.nan,) if column.nan else ())):
        drawn = find(values(column).map(repr), repr(wanted).__eq__)
        assert drawn == repr(wanted)


@by_night
@pytest.mark.slow
def test_rows_repeat_and_come_and_go() -> None:
    table = find(tables(TYPES), lambda one: max(one.counted().values(), default=0) > 1)
    assert len(table.rows) >= 2
    assert find(tables(TYPES), lambda one: not one.rows).rows == ()
    for near in (neighbours_by_row(table), neighbours_by_id(table, "id")):
        assert find(near, lambda one: len(one.rows) > len(table.rows))
        assert find(near, lambda one: len(one.rows) < len(table.rows))
