"""The meaning of every question, in plain Python: what other engines are tested by.

Rows are dicts, a bounded group is a sorted list, a total is a sum of integers. It is
clear and slow: for small tables and for tests.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, final

import pyarrow as pa

from sordino.aggregations.measurement import (
    MOST,
    AbstractTotal,
    Distinct,
    Extreme,
    Missing,
    Total,
)
from sordino.data.arrow import freeze_source, table_in_memory, without_rows
from sordino.data.source import Opened, lookup, refuse_changed, sort_values, values_of
from sordino.engines.doors import Settings, open_source
from sordino.engines.engine import AbstractEngine, flat_mapped, mapped_row
from sordino.engines.failures import CLOSED, run_guarded, run_uncharged
from sordino.errors import EngineUnavailable
from sordino.expressions.schema import Column, Schema, arrow_type
from sordino.noise.sampling.bits import Bits
from sordino.query.node_rules import MOST as MOST_KEPT
from sordino.query.node_rules import PlanNames, prune_question, with_kept_rows
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
    Question,
    Source,
    Unreadable,
    Without,
    by_kind,
    tables_of,
)

Row: TypeAlias = dict[str, Any]


def key_of(row: Row, names: Iterable[str]) -> tuple[Any, ...]:
    """Return the values of some columns, equal where an engine sees no difference."""
    return sort_values(row[name] for name in names)


def exact_total(wanted: AbstractTotal, rows: list[Row]) -> int:
    """Return a total of rows, held within its limits."""
    total: int = _TOTALS[type(wanted)](wanted, rows)
    return total


def exact_extreme(wanted: Extreme, rows: list[Row]) -> Any:
    """Return an extreme of the values that are there, missing where none is."""
    values = (wanted.expression.value(row) for row in rows)
    there = [value for value in values if value is not None]
    return (max if wanted.is_greatest else min)(there, default=None)


def _total(wanted: Total, rows: list[Row]) -> int:
    values = (wanted.expression.value(row) for row in rows)
    total: int = sum(wanted.factor * x + wanted.shift for x in values if x is not None)
    return max(-MOST, min(MOST, total))


def _missing_rows(wanted: Missing, rows: list[Row]) -> int:
    lost = sum(wanted.expression.value(row) is None for row in rows)
    return max(-MOST, min(MOST, wanted.times * lost))


def _distinct(wanted: Distinct, rows: list[Row]) -> int:
    complete = (row for row in rows if all(row[n] is not None for n in wanted.columns))
    return len({key_of(row, wanted.columns) for row in complete})


_Count: TypeAlias = Callable[[Any, list[Row]], int]
_TOTALS: Final[Mapping[type[AbstractTotal], _Count]] = by_kind(
    AbstractTotal, {Total: _total, Missing: _missing_rows, Distinct: _distinct}
)


Order: TypeAlias = Callable[[list[tuple[Any, ...]], tuple[str, ...]], Sequence[Any]]
"""Returns, for tuples of values of some types, by what they are put in order."""


def keyed_order(salt: int) -> Order:
    """Return the order of a keyed hash of the values."""
    key = salt.to_bytes(8, "little")

    def order(rows: list[tuple[Any, ...]], kinds: tuple[str, ...]) -> list[bytes]:
        del kinds
        texts = (
            repr(sort_values(row)).encode("utf-8", "backslashreplace") for row in rows
        )
        return [hashlib.blake2b(text, key=key).digest() for text in texts]

    return order


def memory_of_settings(settings: Settings) -> "MemoryEngine":
    """Return an engine; it has nothing that could be set."""
    del settings
    return MemoryEngine()


@final
class MemoryEngine(AbstractEngine):
    """Answers questions about small tables, row by row."""

    def __init__(self, *, order: Order | None = None) -> None:
        self._order = order or keyed_order(Bits().word(8))
        self._tables: dict[str, Opened] = {}
        self._frozen: dict[str, pa.Table] = {}
        self._plans = PlanNames()
        self._kept: dict[str, list[Row]] = {}
        self._closed = False

    def open(self, table: str, source: Any, declared: Mapping[str, Column]) -> Schema:
        self.forget()
        self._tables[table] = open_source(source, declared)
        return self._tables[table].schema

    def freeze(self, table: str) -> None:
        opened = lookup(self._tables, table)
        self._frozen[table] = run_uncharged(lambda: self._copy(table, opened.schema))
        self._tables[table] = freeze_source(opened, self._frozen[table])

    def multiplicity(self, table: str, on: tuple[str, ...]) -> int:
        opened = lookup(self._tables, table)
        narrow = Schema(tuple((name, opened.schema[name]) for name in on))
        return run_uncharged(
            lambda: _multiplicity(self.rows(Source(table, narrow)), on)
        )

    def forget(self) -> None:
        self._kept.clear()

    def close(self) -> None:
        self._closed = True
        self.forget()
        self._tables.clear()
        self._frozen.clear()

    def prepare(self, question: Question) -> Callable[[], pa.Table]:
        if self._closed:
            raise EngineUnavailable(CLOSED)
        run_uncharged(lambda: self._rehearse(question))
        return lambda: self.answer(question)

    def answer(self, question: Question) -> pa.Table:
        return run_guarded(lambda: self._answer(question))

    def statement(self, question: Question) -> str:
        if self._closed:
            raise EngineUnavailable(CLOSED)
        return "\n".join(_steps(question.rows))

    def rows(self, node: AbstractNode) -> list[Row]:
        """Return the rows of a node."""
        return list(_WORK[type(node)](self, node))

    def kept_rows(self, node: Kept) -> Iterator[Row]:
        """Yield the rows that are kept of a plan, made when they are first asked."""
        known = self._kept.pop(node.name, None)
        rows = self.rows(node.rows) if known is None else known
        self._kept[node.name] = rows
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        for row in rows:
            yield _pick(row, node.schema)

    def stored_rows(self, node: Source) -> list[Row]:
        """Return the rows of a table, as our types."""
        return self._read_rows(node.table, node.schema.names)

    def unreadable(self, node: Unreadable) -> list[Row]:
        """Return the rows of a table with a cell that has no value."""
        opened = lookup(self._tables, node.table)
        cells = opened.source.read([opened.stored[node.column].place])
        natural = values_of(cells.column(0).combine_chunks())
        rows = self._read_rows(node.table, (node.column, *node.schema.names))
        return [
            _pick(row, node.schema)
            for row, cell in zip(rows, natural, strict=True)
            if cell is not None and row[node.column] is None
        ]

    def _read_rows(self, table: str, names: tuple[str, ...]) -> list[Row]:
        opened = lookup(self._tables, table)
        columns = [opened.stored[name] for name in names]
        cells = opened.source.read([column.place for column in columns])
        # of no columns a source has one that stands for none: it is not read
        natural = [
            values_of(cells.column(n).combine_chunks()) for n in range(len(columns))
        ]
        lists = [
            values
            if column.reading is None
            else [column.reading.value({"x": value}) for value in values]
            for column, values in zip(columns, natural, strict=True)
        ]
        return [
            dict(zip(names, values, strict=True))
            for values in (zip(*lists, strict=True) if lists else [()] * cells.num_rows)
        ]

    def firsts(
        self, tuples: list[tuple[Any, ...]], kinds: tuple[str, ...]
    ) -> list[int]:
        """Return places in the order of a keyed hash of the values, then of these."""
        digests = self._order(tuples, kinds)
        keys = [
            (digest, sort_values(values))
            for digest, values in zip(digests, tuples, strict=True)
        ]
        return sorted(range(len(tuples)), key=keys.__getitem__)

    def _rehearse(self, question: Question) -> None:
        bare = MemoryEngine(order=self._order)
        for name in tables_of(question.rows):
            opened = lookup(self._tables, name)
            refuse_changed(name, opened.source)
            bare._tables[name] = replace(opened, source=without_rows(opened.source))
        keys = None if question.keys is None else question.keys.slice(0, 0)
        bare._answer(replace(question, keys=keys))

    def _copy(self, table: str, schema: Schema) -> pa.Table:
        rows = [tuple(row.values()) for row in self.rows(Source(table, schema))]
        return table_in_memory(sorted(rows, key=sort_values), schema)

    def _answer(self, question: Question) -> pa.Table:
        groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
        leaves = with_kept_rows(question.rows, self._plans.name)
        for row in self.rows(prune_question(replace(question, rows=leaves))):
            groups[key_of(row, question.by)].append(row)
        schema = question.rows.schema
        kinds = [arrow_type(schema[name].type) for name in question.by]
        if question.keys is not None:
            keys = [values_of(key.combine_chunks()) for key in question.keys.columns]
            wanted = list(zip(*keys, strict=True))
        elif question.by:
            wanted = [
                tuple(rows[0][n] for n in question.by) for rows in groups.values()
            ]
        else:
            wanted = [()]
        rows_of_groups = [groups.get(sort_values(values), []) for values in wanted]
        columns = [
            pa.array([values[place] for values in wanted], kind)
            for place, kind in enumerate(kinds)
        ]
        columns += [
            pa.array([exact_total(total, rows) for rows in rows_of_groups], pa.int64())
            for total in question.totals
        ]
        names = [f"total {place}" for place in range(len(question.totals))]
        return pa.Table.from_arrays(columns, names=[*question.by, *names])


def _multiplicity(rows: list[Row], on: tuple[str, ...]) -> int:
    complete = (row for row in rows if None not in row.values())
    return max(Counter(key_of(row, on) for row in complete).values(), default=0)


def _group(rows: Iterable[Row], names: Iterable[str]) -> list[list[Row]]:
    listed = tuple(names)
    groups: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[key_of(row, listed)].append(row)
    return list(groups.values())


def _pick(row: Row, schema: Schema) -> Row:
    return {name: row[name] for name in schema}


def _project(engine: MemoryEngine, node: Project) -> Iterator[Row]:
    for row in engine.rows(node.child):
        yield {name: expression.value(row) for name, expression in node.columns}


def _filter(engine: MemoryEngine, node: Filter) -> Iterator[Row]:
    for row in engine.rows(node.child):
        if node.condition.value(row) is True:
            yield _pick(row, node.schema)


def _keep_rows(engine: MemoryEngine, node: KeepRows) -> Iterator[Row]:
    below = node.child.schema
    names = [*node.per, *node.order]
    kinds = (*(below[name].type for name in names), "i64")
    for rows in _group(engine.rows(node.child), node.per):
        copies: Counter[tuple[Any, ...]] = Counter()
        tuples = []
        for row in rows:
            values = tuple(row[name] for name in names)
            copies[sort_values(values)] += 1
            tuples.append((*values, copies[sort_values(values)]))
        for place in engine.firsts(tuples, kinds)[: node.limit]:
            yield _pick(rows[place], node.schema)


def _keep_groups(engine: MemoryEngine, node: KeepGroups) -> Iterator[Row]:
    rest = [name for name in node.groups if name not in node.per]
    names = [*node.per, *rest]
    kinds = tuple(node.child.schema[name].type for name in names)
    for rows in _group(engine.rows(node.child), node.per):
        groups = _group(rows, rest)
        leads = [tuple(group[0][name] for name in names) for group in groups]
        for place in engine.firsts(leads, kinds)[: node.limit]:
            yield from (_pick(row, node.schema) for row in groups[place])


def _keep_unique(engine: MemoryEngine, node: KeepUnique) -> Iterator[Row]:
    for rows in _group(engine.rows(node.child), node.per):
        if len(rows) == 1:
            yield _pick(rows[0], node.schema)


def _crowded_ids(engine: MemoryEngine, node: Crowded) -> Iterator[Row]:
    for rows in _group(engine.rows(node.child), node.per):
        counted = _group(rows, node.groups) if node.groups else rows
        if len(counted) > node.limit:
            yield _pick(rows[0], node.schema)


def _given_rows(engine: MemoryEngine, node: PublicRows) -> Iterator[Row]:
    del engine
    columns = {
        name: values_of(node.rows[name].combine_chunks()) for name in node.schema
    }
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _rows_without(engine: MemoryEngine, node: Without) -> Iterator[Row]:
    gone = {key_of(row, node.on) for row in engine.rows(node.right)}
    for row in engine.rows(node.left):
        if key_of(row, node.on) not in gone:
            yield _pick(row, node.schema)


def _memberships(engine: MemoryEngine, node: Memberships) -> Iterator[Row]:
    for rows in _group(engine.rows(node.child), node.per):
        groups = _group(rows, node.groups)
        for group in groups:
            yield _pick({**group[0], node.size: len(groups)}, node.schema)


def _rows_of_ids(engine: MemoryEngine, node: Gathered) -> Iterator[Row]:
    for rows in _group(engine.rows(node.child), node.per):
        totals = {name: exact_total(total, rows) for name, total in node.totals}
        extremes = {
            name: exact_extreme(extreme, rows) for name, extreme in node.extremes
        }
        yield _pick({**rows[0], **totals, **extremes}, node.schema)


def _join(engine: MemoryEngine, node: Join) -> Iterator[Row]:
    partners: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in engine.rows(node.right):
        partners[key_of(row, node.on)].append(row)
    nothing = dict.fromkeys(node.right.schema)
    for row in engine.rows(node.left):
        complete = all(row[name] is not None for name in node.on)
        matches = partners.get(key_of(row, node.on), []) if complete else []
        for partner in matches or ([nothing] if node.outer else []):
            yield _pick({**partner, **row}, node.schema)


def _explode(engine: MemoryEngine, node: Explode) -> Iterator[Row]:
    for row in engine.rows(node.child):
        for entry in (row[node.column] or [])[: node.limit]:
            yield _pick({**row, node.column: entry}, node.schema)


def _map_rows(engine: MemoryEngine, node: MapRows) -> Iterator[Row]:
    for row in engine.rows(node.child):
        yield mapped_row(node, row)


def _flat_map(engine: MemoryEngine, node: FlatMap) -> Iterator[Row]:
    for row in engine.rows(node.child):
        yield from flat_mapped(node, row)


def _steps(node: AbstractNode) -> list[str]:
    below = [line for child in node.inputs for line in _steps(child)]
    return [*below, node.describe()]


_Work: TypeAlias = Callable[[MemoryEngine, Any], Iterable[Row]]
_WORK: Final[Mapping[type[AbstractNode], _Work]] = by_kind(
    AbstractNode,
    {
        Source: MemoryEngine.stored_rows,
        Unreadable: MemoryEngine.unreadable,
        Project: _project,
        Filter: _filter,
        KeepRows: _keep_rows,
        KeepGroups: _keep_groups,
        KeepUnique: _keep_unique,
        Kept: MemoryEngine.kept_rows,
        Crowded: _crowded_ids,
        PublicRows: _given_rows,
        Without: _rows_without,
        Memberships: _memberships,
        Join: _join,
        Explode: _explode,
        MapRows: _map_rows,
        FlatMap: _flat_map,
        Gathered: _rows_of_ids,
    },
)
