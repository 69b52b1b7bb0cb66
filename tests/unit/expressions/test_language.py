"""The words of the language: what they take, how they read, what they refuse."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sordino.errors import InvalidParameter, InvalidQuery, SordinoError
from sordino.expressions.bins import Bins
from sordino.expressions.language import Expression, check_expression, col, lit, when
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import DEEPEST, Col
from tests.batches import for_each

X: Any = col("x")
LOOSE: Any = Bins  # for arguments that its types forbid
NAMED: Any = col
UTC_2 = dt.timezone(dt.timedelta(hours=2))


def time(*parts: int) -> dt.datetime:
    """Return a time of UTC, without a zone as ours are."""
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 UTC


@for_each(
    "text",
    [
        "col('x')",
        "col('x') + 1",
        "(col('x') + 1) * 2",
        "1 - (col('x') / 2.5)",
        "-(col('x') % 3)",
        "~(col('x') == 'a')",
        "(col('x') > 0) & (col('y') <= 5) | (col('z') != 'b')",
        "col('x').is_null()",
        "col('x').fill_null(0)",
        "(col('x') // 2).clip(0, 10)",
        "col('x').coalesce(col('y'), 0)",
        "col('x').slice(start=1, length=None)",
        "col('x').cast(to='i64')",
        "col('x').is_in([1, 2])",
        "col('x').bin([0, 10, 20])",
        "lit(5).is_in([5])",
        "col('x').fill_nan(lit(None, 'f64'))",
        "when(col('x') > 0).then('a').when(col('x') < 0).then(None).otherwise('b')",
        "col('x').days_between(datetime.date(2026, 1, 31))",
        "col('a\"b;--')",
    ],
)
def test_text_reads_like_the_language(text: str) -> None:
    words = {"col": col, "lit": lit, "when": when, "datetime": dt}
    made = eval(text, words)  # noqa: S307 the texts stand above
    printed = str(made)
    assert repr(made) == printed
    assert made.same(eval(printed, words))  # noqa: S307 the same


def test_a_column_prints_as_it_is_written() -> None:
    """Plans recognise columns that are merely carried along by their text."""
    assert str(col("x")) == str(Col("x")) == f"col({'x'!r})"


def test_same_is_told_by_form() -> None:
    assert (X + 1).same(col("x") + 1)
    assert lit(math.nan).same(lit(math.nan))
    different = [X, col("y"), X + 1, X + 2, X + 1.0, 1 + X, X - 1, X == 1, X == True]  # noqa: E712 a literal
    different += [
        X.slice(1),
        X.slice(2),
        X.is_in([1]),
        X.is_in([1, 2]),
        lit(1),
        lit("1"),
    ]
    different += [X.bin([0, 1]), X.bin(Bins([0, 1], right=True)), lit(None, "i64")]
    for at, one in enumerate(different):
        assert [one.same(other) for other in different].count(True) == 1, at


def test_an_expression_is_no_truth() -> None:
    """`and`, `or`, `not`, chained comparisons and `in` are told what to write."""
    for misuse in (
        lambda: X and X,
        lambda: X or X,
        lambda: not X,
        lambda: X > 0 < X,
        lambda: X in [lit(1), lit(2)],
        lambda: bool(X == 1),
    ):
        with pytest.raises(
            InvalidQuery, match=r"Write & for and, \| for or, ~ for not"
        ):
            misuse()


@for_each(
    ("value", "kind", "constant"),
    [
        (True, "bool", True),
        (np.bool_(False), "bool", False),
        (5, "i64", 5),
        (np.int8(-5), "i64", -5),
        (np.uint64(2**63 - 1), "i64", 2**63 - 1),
        (-(2**63), "i64", -(2**63)),
        (0.1, "f64", 0.1),
        (-0.0, "f64", 0.0),
        (np.float32(0.1), "f64", float(np.float32(0.1))),
        (np.float64(5e-324), "f64", 5e-324),
        ("é\x00", "text", "é\x00"),
        (np.str_("a"), "text", "a"),
        (dt.date(2026, 1, 31), "date", dt.date(2026, 1, 31)),
        (time(2026, 1, 31, 5), "time", time(2026, 1, 31, 5)),
        (
            dt.datetime(2026, 1, 31, 5, tzinfo=UTC_2),
            "time",
            time(2026, 1, 31, 3),
        ),
        (np.datetime64("2026-01-31"), "date", dt.date(2026, 1, 31)),
        (np.datetime64("2026-01-31T05", "ns"), "time", time(2026, 1, 31, 5)),
        (pd.Timestamp("2026-01-31T05"), "time", time(2026, 1, 31, 5)),
    ],
)
def test_literals_are_exact(value: Any, kind: str, constant: Any) -> None:
    made = lit(value)
    read = made.value({})
    assert made.column(Schema(())).type == kind
    assert type(read) is type(constant)
    assert repr(read) == repr(constant)


@for_each(
    "value",
    [
        None,
        2**63,
        -(2**63) - 1,
        np.uint64(2**64 - 1),
        Decimal("0.1"),
        Fraction(1, 3),
        1j,
        b"a",
        "\ud800",
        "x" * (2**16 + 1),
        [1],
        (1,),
        object(),
        dt.time(5),
        dt.timedelta(1),
        np.datetime64("NaT"),
        np.datetime64("2026-01-31T05:00:00.000000001"),
        pd.Timestamp(2026, 1, 31, nanosecond=1),
        pd.NaT,
        dt.datetime(1, 1, 1, tzinfo=UTC_2),
        np.array([1, 2]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(InvalidParameter):
        lit(value)
    if value is not None:
        with pytest.raises(InvalidParameter):
            X + value


def test_a_literal_may_be_wanted_as_a_type() -> None:
    assert str(lit(1, "f64")) == "1.0"
    with pytest.raises(InvalidParameter, match="must be text for this value"):
        lit("a", "i64")
    with pytest.raises(InvalidParameter, match="type must be one of"):
        lit(1, "int")


def test_numpy_numbers_may_stand_on_the_left() -> None:
    """NumPy leaves the operator to us."""
    assert (np.int64(5) - X).same(5 - X)
    less: Any = np.float64(0.5) < X
    assert less.same(X > 0.5)


@for_each("name", ["", 'a"b;--', "a.b", "x" * 10_000, "\x00", "$1", "é"])
def test_any_text_names_a_column(name: str) -> None:
    """A name is only ever looked up."""
    schema = Schema.of([(name, Column("i64"))])
    assert col(name).column(schema) is schema[name]
    assert (col(name) + 1).value({name: 1}) == 2
    assert (col(name) + 1).names() == {name}


def test_texts_of_calls_are_as_long_as_is_said() -> None:
    """A thousand characters are let in, and one more is refused."""
    calls: tuple[Callable[[str], Any], ...] = (
        *(X.strip, X.split, X.like, X.matches, lambda text: X.replace(text, "")),
        lambda text: X.replace("a", text),
    )
    for call in calls:
        assert call("b" * 1000) is not None
        with pytest.raises(InvalidParameter):
            call("b" * 1001)


@for_each(
    ("misuse", "message"),
    [
        (lambda: NAMED(5), "name must be the name of a column"),
        (
            lambda: check_expression(condition="x > 5"),
            r"condition must be an expression, not",
        ),
        (lambda: check_expression(condition=True), "must be an expression"),
        (lambda: X.clip(5, 1), "low must be at most high"),
        (lambda: X.clip(math.nan, 1), "low must be a number"),
        (lambda: X.clip(True, 1), "low must be a number"),
        (lambda: X.round_down(0), "step must be positive"),
        (lambda: X.round_down(math.inf), "step must be positive"),
        (lambda: X.replace("", "a"), "old must not be empty"),
        (lambda: X.replace("a", 5), "new must be text"),
        (lambda: X.replace("a", "b" * 1001), "new must be text of at most"),
        (lambda: X.slice(1.5), "start must be an integer"),
        (lambda: X.slice(0, -1), "length must be at least 0"),
        (lambda: X.cast("int"), "to must be one of"),
        (lambda: X.cast("list[i64]"), "to must be one of"),
        (lambda: X.truncate("decade"), "unit must be one of"),
        (lambda: X.is_in("abc"), "values must be a list"),
        (lambda: X.is_in(5), "values must be a list"),
        (lambda: X.is_in([None]), "must be given for a missing value"),
        (lambda: X.is_in(range(10_001)), "must have at most 10000"),
        (lambda: X.coalesce(), "coalesce needs another value"),
        (lambda: X.replace_infinity(0, math.inf), "high must be a finite number"),
        (lambda: X.fill_null(None), "must be given for a missing value"),
        (lambda: when(X).then(None).otherwise(None), "has no type"),
        (lambda: X.bin([0]), "edges must have 2 to"),
        (lambda: X.bin("abc"), "edges must be a list"),
        (lambda: X.bin([1, 0]), "edges must be in ascending order"),
        (lambda: X.bin([0, 0]), "edges must be in ascending order"),
        (lambda: X.bin([0, math.nan, 1]), "edges must be in ascending order"),
        (
            lambda: X.bin([2**53, 2**53 + 1, 2.0**54]),
            "edges must be in ascending order",
        ),
        (lambda: X.bin(["a", "b"]), "edges must be numbers, dates or times"),
        (lambda: X.bin([0, dt.date(2026, 1, 1)]), "must be numbers, dates or times"),
        (lambda: LOOSE([0, 1], ["a", "b"]), "names must be 1 different texts"),
        (lambda: LOOSE([0, 1, 2], ["a", "a"]), "names must be 2 different texts"),
        (lambda: LOOSE([0, 1], "a"), "names must be 1 different texts"),
        (lambda: LOOSE([0, 1], [5]), "names must be 1 different texts"),
        (lambda: LOOSE([0, 1], right=1), "right must be True or False"),
    ],
)
def test_misuse_is_refused_by_name(misuse: Any, message: str) -> None:
    with pytest.raises(SordinoError, match=message):
        misuse()


def test_a_tree_that_is_too_large_is_refused() -> None:
    deep, wide = X, X
    for _ in range(DEEPEST):
        deep += 1
    with pytest.raises(InvalidQuery, match="too large"):
        deep + 1
    for _ in range(2):
        wide //= wide
    with pytest.raises(InvalidQuery, match="with_columns"):
        wide // wide


def test_bins_have_labels_in_order() -> None:
    """Labels say which edges belong to a range."""
    assert Bins([0, 10, 20]).labels == ("[0, 10)", "[10, 20]")
    assert Bins([0, 10, 20], right=True).labels == ("[0, 10]", "(10, 20]")
    assert Bins([0, 10, 20], include_ends=False).labels == ("[0, 10)", "[10, 20)")
    assert Bins([0.5, 1], right=True, include_ends=False).labels == ("(0.5, 1.0]",)
    days = Bins([dt.date(2026, 1, 1), dt.date(2027, 1, 1)])
    assert days.labels == ("[2026-01-01, 2027-01-01]",)
    assert LOOSE(np.array([0, 1, 2]), ("a", "b")).labels == ("a", "b")
    assert Bins([0, 1]) == Bins((0, 1)) != Bins([0, 1], right=True)
    assert hash(Bins([0, 1])) == hash(Bins((0, 1)))


@for_each("right", [False, True])
@for_each("include_ends", [False, True])
def test_bins_mean_what_their_labels_say(right: bool, include_ends: bool) -> None:  # noqa: FBT001 drawn
    """A value is in the range whose brackets admit it, and in no other."""
    bins = Bins([0, 1, 2, 3], right=right, include_ends=include_ends)
    for value in (-1, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, math.inf, -math.inf, math.nan):
        admitting = [label for label in bins.labels if _admits(label, value)]
        assert bins.label(value) == (*admitting, None)[0]


def _admits(label: str, value: float) -> bool:
    low, high = map(float, label[1:-1].split(", "))
    above = value >= low if label[0] == "[" else value > low
    return above and (value <= high if label[-1] == "]" else value < high)


TRUTHS: list[tuple[Any, Any, Any, Any]] = [
    # one, the other, and what & and | make of them
    (True, True, True, True),
    (True, False, False, True),
    (True, None, None, True),
    (False, True, False, True),
    (False, False, False, False),
    (False, None, False, None),
    (None, True, None, True),
    (None, False, False, None),
    (None, None, None, None),
]


@for_each(("one", "other", "both", "either"), TRUTHS)
def test_missing_is_unknown(one: Any, other: Any, both: Any, either: Any) -> None:
    row = {"x": one, "y": other}
    assert (X & col("y")).value(row) is both
    assert (X | col("y")).value(row) is either
    assert (~X).value(row) is (None if one is None else not one)


def test_long_texts_are_not_made() -> None:
    """Beyond 1 MiB a text is missing, and it is not made on the way."""
    row = {"x": "é" * 2**19}
    assert X.concat("").value(row) == row["x"]
    assert X.concat("a").value(row) is None
    assert X.replace("é", "ee").value(row) == "e" * 2**20
    assert X.replace("é", "eee").value(row) is None


def test_an_expression_is_what_it_was() -> None:
    made: Expression = X + 1
    before = str(made)
    (made * 2).clip(0, 1)
    assert str(made) == before
