"""A look at a private table, for its curator."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.measurement import Total
from sordino.data.cell_shapes import CellCounts, lost_cells, seen_shapes
from sordino.data.limits import AbstractConstraint
from sordino.data.proposals import CsvProposal, propose_declaration
from sordino.data.source import Opened
from sordino.data.tables import PrivateTable
from sordino.data.units import AbstractUnit, AddOneRow
from sordino.engines.doors import Settings, engine_named, engine_of_sources
from sordino.engines.failures import run_guarded
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import InvalidParameter
from sordino.expressions.language import col, when
from sordino.expressions.literals import literal
from sordino.expressions.schema import Column, Schema
from sordino.query.nodes import (
    AbstractNode,
    Gathered,
    Question,
    Source,
    Unreadable,
)
from sordino.query.steps import Enforce, Relation
from sordino.session.tables import Catalog, open_catalog

if TYPE_CHECKING:
    import pyarrow as pa


PRIVATE: Final = (
    "PRIVATE: exact counts of private rows, for the curator's eyes only. No noise is\n"
    "added and nothing is charged: do not publish this or show it to analysts."
)
_MOST: Final = 5


@final
@dataclass(frozen=True)
class InspectedColumn:
    """How the cells of one column are read."""

    name: str
    type: str
    missing: int
    unreadable: int
    shapes: tuple[tuple[str, int], ...]
    """What cells that cannot be read look like, the most frequent first."""
    more: int
    """How many further shapes there are."""

    @classmethod
    def of(
        cls, name: str, kind: str, missing: int, counts: Counter[str]
    ) -> "InspectedColumn":
        """Return the most frequent shapes of a column."""
        shapes = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        total = sum(counts.values())
        more = max(0, len(shapes) - _MOST)
        return cls(name, kind, missing, total, shapes[:_MOST], more)

    def lines(self, rows: int) -> Iterator[str]:
        """Yield what is missing, and the shapes of what cannot be read."""
        missing, lost = part(self.missing, rows), part(self.unreadable, rows)
        yield f"{self.name}: {self.type}, {missing} missing, {lost} unreadable"
        yield from (f"    {shape}  {times:,}" for shape, times in self.shapes)
        if self.more:
            yield f"    and {self.more:,} other shapes"


@final
@dataclass(frozen=True)
class InspectedIds:
    """How many rows ids have."""

    column: str
    ids: int
    without: int
    """Rows without an id."""
    quantiles: tuple[tuple[str, int], ...]
    """Rows of an id: the least, some quantiles, the most."""

    def lines(self) -> Iterator[str]:
        """Yield how many ids there are, and the rows that they have."""
        yield f"ids ({self.column}): {self.ids:,}; rows without one: {self.without:,}"
        quantiles = ", ".join(f"{name} {count:,}" for name, count in self.quantiles)
        yield f"rows per id: {quantiles}" if quantiles else "rows per id: none"


@final
@dataclass(frozen=True)
class InspectedLimit:
    """What a limit by itself would leave out."""

    limit: str
    rows: int
    ids: int

    def line(self, rows: int, ids: int) -> str:
        """Return the rows that are cut, and the ids they are of."""
        cut, whose = part(self.rows, rows), part(self.ids, ids)
        return f"{self.limit}: cuts {cut} of the rows, of {whose} of the ids"


@final
@dataclass(frozen=True, repr=False)
class Inspection:
    """A look at a private table, for its curator.

    **Private.** It holds exact counts of private rows, and shows them.
    """

    rows: int
    columns: tuple[InspectedColumn, ...]
    undeclared: tuple[InspectedColumn, ...]
    """Columns of text without a declared type: the shapes of all their cells."""
    unusable: Mapping[str, str]
    """For each column that cannot be used, why."""
    ids: InspectedIds | None
    limits: tuple[InspectedLimit, ...]
    proposal: CsvProposal | None = None
    """How a file whose columns were not declared could be, told from its cells."""

    def __repr__(self) -> str:
        """Show the report, with a warning first that it is private."""
        return "\n".join(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, marked as private."""
        return {
            "private": True,
            "rows": self.rows,
            "columns": [_column(column) for column in self.columns],
            "undeclared": [_column(column) for column in self.undeclared],
            "unusable": dict(self.unusable),
            "ids": None if self.ids is None else _ids(self.ids),
            "limits": [
                {"limit": limit.limit, "rows_cut": limit.rows, "ids_cut": limit.ids}
                for limit in self.limits
            ],
            "proposal": None if self.proposal is None else self.proposal.to_dict(),
        }

    def _lines(self) -> Iterator[str]:
        yield PRIVATE
        if self.proposal is not None:
            yield "\nNothing was declared. By its cells the file could be"
            yield f"    {self.proposal}"
            yield from (f"    not sure: {doubt}" for doubt in self.proposal.doubts)
            yield "and is read so here."
        yield f"\nrows: {self.rows:,}"
        for column in self.columns:
            yield from column.lines(self.rows)
        for column in self.undeclared:
            yield f"{column.name}: not declared; its cells look like"
            yield from list(column.lines(self.rows))[1:]
        for name, reason in self.unusable.items():
            yield f"{name}: cannot be used: {reason}"
        if self.ids is not None:
            yield ""
            yield from self.ids.lines()
            owned = self.rows - self.ids.without
            yield from (limit.line(owned, self.ids.ids) for limit in self.limits)


