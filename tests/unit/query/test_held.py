"""What makes two Python functions the same: code and values, or name and version."""

import functools
import re
import sys
import textwrap
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.numbers.canonical import canonical_text
from sordino.query.functions import code_words, function_words
from tests.batches import for_each, sampled

Function = Callable[[dict[str, Any]], Any]
FACTOR = 3


def scaled(factor: Any) -> Function:
    return lambda row: {"y": row["x"] * factor}


def defaulted(factor: Any) -> Function:
    def scale(row: dict[str, Any], by: Any = factor) -> Any:
        return {"y": row["x"] * by}

    return scale


def keyed(factor: Any) -> Function:
    def scale(row: dict[str, Any], *, by: Any = factor) -> Any:
        return {"y": row["x"] * by}

    return scale


def nested(factor: Any) -> Function:
    inner = scaled(factor)
    return lambda row: inner(row)


def given(factor: Any) -> Function:
    return functools.partial(lambda by, row: {"y": row["x"] * by}, factor)


def named(factor: Any) -> Function:
    made: Any = keyed(1)
    return functools.partial(made, by=factor)


def marked(factor: Any) -> Function:
    """Return a function that holds something as its attribute."""

    def scale(row: dict[str, Any]) -> Any:
        return {"y": row["x"] * scale.by}  # type: ignore[attr-defined]

    scale.by = factor  # type: ignore[attr-defined]
    return scale


HOLDERS: Final = (scaled, defaulted, keyed, nested, given, named, marked)
VALUES: Final[tuple[Any, ...]] = (
    *(1, 100, 1.0, True, None, "1", b"1", 1j, ..., Fraction(1, 3), float("nan")),
    *(
        (1, 2),
        [1, 2],
        {1: 2},
        {1, 2},
        frozenset({1, 2}),
        range(2),
        "\ud83d\ude00",
        "😀",
    ),
    *({"a": [1]}, {"a": [2]}, [], {}, (), re.compile(r"a"), re.compile(r"a", re.ASCII)),
    *(np.arange(3), np.arange(3.0), np.arange(3).reshape(3, 1), np.int64(1)),
    *(len, sum, "abc".join, "abd".join, int, Fraction, re, sys, scaled(1), scaled(2)),
)


def same(one: Any, other: Any) -> bool:
    words = function_words(one), function_words(other)
    assert not any(isinstance(word, InvalidQuery) for word in words)
    return canonical_text(words[0]) == canonical_text(words[1])


@sampled(1)
@for_each("holder", HOLDERS)
def test_what_a_function_holds_counts(holder: Callable[[Any], Function]) -> None:
    """For any two different values that it holds; the same value is the same."""
    told = [canonical_text(function_words(holder(value))) for value in VALUES]
    again = [canonical_text(function_words(holder(value))) for value in VALUES]
    assert told == again
    assert len(set(told)) == len(VALUES)


def test_attributes_of_any_name_are_read() -> None:
    """Also of names that no program can write after a dot."""

    def scale(row: dict[str, Any]) -> Any:
        return row

    before = canonical_text(function_words(scale))
    names: Any = vars(scale)
    names |= {1: 2, "a": 3}
    assert canonical_text(function_words(scale)) != before


def test_code_that_is_too_deep_is_refused() -> None:
    space: dict[str, Any] = {}
    exec("def deep(row): return " + "-" * 80 + "1", space)  # noqa: S102 no file
    assert not isinstance(function_words(space["deep"]), InvalidQuery)
    held: Any = ()
    for _ in range(200):
        held = (held,)
    assert isinstance(function_words(scaled(held)), InvalidQuery)


def test_a_set_has_no_order_and_a_dict_has() -> None:
    assert same(scaled({"a", "b", "c"}), scaled({"c", "b", "a"}))
    assert not same(scaled({"a": 1, "b": 2}), scaled({"b": 2, "a": 1}))


def body(function: Any) -> Any:
    made: Any = code_words(function, repr)[1]["body"]
    return made[0]


def test_what_a_function_does_counts() -> None:
    # fmt: off
    one, other = (lambda row: row["x"] + 1), (lambda row: row["x"] + 2)
    again = lambda row: row["x"] + 1  # noqa: E731 a lambda is what is asked about
    outer: Any = lambda row: (lambda _: row["x"] + 1)  # noqa: E731
    # fmt: on
    inner = outer({})
    assert same(one, again)
    functions = (one, other, outer, inner, lambda row: row["x"] - 1)
    assert len({canonical_text(function_words(each)) for each in functions}) == 5
    assert [body(one) for one in (outer, inner)] == ["Lambda", "BinOp"]


