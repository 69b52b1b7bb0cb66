"""PostgreSQL: the same answers as every engine, read in place in a server."""

import random
import re
import struct
from functools import cache
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

import sordino as sd
from sordino.aggregations.measurement import Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.bounds import CASES
from sordino.engines.conformance.operations import FORMS, Form
from sordino.engines.conformance.plans import TABLES, Case, comparable_answer
from sordino.engines.conformance.verdicts import open_each, order_of
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.engines.postgres.session import postgres_engine
from sordino.errors import InvalidQuery
from sordino.expressions.language import col
from sordino.expressions.tree import Col
from sordino.query.nodes import Question, Source
from tests.batches import for_each, sampled
from tests.doors import DOORS
from tests.duckdb_order import SALT
from tests.laws.test_expression_laws import held
from tests.postgres_server import cluster, stored_table

BUDGET: Final = sd.PureDP(1)
ENGINE = cache(lambda: postgres_engine(cluster().address(), salt=SALT))
MEMORY = cache(lambda: MemoryEngine(order=order_of(ENGINE())))
SOURCES: Final[dict[tuple[str, ...], Any]] = {}


@sampled(6)
@for_each("case", CASES, ids=[case.name for case in CASES])
def test_plans_agree(case: Case) -> None:
    told: list[Any] = []
    for engine in (ENGINE(), MEMORY()):
        question = case.asked(open_each(engine, TABLES))
        told.append(comparable_answer(question, engine.answer(question)))
    assert told[0] == told[1]


def values_of(engine: AbstractEngine, form: Form) -> Any:
    """Return what an operation makes of each row of a table in the server."""
    door = DOORS["table of a server"]
    if form.types not in SOURCES:  # one for all operations on the same types
        SOURCES[form.types] = door.opened(door.held(held(form)), Path())
    schema = engine.open("x", SOURCES[form.types], {})
    rows = plans.project_to(Source("x", schema), i=col("i"), y=form.on_columns())
    question = plans.question_of(rows, "i", "y")
    return comparable_answer(question, engine.answer(question))


@sampled(12, 50)
@for_each("form", FORMS, ids=str)
def test_operations_mean_the_same_in_a_server(form: Form) -> None:
    """For each operation, with the values at the edges of its types.

    Texts with U+0000 and remainders of doubles it refuses by name.
    """
    modulo = form.name == "modulo" or form.name.startswith("rest of")
    if modulo and "f64" in form.types:
        with pytest.raises(InvalidQuery, match="cannot compute modulo of f64"):
            values_of(ENGINE(), form)
        return
    if form.name.startswith(("extract", "replace_matches")):
        with pytest.raises(InvalidQuery, match="takes the longest, not the first"):
            values_of(ENGINE(), form)
        return
    # no text of a server has U+0000, so a pattern that allows it means the same
    lacking = not form.name.startswith("matches") and re.search(
        r"mark|is_in text|\x00|split '\\x00'", form.name
    )
    if lacking:
        with pytest.raises(InvalidQuery, match=r"U\+0000"):
            values_of(ENGINE(), form)
    else:
        assert values_of(ENGINE(), form) == values_of(MemoryEngine(), form)


def test_a_remainder_of_doubles_is_refused_uncharged() -> None:
    """With what to write instead; that of integers is computed."""
    source = stored_table(pa.table({"i": [5, -7], "x": [7.5, -7.5]}))
    session = sd.Session(
        {"t": sd.PrivateTable(source, protects=sd.AddOneRow())},
        budget=BUDGET,
        engine="postgres",
    )
    rows = sd.table("t")
    with pytest.raises(InvalidQuery, match=r"a - \(a // b\) \* b is that"):
        session.release(
            rows.filter(col("x") % 2 > 0).agg(n=sd.count()), sd.PureDP("0.1")
        )
    assert session.spent == sd.PureDP(0)
    session.release(rows.filter(col("i") % 2 > 0).agg(n=sd.count()), sd.PureDP("0.1"))


def test_quotients_of_doubles_rounded_down_are_exact() -> None:
    """As Python has them, for doubles of any size: of 2,000 drawn by their bits."""
    dice = random.Random(14)
    drawn = [dice.getrandbits(64).to_bytes(8, "big") for _ in range(4_000)]
    doubles = [struct.unpack(">d", one)[0] for one in drawn]
    rows = pa.table({
        "i": range(2_000),
        "a": pa.array(doubles[::2], pa.float64(), from_pandas=False),
        "b": pa.array(doubles[1::2], pa.float64(), from_pandas=False),
    })
    source, told = stored_table(rows), []
    for engine in (ENGINE(), MemoryEngine()):
        node = Source("d", engine.open("d", source, {}))
        a, b = col("a"), col("b")
        made = plans.project_to(node, i=col("i"), down=a // b)
        question = plans.question_of(made, "i", "down")
        told.append(comparable_answer(question, engine.answer(question)))
    assert told[0] == told[1]


def test_sums_are_exact_on_the_way() -> None:
    rows = pa.table({"x": [2**62, 1, -(2**62), 2**62, 3, -(2**62)]})
    source, told = stored_table(rows), []
    for engine in (ENGINE(), MemoryEngine()):
        node = Source("s", engine.open("s", source, {}))
        question = Question(node, (), (Total(Col("x")),))
        told.append(engine.answer(question).column(0).to_pylist())
    assert told == [[4], [4]]


def test_each_session_has_a_key_of_its_own() -> None:
    """Engines order rows by different digests, unless they are given one key."""
    address, rows = cluster().address(), pa.table({"c0": [1, 2, 3]})
    keyed = [postgres_engine(address, salt=salt) for salt in (1, 1, 2)]
    one, same, other = (engine.digests(rows) for engine in keyed)
    assert one == same
    assert not set(one) & set(other)


def test_a_session_asks_a_table_in_a_server() -> None:
    server = cluster()
    server.run(
        "CREATE TABLE visits (id bigint, ward text, days integer)",
        "INSERT INTO visits SELECT n % 100, chr(97 + n % 3), n % 9"
        " FROM generate_series(1, 1000) AS n",
    )
    source = (server.address(), "visits")
    table = sd.PrivateTable(source, protects=sd.AddRowsWithID("id"))
    beds = sd.PublicTable(pa.table({"ward": ["a", "b"], "beds": [3, 4]}))
    session = sd.Session(
        {"visits": table, "beds": beds}, budget=sd.PureDP(2), engine="postgres"
    )
    keys = sd.KeySet.from_dict({"ward": ["a", "b", "z"]})
    rows = sd.table("visits").join_public("beds", on="ward")
    query = rows.enforce(sd.MaxRowsPerID(3)).group_by(keys)
    release = session.release(
        query.agg(n=sd.count(), days=sd.sum("days", 0, 9)), BUDGET
    )
    assert release.table.num_rows == 3
    assert session.remaining == sd.PureDP(1)
    with server.asking() as connection:
        left = connection.execute(
            "SELECT count(*) FROM pg_class"
            " WHERE relpersistence <> 't' AND relname ~ '^sordino_'"
        )
        assert left.fetchone() == (0,)
