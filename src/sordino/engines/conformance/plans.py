"""Plans that every engine must answer as the memory engine does, and their tables."""

import datetime as dt
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, final

import pyarrow as pa

from sordino.aggregations.measurement import (
    AbstractTotal,
    Distinct,
    Extreme,
    Missing,
    Total,
)
from sordino.data.source import sort_values, values_of
from sordino.expressions.bins import steps
from sordino.expressions.language import col, lit
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.expressions.tree import AbstractExpression
from sordino.query.node_rules import narrow_schema
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    FlatMap,
    Gathered,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Question,
    Source,
    Without,
)


def project_to(child: AbstractNode, **columns: AbstractExpression) -> Project:
    """Return exactly these columns."""
    named = tuple(columns.items())
    schema = Schema.of(
        (name, expression.column(child.schema)) for name, expression in named
    )
    return Project(child, named, schema)


def rename_columns(child: AbstractNode, names: dict[str, str]) -> Project:
    """Return all columns, some under another name."""
    return project_to(
        child, **{names.get(name, name): col(name) for name in child.schema}
    )


def filter_rows(child: AbstractNode, condition: AbstractExpression) -> Filter:
    """Return the rows for which a condition is true."""
    return Filter(child, condition, child.schema)


def bound_rows(child: AbstractNode, per: Iterable[str], limit: int) -> KeepRows:
    """Return at most `limit` rows each."""
    names = tuple(per)
    return KeepRows(child, names, child.schema.other_names(names), limit, child.schema)


def bound_groups(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], limit: int
) -> KeepGroups:
    """Return all rows of at most `limit` groups each."""
    return KeepGroups(child, tuple(per), tuple(groups), limit, child.schema)


def crowded_ids(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], limit: int
) -> Crowded:
    """Return a row for each value with more rows, or groups, than a limit."""
    names = tuple(per)
    return Crowded(
        child, names, tuple(groups), limit, narrow_schema(child.schema, names)
    )


def rows_without(
    left: AbstractNode, right: AbstractNode | pa.Table, on: Iterable[str]
) -> Without:
    """Return the rows that agree with none of others, or of a public table."""
    names = tuple(on)
    if isinstance(right, pa.Table):
        right = PublicRows(right, narrow_schema(left.schema, names))
    return Without(left, right, names, left.schema)


def sized_memberships(
    child: AbstractNode, per: Iterable[str], groups: Iterable[str], size: str = "size"
) -> Memberships:
    """Return a row for each value and each of its groups, with their number."""
    sides = tuple(per), tuple(groups)
    narrow = narrow_schema(child.schema, {*sides[0], *sides[1]})
    schema = Schema((*narrow.columns, (size, Column("i64", nullable=False))))
    return Memberships(child, *sides, size, schema)


def gather_rows(
    child: AbstractNode, *per: str, **results: AbstractTotal | Extreme
) -> Gathered:
    """Return a row for each value of some columns, with totals and extremes."""
    extremes = {
        name: result for name, result in results.items() if isinstance(result, Extreme)
    }
    totals = {
        name: result
        for name, result in results.items()
        if not isinstance(result, Extreme)
    }
    facts = [(name, child.schema[name]) for name in per]
    facts += [(name, Column("i64", nullable=False)) for name in totals]
    facts += [
        (name, Column(extreme.expression.column(child.schema).type))
        for name, extreme in extremes.items()
    ]
    schema = Schema.of(facts)
    return Gathered(child, per, (*totals.items(),), (*extremes.items(),), schema)


def bound_unique(child: AbstractNode, per: Iterable[str]) -> KeepUnique:
    """Return the rows that are alone."""
    return KeepUnique(child, tuple(per), child.schema)


def join_rows(
    left: AbstractNode, right: AbstractNode, on: Iterable[str], *, outer: bool = False
) -> Join:
    """Return pairs of rows."""
    names = tuple(on)
    further = [pair for pair in right.schema.columns if pair[0] not in names]
    schema = Schema.of((*left.schema.columns, *further))
    return Join(left, right, names, outer, schema)


