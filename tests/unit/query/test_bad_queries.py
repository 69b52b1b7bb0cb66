"""Questions that make no sense, refused before anything is read."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"

import math
from fractions import Fraction
from typing import Final

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.refusals import (
    BUDGET,
    NONE,
    QUANTILES,
    ROWS,
    VISITS,
    WARDS,
    N,
    Refused,
    assert_refused,
    refusals,
)

ASKING: Final = (
    Refused(
        "text for a question",
        lambda s: s.price("SELECT 1", BUDGET),  # type: ignore[call-overload]
        InvalidParameter,
        ("query", "has no aggregation", "SELECT"),
    ),
    Refused(
        "a query that asks nothing",
        lambda s: s.price(VISITS, BUDGET),  # type: ignore[call-overload]
        InvalidParameter,
        ("query", "agg("),
    ),
    Refused(
        "groups that ask nothing",
        lambda s: s.release(ROWS.group_by("ward"), BUDGET),
        InvalidParameter,
        ("query", "agg("),
    ),
    Refused(
        "no question",
        lambda s: s.release(NONE, BUDGET),
        InvalidParameter,
        ("query", "None"),
    ),
    Refused(
        "a statement of no question",
        lambda s: s.statement(VISITS, BUDGET),
        InvalidParameter,
        ("query",),
    ),
    Refused(
        "no answers", lambda _: ROWS.agg(), InvalidQuery, ("has no aggregation", "agg(")
    ),
    Refused(
        "a function for an aggregation",
        lambda _: ROWS.agg(n=sd.count),
        InvalidParameter,
        ("n", "must be an aggregation"),
    ),
    Refused(
        "an expression for an aggregation",
        lambda _: ROWS.agg(n=sd.col("days")),
        InvalidParameter,
        ("n", "must be an aggregation"),
    ),
    Refused(
        "text for an aggregation",
        lambda _: ROWS.group_by("ward").agg(n="COUNT(*)"),
        InvalidParameter,
        ("n", "COUNT"),
    ),
    Refused(
        "an answer named as its key",
        lambda _: ROWS.group_by("ward").agg(ward=N),
        InvalidParameter,
        ("agg", "ward", "Rename"),
    ),
    Refused(
        "an answer named as another's quantile",
        lambda _: ROWS.agg(**{"q": QUANTILES, "q_0.1": N}),
        InvalidParameter,
        ("q_0.1",),
    ),
    Refused(
        "an answer named as another's error",
        lambda _: ROWS.agg(**{"n": N, "n sd": N}),
        InvalidParameter,
        ("n sd",),
    ),
    Refused(
        "an answer named as another's bound",
        lambda _: ROWS.agg(**{"n": N, "n low": N}),
        InvalidParameter,
        ("n low",),
    ),
    Refused(
        "a key named as an error",
        lambda _: ROWS.group_by("n sd").agg(n=N),
        InvalidParameter,
        ("n sd",),
    ),
    Refused(
        "quantiles of one name",
        lambda _: ROWS.agg(q=sd.quantiles("days", ["0.1", "0.10000001"], 0, 9)),
        InvalidParameter,
        ("q_0.1",),
    ),
    Refused(
        "another family",
        lambda _: ROWS.agg(n=N, noise="cauchy"),
        InvalidParameter,
        ("noise", "laplace", "gaussian"),
    ),
    Refused(
        "a number for a family",
        lambda _: ROWS.agg(n=N, noise=5),
        InvalidParameter,
        ("noise", "5"),
    ),
    Refused(
        "Gaussian noise for pure privacy",
        lambda s: s.price(ROWS.agg(n=N, noise="gaussian"), sd.PureDP(1)),
        InvalidQuery,
        ("gaussian", "laplace"),
    ),
    Refused(
        "a weight of no answer",
        lambda _: ROWS.agg(n=N, weights={"m": 1}),
        UnknownName,
        ("m", "n"),
    ),
    Refused(
        "a weight of a number",
        lambda _: ROWS.agg(n=N, weights={5: 1}),
        UnknownName,
        ("5", "n"),
    ),
    Refused(
        "a weight of 0",
        lambda _: ROWS.agg(n=N, weights={"n": 0}),
        InvalidParameter,
        ("weights", "positive"),
    ),
    Refused(
        "a weight below 0",
        lambda _: ROWS.agg(n=N, weights={"n": -1}),
        InvalidParameter,
        ("weights", "positive"),
    ),
    Refused(
        "a weight beyond every double",
        lambda _: ROWS.agg(n=N, weights={"n": 10**400}),
        InvalidParameter,
        ("weights", "2**300"),
    ),
    Refused(
        "a weight below every double",
        lambda _: ROWS.agg(n=N, weights={"n": Fraction(1, 10**400)}),
        InvalidParameter,
        ("weights", "2**300"),
    ),
    Refused(
        "a weight of NaN",
        lambda _: ROWS.agg(n=N, weights={"n": math.nan}),
        InvalidParameter,
        ("weights", "NaN"),
    ),
    Refused(
        "an infinite weight",
        lambda _: ROWS.agg(n=N, weights={"n": math.inf}),
        InvalidParameter,
        ("weights", "finite"),
    ),
    Refused(
        "an irrational weight",
        lambda _: ROWS.agg(n=N, weights={"n": "sqrt(2)"}),
        InvalidParameter,
        ("weights", "rational"),
    ),
    Refused(
        "a bool for a weight",
        lambda _: ROWS.agg(n=N, weights={"n": True}),
        InvalidParameter,
        ("weights", "bool"),
    ),
    Refused(
        "a list of weights",
        lambda _: ROWS.agg(n=N, weights=[1]),
        InvalidParameter,
        ("weights", "[1]"),
    ),
    Refused(
        "no groups", lambda _: ROWS.group_by(), InvalidParameter, ("columns", "()")
    ),
    Refused(
        "a number for a group",
        lambda _: ROWS.group_by(5),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "an expression for a group",
        lambda _: ROWS.group_by(sd.col("ward")),
        InvalidParameter,
        ("columns", "ward"),
    ),
    Refused(
        "a group twice",
        lambda _: ROWS.group_by("ward", "ward"),
        InvalidParameter,
        ("columns", "twice"),
    ),
    Refused(
        "keys and one of their columns",
        lambda _: ROWS.group_by(WARDS, "ward"),
        InvalidParameter,
        ("columns", "twice"),
    ),
    Refused(
        "groups by a missing column",
        lambda _: ROWS.group_by("wrd").agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "groups by a double",
        lambda _: ROWS.group_by("cost").agg(n=N),
        InvalidQuery,
        ("cost", "f64", "Bin"),
    ),
    Refused(
        "groups by a list",
        lambda _: VISITS.group_by("codes").agg(n=N),
        InvalidQuery,
        ("codes", "list"),
    ),
    Refused(
        "unknown keys without delta",
        lambda s: s.price(ROWS.group_by("ward").agg(n=N), sd.PureDP(1)),
        InvalidQuery,
        ("delta", "KeySet"),
    ),
    Refused(
        "keys without delta",
        lambda s: s.price(ROWS.group_by("ward").keys(), sd.ZCDP(1)),
        InvalidQuery,
        ("delta", "KeySet"),
    ),
    Refused(
        "keys that are known",
        lambda _: ROWS.group_by(WARDS).keys(),
        InvalidQuery,
        ("has no aggregation",),
    ),
    Refused(
        "keys of another type",
        lambda _: ROWS.group_by(sd.KeySet.from_dict({"ward": [1]})).agg(n=N),
        InvalidQuery,
        ("ward", "i64", "text"),
    ),
    Refused(
        "keys of a missing column",
        lambda _: ROWS.group_by(sd.KeySet.from_dict({"wrd": ["A"]})).agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "a key of NaN",
        lambda _: sd.KeySet.from_dict({"cost": [math.nan]}),
        InvalidParameter,
        ("cost", "NaN"),
    ),
    Refused(
        "a histogram of a number",
        lambda _: ROWS.histogram(5, [1, 2]),
        InvalidParameter,
        ("column", "5"),
    ),
    Refused(
        "a histogram named by a number",
        lambda _: ROWS.histogram("days", [1, 2], name=5),
        InvalidParameter,
        ("name", "5"),
    ),
    Refused(
        "a histogram named as its column",
        lambda _: ROWS.histogram("days", [1, 2], name="days"),
        InvalidParameter,
        ("days",),
    ),
)


@refusals(*ASKING)
def test_senseless_questions_are_refused(case: Refused) -> None:
    assert_refused(case)
