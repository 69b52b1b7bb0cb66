"""Bounds of every kind, over and below each other, and totals that parts add up to."""

from typing import Final

import pyarrow as pa

from sordino.aggregations.measurement import Distinct, Extreme, Total
from sordino.engines.conformance import plans
from sordino.engines.conformance.plans import (
    BY,
    PLAIN_CASES,
    Case,
    Sources,
    case_about,
    endless_rows,
    question_of,
    whole_case,
    whole_question,
)
from sordino.expressions.language import Expression, col, lit, when
from sordino.query.nodes import AbstractNode, Question


def case_of_few_rows(name: str, limit: int) -> Case:
    """Return a case of bounded rows for each value of a column."""

    def question(tables: Sources) -> Question:
        rows = plans.bound_rows(tables["visits"], (name,), limit)
        return whole_question(rows, name)

    return Case(f"keep {limit} rows by {name}", question)


def _groups_of_people(rows: AbstractNode, groups: tuple[str, ...]) -> Question:
    sizes = plans.sized_memberships(rows, ("id",), groups)
    return question_of(sizes, *groups, totals=(Total(lit(1)), Total(col("size"))))


def _one_per_id(rows: AbstractNode, *by: str) -> AbstractNode:
    return plans.gather_rows(
        rows,
        "id",
        *by,
        rows=Total(lit(1)),
        sum=Total(col("id") * 2**52 - 1, 3, 5),
        wards=Distinct(("ward",)),
        pairs=Distinct(("ward", "ok")),
        first=Extreme(col("seen"), is_greatest=False),
        last=Extreme(col("born"), is_greatest=True),
        most=Extreme(_without_nan(rows, "days"), is_greatest=True),
        least=Extreme(col("id") - 2, is_greatest=False),
        any=Extreme(col("ok").cast("i64"), is_greatest=True),
    )


def _without_nan(rows: AbstractNode, name: str) -> Expression:
    value = col(name)
    if rows.schema[name].type != "f64":
        return value
    return when(value.is_nan()).then(None).otherwise(value)


GATHERED_CASES: Final = (
    whole_case("one row per id", lambda t: _one_per_id(t["visits"])),
    whole_case("one row per id of nothing", lambda t: _one_per_id(t["empty"])),
    whole_case(
        "one row per id and group",
        lambda t: _one_per_id(t["visits"], "ward", "seen"),
        "ward",
    ),
    case_about("how many per id", lambda t: _one_per_id(t["visits"]), "rows", "wards"),
    case_about(
        "one row per id of rows kept",
        lambda t: _one_per_id(plans.bound_rows(t["visits"], ("id",), 1)),
        totals=(Total(lit(1)), Total(col("sum")), Distinct(("last",))),
    ),
    whole_case(
        "rows kept of one row per id and group",
        lambda t: plans.bound_rows(_one_per_id(t["visits"], "ward"), ("id",), 1),
    ),
    whole_case(
        "one row per id of one row per id and group",
        lambda t: plans.gather_rows(
            _one_per_id(t["visits"], "ward"),
            "id",
            all=Total(col("rows")),
            wards=Total(lit(1)),
            first=Extreme(col("first"), is_greatest=False),
        ),
    ),
    case_about(
        "extremes of missing values",
        lambda t: _one_per_id(t["visits"], "ward"),
        "last",
        "any",
    ),
)
"""Rows that are gathered to one for each id, above and below other nodes."""

