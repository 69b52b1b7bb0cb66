"""What every engine must answer alike: a list of questions about small tables.

An engine passes when it gives the answers of the memory engine.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sordino.expressions.language import col, lit
from sordino.query.question import Distinct, Question, Total
from tests import plans
from tests.engine_tables import NAN, ODD, Sources
from tests.plans import ask, ask_all


@dataclass(frozen=True)
class Case:
    """A question by its name, which is built when the tables are open."""

    name: str
    asked: Callable[[Sources], Question]


def by_column(name: str) -> Case:
    """Return a case of groups by a column."""
    return Case(f"by {name}", lambda t: ask(t["visits"], name))


def odd_column(name: str) -> Case:
    """Return a case of a column of an odd name."""
    totals = (Total(col(name)), Distinct((name,)))
    return Case(f"column {name!r}", lambda t: ask(t["strange"], name, totals=totals))


def few_rows(name: str, limit: int) -> Case:
    """Return a case of bounded rows for each value of a column."""

    def asked(tables: Sources) -> Question:
        kept = plans.keep_rows(tables["visits"], (name,), limit)
        return ask_all(kept, name)

    return Case(f"keep {limit} rows by {name}", asked)


def split(row: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield rows without end, of which every third is none."""
    for n in itertools.count():
        yield {"part": n, "ward": row["ward"]} if n % 3 else None


def broken(row: dict[str, Any]) -> dict[str, Any]:
    """Return values of wrong types, too much, too little, or fail."""
    failing: dict[int, dict[str, Any]] = {
        1: {"n": 2**63, "x": "1.5"},
        2: {"n": NAN, "x": True, "more": 1},
    }
    return failing[row["id"]]


