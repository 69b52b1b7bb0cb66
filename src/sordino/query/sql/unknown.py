"""Why some of what SQL has is not asked of a session, and what to ask instead."""

import difflib
from typing import Final

from sqlglot import exp

from sordino.errors import InvalidSQL
from sordino.query.sql.reading import Clause

_CLOCK: Final = (
    "the clock changes between two releases of one request",
    "Write the time: TIMESTAMP '2026-01-31 00:00:00'.",
)
_LISTS: Final = (
    "lists of values would show rows of people",
    "Ask COUNT(*) for each value: GROUP BY it.",
)
_ONE_DECIDES: Final = (
    "this is decided by one person",
    "Ask the share: AVG(CASE WHEN ... THEN 1.0 ELSE 0.0 END).",
)
_WHY: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.Window: (
        "a window function gives each row an answer about other people's rows",
        "Ask for groups: GROUP BY. To keep a few rows of each person, give limits=.",
    ),
    exp.Rand: (
        "this gives another answer each time, so no price covers it",
        "Leave it out. To ask of a sample, make the sample a table of its own.",
    ),
    exp.CurrentDate: _CLOCK,
    exp.CurrentTimestamp: _CLOCK,
    exp.CurrentTime: _CLOCK,
    exp.CurrentDatetime: _CLOCK,
    exp.ArrayAgg: _LISTS,
    exp.GroupConcat: _LISTS,
    exp.AnyValue: (
        "this would show the value of one person",
        "Ask COUNT(DISTINCT ...), or group by the column.",
    ),
    exp.LogicalAnd: _ONE_DECIDES,
    exp.LogicalOr: _ONE_DECIDES,
    exp.Log: (
        "LOG is of base 10 in some dialects and of base e in others",
        "Write LN(x), or LN(x) / 2.302585092994046 for base 10.",
    ),
    exp.Exists: (
        "whether another query has rows is not asked inside a query",
        "Join a public table, or ask of each person in Python.",
    ),
    exp.Subquery: (
        "a query inside an expression is not asked",
        "Ask it by itself first, or join a public table.",
    ),
    exp.Select: (
        "a query inside an expression is not asked",
        "Ask it by itself first, or join a public table.",
    ),
    exp.Null: (
        "NULL has no type here",
        "Write CAST(NULL AS BIGINT), or IS NULL to ask for it.",
    ),
    exp.Star: (
        "* would show rows of people",
        "Ask something of them: COUNT(*), or AVG(...) of a column.",
    ),
    exp.Interval: (
        "an interval stands alone",
        "Add it to a date or a time: day + INTERVAL 3 DAY.",
    ),
    exp.Placeholder: (
        "a parameter has no value here",
        "Write the value into the text.",
    ),
    exp.Parameter: (
        "a parameter has no value here",
        "Write the value into the text.",
    ),
    exp.ILike: (
        "ILIKE folds letters as each language has it",
        "Write LOWER(...) LIKE LOWER(...).",
    ),
    exp.RegexpLike: (
        "each engine has regular expressions of its own",
        "Write LIKE with % and _, or LEFT and SUBSTRING.",
    ),
}
_CLOCKS: Final = ("now", "today", "current_date", "clock_timestamp", "getdate")
_KNOWN: Final = (
    *("count", "sum", "avg", "min", "max", "median", "variance", "stddev", "clamp"),
    *("var_pop", "stddev_pop", "percentile_cont", "count_if", "abs", "floor", "ceil"),
    *(
        "round",
        "sqrt",
        "exp",
        "ln",
        "power",
        "greatest",
        "least",
        "coalesce",
        "nullif",
        "concat",
    ),
    *("length", "substring", "left", "right", "trim", "replace", "lower", "upper"),
    *("starts_with", "ends_with", "contains", "strpos", "extract", "year", "month"),
    *("day", "hour", "minute", "second", "quarter", "date_trunc", "date_diff", "cast"),
)


def unknown_part(clause: Clause) -> InvalidSQL:
    """Return the refusal of what no rule understands, with the reason if it has one."""
    if isinstance(clause.node, exp.IgnoreNulls):
        return unknown_part(clause.take("this"))
    if isinstance(clause.node, exp.Anonymous):
        return _unknown_function(clause, clause.node.name)
    if isinstance(clause.node, exp.AggFunc) and clause.kind not in _WHY:
        return clause.refusal(
            f"{clause.short_text} is not asked of people here",
            "There are COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN and "
            "PERCENTILE_CONT.",
        )
    problem, remedy = _WHY.get(
        clause.kind, (f"{clause.short_text} is not known here", "")
    )
    return clause.refusal(problem, remedy or _nearest(clause.node.key))


def _unknown_function(clause: Clause, name: str) -> InvalidSQL:
    """Return the refusal of a function that sqlglot does not know either."""
    if name.lower() in _CLOCKS:
        return clause.refusal(*_CLOCK)
    return clause.refusal(f"there is no function {name.upper()} here", _nearest(name))


def _nearest(name: str) -> str:
    """Return the names that come near."""
    near = difflib.get_close_matches(name.lower(), _KNOWN, n=2, cutoff=0.6)
    if not near:
        return "Compute it with sd.udf, or ask in Python by sd.table(...)."
    return f"Did you mean {' or '.join(near).upper()}?"
