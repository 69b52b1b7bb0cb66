"""What is said of a result holds for every value of it."""

import math
import random
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pytest

import sordino as sd
from sordino.engines.conformance.operations import EXTREMES, FORMS, Form
from sordino.errors import InvalidQuery
from sordino.expressions.language import Expression, col, lit, when
from sordino.expressions.schema import Column, Schema
from tests.batches import for_each, sampled

ASKED = {"bin", "when", "fill_nan None"}
"""Forms that make values missing because that is what they were asked for."""


def schema(form: Form, *, nullable: bool, nan: bool) -> Schema:
    return Schema.of(
        (f"x{at}", Column(kind, nullable=nullable, nan=nan))
        for at, kind in enumerate(form.types)
    )


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


@sampled(40)
@for_each("form", FORMS, ids=str)
def test_facts_hold(form: Form) -> None:
    expression = form.on_columns()
    said = [
        (nullable, nan, expression.column(schema(form, nullable=nullable, nan=nan)))
        for nullable, nan in product([False, True], repeat=2)
    ]
    asked = any(form.name.startswith(name) for name in ASKED)
    for row in form.rows():
        missing, odd = None in row.values(), any(map(is_nan, row.values()))
        value = expression.value(row)
        for nullable, nan, facts in said:
            if (missing and not nullable) or (odd and not nan):
                continue
            assert facts.nullable or value is not None, row
            assert facts.nan or not is_nan(value), row
            settled = facts.unsettled is None and not missing and not asked
            assert value is not None or not settled, row


@for_each("form", FORMS, ids=str)
def test_what_may_be_lost_is_nullable_and_propagates(form: Form) -> None:
    """A result with a reason may be missing; `fill_null` takes the reason away."""
    made = form.on_columns()
    known = schema(form, nullable=False, nan=False)
    facts = made.column(known)
    if facts.unsettled is None:
        return
    assert facts.nullable
    assert made.is_in([]).column(known).unsettled == facts.unsettled
    assert made.is_null().column(known).unsettled is None
    filled = made.coalesce(
        made.fill_null(lit(None, facts.type)), lit(EXTREMES[facts.type][0])
    )
    assert filled.column(known) == Column(
        facts.type, nullable=False, nan=facts.nan, unsettled=None
    )


FIRM = Schema.of([
    ("i", Column("i64", nullable=False)),
    ("f", Column("f64", nullable=False, nan=False)),
    ("t", Column("text", nullable=False)),
    ("b", Column("bool", nullable=False)),
])


@for_each(
    "expression",
    [
        col("i") // 10,
        col("i") % 10,
        col("i") % -1,
        col("i") / 4,
        col("f") / 0.5,
        col("f") * 2.0,
        col("f") + col("i"),
        col("i").clip(0, 10),
        col("f").clip(0, 10),
        col("i").round_down(10),
        col("f").round_down(10),
        col("i").floor(),
        col("i").cast("f64"),
        col("i").cast("text"),
        col("t").slice(3, 2),
        col("t").replace("ab", "a"),
        col("t").normalize(),
        (col("i") / col("i")).fill_null(0.0),
        (col("f") - col("f")).fill_nan(0),
        when(col("b")).then(1).otherwise(0),
        when(col("i") / col("i") > 1).then(1).otherwise(0),
        col("i").is_in([1, 2]),
        (col("i") + 1).is_null(),
    ],
    ids=str,
)
def test_precise_facts(expression: Expression) -> None:
    """What cannot be lost is not said to be: common work needs no further rule."""
    facts = expression.column(FIRM)
    assert (facts.nullable, facts.nan, facts.unsettled) == (False, False, None)


