"""Rows made and tables joined in ways that make no sense."""

# Wrong types are what these tests are about.
# mypy: disable-error-code="arg-type,dict-item,list-item"

from typing import Final

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName
from tests.batches import sampled
from tests.refusals import (
    N64,
    ONE,
    PEOPLE,
    ROWS,
    VISITS,
    N,
    Refused,
    assert_refused,
    many_rows,
    refusals,
)

ROWS_MADE: Final = (
    Refused(
        "fewer than no rows",
        lambda _: ROWS.flat_map(len, N64, -1),
        InvalidParameter,
        ("max_rows", "-1"),
    ),
    Refused(
        "half a row",
        lambda _: ROWS.flat_map(len, N64, 1.5),
        InvalidParameter,
        ("max_rows", "1.5"),
    ),
    Refused(
        "a bool of rows",
        lambda _: ROWS.flat_map(len, N64, True),
        InvalidParameter,
        ("max_rows", "True"),
    ),
    Refused(
        "too many rows",
        lambda _: ROWS.flat_map(len, N64, 2**70),
        InvalidParameter,
        ("max_rows", "at most"),
    ),
    Refused(
        "rows without bound",
        lambda _: ROWS.flat_map(len, N64).agg(n=N),
        InvalidQuery,
        ("max_rows",),
    ),
    Refused(
        "rows of no types", lambda _: ROWS.flat_map(len), InvalidParameter, ("returns",)
    ),
    Refused(
        "rows of a wrong type",
        lambda _: ROWS.flat_map(len, {"n": "int"}),
        InvalidParameter,
        ("returns", "i64"),
    ),
    Refused(
        "rows of a list type",
        lambda _: ROWS.flat_map(len, {"n": "list[i64]"}),
        InvalidParameter,
        ("returns", "list[i64]"),
    ),
    Refused(
        "rows of a list of types",
        lambda _: ROWS.flat_map(len, ["n"]),
        InvalidParameter,
        ("returns",),
    ),
    Refused(
        "rows named by a number",
        lambda _: ROWS.flat_map(len, {5: "i64"}),
        InvalidParameter,
        ("returns", "5"),
    ),
    Refused(
        "a number for a function",
        lambda _: ROWS.flat_map(5, N64),
        InvalidParameter,
        ("function", "5"),
    ),
    Refused(
        "types of a list",
        lambda _: VISITS.flat_map("codes", N64, 1),
        InvalidParameter,
        ("returns", "Leave it out"),
    ),
    Refused(
        "a missing list",
        lambda _: VISITS.flat_map("cods", max_rows=1).agg(n=N),
        UnknownName,
        ("cods", "codes"),
    ),
    Refused(
        "a number to explode",
        lambda _: VISITS.flat_map("days", max_rows=1).agg(n=N),
        InvalidQuery,
        ("days", "i64"),
    ),
    Refused(
        "a number for a row function",
        lambda _: sd.udf(5, N64),
        InvalidParameter,
        ("function", "5"),
    ),
    Refused(
        "a row function of no types",
        lambda _: sd.udf(len, {}),
        InvalidParameter,
        ("returns",),
    ),
    Refused(
        "rows beyond counting",
        lambda _: many_rows().agg(n=N),
        InvalidQuery,
        ("more rows", "max_rows"),
    ),
)