BOUNDED_CASES: Final = (
    *(case_of_few_rows(name, limit) for name in BY for limit in (1, 2)),
    whole_case(
        "keep rows by two", lambda t: plans.bound_rows(t["visits"], ("id", "ward"), 1)
    ),
    whole_case(
        "keep rows of nothing", lambda t: plans.bound_rows(t["empty"], ("id",), 1)
    ),
    whole_case(
        "keep groups",
        lambda t: plans.bound_groups(t["visits"], ("id",), ("ward",), 1),
        "id",
        "ward",
    ),
    whole_case(
        "keep groups of doubles",
        lambda t: plans.bound_groups(t["visits"], ("id",), ("days",), 2),
        "id",
        "days",
    ),
    whole_case(
        "keep groups of two",
        lambda t: plans.bound_groups(t["visits"], ("ok",), ("ward", "days"), 2),
    ),
    whole_case(
        "keep groups of nothing",
        lambda t: plans.bound_groups(t["empty"], ("id",), ("ward",), 1),
    ),
    Case("groups of people", lambda t: _groups_of_people(t["visits"], ("ward",))),
    Case("groups of two", lambda t: _groups_of_people(t["visits"], ("ward", "days"))),
    Case("groups of nothing", lambda t: _groups_of_people(t["empty"], ("ward",))),
    Case(
        "groups that are not public",
        lambda t: _groups_of_people(
            plans.rows_without(
                t["visits"], pa.table({"ward": pa.array(["a", None])}), ("ward",)
            ),
            ("ward",),
        ),
    ),
    Case(
        "groups that are none of no public ones",
        lambda t: _groups_of_people(
            plans.rows_without(
                t["visits"], pa.table({"ward": pa.array([], pa.string())}), ("ward",)
            ),
            ("ward",),
        ),
    ),
    whole_case(
        "bounds on bounds",
        lambda t: plans.bound_rows(
            plans.bound_groups(t["visits"], ("id",), ("ward",), 1), ("id", "ward"), 1
        ),
        "id",
    ),
    whole_case(
        "bounds on both sides of a join",
        lambda t: plans.join_rows(
            plans.bound_rows(t["visits"], ("ward",), 1),
            plans.bound_unique(t["beds"], ("ward",)),
            ("ward",),
            outer=True,
        ),
    ),
    whole_case(
        "bounds over a map",
        lambda t: plans.bound_rows(
            plans.call_flat(t["visits"], endless_rows, 5, part="i64", ward="text"),
            ("id",),
            3,
        ),
    ),
    case_about(
        "bounds over lists",
        lambda t: plans.explode_rows(
            plans.bound_rows(t["visits"], ("ward",), 2), "codes"
        ),
        "codes",
        "ward",
    ),
    whole_case(
        "bounds over a filter over a bound",
        lambda t: plans.bound_rows(
            plans.filter_rows(plans.bound_rows(t["visits"], ("id",), 2), col("ok")),
            ("ward",),
            1,
        ),
    ),
)
"""Bounds, which keep the same rows where rows are kept in the same order."""

PEOPLE: Final = Distinct(("id",))
ADDING_CASES: Final = (
    case_about(
        "one row per id, in parts",
        lambda t: _one_per_id(plans.bound_rows(t["visits"], ("id",), 2), "ward"),
        "rows",
        totals=(Total(col("sum")), Total(col("least")), Distinct(("id", "ward"))),
    ),
    case_about(
        "keep rows, few columns",
        lambda t: plans.bound_rows(t["visits"], ("id",), 1),
        "ward",
    ),
    case_about(
        "keep rows, no columns", lambda t: plans.bound_rows(t["visits"], ("id",), 1)
    ),
    case_about(
        "people in wards",
        lambda t: plans.bound_groups(t["visits"], ("id",), ("ward",), 1),
        "ward",
        totals=(Total(lit(1)), PEOPLE, Distinct(("days", "id"))),
        keys={"ward": [None, "a", "b", "z"]},
    ),
    case_about(
        "rows of groups of people",
        lambda t: plans.bound_rows(
            plans.bound_groups(t["visits"], ("id",), ("ward",), 2), ("ward", "id"), 1
        ),
        "ward",
        "ok",
        totals=(PEOPLE, Total(col("id"))),
    ),
    case_about(
        "parts beyond the limits",
        lambda t: plans.bound_rows(t["visits"], ("id",), 2),
        totals=(
            Total(lit(2**62)),
            Total((col("id") * 4 - 7) * 2**51),
            Total((col("id") * 4 - 7) * 2**54),
        ),
    ),
    case_about(
        "public facts of few rows",
        lambda t: plans.join_rows(
            plans.filter_rows(
                plans.rename_columns(
                    plans.bound_rows(t["visits"], ("id",), 3), {"id": "x"}
                ),
                col("days") > -1.0,
            ),
            t["beds"],
            ("ward",),
        ),
        "ward",
        totals=(Total(col("beds")), Distinct(("x",))),
    ),
)
"""Bounds of one id, whose totals may be added from parts of the ids."""

CASES: Final = PLAIN_CASES + BOUNDED_CASES + GATHERED_CASES + ADDING_CASES
