"""What every engine must answer alike: a list of questions about small tables.

An engine passes when it gives the answers of the memory engine.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, final

from sordino.conformance import short_plans as plans
from sordino.conformance.example_tables import NAN, ODD, Sources
from sordino.conformance.short_plans import question_of, whole_question
from sordino.expressions.language import col, lit
from sordino.query.question import Distinct, Question, Total


@final
@dataclass(frozen=True)
class Case:
    """A question by its name, which is built when the tables are open."""

    name: str
    asked: Callable[[Sources], Question]


def case_by_column(name: str) -> Case:
    """Return a case of groups by a column."""
    return Case(f"by {name}", lambda t: question_of(t["visits"], name))


def case_of_odd_column(name: str) -> Case:
    """Return a case of a column of an odd name."""
    totals = (Total(col(name)), Distinct((name,)))
    return Case(
        f"column {name!r}", lambda t: question_of(t["strange"], name, totals=totals)
    )


def endless_rows(row: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield rows without end, of which every third is none."""
    for n in itertools.count():
        yield {"part": n, "ward": row["ward"]} if n % 3 else None


def broken_values(row: dict[str, Any]) -> dict[str, Any]:
    """Return values of wrong types, too much, too little, or fail."""
    failing: dict[int, dict[str, Any]] = {
        1: {"n": 2**63, "x": "1.5"},
        2: {"n": NAN, "x": True, "more": 1},
    }
    return failing[row["id"]]


