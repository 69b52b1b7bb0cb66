"""Blocks of the tables of a session: only rows of open ones are read.

Rows of other blocks, and rows without a block, are left out right above the table: in
one place, whatever is asked and whichever engine answers.
"""

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce
from typing import Any, Final

from sordino.budgets.table_blocks import WHOLE, Blocks
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.base import AbstractExpression
from sordino.expressions.language import Expression, col
from sordino.query.covers import BlockLayout, blocks_read
from sordino.query.nodes import AbstractNode, Filter
from sordino.query.passage import AbstractPassage, Origin
from sordino.query.relation import Relation
from sordino.schema import Schema
from sordino.session.catalog import Catalog

_STEPS: Final[Mapping[str, timedelta]] = {
    "date": timedelta(days=1),
    "time": timedelta(microseconds=1),
}
"""From the last value of a period to the first one of the next."""


def refuse_unfit_tables(catalog: Catalog, blocks: Blocks | None) -> None:
    """Refuse tables that do not lie in blocks as they are said to."""
    columns = {
        name: column
        for name, column in catalog.block_columns.items()
        if column is not None
    }
    if blocks is None and columns:
        table, column = next(iter(columns.items()))
        raise InvalidParameter(
            "blocks",
            None,
            f"must say what the blocks of {column!r} of {table!r} are",
            'Try blocks=sd.Blocks(start="2026-01", every="month").',
        )
    if blocks is not None and not columns:
        raise InvalidParameter(
            "blocks",
            blocks,
            "need a table whose rows lie in blocks",
            'Try sd.PrivateTable(..., blocks="month").',
        )
    for table, column in columns.items():
        assert blocks is not None  # noqa: S101 else it was refused above
        with catalog.explain_refusals():
            kind = catalog.relations[table].schema[column].type
        blocks.refuse_unfit(kind, blocks.names)
        _refuse_unfit_unit(catalog, table, column)


def keep_open_blocks(catalog: Catalog, blocks: Blocks, names: Sequence[str]) -> None:
    """Let no row of a private table be read that is of no open block."""
    for table, column in catalog.block_columns.items():
        relation = catalog.ungated.setdefault(table, catalog.relations[table])
        layout = BlockLayout(relation.ids)
        if column is not None:
            kind = relation.schema[column].type
            own = [name for name in names if name != WHOLE]
            blocks.refuse_unfit(kind, own)
            ends = {name: blocks.ends(name, kind) for name in own}
            gate = _gate(col(column), kind, ends).tree
            layout = BlockLayout(relation.ids, column, ends, gate)
            catalog.relations[table] = _gate_rows(relation, layout)
            catalog.sentences[table] += f"; in blocks of {column!r}"
        catalog.layouts[table] = layout


def blocks_of(
    catalog: Catalog, nodes: Iterable[AbstractNode], names: Sequence[str]
) -> tuple[str, ...]:
    """Return the blocks that some rows can be of, in the order of opening."""
    read = blocks_read(nodes, catalog.layouts)
    if not read:
        newest = [name for name in names if name != WHOLE][-1:]
        known = f"the newest is {newest[0]!r}" if newest else "none is open yet"
        raise InvalidQuery(
            f"it asks for rows of no open block: {known}",
            "A period opens when it is over, in UTC, for sessions that are made then; "
            "a named block when a session names it.",
        )
    return tuple(name for name in names if name in read)


def _refuse_unfit_unit(catalog: Catalog, table: str, column: str) -> None:
    """Refuse whom blocks cannot protect: whose rows change, or are always as many."""
    relation, unit = catalog.relations[table], catalog.units[table]
    weighed = relation.weighed
    if unit.fixes_size:
        raise InvalidParameter(
            "blocks",
            column,
            f"cannot be given for {table!r}: it protects what stands in a row, as if "
            "the number of rows were fixed, and blocks are for tables that grow",
            "Protect rows or ids: protects=sd.AddOneRow().",
        )
    if weighed is not None and column in weighed.names_in(relation.schema):
        raise InvalidParameter(
            "blocks",
            column,
            f"cannot be what people add to in {table!r}: it must not change",
            "Name the column of arrival, or of cohorts.",
        )


def _gate(cell: Expression, kind: str, ends: Mapping[str, tuple[Any, Any]]) -> Any:
    """Return the condition that rows of open blocks satisfy, and no others."""
    if not ends:
        return cell.is_null() & ~cell.is_null()
    if kind in {"text", "i64"}:
        return cell.is_in([least for least, _ in ends.values()])
    runs = [
        (cell >= least) & (cell <= greatest)
        for least, greatest in _runs(sorted(ends.values()), _STEPS[kind])
    ]
    return reduce(operator.or_, runs)


def _runs(pairs: list[tuple[Any, Any]], step: timedelta) -> Iterator[tuple[Any, Any]]:
    """Yield ranges, those that follow each other without a gap as one."""
    least, greatest = pairs[0]
    for low, high in pairs[1:]:
        if low > greatest + step:
            yield least, greatest
            least = low
        greatest = high
    yield least, greatest


def _gate_rows(relation: Relation, layout: BlockLayout) -> Relation:
    """Return the rows of open blocks, and what is counted beside them likewise."""
    gate, column = layout.gate, layout.column
    assert gate is not None  # noqa: S101 asked of tables with blocks
    assert column is not None  # noqa: S101 likewise
    mark = Schema(((column, relation.schema[column]),))
    passed = tuple(_gate_count(place, gate, mark) for place in relation.passed)
    rows = Filter(relation.node, gate, relation.schema)
    return replace(relation.with_some_rows(rows, gate), passed=passed)


def _gate_count(
    place: AbstractPassage, gate: AbstractExpression, mark: Schema
) -> AbstractPassage:
    """Return what counts cells of the table, those in rows of open blocks alone.

    Of these rows nothing more is known than of the table: some may have no id.
    """
    match place:
        case Origin():
            columns = dict(mark.columns) | dict(place.carried.columns)
            return replace(place, gate=gate, carried=Schema(tuple(columns.items())))
        case _:
            return place
