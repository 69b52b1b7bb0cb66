"""Names and texts that look like something else are names and texts."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidQuery, UnknownName
from tests.batches import for_each, sampled
from tests.refusals import PRIVATE

QUIET: Final = sd.PureDP(10**6)
"""A budget that buys hardly any noise."""
NAMES: Final = {
    "a backquote": "x`y",
    "a point": "a.b",
    "nothing": "",
    "very long": "n" * 10_000,
    "a line break": "line\nbreak",
    "a word of SQL": "select",
    "a NUL": "a\0b",
    "a statement": 'a"b;-- DROP TABLE rows',
    "a quote": "O'Reilly",
    "a backslash": "a\\b",
    "a parameter": "$salt",
    "another case": "X",
    "a total": "total 0",
    "a method": "self",
    "braces": "{x}",
    "letters and marks": "e\u0301\U0001f600",
}


def answer(rows: sd.Session, query: Any) -> list[Any]:
    found: list[Any] = rows.release(query, QUIET)["a"].to_pylist()
    return found


def session(engine: Any, table: dict[str, Any]) -> sd.Session:
    private = sd.PrivateTable(table, protects=sd.AddOneRow())
    return sd.Session({"rows": private}, sd.PureDP(10**9), engine=engine)


@sampled(1, 12)
@for_each("engine", ["memory", "duckdb"])
@for_each("name", NAMES.values(), ids=list(NAMES))
def test_a_column_of_any_name_is_that_column(name: str, engine: str) -> None:
    held = session(engine, {"x": [90, 90, 90], name: [1, 2, 3]})
    rows = sd.table("rows")
    assert answer(held, rows.agg(a=sd.sum(name, 0, 9))) == [6]
    assert answer(held, rows.filter(sd.col(name) > 1).agg(a=sd.count())) == [2]
    if name:  # public keys need a name
        keys = sd.KeySet.from_dict({name: [3, 4]})
        assert answer(held, rows.group_by(keys).agg(a=sd.count())) == [1, 0]
    twice = rows.with_columns(**{name: sd.col(name) * 2})
    near = pytest.approx(4, abs=1e-3)  # off by more with a chance below exp(-300)
    assert answer(held, twice.agg(a=sd.mean(name, 0, 9, nulls=0))) == [near]
    moved = rows.select(name).rename({name: "b"})
    assert answer(held, moved.agg(a=sd.max("b", 0, 3, nulls="drop"))) == [3]
    assert answer(held, rows.fill_null(**{name: 0}).agg(a=sd.count())) == [3]


@for_each("name", NAMES.values(), ids=list(NAMES))
def test_a_column_that_is_not_there_is_named_shortly(name: str) -> None:
    held = session("duckdb", {"days": [1]})
    with pytest.raises(UnknownName, match="there is no column") as caught:
        held.price(sd.table("rows").agg(a=sd.sum(name, 0, 9)), QUIET)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)
    assert "\0" not in str(caught.value)
    assert held.spent == sd.PureDP(0)


@for_each("name", NAMES.values(), ids=list(NAMES))
def test_a_column_of_a_wrong_type_is_named_shortly(name: str) -> None:
    held = session("duckdb", {name: ["text"]})
    with pytest.raises(InvalidQuery, match="only numbers can be aggregated") as caught:
        held.price(sd.table("rows").agg(a=sd.sum(name, 0, 9)), QUIET)
    assert len(str(caught.value)) < 500


@sampled(5)
@for_each("engine", ["memory", "duckdb"])
@for_each("name", NAMES.values(), ids=list(NAMES))
def test_a_text_matches_itself_alone(name: str, engine: str) -> None:
    others = [one for one in NAMES.values() if one != name]
    held = session(engine, {"g": [name, name, *others, None]})
    rows = sd.table("rows")
    assert answer(held, rows.filter(sd.col("g") == name).agg(a=sd.count())) == [2]
    among = rows.filter(sd.col("g").is_in([name]))
    assert answer(held, among.agg(a=sd.count())) == [2]
    keys = sd.KeySet.from_dict({"g": [name]})
    assert answer(held, rows.group_by(keys).agg(a=sd.count())) == [2]


def _counting() -> Any:
    """Return a function that keeps what it has seen, which changes nothing."""
    seen: list[Any] = []

    def function(row: dict[str, Any]) -> dict[str, Any]:
        seen.append(row)
        return {"n": row["x"] + 1}

    return function


def _raising(row: dict[str, Any]) -> Any:
    raise ValueError(row["g"])


def _lying(row: dict[str, Any]) -> Any:
    return {"n": row["g"], "x": 5}


FUNCTIONS: Final = {
    "keeps state": (_counting(), [2 + 3 + 4]),
    "fails": (_raising, [0]),
    "returns another type": (_lying, [0]),
    "returns a list": (lambda _row: [1], [0]),
    "returns nothing": (lambda _row: None, [0]),
    "returns NaN for an integer": (lambda _row: {"n": float("nan")}, [0]),
    "returns a huge integer": (lambda _row: {"n": 2**70}, [0]),
    "leaves": (lambda row: {"n": row.pop("x")}, [1 + 2 + 3]),
}


@sampled(5)
@for_each("engine", ["memory", "duckdb"])
@for_each("name", FUNCTIONS)
def test_a_function_that_fails_on_a_row_makes_no_release_fail(
    name: str, engine: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """What is not returned as declared is missing; nothing is told of the row."""
    function, expected = FUNCTIONS[name]
    held = session(engine, {"x": [1, 2, 3], "g": [PRIVATE] * 3})
    made = sd.table("rows").with_columns(sd.udf(function, returns={"n": "i64"}))
    assert answer(held, made.agg(a=sd.sum("n", 0, 9, nulls=0))) == expected
    assert answer(held, made.agg(a=sd.sum("x", 0, 9, nulls=0))) == [6]
    assert PRIVATE not in "".join(capfd.readouterr())


@for_each("engine", ["memory", "duckdb"])
def test_rows_made_beyond_the_limit_are_cut(engine: str) -> None:
    """A function without end makes `max_rows` rows, and a failing one what it made."""

    def endless(row: dict[str, Any]) -> Any:
        while True:
            yield {"n": row["x"]}

    def half_way(row: dict[str, Any]) -> Any:
        yield {"n": row["x"]}
        raise ValueError(row["g"])

    held = session(engine, {"x": [1, 2], "g": [PRIVATE] * 2})
    for function, most in ((endless, 3), (half_way, 1)):
        made = sd.table("rows").flat_map(function, {"n": "i64"}, max_rows=3)
        assert answer(held, made.agg(a=sd.count())) == [2 * most]


@for_each("engine", ["memory", "duckdb"])
def test_a_public_join_is_priced_by_the_equality_that_joins(engine: Any) -> None:
    """NaN equals NaN and 0.0 equals -0.0 in a key; what is missing equals nothing."""
    nan = float("nan")
    private = sd.PrivateTable({"y": [nan, 0.0, None]}, protects=sd.AddOneRow())
    for rates, most, count in (
        ([nan, nan, 1.0], 2, 2),
        ([0.0, -0.0, -0.0], 3, 3),
        ([None, None, None, 5.0], 1, 0),
        ([], 1, 0),
    ):
        public = sd.PublicTable({"y": rates}, columns={"y": "f64"})
        held = sd.Session(
            {"rows": private, "rates": public}, sd.PureDP(10**9), engine=engine
        )
        for how, least in (("inner", count), ("left", max(count, 3 - count))):
            joined = sd.table("rows").join_public("rates", on="y", how=how)  # type: ignore[arg-type]  # one of two words
            found = held.price(joined.agg(a=sd.count()), QUIET)
            assert found.sensitivity["a"].l1 == most
            told = answer(held, joined.agg(a=sd.count()))[0]
            assert told == count if how == "inner" else told >= least