def test_globals_count_as_they_are_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number, and a function that is called, whose own globals count as well."""

    def scale(row: dict[str, Any]) -> Any:
        return {"y": row["x"] * FACTOR}

    def calls(row: dict[str, Any]) -> Any:
        return {"y": scale(row)}

    before = [canonical_text(function_words(one)) for one in (scale, calls)]
    monkeypatch.setitem(globals(), "FACTOR", 4)
    after = [canonical_text(function_words(one)) for one in (scale, calls)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    monkeypatch.setitem(globals(), "len", len)
    monkeypatch.delitem(globals(), "FACTOR")
    assert canonical_text(function_words(scale)) not in {*before, *after}


def module(folder: Path, name: str, source: str) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(textwrap.dedent(source), "utf-8")
    made = ModuleType(name)
    made.__file__ = str(path)
    exec(compile(path.read_text("utf-8"), str(path), "exec"), vars(made))  # noqa: S102
    return made


WRITTEN: Final = """
def scale(row):
    return {"y": row["x"] * 2}
"""
REFORMATTED: Final = """
# a comment
def scale(
    row,
):
    return {
        'y': row['x']*2,  # another
    }
"""


def test_how_it_is_written_does_not_count(tmp_path: Path) -> None:
    one = module(tmp_path, "one", WRITTEN)
    other = module(tmp_path, "other", REFORMATTED)
    assert same(one.scale, other.scale)
    changed = module(tmp_path, "changed", WRITTEN.replace("2", "3"))
    assert not same(one.scale, changed.scale)


def test_a_source_that_does_not_run_is_not_believed(tmp_path: Path) -> None:
    """A file that was changed after it was imported: what runs is what counts."""
    old = module(tmp_path, "one", WRITTEN)
    believed = canonical_text(function_words(old.scale))
    new = module(tmp_path, "one", WRITTEN.replace("2", "30"))
    assert canonical_text(function_words(old.scale)) != canonical_text(
        function_words(new.scale)
    )
    assert canonical_text(function_words(new.scale)) != believed
    told = [code_words(one.scale, repr)[0] for one in (old, new)]
    assert told == ["bytecode", "syntax"]


def test_without_a_source_the_bytecode_counts() -> None:
    functions = []
    for body in ("row['x']", "row['y']", "max(row)", "min(row)", "lambda: 1", "1"):
        space: dict[str, Any] = {}
        exec(f"def made(row): return {body}", space)  # noqa: S102 it has no file
        functions.append(space["made"])
    told = {canonical_text(function_words(one)) for one in functions}
    assert len(told) == len(functions)


def test_what_lies_within_itself_is_read() -> None:
    def again(row: dict[str, Any]) -> Any:
        return again(row)

    held: list[Any] = [1]
    held.append(held)
    assert same(again, again)
    assert same(scaled(held), scaled(held))
    assert not same(scaled(held), scaled([1, [1]]))


class Model:
    """A thing with a state."""

    def predict(self, row: dict[str, Any]) -> Any:
        del row
        return {"y": id(self)}


def deep() -> Any:
    made: list[Any] = []
    for _ in range(5000):
        made = [made]
    return made


STATES: Final = {
    "an object": Model(),
    "a method": Model().predict,
    "a class of the same module": Model,
    "an array of objects": np.array([Model()]),
    "lists within lists": deep(),
    "very many values": list(range(300_000)),
    "an iterator": iter([1]),
    "an open file": sys.stdout,
}


@sampled(2, 4)
@for_each("state", STATES.values(), ids=STATES)
def test_what_cannot_be_read_needs_a_version(state: Any) -> None:
    """Refused where it is asked for with a key, before anything is charged."""
    udf = sd.udf(scaled(state), {"y": "i64"})
    query = sd.table("t").with_columns(udf).agg(n=sd.count())
    opened = session()
    with pytest.raises(InvalidQuery, match=r'name="half", version="1"'):
        opened.release(query, sd.PureDP("0.1"), key="monday")
    assert opened.spent == sd.PureDP(0)
    opened.release(query, sd.PureDP("0.1"))
    versioned = sd.udf(scaled(state), {"y": "i64"}, name="scaled", version="1")
    again = sd.table("t").with_columns(versioned).agg(n=sd.count())
    assert opened.release(again, sd.PureDP("0.1"), key="monday").names == ("n",)


def session() -> sd.Session:
    table = sd.PrivateTable({"x": [1, 2]}, protects=sd.AddOneRow())
    return sd.Session({"t": table}, sd.PureDP(1), engine="memory")


def test_a_method_of_an_object_needs_a_version() -> None:
    """Whoever hands one over bare cannot ask for its answer again."""
    assert isinstance(function_words(Model().predict), InvalidQuery)
    assert isinstance(function_words(functools.partial(Model().predict)), InvalidQuery)


@for_each(
    "given",
    [
        {"name": "half"},
        {"version": "1"},
        {"name": 1, "version": "1"},
        {"name": "half", "version": 1},
    ],
)
def test_a_name_goes_with_a_version(given: Any) -> None:
    with pytest.raises(InvalidParameter):
        sd.udf(lambda row: row, {"y": "i64"}, **given)


def test_rows_are_made_by_a_function_with_a_version() -> None:
    made = sd.udf(lambda row: [row, row], {"y": "i64"}, name="twice", version="1")
    rows = sd.table("t").flat_map(made, max_rows=2)
    assert rows.agg(n=sd.count()).columns[0][0] == "n"
    with pytest.raises(InvalidParameter, match="was already given to sd"):
        sd.table("t").flat_map(made, {"y": "i64"}, max_rows=2)
