"""Laws of every source: doors agree, and a cell says nothing of other cells."""

import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.data import arrow, python_rows
from sordino.data.python_rows import coerce
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    comparable_answer,
    question_of,
    sortable_rows,
)
from sordino.engines.duckdb.session import DuckDB, duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.errors import EngineFailure
from sordino.expressions.schema import PLAIN, Column, arrow_type
from sordino.query.nodes import Source
from tests import tables
from tests.batches import for_each, sampled
from tests.doors import DOORS, Door
from tests.odd_cells import ARROW, FRAMES, Form

FEW: Final = settings(max_examples=max(3, settings().max_examples // 25))
ENGINES: Final[Mapping[str, Callable[[], AbstractEngine]]] = {
    "memory": MemoryEngine,
    "duckdb": duckdb_engine,
}
MORE: Final = 99
"""The place of one more cell."""
KINDS: Final = {f"a {kind}": kind for kind in PLAIN}


@st.composite
def drawn(draw: st.DrawFn, *, nan: bool) -> pa.Table:
    """Draw rows of a column of every type, and of lists."""
    made = draw(tables.tables(KINDS, most=7)).arrow
    if not nan:
        floats = [None if x is None or x != x else x for x in made["a f64"].to_pylist()]  # noqa: PLR0124 NaN
        made = made.set_column(1, "a f64", pa.array(floats, pa.float64()))
    codes = st.sampled_from([None, [], [1], [2, None], [2**63 - 1, 0, 0]])
    lists = [draw(codes) for _ in range(made.num_rows)]
    return made.append_column("codes", pa.array(lists, pa.list_(pa.int64())))


def told(
    engine: AbstractEngine, source: Any, declared: Mapping[str, Column]
) -> list[Any]:
    schema = engine.open("t", source, declared)
    rows = Source("t", schema)
    names = [name for name in schema if schema[name].type in PLAIN]
    questions = [question_of(rows, *names)]
    if "codes" in schema:
        questions.append(
            question_of(plans.explode_rows(rows, "codes"), "codes", "a i64")
        )
    return [comparable_answer(one, engine.answer(one)) for one in questions]


def _agree(door: Door, engine: str, table: pa.Table) -> bool:
    """Tell whether a door gives the rows of the Arrow table."""
    held = door.held(table)
    with tempfile.TemporaryDirectory() as folder:
        source = door.opened(held, Path(folder))
        by_door = told(ENGINES[engine](), source, door.declared(held))
    return by_door == told(MemoryEngine(), held, {})


@sampled(2, 24)
@for_each("engine", ENGINES)
@for_each("name", DOORS)
def test_doors_agree(name: str, engine: str) -> None:
    """For any table: by every door and on every engine the same rows."""

    @FEW
    @given(drawn(nan=DOORS[name].nan))
    def agree(table: pa.Table) -> None:
        assert _agree(DOORS[name], engine, table)

    agree()


def arrow_table(form: Form) -> Callable[[Sequence[Any]], pa.Table]:
    return lambda cells: pa.table({
        "i": [one[0] for one in cells],
        "x": form.make([one[1] for one in cells]),
    })


def _parquet(form: Form, folder: str) -> Callable[[Sequence[Any]], Path]:
    """Return what writes a Parquet file of the pairs."""

    def make(cells: Sequence[Any]) -> Path:
        path = Path(folder) / f"{uuid.uuid4()}.parquet"
        pq.write_table(arrow_table(form)(cells), path, row_group_size=2)
        return path

    return make


def read(
    engine: AbstractEngine, source: Any, declared: Mapping[str, str]
) -> dict[Any, Any]:
    """Return for each place what its cell became; of a list, its entries."""
    kinds = {name: Column(kind) for name, kind in declared.items()}
    rows = Source("t", engine.open("t", source, kinds))
    assert "x" in rows.schema
    if rows.schema["x"].type not in PLAIN:
        exploded = question_of(plans.explode_rows(rows, "x"), "i", "x")
        found: dict[Any, Any] = {}
        for place, *rest in sorted(sortable_rows(engine.answer(exploded))):
            found.setdefault(place, []).append(rest)
        return found
    return {
        row[0]: row[1:]
        for row in sortable_rows(engine.answer(question_of(rows, "i", "x")))
    }


def complaints(
    data: st.DataObject, form: Form, make: Callable[..., Any]
) -> Iterator[str]:
    """Tell where a column with one more cell has other cells, or engines differ."""
    places = st.integers(0, len(form.pool) - 1)  # cells themselves must not be asked
    held = data.draw(st.lists(places, min_size=1, max_size=4))
    odd, place = data.draw(places), data.draw(st.integers(0, len(held)))
    pairs = [(n, form.pool[one]) for n, one in enumerate(held)]
    yield from _complaints(form, make, pairs, place, form.pool[odd])


def _complaints(
    form: Form, make: Callable[..., Any], pairs: list[Any], place: int, odd: Any
) -> Iterator[str]:
    more = [*pairs[:place], (MORE, odd), *pairs[place:]]
    before, after = (
        [read(engine(), make(one), form.declared) for engine in ENGINES.values()]
        for one in (pairs, more)
    )
    if before[0] != before[1] or after[0] != after[1]:
        yield f"engines differ: {before} or {after}"
    if before[0] != {key: one for key, one in after[0].items() if key != (1, MORE)}:
        yield f"a cell changed others: {before[0]}, {after[0]}"


@sampled(1, 16)
@for_each("name", [*ARROW, *FRAMES])
def test_one_more_cell_changes_no_other(name: str) -> None:
    """For any cells and any odd one: a table, a frame or a dict, on every engine."""
    form = ARROW.get(name) or FRAMES[name]
    make = arrow_table(form) if name in ARROW else form.make

    @FEW
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        assert not list(complaints(data, form, make))

    holds()


WRITTEN: Final = [
    name for name in ARROW if not any(one in name for one in ("-3", "in s ", "in ms"))
]
"""What Parquet can hold: no negative scale, and no seconds or days of milliseconds."""


@sampled(1, 7)
@for_each("name", WRITTEN)
def test_one_more_cell_of_a_file_changes_no_other(name: str) -> None:
    form = ARROW[name]

    @FEW
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            assert not list(complaints(data, form, _parquet(form, folder)))

    holds()


def _tried(cells: Any, kind: str) -> pa.Array:
    """Convert at once, and where that fails by another rule: as version 0.1 did."""
    listed = list(cells)
    try:
        return pa.array(listed, arrow_type(kind), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([coerce(one, kind) for one in listed], arrow_type(kind))


@sampled(1)
@for_each(
    ("kind", "cell"),
    [("i64", Decimal(7)), ("date", datetime(2020, 1, 1)), ("i64", 7.0)],  # noqa: DTZ001
)
def test_a_planted_conversion_is_found_out(
    kind: str, cell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fast conversion with another rule: one cell changes the others."""
    form = FRAMES[f"objects as {kind}"]
    asked = (form, form.make, [(0, cell), (1, cell)], 1, "n/a")
    assert not list(_complaints(*asked))
    monkeypatch.setattr(python_rows, "column_of_cells", _tried)
    assert list(_complaints(*asked))


def test_a_planted_rule_for_files_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file is read by a database alone, one text fails the question."""
    form = ARROW["texts"]
    asked = (form, _parquet(form, str(tmp_path)), [(0, b"a")], 1, b"\xff")
    assert not list(_complaints(*asked))
    monkeypatch.setattr(DuckDB, "is_stuck", lambda *_: False)
    with pytest.raises(EngineFailure):
        list(_complaints(*asked))


def test_a_planted_rounding_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moments cut to microseconds, not rounded: engines differ."""
    form = ARROW["moments in ns None"]
    asked = (form, arrow_table(form), [(0, 0), (1, -500)], 1, 501)
    assert not list(_complaints(*asked))
    rule = {
        **arrow._RULES,
        "time": lambda one: one.cast(pa.timestamp("us"), safe=False),
    }
    monkeypatch.setattr(arrow, "_RULES", rule)
    assert list(_complaints(*asked))
