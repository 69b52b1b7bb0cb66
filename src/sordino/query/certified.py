"""A plan as a certificate has it: the tree that engines run, step by step.

What a checker must know of each step to bound what becomes of one unit's rows, read
from the nodes themselves: a limit stands there because a node limits, never because
somebody asked for it (docs/proofs/certificates.md).

Kernel: charge.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from sordino.expressions.choices import IS_IN
from sordino.expressions.dates import TRUNCATE
from sordino.expressions.language import col
from sordino.expressions.logic import (
    AND,
    AT_LEAST,
    AT_MOST,
    EQUAL,
    GREATER,
    LESS,
    OR,
)
from sordino.expressions.tree import (
    AbstractExpression,
    Call,
    Col,
    Literal,
    Operation,
    kind,
)
from sordino.numbers.canonical import Words
from sordino.query.node_rules import Layouts
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
    Kept,
    MapRows,
    Memberships,
    Project,
    PublicRows,
    Source,
    Unreadable,
    Without,
    by_kind,
)

Step: TypeAlias = dict[str, Words]
Protected: TypeAlias = Mapping[str, Step]
"""Whom each private table protects, as a certificate has it."""


@final
@dataclass(frozen=True, eq=False)
class PlanWriter:
    """Writes plans over the tables of a session."""

    protected: Protected
    multiplicity: Callable[[str, tuple[str, ...]], int]
    parts: tuple[tuple[AbstractNode, str, int], ...] = ()
    """Filters that make parts of tables, each with its column and how many parts."""
    layouts: Layouts = field(default_factory=dict)
    tables: Step = field(default_factory=dict)
    """Whom the tables protect that were written about."""

    def write(self, node: AbstractNode) -> Step:
        """Return a step with all steps below it."""
        return _STEPS[type(node)](self, node)

    def protects(self, table: str) -> Step | None:
        """Return whom a table protects, and note that it was asked."""
        unit = self.protected.get(table)
        if unit is not None:
            self.tables[table] = unit
        return unit

    @property
    def blocks(self) -> Step:
        """Return how the private tables lie in blocks, those open, in order."""
        return {
            name: None
            if layout.column is None
            else {
                "column": layout.column,
                "ends": [
                    [block, _value(least), _value(most)]
                    for block, (least, most) in layout.ends.items()
                ],
            }
            for name, layout in self.layouts.items()
            if name in self.tables
        }


def _source(writer: PlanWriter, node: Source) -> Step:
    columns: Words = list(node.schema.names)
    if writer.protects(node.table) is None:
        return {"do": "public", "table": node.table, "columns": columns}
    return {"do": "table", "table": node.table, "columns": columns, "leaves_out": []}


def _unreadable(writer: PlanWriter, node: Unreadable) -> Step:
    writer.protects(node.table)
    table: Step = {"table": node.table, "columns": list(node.schema.names)}
    # counted are ids, of which a missing one is none, or rows, of which none has one
    left_out: Words = ["without id", "below 1"]
    return table | {"do": "unreadable", "leaves_out": left_out}


def _project(writer: PlanWriter, node: Project) -> Step:
    columns: Step = {
        name: {"is": expression.name}
        if isinstance(expression, Col)
        else {"reads": sorted(expression.names())}
        for name, expression in node.columns
    }
    return {"do": "project", "of": writer.write(node.child), "columns": columns}


def _filter(writer: PlanWriter, node: Filter) -> Step:
    for part, by, count in writer.parts:
        if node is part:
            below = writer.write(node.child)
            return {"do": "part", "of": below, "by": by, "count": count}
    below = writer.write(node.child)
    if isinstance(node.child, Source) and below["do"] == "table":
        left_out = _left_out(writer.protected[node.child.table], node.condition)
        if left_out:
            return below | {"leaves_out": left_out}
    step: Step = {"do": "filter", "of": below, "reads": sorted(node.condition.names())}
    if writer.layouts:
        step["condition"] = _condition(node.condition)
    return step


def _left_out(unit: Step, condition: AbstractExpression) -> list[Words]:
    """Return whose rows a condition leaves out, where it is the one that does."""
    match unit:
        case {"protects": "AddRowsWithID", "column": str(name)}:
            known, words = ~col(name).is_null(), "without id"
        case {"protects": "AddMaxTotal", "column": str(name)}:
            known, words = col(name) >= 1, "below 1"
        case _:
            return []
    return [words] if known.tree.same(condition) else []


def _keep_rows(writer: PlanWriter, node: KeepRows) -> Step:
    below = writer.write(node.child)
    return {"do": "keep_rows", "of": below, "per": [*node.per], "limit": node.limit}


def _keep_groups(writer: PlanWriter, node: KeepGroups) -> Step:
    return {
        "do": "keep_groups",
        "of": writer.write(node.child),
        "per": [*node.per],
        "groups": [*node.groups],
        "limit": node.limit,
    }


def _keep_unique(writer: PlanWriter, node: KeepUnique) -> Step:
    return {"do": "keep_unique", "of": writer.write(node.child), "per": [*node.per]}


def _crowd(writer: PlanWriter, node: Crowded) -> Step:
    below, per, groups = writer.write(node.child), [*node.per], [*node.groups]
    return {"do": "crowded", "of": below, "per": per, "groups": groups}


def _gather(writer: PlanWriter, node: Gathered) -> Step:
    names = [name for name, _ in (*node.totals, *node.extremes)]
    below = writer.write(node.child)
    return {"do": "one_per", "of": below, "per": [*node.per], "makes": names}


def _map(writer: PlanWriter, node: MapRows) -> Step:
    return {"do": "map", "of": writer.write(node.child), "makes": [*node.returns]}


def _flat_map(writer: PlanWriter, node: FlatMap) -> Step:
    return _several(writer, node, "flat_map", [*node.returns])


def _explode(writer: PlanWriter, node: Explode) -> Step:
    return _several(writer, node, "explode", [node.column])


def _several(
    writer: PlanWriter, node: FlatMap | Explode, do: str, columns: list[str]
) -> Step:
    below = writer.write(node.child)
    return {"do": do, "of": below, "makes": columns, "limit": node.limit}


def _join(writer: PlanWriter, node: Join) -> Step:
    # the right side is a projection that gives its columns other names, and no more
    assert isinstance(node.right, Project)  # noqa: S101 so joins are made
    names = {old.name: new for new, old in node.right.columns if isinstance(old, Col)}
    right = writer.write(node.right.child)
    step: Step = {
        "do": "join",
        "left": writer.write(node.left),
        "right": right,
        "on": [*node.on],
        "outer": node.outer,
        "brings": {old: new for old, new in names.items() if new not in node.on},
    }
    if isinstance(node.right.child, Source) and right["do"] == "public":
        step["most"] = writer.multiplicity(node.right.child.table, node.on)
    return step


def _kept(writer: PlanWriter, node: Kept) -> Step:
    return writer.write(node.rows)


def _unwritten(_writer: PlanWriter, node: AbstractNode) -> Step:
    """Return a step without a rule: of rounds alone, which have their own lemma."""
    return {"do": type(node).__name__}


_STEPS: Final[Mapping[type[AbstractNode], Callable[[PlanWriter, Any], Step]]] = by_kind(
    AbstractNode,
    {
        Source: _source,
        Unreadable: _unreadable,
        Project: _project,
        Filter: _filter,
        KeepRows: _keep_rows,
        KeepGroups: _keep_groups,
        KeepUnique: _keep_unique,
        Crowded: _crowd,
        Gathered: _gather,
        MapRows: _map,
        FlatMap: _flat_map,
        Explode: _explode,
        Join: _join,
        Kept: _kept,
        PublicRows: _unwritten,
        Without: _unwritten,
        Memberships: _unwritten,
    },
)

_TESTS: Final[Mapping[Operation, str]] = {
    EQUAL: "==",
    LESS: "<",
    AT_MOST: "<=",
    GREATER: ">",
    AT_LEAST: ">=",
    IS_IN: "in",
}
_BOTH: Final[Mapping[Operation, str]] = {AND: "and", OR: "or"}


def _condition(tree: AbstractExpression) -> Words:
    """Return a condition as far as blocks can be told by it; None: not at all."""
    match tree:
        case Call(operation=operation, arguments=arguments) if operation in _BOTH:
            return {_BOTH[operation]: [*map(_condition, arguments)]}
        case Call(operation=operation, arguments=(cell, *others)):
            known = _TESTS.get(operation)
            column, starts = _column(cell)
            values = [_constant(other) for other in others]
            if known is None or column is None or None in values:
                return None
            return {
                "test": known,
                "column": column,
                "starts": starts,
                "values": values,
            }
        case _:
            return None


def _column(tree: AbstractExpression) -> tuple[str | None, list[Words]]:
    """Return a column, and of which periods the starts are taken, the first first."""
    match tree:
        case Col(name=name):
            return name, []
        case Call(operation=operation, arguments=(inner,), options=options) if (
            operation is TRUNCATE
        ):
            column, starts = _column(inner)
            return column, [*starts, options["unit"]]
        case _:
            return None, []


def _constant(tree: AbstractExpression) -> Words:
    match tree:
        case Literal(constant=constant) if constant is not None:
            finite = not isinstance(constant, float) or math.isfinite(constant)
            return _value(constant) if finite else None
        case _:
            return None


def _value(value: Any) -> Words:
    """Return a value of a column with its type."""
    match value:
        case datetime():
            return ["time", value.isoformat(timespec="microseconds")]
        case date():
            return ["date", value.isoformat()]
        case float():
            return ["f64", str(Fraction(value))]
        case _:
            return [kind(value), str(value)]
