"""A statement's text without its parts, and the plan that DuckDB ran for it.

A part that is not stored stands where it is read: without its optimiser DuckDB stores
each part that has a name, whatever is said of it.

    WITH r0 AS NOT MATERIALIZED (SELECT ...) SELECT r0.c0 FROM r0
    ->  SELECT r0.c0 FROM (SELECT ...) AS r0

The plan that ran is held against the one that is written in the statement. Both are
kinds of nodes, each after those below it (docs/adr/0225):

    SELECT ... FROM READ_PARQUET(...) WHERE ... GROUP BY ...  ->  file, filter, groups

Left out are projections; windows over each other are one. Neither leaves out a row.

Kernel: totals.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, final

import duckdb
from sqlglot import exp
from sqlglot.generators.duckdb import DuckDBGenerator


def named_parts(tree: exp.Select) -> list[exp.CTE]:
    """Return the parts of a statement, each before those that read it."""
    named = tree.args.get("with_")
    return [] if named is None else named.expressions


def is_stored(part: exp.CTE) -> bool:
    """Tell whether the rows of a part are stored, for others to read."""
    return part.args.get("materialized") is not False


def nested_text(tree: exp.Select) -> str:
    """Return the text of a statement; however deep it is, none of it is recursive.

    >>> part = exp.select("1 AS c0")
    >>> tree = exp.select("r0.c0").from_("r0").with_("r0", part, materialized=False)
    >>> nested_text(tree)
    'SELECT r0.c0 FROM (SELECT 1 AS c0) AS r0'
    """
    writes = _NestedGenerator()
    for part in named_parts(tree):
        text = writes.generate(part.this, copy=False)
        if is_stored(part):
            writes.stored.append(f"{part.alias} AS MATERIALIZED ({text})")
        else:
            writes.nested[part.alias] = text
    return writes.generate(tree, copy=False)


@final
class _NestedGenerator(DuckDBGenerator):
    """Writes a part where it is read, by the text that it was given."""

    def __init__(self) -> None:
        super().__init__(dialect="duckdb")
        self.nested: dict[str, str] = {}
        self.stored: list[str] = []

    def table_sql(self, expression: exp.Table, sep: str = " AS ") -> str:
        text = self.nested.get(expression.name)
        if text is None:
            return super().table_sql(expression, sep)
        return f"({text}){sep}{expression.name}"

    def with_sql(self, expression: exp.With) -> str:
        del expression
        return f"WITH {', '.join(self.stored)}" if self.stored else ""


Plan: TypeAlias = tuple[str, ...]

_FILE: Final = "file"
_ROWS: Final = "rows of ours"
_PART: Final = "stored part"
_STORE: Final = "part stored"
_FILTER: Final = "filter"
_GROUPS: Final = "groups"
_WINDOW: Final = "window"
_ENTRIES: Final = "entries"
_ORDER: Final = "order"
_UNION: Final = "union"
INSERT: Final = "insert"
_KINDS: Final = {
    "READ_PARQUET": _FILE,
    "PYTHON_ARROW_SCAN": _ROWS,
    "SEQ_SCAN": _ROWS,
    "TABLE_SCAN": _ROWS,
    "CTE_SCAN": _PART,
    "CTE": _STORE,
    "FILTER": _FILTER,
    "HASH_GROUP_BY": _GROUPS,
    "UNGROUPED_AGGREGATE": _GROUPS,
    "WINDOW": _WINDOW,
    "STREAMING_WINDOW": _WINDOW,
    "UNNEST": _ENTRIES,
    "ORDER_BY": _ORDER,
    "UNION": _UNION,
    "INSERT": INSERT,
}
"""What DuckDB calls the nodes that a statement of ours has; of another name is none."""
_JOINS: Final = frozenset({
    *("HASH_JOIN", "NESTED_LOOP_JOIN", "BLOCKWISE_NL_JOIN", "PIECEWISE_MERGE_JOIN")
})
_ASKED: Final = frozenset({
    *("Function", "Table", "Type", "CTE Index", "CTE Mode", "Consumer", "Projections"),
    *("Estimated Cardinality", "Total Files Read", "Filename(s)"),
})
"""What is said of a leaf that is asked for columns, and for nothing else."""


def runs_as_written(
    connection: duckdb.DuckDBPyConnection, written: Plan, text: str, values: list[Any]
) -> bool:
    """Tell whether a text would run by the plan that is written: no row is read."""

    def root() -> Any:
        explained = connection.execute(f"EXPLAIN (FORMAT json) {text}", values)
        ((_, plan),) = explained.fetchall()
        (top,) = json.loads(plan)
        return top

    return _is_written(root, written)


def ran_as_written(connection: duckdb.DuckDBPyConnection, written: Plan) -> bool:
    """Tell whether what ran last had the plan that is written.

    Joins push filters to files while they run, of which no plan speaks before.
    """

    def root() -> Any:
        (collected,) = json.loads(connection.get_profiling_information())["operator"]
        (top,) = collected["children"]
        return top

    return _is_written(root, written)


def _is_written(root: Callable[[], Any], written: Plan) -> bool:
    # a plan that cannot be read is another one
    try:
        # equal, not only free of filters: a belief can take a filter away, too
        return tuple(_nodes(root())) == written
    except (duckdb.Error, ValueError, LookupError, TypeError, RecursionError):
        return False


def written_plan(tree: exp.Select) -> Plan:
    """Return the plan that is written in a statement.

    >>> from sqlglot import parse_one
    >>> text = "SELECT g, COUNT(*) FROM s0 JOIN keys ON g = c0 WHERE x GROUP BY g"
    >>> written_plan(parse_one(text))
    ('rows of ours', 'rows of ours', 'join inner', 'filter', 'groups')
    """
    parts: dict[str, Plan] = {}
    stored: list[str] = []
    ends: list[str] = []
    for part in named_parts(tree):
        plan = _query_plan(part.this, parts)
        if is_stored(part):
            stored += plan
            ends.append(_STORE)
            plan = (_PART,)
        parts[part.alias] = plan
    return (*stored, *_query_plan(tree, parts), *ends)


def _query_plan(query: exp.Query, parts: Mapping[str, Plan]) -> Plan:
    if isinstance(query, exp.Union):
        both = (_query_plan(side, parts) for side in (query.left, query.right))
        return (*(kind for side in both for kind in side), _UNION)
    plan: list[str] = []
    for kind in _select_plan(query, parts):
        if kind != _WINDOW or plan[-1] != _WINDOW:
            plan.append(kind)
    return tuple(plan)


def _select_plan(select: exp.Query, parts: Mapping[str, Plan]) -> Iterator[str]:
    part = select.args
    nodes = [node for listed in select.expressions for node in listed.walk()]
    yield from _item_plan(part["from_"].this, parts)
    for join in part.get("joins") or ():
        yield from _item_plan(join.this, parts)
        yield _join(join.kind or join.side or "inner")
    steps = (
        (_FILTER, part.get("where")),
        (_GROUPS, part.get("group") or any(map(_is_aggregate, nodes))),
        (_FILTER, part.get("having")),
        (_WINDOW, any(isinstance(node, exp.Window) for node in nodes)),
        (_ENTRIES, any(map(_is_unnest, nodes))),
        (_GROUPS, part.get("distinct")),
        (_ORDER, part.get("order")),
    )
    yield from (kind for kind, there in steps if there)


def _item_plan(item: exp.Expression, parts: Mapping[str, Plan]) -> Plan:
    if isinstance(item.this, exp.Anonymous):
        return (_FILE,)
    return parts.get(item.name, (_ROWS,))


def _join(kind: str) -> str:
    return f"join {kind.lower()}"


def _is_aggregate(node: exp.Expression) -> bool:
    return isinstance(node, exp.AggFunc) and not isinstance(node.parent, exp.Window)


def _is_unnest(node: exp.Expression) -> bool:
    return isinstance(node, exp.Anonymous) and node.name == "unnest"


def _nodes(root: Mapping[str, Any]) -> Iterator[str]:
    left = [(root, False)]  # no recursion: a plan may be deeper than Python's stack
    last = ""
    while left:
        node, seen = left.pop()
        if not seen:
            left.append((node, True))
            left += [(below, False) for below in reversed(_children(node))]
            continue
        kind = _kind(node)
        if kind and (kind, last) != (_WINDOW, _WINDOW):
            yield kind
        last = kind or last


def _children(node: Mapping[str, Any]) -> list[Any]:
    # a leaf of a plan that ran has no list of them
    return list(node.get("children", ()))


def _kind(node: Mapping[str, Any]) -> str:
    details = node["extra_info"]
    name = str(details.get("Function") or node.get("name") or node["type"]).strip()
    if name == "PROJECTION":
        return ""
    if name in _JOINS:
        return _join(str(details["Join Type"]))
    # whatever else a leaf says may be a filter by what a file states of itself
    if not _children(node) and set(details) - _ASKED:
        return f"{name}, asked for more than columns"
    if name == "READ_PARQUET" and details.get("Projections"):
        return f"{name}, its columns chosen by an optimiser"
    return _KINDS.get(name, name)  # an unknown name equals no kind that is written