def explode_rows(child: AbstractNode, column: str, limit: int | None = None) -> Explode:
    """Return a row for each entry of a list."""
    columns = dict(child.schema.columns)
    columns[column] = Column(child.schema[column].type[5:-1])
    return Explode(child, column, limit, Schema.of(columns.items()))


def call_rows(
    child: AbstractNode, function: Callable[[dict[str, Any]], Any], **returns: str
) -> MapRows:
    """Return rows with further columns."""
    further = [(name, Column(kind)) for name, kind in returns.items()]
    schema = Schema.of((*child.schema.columns, *further))
    return MapRows(child, function, tuple(returns), schema)


def call_flat(
    child: AbstractNode,
    function: Callable[[dict[str, Any]], Any],
    limit: int | None,
    **returns: str,
) -> FlatMap:
    """Return the rows that a function makes of each."""
    columns = dict(child.schema.columns)
    columns.update((name, Column(kind)) for name, kind in returns.items())
    return FlatMap(child, function, tuple(returns), limit, Schema.of(columns.items()))


def question_of(
    rows: AbstractNode,
    *by: str,
    totals: tuple[AbstractTotal, ...] = (),
    keys: Mapping[str, Any] | None = None,
) -> Question:
    """Return a question: how many rows, unless it asks for other totals."""
    table = None
    if keys is not None:
        kinds = [arrow_type(rows.schema[name].type) for name in keys]
        arrays = map(pa.array, keys.values(), kinds)
        table = pa.Table.from_arrays(list(arrays), names=list(keys))
    return Question(rows, by, totals or (Total(lit(1)),), table)


def whole_question(rows: AbstractNode, *by: str) -> Question:
    """Return a question that reads each column, so that none is pruned."""
    columns = (
        Distinct((name,))
        for name in rows.schema
        if "list" not in rows.schema[name].type
    )
    return question_of(rows, *by, totals=(Total(lit(1)), *columns))


NAN: Final = math.nan
ODD: Final = ('a"b;--', "", "a.b", "select", "line\nbreak", "A.B", "$salt", "c0")

VISITS: Final = pa.table({
    "id": pa.array([1, 1, 1, 1, 2, 2, 3, None, None, None, 4, 4], pa.int64()),
    "ward": ["a", "b", "b", "c", "a", None, "é", "a", "a", "b", "e\u0301", "e\u0301"],
    "days": [1.0, -0.0, 0.0, NAN, -NAN, None, math.inf, 2.5, 2.5, -1e300, 3.0, 3.0],
    "ok": [True, False, None, True, True, True, False, None, True, False, True, True],
    "born": pa.array([
        dt.date(1, 1, 1),
        dt.date(9999, 12, 31),
        None,
        *[dt.date(2000, 2, 29)] * 9,
    ]),
    "seen": pa.array([*range(11), None], pa.timestamp("us")),
    "codes": [[1, 2, 2], [], None, [3], [4, None], [5], [6], [7], [8], [9], [1], [1]],
})
WARDS: Final = pa.table({
    "ward": ["a", "a", "b", None, "é", "z"],
    "days": pa.array([0.0, NAN, 2.5, 1.0, math.inf, 7.0]),
    "beds": [10, 11, 12, 13, 14, 15],
})
STRANGE: Final = pa.table(
    [pa.array([n, n, None, 7]) for n in range(len(ODD))], names=list(ODD)
)
TABLES: Final[Mapping[str, pa.Table]] = {
    "visits": VISITS,
    "wards": WARDS,
    "beds": WARDS.select(["ward", "beds"]),
    "rates": WARDS.select(["days", "beds"]),
    "strange": STRANGE,
    "empty": VISITS.slice(0, 0),
}

Sources = Mapping[str, Source]


