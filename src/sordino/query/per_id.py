"""A table of one row for each id: what its rows come to, exactly and within bounds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar, final

from sordino.aggregations.base import AbstractAggregation, Setting
from sordino.aggregations.summaries import Summary
from sordino.aggregations.totals import AbstractTotal, Extreme
from sordino.contribution import Contribution
from sordino.errors import InvalidQuery
from sordino.expressions.fluent import lift
from sordino.expressions.language import Expression, col
from sordino.expressions.tree import AbstractTree, Col
from sordino.query.gathered import Gathered
from sordino.query.nodes import Filter, Project
from sordino.query.passage import Clipped
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.steps import AbstractStep, group_column
from sordino.schema import Column, Schema
from sordino.words import Words, call, worded_pairs

T = TypeVar("T", AbstractTotal, Extreme)
Cell = tuple[str, AbstractTree]
Asked = tuple[tuple[str, AbstractAggregation], ...]


@final
@dataclass(frozen=True)
class PerID(AbstractStep):
    """Make one row of all rows of an id, or of those in each of its groups."""

    by: tuple[str, ...]
    columns: Asked

    def words(self, catalog: AbstractCatalog) -> Words:
        """Return the groups, and the columns in their order."""
        del catalog
        columns = worded_pairs(
            (name, aggregation.words) for name, aggregation in self.columns
        )
        return call("per_id", by=list(self.by), columns=columns)

    def apply(self, relation: Relation, catalog: AbstractCatalog) -> Relation:
        """Return a row for each id and group, made of its rows alone (lemma 11)."""
        del catalog
        if relation.ids is None:
            raise InvalidQuery(
                "per_id makes one row of all rows of an id, and this table protects "
                "rows",
                'Protect ids: protects=sd.AddRowsWithID("person").',
            )
        for name in self.by:
            group_column(relation.schema, name)
        aggregations = tuple(
            (name, aggregation.with_known_bounds(relation.schema))
            for name, aggregation in self.columns
        )
        marked = relation.versions(self.by)

        def once(bounds: Contribution) -> Contribution:
            return bounds.with_group_rows(marked, 1) if marked else bounds.with_rows(1)

        return replace(
            relation,
            node=_gather(relation, (relation.ids, *self.by), aggregations),
            contribution=once(relation.contribution),
            passed=(
                *relation.passed,
                *_count_clipped(relation, relation.ids, aggregations),
            ),
            spread=relation.spread and replace(relation.spread, is_alone=False),
        )


def _gather(relation: Relation, per: Iterable[str], aggregations: Asked) -> Project:
    """Return a row for each value of some columns, with summaries of its rows."""
    schema, marks = relation.schema, tuple(dict.fromkeys(per))
    setting = Setting(schema, relation.contribution, marks, relation.ids)
    summaries = [
        (name, aggregation.summary(setting)) for name, aggregation in aggregations
    ]
    totals = _name_totals(
        ((name, summary.totals) for name, summary in summaries), marks
    )
    extremes = _name_totals(
        ((name, summary.extremes) for name, summary in summaries),
        {*marks, *dict(totals)},
    )
    facts = [(name, schema[name]) for name in marks]
    facts += [(name, Column("i64", nullable=False)) for name, _ in totals]
    facts += [
        (
            name,
            replace(extreme.expression.column(schema), nullable=True, unsettled=None),
        )
        for name, extreme in extremes
    ]
    computes = any(question.reads_made(()) for _, question in aggregations)
    columns = Schema.of(facts)
    rows = Gathered(relation.node, marks, totals, extremes, columns, computes)
    return _show(rows, summaries)


def _show(rows: Gathered, summaries: list[tuple[str, Summary]]) -> Project:
    """Return gathered rows with the columns that their totals and extremes make."""
    numbers, ends = (
        [name for name, _ in named] for named in (rows.totals, rows.extremes)
    )
    cells: list[Cell] = [(name, Col(name)) for name in rows.per]
    facts = [(name, rows.schema[name]) for name in rows.per]
    for name, summary in summaries:
        own = [numbers.pop(0) for _ in summary.totals] + [
            ends.pop(0) for _ in summary.extremes
        ]
        cell = summary.value(*map(col, own)).tree
        cells.append((name, cell))
        kind = cell.column(rows.schema).type
        column = Column(
            kind, nullable=summary.nullable, nan=False, bounds=summary.bounds
        )
        facts.append((name, column))
    return Project(rows, tuple(cells), Schema.of(facts))


def _name_totals(
    columns: Iterable[tuple[str, tuple[T, ...]]], taken: Iterable[str]
) -> tuple[tuple[str, T], ...]:
    """Return totals under names of their own: that of their column, if it is free."""
    named: dict[str, T] = {}
    for name, totals in columns:
        for total in totals:
            free = name
            while free in named or free in taken:
                free += "'"
            named[free] = total
    return tuple(named.items())


def _count_clipped(
    relation: Relation, ids: str, aggregations: Asked
) -> Iterator[Clipped]:
    """Yield what counts the ids with a value outside of bounds."""
    setting = Setting(relation.schema, relation.contribution, (ids,), ids)
    for _, aggregation in aggregations:
        clamped = None if aggregation.lacks_bounds else aggregation.clamp
        if clamped is not None:
            outside = Expression(lift(clamped.outside(setting))) == 1
            rows = Filter(relation.node, outside.tree, relation.schema)
            yield Clipped(rows, clamped.key(setting), str(clamped), ids)
