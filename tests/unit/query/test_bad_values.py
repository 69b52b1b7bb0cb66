"""Bounds and aggregations that make no sense, refused before anything is read."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"

import math
from typing import Final

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.batches import sampled
from tests.refusals import (
    ENFORCED,
    N64,
    NONE,
    PEOPLE,
    ROWS,
    SUM,
    VISITS,
    WARDS,
    N,
    Refused,
    assert_refused,
    refusals,
)

BOUNDS: Final = (
    Refused(
        "nothing kept",
        lambda _: sd.MaxRowsPerID(0),
        InvalidParameter,
        ("limit", "at least 1"),
    ),
    Refused(
        "a text for a limit",
        lambda _: sd.MaxRowsPerID("5"),
        InvalidParameter,
        ("limit", "'5'"),
    ),
    Refused(
        "a limit beyond counting",
        lambda _: sd.MaxRowsPerID(2**53 + 1),
        InvalidParameter,
        ("limit", "at most"),
    ),
    Refused(
        "a bool for a limit",
        lambda _: sd.MaxGroupsPerID("ward", True),
        InvalidParameter,
        ("limit", "True"),
    ),
    Refused(
        "NaN for a limit",
        lambda _: sd.MaxRowsPerGroupPerID("ward", math.nan),
        InvalidParameter,
        ("limit", "nan"),
    ),
    Refused(
        "groups of no column",
        lambda _: sd.MaxGroupsPerID([], 1),
        InvalidParameter,
        ("columns", "[]"),
    ),
    Refused(
        "groups of a number",
        lambda _: sd.MaxGroupsPerID(5, 1),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "groups of a column twice",
        lambda _: sd.MaxRowsPerGroupPerID(["a", "a"], 1),
        InvalidParameter,
        ("columns", "once"),
    ),
    Refused(
        "a number for a constraint",
        lambda _: VISITS.enforce(5),
        InvalidParameter,
        ("constraints", "MaxRowsPerID"),
    ),
    Refused(
        "a class for a constraint",
        lambda _: VISITS.enforce(sd.MaxRowsPerID),
        InvalidParameter,
        ("constraints",),
    ),
    Refused(
        "a bound on rows of nobody",
        lambda _: ROWS.enforce(sd.MaxRowsPerID(1)).agg(n=N),
        InvalidQuery,
        ("id", "AddRowsWithID"),
    ),
    Refused(
        "groups of a missing column",
        lambda _: VISITS.enforce(sd.MaxGroupsPerID("wrd", 1)).agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "groups of doubles",
        lambda _: VISITS.enforce(sd.MaxGroupsPerID("cost", 1)).agg(n=PEOPLE),
        InvalidQuery,
        ("cost", "f64"),
    ),
    Refused(
        "ids without bound", lambda _: VISITS.agg(n=N), InvalidQuery, ("MaxRowsPerID",)
    ),
    Refused(
        "ids without bound in groups",
        lambda _: VISITS.group_by(WARDS).agg(n=SUM),
        InvalidQuery,
        ("MaxGroupsPerID", "MaxRowsPerGroupPerID"),
    ),
    Refused(
        "ids in groups without bound",
        lambda _: VISITS.group_by("ward").agg(n=PEOPLE),
        InvalidQuery,
        ("MaxGroupsPerID", "ward"),
    ),
    Refused(
        "a bound on groups alone",
        lambda _: (
            VISITS.enforce(sd.MaxGroupsPerID("ward", 2)).group_by("ward").agg(n=N)
        ),
        InvalidQuery,
        ("MaxRowsPerGroupPerID",),
    ),
    Refused(
        "a bound on a column that is written anew",
        lambda _: (
            VISITS
            .enforce(sd.MaxGroupsPerID("ward", 2))
            .with_columns(ward="A")
            .group_by("ward")
            .agg(n=PEOPLE)
        ),
        InvalidQuery,
        ("MaxGroupsPerID",),
    ),
    Refused(
        "ids of rows",
        lambda _: ROWS.agg(n=PEOPLE),
        InvalidQuery,
        ("count_ids", "sd.count()"),
    ),
)

VALUES: Final = (
    Refused(
        "a low end of NaN",
        lambda _: sd.sum("days", math.nan, 1),
        InvalidParameter,
        ("low", "NaN"),
    ),
    Refused(
        "an infinite high end",
        lambda _: sd.mean("days", 0, math.inf),
        InvalidParameter,
        ("high", "finite"),
    ),
    Refused(
        "equal ends",
        lambda _: sd.variance("days", 5, 5),
        InvalidParameter,
        ("low", "less than high"),
    ),
    Refused(
        "ends exchanged",
        lambda _: sd.median("days", 5, 1),
        InvalidParameter,
        ("low", "less than high"),
    ),
    Refused(
        "bools for ends",
        lambda _: sd.sum("days", False, True),
        InvalidParameter,
        ("low", "bool"),
    ),
    Refused(
        "text for an end",
        lambda _: sd.stdev("days", "a", 1),
        InvalidParameter,
        ("low", "'a'"),
    ),
    Refused(
        "no low end",
        lambda _: sd.sum("days", NONE, 1),
        InvalidParameter,
        ("low", "None"),
    ),
    Refused(
        "an end beyond use",
        lambda _: sd.sum("days", 0, 10**400),
        InvalidParameter,
        ("high", "401 digits"),
    ),
    Refused(
        "a complex end",
        lambda _: sd.sum("days", 0, 1j),
        InvalidParameter,
        ("high", "1j"),
    ),
    Refused(
        "an irrational end",
        lambda _: sd.sum("days", 0, "sqrt(2)"),
        InvalidParameter,
        ("high", "rational"),
    ),
    Refused(
        "a sum of text",
        lambda _: ROWS.agg(n=sd.sum("ward", 0, 1)),
        InvalidQuery,
        ("ward", "text", "Cast"),
    ),
    Refused(
        "a sum of lists",
        lambda _: ENFORCED.agg(n=sd.sum("codes", 0, 1)),
        InvalidQuery,
        ("codes", "list"),
    ),
    Refused(
        "a sum of a number",
        lambda _: ROWS.agg(n=sd.sum(5, 0, 1)),
        InvalidParameter,
        ("column", "5"),
    ),
    Refused(
        "a sum of a missing column",
        lambda _: ROWS.agg(n=sd.sum("dys", 0, 1)),
        UnknownName,
        ("dys", "days"),
    ),
    Refused(
        "a sum of casts without a rule",
        lambda _: ROWS.with_columns(n=sd.col("ward").cast("i64")).agg(
            n=sd.sum("n", 0, 1)
        ),
        InvalidQuery,
        ("may be missing", "nulls"),
    ),
    Refused(
        "a sum of quotients without a rule",
        lambda _: ROWS.with_columns(q=sd.col("cost") / sd.col("days")).agg(
            n=sd.sum("q", 0, 1)
        ),
        InvalidQuery,
        ("may be missing", "nulls"),
    ),
    Refused(
        "a mean of what a function returns without a rule",
        lambda _: ROWS.with_columns(sd.udf(len, N64)).agg(a=sd.mean("n", 0, 1)),
        InvalidQuery,
        ("may be missing", "nulls"),
    ),
    Refused(
        "another rule",
        lambda _: ROWS.agg(n=sd.sum("days", 0, 1, nulls="zero")),
        InvalidParameter,
        ("nulls", "drop"),
    ),
    Refused(
        "NaN for what is missing",
        lambda _: ROWS.agg(n=sd.sum("cost", 0, 1, nulls=math.nan)),
        InvalidParameter,
        ("nulls", "NaN"),
    ),
    Refused(
        "half an integer for what is missing",
        lambda _: ROWS.agg(n=sd.sum("days", 0, 1, nulls=0.5)),
        InvalidParameter,
        ("nulls", "integer"),
    ),
    Refused(
        "a bool for what is missing",
        lambda _: ROWS.agg(n=sd.sum("days", 0, 1, nulls=True)),
        InvalidParameter,
        ("nulls", "bool"),
    ),
    Refused(
        "a huge number for what is missing",
        lambda _: ROWS.agg(n=sd.sum("cost", 0, 1, nulls=10**400)),
        InvalidParameter,
        ("nulls", "401 digits"),
    ),
    Refused(
        "a list for what is missing",
        lambda _: ROWS.agg(n=sd.sum("days", 0, 1, nulls=[1])),
        InvalidParameter,
        ("nulls", "[1]"),
    ),
    Refused(
        "a chance above 1",
        lambda _: sd.quantile("days", 2, 0, 1),
        InvalidParameter,
        ("probability", "2"),
    ),
    Refused(
        "a chance of NaN",
        lambda _: sd.quantile("days", math.nan, 0, 1),
        InvalidParameter,
        ("probability", "NaN"),
    ),
    Refused(
        "a bool for a chance",
        lambda _: sd.quantile("days", True, 0, 1),
        InvalidParameter,
        ("probability", "bool"),
    ),
    Refused(
        "no quantiles",
        lambda _: sd.quantiles("days", [], 0, 1),
        InvalidParameter,
        ("probabilities",),
    ),
    Refused(
        "quantiles that descend",
        lambda _: sd.quantiles("days", ["0.5", "0.1"], 0, 1),
        InvalidParameter,
        ("probabilities", "ascending"),
    ),
    Refused(
        "text for quantiles",
        lambda _: sd.quantiles("days", "0.5", 0, 1),
        InvalidParameter,
        ("probabilities", "list"),
    ),
    Refused(
        "distinct values of nothing",
        lambda _: sd.count_distinct(),
        InvalidParameter,
        ("columns",),
    ),
    Refused(
        "distinct values of a number",
        lambda _: sd.count_distinct(5),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "distinct values of a missing column",
        lambda _: ROWS.agg(n=sd.count_distinct("wrd")),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "distinct lists",
        lambda _: ENFORCED.agg(n=sd.count_distinct("codes")),
        InvalidQuery,
        ("codes", "list"),
    ),
    Refused(
        "bounds up to half a power",
        lambda _: sd.bounds("days", up_to=2.5),
        InvalidParameter,
        ("up_to", "2.5"),
    ),
    Refused(
        "a histogram of one edge",
        lambda _: sd.histogram("days", [1]),
        InvalidParameter,
        ("edges",),
    ),
)


@sampled(7)
@refusals(*BOUNDS, *VALUES)
def test_senseless_bounds_and_aggregations_are_refused(case: Refused) -> None:
    assert_refused(case)