def sortable_rows(answer: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of an answer as values that compare as groups do."""
    if not answer.num_columns:
        return [()] * answer.num_rows
    columns = [values_of(column.combine_chunks()) for column in answer.columns]
    return [sort_values(row) for row in zip(*columns, strict=True)]


def comparable_answer(question: Question, answer: pa.Table) -> tuple[Any, ...]:
    """Return an answer as what must be equal for any two engines."""
    rows = sortable_rows(answer)
    return (answer.schema, rows if question.keys is not None else sorted(rows))


@final
@dataclass(frozen=True)
class Case:
    """A question by its name, which is built when the tables are open."""

    name: str
    asked: Callable[[Sources], Question]


def case_about(
    name: str,
    rows: Callable[[Sources], AbstractNode],
    *by: str,
    totals: tuple[AbstractTotal, ...] = (),
    keys: Mapping[str, Any] | None = None,
) -> Case:
    """Return a case of a question about some rows."""
    return Case(name, lambda t: question_of(rows(t), *by, totals=totals, keys=keys))


def whole_case(name: str, rows: Callable[[Sources], AbstractNode], *by: str) -> Case:
    """Return a case that reads each column of some rows."""
    return Case(name, lambda t: whole_question(rows(t), *by))


def case_by_column(name: str) -> Case:
    """Return a case of groups by a column."""
    return case_about(f"by {name}", itemgetter("visits"), name)


def case_of_odd_column(name: str) -> Case:
    """Return a case of a column of an odd name."""
    totals = (Total(col(name)), Distinct((name,)))
    return case_about(f"column {name!r}", itemgetter("strange"), name, totals=totals)


def endless_rows(row: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Yield rows without end; every third is missing."""
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
    case_about("count", itemgetter("visits")),
    case_about("count of nothing", itemgetter("empty")),
    case_about("groups of nothing", itemgetter("empty"), "ward"),
    case_about("keys of nothing", itemgetter("empty"), "ward", keys={"ward": ["a"]}),
    case_about("no keys", itemgetter("visits"), "ward", keys={"ward": []}),
    *map(case_by_column, BY),
    whole_case("by all", itemgetter("visits"), *BY),
    *map(case_of_odd_column, ODD),
    case_about(
        "keys of text",
        itemgetter("visits"),
        "ward",
        totals=(Total(col("id")), Total(lit(None, "i64")), Distinct(("id", "days"))),
        keys={"ward": [None, "A", "a", "b", "e\u0301", "\u00e9", "z"]},
    ),
    case_about(
        "keys of doubles",
        itemgetter("visits"),
        "days",
        keys={"days": [None, -1e300, 0.0, NAN]},
    ),
    case_about(
        "keys of a range",
        itemgetter("visits"),
        "id",
        totals=(Total(lit(1)), Total(col("id"))),
        keys={"id": [-1, 0, 1, 2, 3]},
    ),
    case_about(
        "keys of a box",
        lambda t: project_to(t["visits"], id=col("id"), n=col("id") * 2 - 1),
        "id",
        "n",
        keys={"id": [1, 1, 1, 2, 2, 2], "n": [1, 2, 3, 1, 2, 3]},
    ),
    case_about(
        "two keys",
        itemgetter("visits"),
        "ok",
        "ward",
        totals=(Total(lit(-3)), Total(lit(1))),
        keys={"ok": [None, True, True, False], "ward": ["b", "a", None, "a"]},
    ),
    whole_case("distinct", itemgetter("visits")),
    case_about(
        "distinct pairs",
        itemgetter("visits"),
        totals=(Distinct(("ward", "days")), Distinct(BY)),
    ),
    case_about(
        "saturated",
        itemgetter("visits"),
        "ok",
        totals=(Total(col("id") * 2**52), Total(lit(-(2**52))), Total(lit(2**62))),
    ),
    case_about(
        "wide sums",
        lambda t: project_to(t["visits"], id=col("id"), n=col("id") * 2**60),
        totals=(Total(col("n")), Total(-col("n") + col("id"))),
    ),
    case_about(
        "missing",
        itemgetter("visits"),
        "ward",
        totals=(
            Total(lit(1)),
            *(Missing(steps(col("days"), -2, 9, 0, origin)) for origin in (0, -2)),
            *(Missing(col("days").cast("i64"), times) for times in (-3, 2**53)),
        ),
    ),
    whole_case(
        "project",
        lambda t: project_to(
            t["visits"], ward=col("days"), days=col("days") + col("id")
        ),
    ),
    case_about("project to nothing", lambda t: project_to(t["visits"])),
    whole_case("filter", lambda t: filter_rows(t["visits"], col("days") > 1.0)),
    whole_case("filter by bool", lambda t: filter_rows(t["visits"], col("ok"))),
    whole_case("keep unique", lambda t: bound_unique(t["visits"], ("id",)), "id"),
    whole_case(
        "keep unique pairs", lambda t: bound_unique(t["visits"], ("ward", "days"))
    ),
    whole_case("join", lambda t: join_rows(t["visits"], t["beds"], ("ward",))),
    whole_case(
        "left join", lambda t: join_rows(t["visits"], t["beds"], ("ward",), outer=True)
    ),
    whole_case(
        "join on doubles",
        lambda t: join_rows(t["visits"], t["wards"], ("ward", "days")),
    ),
    case_about(
        "left join on doubles",
        lambda t: join_rows(t["visits"], t["rates"], ("days",), outer=True),
        "beds",
    ),
    whole_case(
        "join with itself",
        lambda t: join_rows(
            t["visits"],
            rename_columns(
                project_to(t["visits"], id=col("id"), ward=col("ward")),
                {"ward": "other"},
            ),
            ("id",),
        ),
    ),
    case_about(
        "join with nothing", lambda t: join_rows(t["empty"], t["beds"], ("ward",))
    ),
    case_about(
        "explode",
        lambda t: explode_rows(t["visits"], "codes"),
        "codes",
        totals=(Total(lit(1)), Total(col("codes"))),
    ),
    case_about(
        "explode two",
        lambda t: explode_rows(t["visits"], "codes", 2),
        "id",
        totals=(Total(lit(1)), Total(col("codes"))),
    ),
    case_about("explode unseen", lambda t: explode_rows(t["visits"], "codes"), "id"),
    case_about(
        "map",
        lambda t: call_rows(t["visits"], lambda row: {"n": len(row["codes"])}, n="i64"),
        "n",
        "id",
    ),
    case_about(
        "map unseen", lambda t: call_rows(t["visits"], lambda _: {"n": 1}, n="i64")
    ),
    case_about(
        "map of no columns",
        lambda t: call_rows(
            project_to(t["visits"]), lambda row: {"n": len(row)}, n="i64"
        ),
        "n",
    ),
    case_about(
        "broken map",
        lambda t: call_rows(t["visits"], broken_values, n="i64", x="f64", y="text"),
        "n",
        "x",
        "y",
    ),
    case_about(
        "map no dict",
        lambda t: call_rows(t["visits"], lambda _: [("n", 1)], n="i64"),
        "n",
    ),
    case_about(
        "flat map without end",
        lambda t: call_flat(t["visits"], endless_rows, 5, part="i64", ward="text"),
        "part",
        "ward",
        "id",
    ),
    case_about(
        "flat map half-way",
        lambda t: call_flat(t["visits"], rows_then_failure, None, code="i64"),
        "code",
    ),
    case_about(
        "flat map of nothing",
        lambda t: call_flat(t["visits"], lambda _: 7, 3, code="i64"),
    ),
    case_about(
        "flat map counted",
        lambda t: call_flat(t["visits"], endless_rows, 4, part="i64"),
    ),
    case_about(
        "flat map of a map",
        lambda t: filter_rows(
            call_flat(
                call_rows(t["visits"], lambda row: {"n": row["id"]}, n="i64"),
                lambda row: [{"m": row["n"]}] * (row["n"] or 0),
                3,
                m="i64",
            ),
            col("m") > 1,
        ),
        "m",
    ),
)
"""Each kind of node that keeps no choice, and each kind of total."""