JOINS: Final = (
    Refused(
        "another join",
        lambda _: ROWS.join_public("wards", "ward", "outer"),
        InvalidParameter,
        ("how", "inner", "left"),
    ),
    Refused(
        "a join on nothing",
        lambda _: ROWS.join_public("wards", []),
        InvalidParameter,
        ("on", "[]"),
    ),
    Refused(
        "a join on a number",
        lambda _: ROWS.join_public("wards", 5),
        InvalidParameter,
        ("on", "5"),
    ),
    Refused(
        "a join on a column twice",
        lambda _: ROWS.join_public("wards", ["ward", "ward"]),
        InvalidParameter,
        ("on", "twice"),
    ),
    Refused(
        "a join on a missing column",
        lambda _: ROWS.join_public("wards", "wrd").agg(n=N),
        UnknownName,
        ("wrd", "ward"),
    ),
    Refused(
        "a join on a column of one side",
        lambda _: ROWS.join_public("wards", "cost").agg(n=N),
        UnknownName,
        ("cost",),
    ),
    Refused(
        "a join of types",
        lambda _: ROWS.join_public("wards", "days").agg(n=N),
        InvalidQuery,
        ("days", "i64", "f64"),
    ),
    Refused(
        "a join on lists",
        lambda _: VISITS.join_public("wards", "codes").agg(n=PEOPLE),
        InvalidQuery,
        ("codes", "list"),
    ),
    Refused(
        "a suffix that does nothing",
        lambda _: ROWS.join_public("wards", "ward", suffix="").agg(n=N),
        InvalidParameter,
        ("columns", "days"),
    ),
    Refused(
        "a number for a suffix",
        lambda _: ROWS.join_public("wards", "ward", suffix=5),
        InvalidParameter,
        ("suffix", "5"),
    ),
    Refused(
        "a number for a table",
        lambda _: ROWS.join_public(5, "ward"),
        InvalidParameter,
        ("table", "5"),
    ),
    Refused(
        "a missing public table",
        lambda _: ROWS.join_public("wrds", "ward").agg(n=N),
        UnknownName,
        ("wrds", "wards"),
    ),
    Refused(
        "a private table as public",
        lambda _: VISITS.join_public("rows", "ward").agg(n=N),
        InvalidParameter,
        ("rows", "join_private"),
    ),
    Refused(
        "a public table as private",
        lambda _: ROWS.join_private("wards", "ward", ONE, ONE).agg(n=N),
        InvalidParameter,
        ("wards", "public"),
    ),
    Refused(
        "a private join without bounds",
        lambda _: ROWS.join_private("rows", "ward").agg(n=N),
        InvalidQuery,
        ("bound", "DropExcess"),
    ),
    Refused(
        "a private join with one bound",
        lambda _: ROWS.join_private("rows", "ward", ONE).agg(n=N),
        InvalidQuery,
        ("bound", "DropExcess"),
    ),
    Refused(
        "a number for a truncation",
        lambda _: ROWS.join_private("rows", "ward", left=2),
        InvalidParameter,
        ("left", "DropExcess"),
    ),
    Refused(
        "a constraint for a truncation",
        lambda _: ROWS.join_private("rows", "ward", right=sd.MaxRowsPerID(1)),
        InvalidParameter,
        ("right", "MaxRowsPerID"),
    ),
    Refused(
        "rows joined with ids",
        lambda _: VISITS.join_private("rows", "ward").agg(n=N),
        InvalidQuery,
        ("ids", "rows"),
    ),
    Refused(
        "ids of other people",
        lambda _: VISITS.join_private("cats", "id").agg(n=PEOPLE),
        InvalidQuery,
        ("default", "cats", "id_space"),
    ),
    Refused(
        "ids of another type",
        lambda _: VISITS.join_private("numbered", "id").agg(n=PEOPLE),
        InvalidQuery,
        ("id", "text", "i64"),
    ),
    Refused(
        "ids with a truncation",
        lambda _: VISITS.join_private("visits", "id", ONE, ONE).agg(n=PEOPLE),
        InvalidQuery,
        ("MaxRowsPerID",),
    ),
    Refused(
        "ids joined on another column",
        lambda _: VISITS.join_private("visits", "ward").agg(n=PEOPLE),
        InvalidQuery,
        ("id", "Join on"),
    ),
    Refused(
        "ids under two names",
        lambda _: (
            VISITS.rename({"id": "p"}).join_private("visits", "ward").agg(n=PEOPLE)
        ),
        InvalidQuery,
        ("'p'", "rename"),
    ),
    Refused(
        "a truncation to nothing",
        lambda _: sd.DropExcess(0),
        InvalidParameter,
        ("limit", "at least 1"),
    ),
    Refused(
        "a truncation to a bool",
        lambda _: sd.DropExcess(True),
        InvalidParameter,
        ("limit", "True"),
    ),
    Refused(
        "a truncation to a float",
        lambda _: sd.DropExcess(2.0),
        InvalidParameter,
        ("limit", "2.0"),
    ),
    Refused(
        "a truncation to too many",
        lambda _: sd.DropExcess(10**400),
        InvalidParameter,
        ("limit", "at most", "401 digits"),
    ),
)


@sampled(14)
@refusals(*ROWS_MADE, *JOINS)
def test_senseless_joins_are_refused(case: Refused) -> None:
    assert_refused(case)