@for_each(
    ("expression", "reason"),
    [
        (col("i") + 1, "an integer beyond 64 bits has no answer"),
        (-col("i"), "an integer beyond 64 bits has no answer"),
        (col("i") // -1, "an integer beyond 64 bits has no answer"),
        (col("i") / col("i"), "a division by zero has no answer"),
        (col("i") % 0, "a division by zero has no answer"),
        (col("t").cast("i64"), "a text that is no i64 has no value"),
        (col("f").floor(), "NaN and numbers beyond 64 bits are no integers"),
        (col("t").concat("x"), "a text beyond 1 MiB is not made"),
        (col("t").replace("a", "bb"), "a text beyond 1 MiB is not made"),
        (col("t").cast("date").add_days(1), "a text that is no date has no value"),
    ],
    ids=str,
)
def test_reasons(expression: Expression, reason: str) -> None:
    for further in (expression, expression.is_in([])):
        assert further.column(FIRM).unsettled == reason
        assert further.column(FIRM).nullable


def test_a_column_keeps_its_version_and_a_result_has_its_own() -> None:
    """What is known of a column is known of it alone."""
    assert col("i").column(FIRM) is FIRM["i"]
    versions = {
        made.column(FIRM).version
        for made in (col("i"), col("i") + 0, col("i").cast("i64"), col("i").floor())
    }
    assert len(versions) == 4


def test_infinities_make_nan() -> None:
    for made in (col("f") - col("f"), col("f") / col("f"), col("f") * col("i")):
        assert made.column(FIRM).nan
    assert not (col("f") * 0.5).column(FIRM).nan
    assert (col("f") * 0.0).column(FIRM).nan
    assert (col("f") + math.inf).column(FIRM).nan


REFUSED = [
    (col("t") + 1, r"\+ takes numbers, not text and i64"),
    (col("t") + col("t"), r"Join texts by \.concat"),
    (col("b") + 1, "takes numbers, not bool and i64"),
    (-col("b"), "takes numbers"),
    (col("t") == 1, "== takes values of one type, not text and i64"),
    (col("b") == 1, "one type, not bool and i64"),
    (col("i") & col("b"), "& takes bool, not i64 and bool"),
    (~col("i"), "~ takes bool"),
    (col("f").fill_null(0), r"Write 0\.0 for an f64"),
    (col("i").coalesce(0.5), "one type, not i64 and f64"),
    (when(col("i")).then(1).otherwise(2), "when takes bool"),
    (when(col("b")).then(1).otherwise(2.0), "one type, not i64 and f64"),
    (col("i").is_nan(), "is_nan takes f64, not i64"),
    (col("i").lower(), "lower takes text, not i64"),
    (col("i").year(), "year takes date or time, not i64"),
    (col("t").year(), r"\.cast\(.date.\)"),
    (col("f").cast("text"), r"f64 cannot be cast to text\. Try i64"),
    (col("b").cast("date"), "bool cannot be cast to date"),
    (col("i").is_in(["a"]), "is_in takes values of one type"),
    (col("t").bin([0, 1]), "bin takes values of one type, not text and i64"),
    (col("t").clip(0, 1), "clip takes numbers, not text"),
    (col("l") == col("l"), "one type"),
    (col("l").cast("i64"), "Explode the list first"),
    (col("l").fill_null(col("l")), "one type"),
]


@for_each(("expression", "message"), REFUSED)
def test_types_that_make_no_sense_are_refused(
    expression: Expression, message: str
) -> None:
    with_list = Schema((*FIRM.columns, ("l", Column("list[i64]"))))
    with pytest.raises(InvalidQuery, match=message):
        expression.column(with_list)


GROWN: Final[tuple[Any, ...]] = (
    lambda one, other: one.concat(other),
    lambda one, other: one.concat("xy", other, one),
    lambda one, _: one.replace("x", "yxx"),
    lambda one, _: one.replace("ab", "a"),
    lambda one, other: one.coalesce(other),
    lambda one, other: when(one == other).then(one).otherwise(other),
    lambda one, other: one.greatest(other).upper(),
    lambda one, _: one.slice(0, 2),
)


@for_each("seed", range(200))
def test_a_text_is_no_longer_than_its_facts_say(seed: int) -> None:
    """For any drawn text of texts of two letters or fewer; beyond a limit: refused."""
    dice, table = random.Random(seed), Schema.of([("t", Column("text"))])
    parts = [col("t"), lit("xy")]
    for _ in range(12):
        try:
            made = dice.choice(GROWN)(dice.choice(parts), parts[-1])
            facts = made.column(table)
        except InvalidQuery:
            return
        for text in ("xx", "ab", "y", "", None):
            value = made.value({"t": text})
            assert value is None or len(value) <= 2 * facts.longer
        parts.append(made)


def test_a_text_cannot_be_doubled_without_end() -> None:
    """Not step by step, not by way of a list, and not by letters that are replaced."""
    query = sd.table("t").with_columns(w=col("x").concat(col("x")))
    ways: tuple[Callable[[sd.Query], sd.Query], ...] = (
        lambda q: q.with_columns(w=col("w").concat(col("w"))),
        lambda q: q.with_columns(w=col("w").concat(col("w")).split("-")).flat_map(
            "w", max_rows=1
        ),
        lambda q: q.with_columns(w=col("w").replace("a", "aa")),
    )
    rows = {"x": ["a"]}
    for way in ways:
        longer = query
        for _ in range(24):
            longer = way(longer)
        session = sd.Session(
            {"t": sd.PrivateTable(rows, protects=sd.AddOneRow())}, sd.PureDP(1)
        )
        with pytest.raises(InvalidQuery, match="1000 times as long"):
            session.price(longer.agg(n=sd.count()), sd.PureDP(1))
        assert session.remaining == sd.PureDP(1)
