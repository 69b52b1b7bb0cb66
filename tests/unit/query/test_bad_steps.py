"""Steps that make no sense, refused before anything is read."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"

import math
from typing import Final

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.batches import sampled
from tests.refusals import (
    COUNT,
    NONE,
    PEOPLE,
    ROWS,
    SUM,
    VISITS,
    N,
    Refused,
    Unshown,
    assert_refused,
    refusals,
)

STEPS: Final = (
    Refused(
        "a table named by a number",
        lambda _: sd.table(5),
        InvalidParameter,
        ("table", "5"),
    ),
    Refused("no table", lambda _: sd.table(NONE), InvalidParameter, ("table", "None")),
    Refused(
        "a missing table",
        lambda _: sd.table("visit").agg(n=N),
        UnknownName,
        ("visit", "visits"),
    ),
    Refused(
        "a public table asked",
        lambda _: sd.table("wards").agg(n=N),
        InvalidParameter,
        ("wards", "public"),
    ),
    Refused(
        "text for a filter",
        lambda _: ROWS.filter("1=1; ATTACH 'x.db'"),
        InvalidParameter,
        ("condition", "expression", "ATTACH"),
    ),
    Refused(
        "a function of files in a filter",
        lambda _: ROWS.filter("read_text('/etc/passwd')"),
        InvalidParameter,
        ("condition",),
    ),
    Refused(
        "a bool for a filter",
        lambda _: ROWS.filter(True),
        InvalidParameter,
        ("condition", "True"),
    ),
    Refused(
        "no filter",
        lambda _: ROWS.filter(NONE),
        InvalidParameter,
        ("condition", "None"),
    ),
    Refused(
        "a function for a filter",
        lambda _: ROWS.filter(len),
        InvalidParameter,
        ("condition",),
    ),
    Refused(
        "a number as a condition",
        lambda _: ROWS.filter(sd.col("days")).agg(n=N),
        InvalidQuery,
        ("days", "i64"),
    ),
    Refused(
        "a filter of a missing column",
        lambda _: ROWS.filter(sd.col("dys") > 1).agg(n=N),
        UnknownName,
        ("dys", "days"),
    ),
    Refused(
        "no new columns",
        lambda _: ROWS.with_columns(),
        InvalidParameter,
        ("with_columns",),
    ),
    Refused(
        "a list for a column",
        lambda _: ROWS.with_columns(n=[1]),
        InvalidParameter,
        ("[1]",),
    ),
    Refused(
        "an object for a column",
        lambda _: ROWS.with_columns(n=object()),
        InvalidParameter,
        ("object",),
    ),
    Refused(
        "a column that cannot be shown",
        lambda _: ROWS.with_columns(n=Unshown()),
        InvalidParameter,
        ("Unshown",),
    ),
    Refused(
        "text for a function",
        lambda _: ROWS.with_columns("row_number() over ()"),
        InvalidParameter,
        ("with_columns", "row_number"),
    ),
    Refused(
        "a function of no types",
        lambda _: ROWS.with_columns(len),
        InvalidParameter,
        ("with_columns",),
    ),
    Refused(
        "ids written anew",
        lambda _: VISITS.with_columns(id="a").agg(n=PEOPLE),
        InvalidQuery,
        ("id", "another name"),
    ),
    Refused(
        "ids made by a function",
        lambda _: VISITS.with_columns(sd.udf(len, {"id": "text"})).agg(n=PEOPLE),
        InvalidQuery,
        ("id",),
    ),
    Refused(
        "ids made by rows",
        lambda _: VISITS.flat_map(len, {"id": "text"}, 1).agg(n=PEOPLE),
        InvalidQuery,
        ("id",),
    ),
    Refused(
        "no new names",
        lambda _: ROWS.rename({}),
        InvalidParameter,
        ("columns", "rename"),
    ),
    Refused(
        "a list of new names",
        lambda _: ROWS.rename([("a", "b")]),
        InvalidParameter,
        ("columns", "rename"),
    ),
    Refused(
        "nothing to rename",
        lambda _: ROWS.rename(NONE),
        InvalidParameter,
        ("columns", "rename"),
    ),
    Refused(
        "a number for a new name",
        lambda _: ROWS.rename({"ward": 5}),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "a new name that is taken",
        lambda _: ROWS.rename({"ward": "days"}).agg(n=N),
        InvalidParameter,
        ("columns", "days"),
    ),
    Refused(
        "a missing column renamed",
        lambda _: ROWS.rename({"wrd": "w"}).agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "a missing column selected",
        lambda _: ROWS.select("wrd").agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "a number selected",
        lambda _: ROWS.select(5),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "a column selected twice",
        lambda _: ROWS.select("ward", "ward"),
        InvalidParameter,
        ("columns", "twice"),
    ),
    Refused(
        "a dropped column",
        lambda _: ROWS.select("ward").agg(n=SUM),
        UnknownName,
        ("days",),
    ),
    Refused(
        "a renamed column",
        lambda _: ROWS.rename({"days": "d"}).agg(n=SUM),
        UnknownName,
        ("days",),
    ),
    Refused(
        "nulls of a missing column",
        lambda _: ROWS.drop_nulls("dys").agg(n=N),
        UnknownName,
        ("dys", "days"),
    ),
    Refused(
        "nulls of a number",
        lambda _: ROWS.drop_nulls(5),
        InvalidParameter,
        ("columns", "5"),
    ),
    Refused(
        "NaN in a text",
        lambda _: ROWS.drop_nan("ward").agg(n=N),
        InvalidQuery,
        ("ward", "text"),
    ),
    Refused(
        "nothing to fill", lambda _: ROWS.fill_null(), InvalidParameter, ("fill_null",)
    ),
    Refused(
        "a text for a missing number",
        lambda _: ROWS.fill_null(days="a").agg(n=N),
        InvalidQuery,
        ("fill_null", "i64", "text"),
    ),
    Refused(
        "null for null",
        lambda _: ROWS.fill_null(days=None),
        InvalidParameter,
        ("None",),
    ),
    Refused(
        "a text for NaN",
        lambda _: ROWS.fill_nan(cost="a").agg(n=N),
        InvalidQuery,
        ("fill_nan", "text"),
    ),
    Refused(
        "NaN in integers",
        lambda _: ROWS.fill_nan(days=1).agg(n=N),
        InvalidQuery,
        ("fill_nan", "i64"),
    ),
    Refused(
        "one end for infinities",
        lambda _: ROWS.replace_infinity(cost=1),
        InvalidParameter,
        ("cost", "1"),
    ),
    Refused(
        "texts for infinities",
        lambda _: ROWS.replace_infinity(cost=("a", "b")),
        InvalidParameter,
        ("low", "'a'"),
    ),
    Refused(
        "nothing for infinities",
        lambda _: ROWS.replace_infinity(cost=(None, 1)),
        InvalidParameter,
        ("None",),
    ),
    Refused(
        "NaN for infinities",
        lambda _: ROWS.replace_infinity(cost=(math.nan, 1)),
        InvalidParameter,
        ("low", "nan"),
    ),
    Refused(
        "infinities for infinities",
        lambda _: ROWS.replace_infinity(cost=(0, math.inf)),
        InvalidParameter,
        ("high", "inf"),
    ),
    Refused(
        "bools for infinities",
        lambda _: ROWS.replace_infinity(cost=(True, False)),
        InvalidParameter,
        ("low", "True"),
    ),
    Refused(
        "huge numbers for infinities",
        lambda _: ROWS.replace_infinity(cost=(10**400, 1)),
        InvalidParameter,
        ("64 bits",),
    ),
    Refused(
        "infinities in integers",
        lambda _: ROWS.replace_infinity(days=(0, 1)).agg(n=N),
        InvalidQuery,
        ("replace_infinity", "i64"),
    ),
    Refused("no bins", lambda _: ROWS.bin("days", []), InvalidParameter, ("edges",)),
    Refused("one edge", lambda _: ROWS.bin("days", [1]), InvalidParameter, ("edges",)),
    Refused(
        "edges that descend",
        lambda _: ROWS.bin("days", [2, 1]),
        InvalidParameter,
        ("edges", "ascending"),
    ),
    Refused(
        "an edge of NaN",
        lambda _: ROWS.bin("days", [1, math.nan]),
        InvalidParameter,
        ("edges",),
    ),
    Refused(
        "a text for edges",
        lambda _: ROWS.bin("days", "abc"),
        InvalidParameter,
        ("edges", "abc"),
    ),
    Refused(
        "bins of a number",
        lambda _: ROWS.bin(5, [1, 2]),
        InvalidParameter,
        ("column", "5"),
    ),
    Refused(
        "bins named by a number",
        lambda _: ROWS.bin("days", [1, 2], 5),
        InvalidParameter,
        ("name", "5"),
    ),
    Refused(
        "edges of another type",
        lambda _: ROWS.bin("ward", [1, 2]).agg(n=N),
        InvalidQuery,
        ("bin", "text", "i64"),
    ),
    Refused(
        "a view that is taken",
        lambda s: s.view("visits", VISITS),
        InvalidParameter,
        ("name", "visits"),
    ),
    Refused(
        "a view of a public name",
        lambda s: s.view("wards", VISITS),
        InvalidParameter,
        ("name", "wards"),
    ),
    Refused(
        "a view named by a number",
        lambda s: s.view(5, VISITS),
        InvalidParameter,
        ("name", "5"),
    ),
    Refused(
        "a view that asks",
        lambda s: s.view("seen", COUNT),
        InvalidParameter,
        ("query",),
    ),
    Refused(
        "a view of a missing column",
        lambda s: s.view("seen", ROWS.select("wrd")),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "a view of a missing table",
        lambda s: s.view("seen", sd.table("rws")),
        UnknownName,
        ("rws", "rows"),
    ),
)


@sampled(17)
@refusals(*STEPS)
def test_senseless_steps_are_refused(case: Refused) -> None:
    assert_refused(case)
