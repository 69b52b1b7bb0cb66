"""A look at a private table, for its curator: by the rules of a session, not noisy."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sordino.constraints import AbstractConstraint
from sordino.engines.door import Settings
from sordino.engines.doors import engine_named, engine_of_sources
from sordino.engines.failures import run_guarded
from sordino.engines.sql.engine import SQLEngine
from sordino.errors import InvalidParameter
from sordino.expressions.language import col
from sordino.expressions.literals import literal
from sordino.query.gathered import Gathered
from sordino.query.nodes import AbstractNode, Filter, Source, Unreadable
from sordino.query.question import Question, Total
from sordino.query.relation import Relation
from sordino.query.steps import Enforce
from sordino.query.tables import PrivateTable
from sordino.schema import Column, Schema
from sordino.session.catalog import Catalog, open_catalog
from sordino.session.inspection_report import (
    InspectedColumn,
    InspectedIds,
    InspectedLimit,
    Inspection,
)
from sordino.sources.base import Opened
from sordino.sources.cell_shapes import CellCounts, lost_cells, seen_shapes
from sordino.units import AbstractUnit, AddOneRow

if TYPE_CHECKING:
    import pyarrow as pa

_TABLE: Final = "table"
_EACH: Final = (Total(literal(1)),)
_QUANTILES: Final = (
    ("least", 0.0),
    ("median", 0.5),
    ("90 %", 0.9),
    ("99 %", 0.99),
    ("most", 1.0),
)


def inspect(
    source: Any,
    protects: AbstractUnit | None = None,
    columns: Mapping[str, Any] | None = None,
    limits: Iterable[AbstractConstraint] = (),
) -> Inspection:
    """Return exact counts of a private table, **for its curator's eyes only**.

    What cells of which columns cannot be read and what they look like; with
    `protects=sd.AddRowsWithID(...)` how many rows ids have, and what each limit would
    cut. Nothing of it is noisy, priced or fit to be shown to anybody who may not read
    the table itself.

    >>> import sordino as sd
    >>> visits = {"person": [1, 1, 2], "days": ["3", "many", None]}
    >>> found = inspect(
    ...     visits,
    ...     protects=sd.AddRowsWithID("person"),
    ...     columns={"person": "i64", "days": "i64"},
    ...     limits=[sd.MaxRowsPerID(1)],
    ... )
    >>> print(found)
    PRIVATE: exact counts of private rows, for the curator's eyes only. No noise is
    added and nothing is charged: do not publish this or show it to analysts.
    <BLANKLINE>
    rows: 3
    person: i64, 0 missing, 0 unreadable
    days: i64, 1 (33.3 %) missing, 1 (33.3 %) unreadable
        a  1
    <BLANKLINE>
    ids (person): 2; rows without one: 0
    rows per id: least 1, median 1, 90 % 2, 99 % 2, most 2
    MaxRowsPerID(limit=1): cuts 1 (33.3 %) of the rows, of 1 (50 %) of the ids
    """
    unit = AddOneRow() if protects is None else protects
    # its curator looks at the rows as they are, however they were made
    table = PrivateTable(source, unit, columns, vouched_by="its curator")
    constraints = _check(limits, unit)
    engine = engine_named(engine_of_sources([source]), Settings())
    assert isinstance(engine, SQLEngine)  # noqa: S101 what a source chooses is one
    try:
        catalog = open_catalog(engine, {_TABLE: table})
        opened = engine.as_opened(_TABLE)
        return run_guarded(lambda: _inspect(source, opened, catalog, constraints))
    finally:
        engine.close()


def _inspect(
    source: Any,
    opened: Opened,
    catalog: Catalog,
    limits: tuple[AbstractConstraint, ...],
) -> Inspection:
    """Return the report on an opened table."""
    relation = catalog.relation(_TABLE)
    rows = _number(catalog, Source(_TABLE, relation.schema))
    columns = []
    for name, column in opened.stored.items():
        lost = lost_cells(source, opened, name, _cell_counts(catalog, name, rows))
        columns.append(InspectedColumn.of(name, column.kind, *lost))
    undeclared, unusable = _columns_without_type(opened)
    ids = relation.ids
    whose = None if ids is None else _ids(catalog, relation, ids, rows)
    cut = tuple(_count_cuts(catalog, relation, column) for column in limits)
    return Inspection(rows, tuple(columns), undeclared, unusable, whose, cut)


def _cell_counts(catalog: Catalog, name: str, rows: int) -> CellCounts:
    """Return in how many rows a column has a value, or a cell that is none."""
    table = Source(_TABLE, catalog.relation(_TABLE).schema)
    there = Filter(table, ~col(name).is_null(), table.schema)
    unread = 0
    if name in catalog.engine.lossy(_TABLE):
        unread = _number(catalog, Unreadable(_TABLE, name, Schema(())))
    return CellCounts(rows, _number(catalog, there), unread)


def _columns_without_type(
    opened: Opened,
) -> tuple[tuple[InspectedColumn, ...], dict[str, str]]:
    """Return the columns without a type, and those that cannot have one."""
    if not opened.source.untyped:
        return (), dict(opened.unusable)
    return tuple(
        InspectedColumn.of(name, "text", 0, seen_shapes(opened, place))
        for place, (name, _) in enumerate(opened.source.fields)
        if name in opened.unusable
    ), {}


def _ids(catalog: Catalog, relation: Relation, ids: str, rows: int) -> InspectedIds:
    """Return how many rows ids have: sizes and how many ids have each, not the ids."""
    size = f"rows of {ids}"
    schema = Schema((
        (ids, relation.schema[ids]),
        (size, Column("i64", nullable=False)),
    ))
    each = Gathered(relation.node, (ids,), ((size, _EACH[0]),), (), schema)
    counted = _group_sizes(catalog, each, (size,)).sort_by(size)
    sizes, counts = (column.to_numpy() for column in counted.columns)
    usable = rows - int((sizes * counts).sum())
    if not sizes.size:
        return InspectedIds(ids, 0, usable, ())
    up_to = np.cumsum(counts)
    many = int(up_to[-1])
    places = [(name, max(1, int(np.ceil(at * many)))) for name, at in _QUANTILES]
    quantiles = tuple(
        (name, int(sizes[np.searchsorted(up_to, place)])) for name, place in places
    )
    return InspectedIds(ids, many, usable, quantiles)


def _count_cuts(
    catalog: Catalog, relation: Relation, limit: AbstractConstraint
) -> InspectedLimit:
    """Return what a limit leaves out."""
    with catalog.explain_refusals():
        bounded = Enforce((limit,)).apply(replace(relation, passed=()), catalog)
    rows = _number(catalog, relation.node) - _number(catalog, bounded.node)
    ids = 0
    for place in bounded.passed:
        for count in place.counts({}):
            question = Question(count.rows, (), count.measurement.totals)
            ids += catalog.engine.answer(question).column(0)[0].as_py()
    return InspectedLimit(repr(limit), rows, ids)


def _number(catalog: Catalog, rows: AbstractNode) -> int:
    """Return how many rows there are."""
    return int(_group_sizes(catalog, rows, ()).column(0)[0].as_py())


def _group_sizes(
    catalog: Catalog, rows: AbstractNode, by: tuple[str, ...]
) -> "pa.Table":
    """Return how many rows there are in each group."""
    return catalog.engine.answer(Question(rows, by, _EACH))


def _check(limits: Any, unit: AbstractUnit) -> tuple[AbstractConstraint, ...]:
    """Return limits; anything else is refused, and so are limits without a unit."""
    listed = [limits] if isinstance(limits, AbstractConstraint) else limits
    if not isinstance(listed, (list, tuple)) or not all(
        isinstance(constraint, AbstractConstraint) for constraint in listed
    ):
        raise InvalidParameter(
            "limits",
            limits,
            "must be a list of constraints",
            "Try [sd.MaxRowsPerID(5)].",
        )
    if listed and unit.id_column is None:
        raise InvalidParameter(
            "limits",
            listed,
            "apply to the rows of an id, and no id column is named",
            'Say protects=sd.AddRowsWithID("person").',
        )
    return tuple(listed)