def part(count: int, whole: int) -> str:
    """Return a count and its share.

    >>> part(3, 12), part(0, 0)
    ('3 (25 %)', '0')
    """
    share = f" ({100 * count / whole:.3g} %)" if count and whole else ""
    return f"{count:,}{share}"


def _column(column: InspectedColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "missing": column.missing,
        "unreadable": column.unreadable,
        "shapes": dict(column.shapes),
        "further_shapes": column.more,
    }


def _ids(ids: InspectedIds) -> dict[str, Any]:
    return {
        "column": ids.column,
        "ids": ids.ids,
        "rows_without": ids.without,
        "rows_per_id": dict(ids.quantiles),
    }


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
    proposal = propose_declaration(source) if not columns else None
    if proposal is not None:
        # of texts the shapes are shown instead
        types = {
            name: kind
            for name, kind in proposal.columns.items()
            if kind != "text" or name == unit.id_column
        }
        source = proposal.source(source, types)
    # its curator looks at the rows as they are, however they were made
    table = PrivateTable(source, unit, columns, vouched_by="its curator")
    constraints = _check(limits, unit)
    engine = engine_named(engine_of_sources([source]), Settings())
    assert isinstance(engine, SQLEngine)  # noqa: S101 what a source chooses is one
    try:
        catalog = open_catalog(engine, {_TABLE: table})
        opened = engine.as_opened(_TABLE)
        look = run_guarded(lambda: _inspect(source, opened, catalog, constraints))
        return replace(look, proposal=proposal)
    finally:
        engine.close()


def _inspect(
    source: Any,
    opened: Opened,
    catalog: Catalog,
    limits: tuple[AbstractConstraint, ...],
) -> Inspection:
    relation = catalog.relation(_TABLE)
    rows, *read = _count_cells(catalog, Source(_TABLE, relation.schema), opened.stored)
    columns = []
    for (name, column), there in zip(opened.stored.items(), read, strict=True):
        unread = partial(_count_unread, catalog, name)
        lost = lost_cells(source, opened, name, CellCounts(rows, there, unread))
        columns.append(InspectedColumn.of(name, column.kind, *lost))
    undeclared, unusable = _columns_without_type(opened)
    ids = relation.ids
    whose = None if ids is None else _inspected_ids(catalog, relation, ids, rows)
    cut = tuple(_count_cuts(catalog, relation, column) for column in limits)
    return Inspection(rows, tuple(columns), undeclared, unusable, whose, cut)


def _count_cells(
    catalog: Catalog, table: Source, names: Iterable[str]
) -> Iterator[int]:
    """Yield how many rows there are, and values of each column: in one scan."""
    there = (when(col(name).is_null()).then(0).otherwise(1).tree for name in names)
    totals = (*_EACH, *map(Total, there))
    counted = catalog.engine.answer(Question(table, (), totals))
    yield from (column[0].as_py() for column in counted.columns)


def _count_unread(catalog: Catalog, name: str) -> int:
    if name not in catalog.engine.lossy(_TABLE):
        return 0
    return _number(catalog, Unreadable(_TABLE, name, Schema(())))


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


def _inspected_ids(
    catalog: Catalog, relation: Relation, ids: str, rows: int
) -> InspectedIds:
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
    with catalog.explain_refusals():
        bounded = Enforce((limit,)).apply(replace(relation, passed=()), catalog)
    rows = _number(catalog, relation.node) - _number(catalog, bounded.node)
    ids = 0
    for place in bounded.passed[:1]:  # the limit; the rows that it cuts are known
        for count in place.counts({}):
            question = Question(count.rows, (), count.measurement.totals)
            ids += catalog.engine.answer(question).column(0)[0].as_py()
    return InspectedLimit(repr(limit), rows, ids)


def _number(catalog: Catalog, rows: AbstractNode) -> int:
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
