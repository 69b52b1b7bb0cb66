"""Any plan over any small table has the same answer in DuckDB and in memory."""

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.aggregations.measurement import Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import comparable_answer, whole_question
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.expressions.language import col, lit
from sordino.query.nodes import AbstractNode, Source
from tests.duckdb_order import SALT, in_duckdb_order

DUCKDB = duckdb_engine(salt=SALT)
IN_PARTS = duckdb_engine(salt=SALT, parts=(4,))
MEMORY = MemoryEngine(order=in_duckdb_order(SALT))
Step = Callable[[AbstractNode, AbstractNode], AbstractNode]

VALUES = {
    "id": (pa.int64(), st.sampled_from([None, 0, 1, 2, -(2**63), 2**63 - 1])),
    "g": (
        pa.string(),
        st.sampled_from([None, "", "a", "A", "\x00", "\U0001f600"]),
    ),
    "x": (pa.float64(), st.sampled_from([None, 0.0, -0.0, math.nan, math.inf, 0.1])),
    "day": (pa.date32(), st.sampled_from([None, dt.date.min, dt.date.max])),
    "l": (pa.list_(pa.int64()), st.none() | st.lists(st.sampled_from([None, 1, 2]))),
}


def _tables() -> st.SearchStrategy[pa.Table]:
    """Return small tables whose values are equal often."""
    row = st.tuples(*(values for _, values in VALUES.values()))
    kinds = [kind for kind, _ in VALUES.values()]

    def made(rows: list[tuple[Any, ...]]) -> pa.Table:
        columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
        arrays = map(pa.array, columns, kinds)
        return pa.Table.from_arrays(list(arrays), names=list(VALUES))

    return st.lists(row, max_size=12).map(made)


def _twice(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"x": row["x"]}, {"x": str(row["x"])}]


def _joined(rows: AbstractNode, other: AbstractNode, on: Any, outer: Any) -> Any:
    names = {name: f"{name}{len(rows.schema.names)}" for name in VALUES}
    names = {known: new for known, new in names.items() if known not in on}
    return plans.join_rows(rows, plans.rename_columns(other, names), on, outer=outer)


PERS = st.sampled_from([("id",), ("g",), ("x", "id"), ("day", "g")])
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        lambda per, n: lambda rows, _: plans.bound_rows(rows, per, n),
        PERS,
        st.integers(1, 3),
    ),
    st.builds(
        lambda per, n: lambda rows, _: plans.bound_groups(rows, per, ("g", "x"), n),
        PERS,
        st.integers(1, 3),
    ),
    st.builds(lambda per: lambda rows, _: plans.bound_unique(rows, per), PERS),
    st.builds(lambda on: lambda rows, other: plans.rows_without(rows, other, on), PERS),
    st.builds(
        lambda on, outer: lambda rows, other: _joined(rows, other, on, outer),
        PERS,
        st.booleans(),
    ),
    st.sampled_from([
        lambda rows, _: plans.filter_rows(rows, col("x") > 0.0),
        lambda rows, _: plans.filter_rows(rows, col("g") == "a"),
        lambda rows, _: plans.filter_rows(rows, col("id") >= 0),
        lambda rows, _: plans.call_flat(rows, _twice, 1, x="f64"),
        lambda rows, _: plans.call_flat(rows, _twice, None, x="f64"),
    ]),
)


@given(
    _tables(),
    _tables(),
    st.lists(STEPS, max_size=4),
    st.sampled_from([(), ("id",), ("g", "x")]),
)
def test_engines_agree_on_any_plan(
    rows: pa.Table, other: pa.Table, steps: list[Step], by: tuple[str, ...]
) -> None:
    answers = []
    for engine in (MEMORY, DUCKDB):
        first = Source("rows", engine.open("rows", rows, {}))
        second = Source("other", engine.open("other", other, {}))
        plan: AbstractNode = first
        for step in steps:
            plan = step(plan, second)
        asked = whole_question(plan, *by)
        answers.append(comparable_answer(asked, engine.answer(asked)))
    assert answers[0] == answers[1]


def _columns(table: pa.Table, names: tuple[str, ...]) -> list[list[Any]]:
    return [table.column(name).to_pylist() for name in names]


@pytest.mark.slow
@given(
    _tables(),
    _tables(),
    st.sampled_from([("id",), ("g",)]),
    st.sampled_from([("g",), ("g", "day"), ("id",), ("id", "g")]),
)
def test_engines_agree_on_memberships(
    rows: pa.Table, gone: pa.Table, per: tuple[str, ...], groups: tuple[str, ...]
) -> None:
    listed, answers, sizes = gone.select(list(groups)), [], 0
    for engine in (MEMORY, DUCKDB, IN_PARTS):
        left = plans.rows_without(
            Source("rows", engine.open("rows", rows, {})), listed, groups
        )
        pairs_of = plans.sized_memberships(left, per, groups)
        totals = (Total(col("size")), Total(lit(1)))
        asked = plans.question_of(pairs_of, *groups, totals=totals)
        answer = engine.answer(asked)
        sizes = sum(answer.column("total 0").to_pylist())
        answers.append(comparable_answer(asked, answer))
    assert answers[0] == answers[1] == answers[2]
    taken = set(zip(*_columns(gone, groups), strict=True))
    pairs = zip(*_columns(rows, per), *_columns(rows, groups), strict=True)
    left_over = {pair for pair in pairs if pair[len(per) :] not in taken}
    # each of the s groups of a value adds s
    sizes_of = Counter(pair[: len(per)] for pair in left_over)
    assert sum(n * n for n in sizes_of.values()) == sizes