def half_way(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row for each code, and fail at the first that is missing."""
    for code in row["codes"]:
        yield {"code": -code}


BY: Final = ("id", "ward", "days", "ok", "born", "seen")
PLAIN_CASES: Final = (
    Case("count", lambda t: ask(t["visits"])),
    Case("count of nothing", lambda t: ask(t["empty"])),
    Case("groups of nothing", lambda t: ask(t["empty"], "ward")),
    Case("keys of nothing", lambda t: ask(t["empty"], "ward", keys={"ward": ["a"]})),
    Case("no keys", lambda t: ask(t["visits"], "ward", keys={"ward": []})),
    *map(by_column, BY),
    Case("by all", lambda t: ask_all(t["visits"], *BY)),
    *map(odd_column, ODD),
    Case(
        "keys of text",
        lambda t: ask(
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
        lambda t: ask(t["visits"], "days", keys={"days": [None, -1e300, 0.0, NAN]}),
    ),
    Case(
        "two keys",
        lambda t: ask(
            t["visits"],
            "ok",
            "ward",
            totals=(Total(lit(-3)), Total(lit(1))),
            keys={"ok": [None, True, True, False], "ward": ["b", "a", None, "a"]},
        ),
    ),
    Case("distinct", lambda t: ask_all(t["visits"])),
    Case(
        "distinct pairs",
        lambda t: ask(t["visits"], totals=(Distinct(("ward", "days")), Distinct(BY))),
    ),
    Case(
        "saturated",
        lambda t: ask(
            t["visits"],
            "ok",
            totals=(Total(col("id") * 2**52), Total(lit(-(2**52))), Total(lit(2**62))),
        ),
    ),
    Case(
        "wide sums",
        lambda t: ask(
            plans.project(t["visits"], id=col("id"), n=col("id") * 2**60),
            totals=(Total(col("n")), Total(-col("n") + col("id"))),
        ),
    ),
    Case(
        "project",
        lambda t: ask_all(
            plans.project(t["visits"], ward=col("days"), days=col("days") + col("id"))
        ),
    ),
    Case("project to nothing", lambda t: ask(plans.project(t["visits"]))),
    Case("filter", lambda t: ask_all(plans.where(t["visits"], col("days") > 1.0))),
    Case("filter by bool", lambda t: ask_all(plans.where(t["visits"], col("ok")))),
    Case(
        "keep unique", lambda t: ask_all(plans.keep_unique(t["visits"], ("id",)), "id")
    ),
    Case(
        "keep unique pairs",
        lambda t: ask_all(plans.keep_unique(t["visits"], ("ward", "days"))),
    ),
    Case("join", lambda t: ask_all(plans.join(t["visits"], t["beds"], ("ward",)))),
    Case(
        "left join",
        lambda t: ask_all(plans.join(t["visits"], t["beds"], ("ward",), outer=True)),
    ),
    Case(
        "join on doubles",
        lambda t: ask_all(plans.join(t["visits"], t["wards"], ("ward", "days"))),
    ),
    Case(
        "left join on doubles",
        lambda t: ask(
            plans.join(t["visits"], t["rates"], ("days",), outer=True), "beds"
        ),
    ),
    Case(
        "join with itself",
        lambda t: ask_all(
            plans.join(
                t["visits"],
                plans.renamed(
                    plans.project(t["visits"], id=col("id"), ward=col("ward")),
                    {"ward": "other"},
                ),
                ("id",),
            )
        ),
    ),
    Case(
        "join with nothing", lambda t: ask(plans.join(t["empty"], t["beds"], ("ward",)))
    ),
    Case(
        "explode",
        lambda t: ask(
            plans.explode(t["visits"], "codes"),
            "codes",
            totals=(Total(lit(1)), Total(col("codes"))),
        ),
    ),
    Case(
        "explode two",
        lambda t: ask(
            plans.explode(t["visits"], "codes", 2),
            "id",
            totals=(Total(lit(1)), Total(col("codes"))),
        ),
    ),
    Case("explode unseen", lambda t: ask(plans.explode(t["visits"], "codes"), "id")),
    Case(
        "map",
        lambda t: ask(
            plans.map_rows(t["visits"], lambda row: {"n": len(row["codes"])}, n="i64"),
            "n",
            "id",
        ),
    ),
    Case(
        "map unseen",
        lambda t: ask(plans.map_rows(t["visits"], lambda _: {"n": 1}, n="i64")),
    ),
    Case(
        "broken map",
        lambda t: ask(
            plans.map_rows(t["visits"], broken, n="i64", x="f64", y="text"),
            "n",
            "x",
            "y",
        ),
    ),
    Case(
        "map no dict",
        lambda t: ask(plans.map_rows(t["visits"], lambda _: [("n", 1)], n="i64"), "n"),
    ),
    Case(
        "flat map without end",
        lambda t: ask(
            plans.flat_map(t["visits"], split, 5, part="i64", ward="text"),
            "part",
            "ward",
            "id",
        ),
    ),
    Case(
        "flat map half-way",
        lambda t: ask(plans.flat_map(t["visits"], half_way, None, code="i64"), "code"),
    ),
    Case(
        "flat map of nothing",
        lambda t: ask(plans.flat_map(t["visits"], lambda _: 7, 3, code="i64")),
    ),
    Case(
        "flat map counted",
        lambda t: ask(plans.flat_map(t["visits"], split, 4, part="i64")),
    ),
    Case(
        "flat map of a map",
        lambda t: ask(
            plans.where(
                plans.flat_map(
                    plans.map_rows(t["visits"], lambda row: {"n": row["id"]}, n="i64"),
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

BOUNDED_CASES: Final = (
    *(few_rows(name, limit) for name in BY for limit in (1, 2)),
    Case(
        "keep rows by two",
        lambda t: ask_all(plans.keep_rows(t["visits"], ("id", "ward"), 1)),
    ),
    Case(
        "keep rows of nothing",
        lambda t: ask_all(plans.keep_rows(t["empty"], ("id",), 1)),
    ),
    Case(
        "keep groups",
        lambda t: ask_all(
            plans.keep_groups(t["visits"], ("id",), ("ward",), 1), "id", "ward"
        ),
    ),
    Case(
        "keep groups of doubles",
        lambda t: ask_all(
            plans.keep_groups(t["visits"], ("id",), ("days",), 2), "id", "days"
        ),
    ),
    Case(
        "keep groups of two",
        lambda t: ask_all(plans.keep_groups(t["visits"], ("ok",), ("ward", "days"), 2)),
    ),
    Case(
        "keep groups of nothing",
        lambda t: ask_all(plans.keep_groups(t["empty"], ("id",), ("ward",), 1)),
    ),
    Case(
        "bounds on bounds",
        lambda t: ask_all(
            plans.keep_rows(
                plans.keep_groups(t["visits"], ("id",), ("ward",), 1), ("id", "ward"), 1
            ),
            "id",
        ),
    ),
    Case(
        "bounds on both sides of a join",
        lambda t: ask_all(
            plans.join(
                plans.keep_rows(t["visits"], ("ward",), 1),
                plans.keep_unique(t["beds"], ("ward",)),
                ("ward",),
                outer=True,
            )
        ),
    ),
    Case(
        "bounds over a map",
        lambda t: ask_all(
            plans.keep_rows(
                plans.flat_map(t["visits"], split, 5, part="i64", ward="text"),
                ("id",),
                3,
            )
        ),
    ),
    Case(
        "bounds over lists",
        lambda t: ask(
            plans.explode(plans.keep_rows(t["visits"], ("ward",), 2), "codes"),
            "codes",
            "ward",
        ),
    ),
    Case(
        "bounds over a filter over a bound",
        lambda t: ask_all(
            plans.keep_rows(
                plans.where(plans.keep_rows(t["visits"], ("id",), 2), col("ok")),
                ("ward",),
                1,
            )
        ),
    ),
)
"""Bounds, which keep the same rows where rows are kept in the same order."""

PEOPLE: Final = Distinct(("id",))
ADDING_CASES: Final = (
    Case(
        "keep rows, few columns",
        lambda t: ask(plans.keep_rows(t["visits"], ("id",), 1), "ward"),
    ),
    Case(
        "keep rows, no columns", lambda t: ask(plans.keep_rows(t["visits"], ("id",), 1))
    ),
    Case(
        "people in wards",
        lambda t: ask(
            plans.keep_groups(t["visits"], ("id",), ("ward",), 1),
            "ward",
            totals=(Total(lit(1)), PEOPLE, Distinct(("days", "id"))),
            keys={"ward": [None, "a", "b", "z"]},
        ),
    ),
    Case(
        "rows of groups of people",
        lambda t: ask(
            plans.keep_rows(
                plans.keep_groups(t["visits"], ("id",), ("ward",), 2), ("ward", "id"), 1
            ),
            "ward",
            "ok",
            totals=(PEOPLE, Total(col("id"))),
        ),
    ),
    Case(
        "parts beyond the limits",
        lambda t: ask(
            plans.keep_rows(t["visits"], ("id",), 2),
            totals=(
                Total(lit(2**62)),
                Total((col("id") * 4 - 7) * 2**51),
                Total((col("id") * 4 - 7) * 2**54),
            ),
        ),
    ),
    Case(
        "public facts of few rows",
        lambda t: ask(
            plans.join(
                plans.where(
                    plans.renamed(
                        plans.keep_rows(t["visits"], ("id",), 3), {"id": "x"}
                    ),
                    col("days") > -1.0,
                ),
                t["beds"],
                ("ward",),
            ),
            "ward",
            totals=(Total(col("beds")), Distinct(("x",))),
        ),
    ),
)
"""Bounds of one id, whose totals may be added from parts of the ids."""

CASES: Final = PLAIN_CASES + BOUNDED_CASES + ADDING_CASES