def rows_then_failure(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each code, and fail at the first that is missing."""
    for code in row["codes"]:
        yield {"code": -code}


BY: Final = ("id", "ward", "days", "ok", "born", "seen")
PLAIN_CASES: Final = (
    Case("count", lambda t: question_of(t["visits"])),
    Case("count of nothing", lambda t: question_of(t["empty"])),
    Case("groups of nothing", lambda t: question_of(t["empty"], "ward")),
    Case(
        "keys of nothing",
        lambda t: question_of(t["empty"], "ward", keys={"ward": ["a"]}),
    ),
    Case("no keys", lambda t: question_of(t["visits"], "ward", keys={"ward": []})),
    *map(case_by_column, BY),
    Case("by all", lambda t: whole_question(t["visits"], *BY)),
    *map(case_of_odd_column, ODD),
    Case(
        "keys of text",
        lambda t: question_of(
            t["visits"],
            "ward",
            totals=(
                Total(col("id")),
                Total(lit(None, "i64")),
                Distinct(("id", "days")),
            ),
            keys={"ward": [None, "A", "a", "b", "e\u0301", "\u00e9", "z"]},
        ),
    ),
    Case(
        "keys of doubles",
        lambda t: question_of(
            t["visits"], "days", keys={"days": [None, -1e300, 0.0, NAN]}
        ),
    ),
    Case(
        "keys of a range",
        lambda t: question_of(
            t["visits"],
            "id",
            totals=(Total(lit(1)), Total(col("id"))),
            keys={"id": [-1, 0, 1, 2, 3]},
        ),
    ),
    Case(
        "keys of a box",
        lambda t: question_of(
            plans.project_to(t["visits"], id=col("id"), n=col("id") * 2 - 1),
            "id",
            "n",
            keys={"id": [1, 1, 1, 2, 2, 2], "n": [1, 2, 3, 1, 2, 3]},
        ),
    ),
    Case(
        "two keys",
        lambda t: question_of(
            t["visits"],
            "ok",
            "ward",
            totals=(Total(lit(-3)), Total(lit(1))),
            keys={"ok": [None, True, True, False], "ward": ["b", "a", None, "a"]},
        ),
    ),
    Case("distinct", lambda t: whole_question(t["visits"])),
    Case(
        "distinct pairs",
        lambda t: question_of(
            t["visits"], totals=(Distinct(("ward", "days")), Distinct(BY))
        ),
    ),
    Case(
        "saturated",
        lambda t: question_of(
            t["visits"],
            "ok",
            totals=(Total(col("id") * 2**52), Total(lit(-(2**52))), Total(lit(2**62))),
        ),
    ),
    Case(
        "wide sums",
        lambda t: question_of(
            plans.project_to(t["visits"], id=col("id"), n=col("id") * 2**60),
            totals=(Total(col("n")), Total(-col("n") + col("id"))),
        ),
    ),
    Case(
        "project",
        lambda t: whole_question(
            plans.project_to(
                t["visits"], ward=col("days"), days=col("days") + col("id")
            )
        ),
    ),
    Case("project to nothing", lambda t: question_of(plans.project_to(t["visits"]))),
    Case(
        "filter",
        lambda t: whole_question(plans.filter_rows(t["visits"], col("days") > 1.0)),
    ),
    Case(
        "filter by bool",
        lambda t: whole_question(plans.filter_rows(t["visits"], col("ok"))),
    ),
    Case(
        "keep unique",
        lambda t: whole_question(plans.bound_unique(t["visits"], ("id",)), "id"),
    ),
    Case(
        "keep unique pairs",
        lambda t: whole_question(plans.bound_unique(t["visits"], ("ward", "days"))),
    ),
    Case(
        "join",
        lambda t: whole_question(plans.join_rows(t["visits"], t["beds"], ("ward",))),
    ),
    Case(
        "left join",
        lambda t: whole_question(
            plans.join_rows(t["visits"], t["beds"], ("ward",), outer=True)
        ),
    ),
    Case(
        "join on doubles",
        lambda t: whole_question(
            plans.join_rows(t["visits"], t["wards"], ("ward", "days"))
        ),
    ),
    Case(
        "left join on doubles",
        lambda t: question_of(
            plans.join_rows(t["visits"], t["rates"], ("days",), outer=True), "beds"
        ),
    ),
    Case(
        "join with itself",
        lambda t: whole_question(
            plans.join_rows(
                t["visits"],
                plans.rename_columns(
                    plans.project_to(t["visits"], id=col("id"), ward=col("ward")),
                    {"ward": "other"},
                ),
                ("id",),
            )
        ),
    ),
    Case(
        "join with nothing",
        lambda t: question_of(plans.join_rows(t["empty"], t["beds"], ("ward",))),
    ),
    Case(
        "explode",
        lambda t: question_of(
            plans.explode_rows(t["visits"], "codes"),
            "codes",
            totals=(Total(lit(1)), Total(col("codes"))),
        ),
    ),
    Case(
        "explode two",
        lambda t: question_of(
            plans.explode_rows(t["visits"], "codes", 2),
            "id",
            totals=(Total(lit(1)), Total(col("codes"))),
        ),
    ),
    Case(
        "explode unseen",
        lambda t: question_of(plans.explode_rows(t["visits"], "codes"), "id"),
    ),
    Case(
        "map",
        lambda t: question_of(
            plans.call_rows(t["visits"], lambda row: {"n": len(row["codes"])}, n="i64"),
            "n",
            "id",
        ),
    ),
    Case(
        "map unseen",
        lambda t: question_of(
            plans.call_rows(t["visits"], lambda _: {"n": 1}, n="i64")
        ),
    ),
    Case(
        "map of no columns",
        lambda t: question_of(
            plans.call_rows(
                plans.project_to(t["visits"]), lambda row: {"n": len(row)}, n="i64"
            ),
            "n",
        ),
    ),
    Case(
        "broken map",
        lambda t: question_of(
            plans.call_rows(t["visits"], broken_values, n="i64", x="f64", y="text"),
            "n",
            "x",
            "y",
        ),
    ),
    Case(
        "map no dict",
        lambda t: question_of(
            plans.call_rows(t["visits"], lambda _: [("n", 1)], n="i64"), "n"
        ),
    ),
    Case(
        "flat map without end",
        lambda t: question_of(
            plans.call_flat(t["visits"], endless_rows, 5, part="i64", ward="text"),
            "part",
            "ward",
            "id",
        ),
    ),
    Case(
        "flat map half-way",
        lambda t: question_of(
            plans.call_flat(t["visits"], rows_then_failure, None, code="i64"), "code"
        ),
    ),
    Case(
        "flat map of nothing",
        lambda t: question_of(plans.call_flat(t["visits"], lambda _: 7, 3, code="i64")),
    ),
    Case(
        "flat map counted",
        lambda t: question_of(
            plans.call_flat(t["visits"], endless_rows, 4, part="i64")
        ),
    ),
    Case(
        "flat map of a map",
        lambda t: question_of(
            plans.filter_rows(
                plans.call_flat(
                    plans.call_rows(t["visits"], lambda row: {"n": row["id"]}, n="i64"),
                    lambda row: [{"m": row["n"]}] * (row["n"] or 0),
                    3,
                    m="i64",
                ),
                col("m") > 1,
            ),
            "m",
        ),
    ),
)
"""Each kind of node that keeps no choice, and each kind of total."""
