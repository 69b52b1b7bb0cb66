"""Tables, views and blocks of a session; parts that share no row.

Rows of blocks that are not open, and rows without a block, are left out right above the
table: in one place, whatever is asked and whichever engine answers.

Each part has a budget of its own, and one charge of the whole covers them, as often as
one protected unit can lie in different parts, or fill one (docs/proofs/filters.md,
section 7). The parts may be asked in any order, each after the answers of the others.

Kernel: charge.
"""

import operator
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, Final, final

from sordino.aggregations.measurement import Total
from sordino.data.contribution import Contribution, Spread, Versions
from sordino.data.tables import PrivateTable, PublicTable
from sordino.data.units import AbstractUnit
from sordino.engines.engine import AbstractEngine
from sordino.errors import (
    EngineUnavailable,
    InvalidParameter,
    InvalidQuery,
    UnknownName,
    show,
)
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import literal
from sordino.expressions.schema import Schema, unknown
from sordino.expressions.tree import AbstractExpression, Literal
from sordino.losses.budgets.blocks import WHOLE, Blocks
from sordino.numbers import arguments
from sordino.numbers.canonical import Words, call, number, worded_pairs
from sordino.query.builder import Query
from sordino.query.certified import PlanWriter, Step
from sordino.query.dropped_rows import AbstractPassage, Origin
from sordino.query.node_rules import BlockLayout, Cells, Origins, blocks_read
from sordino.query.nodes import AbstractNode, Filter, Question, Source
from sordino.query.steps import AbstractCatalog, Relation, group_column
from sordino.session.charging import rows_digest
from sordino.session.description import Holding

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True)
class Partition:
    """The rows of each part, and how many times the budget of one is charged."""

    parts: dict[Any, Relation]
    times: Fraction


def partition_of(relation: Relation, by: str, values: Any) -> Partition:
    """Return the parts that some values of a column mark; None stands for no value.

    For any row, at most one part holds it: the values are of the type of the column and
    differ as the engine sees them. A time with and one without a zone may be the same,
    and a float may equal several integers, so neither is left to Python to compare.
    """
    kind = group_column(relation.schema, by).type
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InvalidParameter(
            "values",
            values,
            "must be a list of the values of the parts",
            'Try ["A", "B"].',
        )
    marks: dict[str, Any] = {}
    for value in values:
        # as the engine sees it: 1 and 1.0, or two zones, may be one value
        mark = repr(_part_value(value, kind).constant)
        if mark in marks:
            raise InvalidParameter(
                "values", value, "contains a value twice", "Name it once."
            )
        marks[mark] = value
    times, spread = _charge(relation, by, len(marks))
    parts = {
        value: replace(_part(relation, by, _part_value(value, kind)), spread=spread)
        for value in marks.values()
    }
    return Partition(parts, times)


def value_words(relation: Relation, by: str, value: Any) -> Words:
    """Return which part a value marks, in a form that lasts."""
    return _part_value(value, relation.schema[by].type).words


def _charge(relation: Relation, by: str, count: int) -> tuple[Fraction, Spread | None]:
    """Return how many budgets of one part are charged, and what parts then are.

    For any unit: as many as there are parts that it can lie in; or as often as its rows
    fill the most that it can have in one part, where the parts are charged by the row.
    """
    column, spread = relation.versions((by,)), relation.spread
    most = min(_values_touched(relation.contribution, by, column), count)
    if spread is not None and spread.is_alone:
        each = min(_values_touched(spread.row, by, column), count)
        return Fraction(each), spread.bound_rows(
            lambda contribution: contribution.with_groups(column, 1)
        )
    if spread is not None:
        # rows that met others: each of them may be in as many parts as all together
        return Fraction(most * spread.rows), None
    rows = relation.contribution.most_rows()
    inside = relation.contribution.with_groups(column, 1).most_rows()
    # else rows could fill every part, and the split would be no cheaper
    if rows is None or inside is None or rows >= most * inside:
        return Fraction(most), None
    return Fraction(rows, inside), Spread(inside, Contribution(rows=1))


def _values_touched(contribution: Contribution, by: str, column: Versions) -> int:
    touched = contribution.groups_touched(column)
    if touched is None:
        raise InvalidQuery(
            f"nothing limits how many values of {by!r} one id can have",
            f"Make a view with .enforce(sd.MaxGroupsPerID({by!r}, 1)), and partition "
            "that.",
        )
    return touched


def _part_value(value: Any, kind: str) -> Literal:
    """Return a value of a part as an engine sees it, refusing one of another type."""
    marked = literal(value, kind if value is None else None)
    if marked.type != kind:
        raise InvalidParameter(
            "values",
            value,
            f"contains a value of type {marked.type}, and the column has type {kind}",
            "Write the values as they stand in the column.",
        )
    return marked


def _part(relation: Relation, by: str, marked: Literal) -> Relation:
    """Return the rows with one value of a column, or without one."""
    cell = col(by)
    condition = (
        cell.is_null() if marked.constant is None else cell == Expression(marked)
    )
    rows = Filter(relation.node, condition.tree, relation.schema)
    # all rows are of one group of the column, so a bound on its rows holds of them all
    column = relation.versions((by,))
    divided = relation.bound_unit(lambda condition: condition.with_groups(column, 1))
    # what the whole table left out is not of this part
    return replace(divided.with_node(rows), passed=())


@final
@dataclass(frozen=True, eq=False)
class Catalog(AbstractCatalog):
    """Names of tables and views, and what each stands for."""

    engine: AbstractEngine
    relations: dict[str, Relation] = field(default_factory=dict)
    publics: dict[str, Source] = field(default_factory=dict)
    multiplicities: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    """Multiplicities of public tables that were asked for: these are frozen."""
    worded: dict[str, Callable[[], list[Words]]] = field(default_factory=dict)
    """What each name stands for, in a form that lasts."""
    sentences: dict[str, str] = field(default_factory=dict)
    """What each name stands for, in a sentence for people."""
    units: dict[str, AbstractUnit] = field(default_factory=dict)
    """Whom each private table protects."""
    block_columns: dict[str, str | None] = field(default_factory=dict)
    """The column of each private table that says of what block a row is."""
    layouts: dict[str, BlockLayout] = field(default_factory=dict)
    """How private tables lie in blocks, where a session has blocks."""
    ungated: dict[str, Relation] = field(default_factory=dict)
    """Tables with blocks, before the rows of some of them are kept."""
    views: dict[str, Query] = field(default_factory=dict)
    """The query that each view is short for."""
    unusable: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """For each name the columns that cannot be used, and why."""
    marks: dict[str, Cells] = field(default_factory=dict)
    """Of each private table the columns that say whom its rows belong to."""
    cuts: tuple[tuple[AbstractNode, str, int], ...] = ()
    """The filters that a table was parted by, with the column and how many parts."""
    protected: dict[str, Step] = field(default_factory=dict)
    """Whom each private table protects, in the words of certificates."""
    sampled: dict[str, Fraction | None] = field(default_factory=dict)
    """The rate of each private table that is a secret random sample."""

    @property
    def origins(self) -> Origins:
        """Return the private tables, as a plan may read them."""
        gates = (layout.gate for layout in self.layouts.values())
        parts = tuple(node for node, *_ in self.cuts)
        return Origins(self.marks, parts, tuple(gates))

    def plan_writer(self) -> PlanWriter:
        """Return a writer of plans over these tables into certificates."""
        return PlanWriter(
            self.protected, self.multiplicity, self.cuts, dict(self.layouts)
        )

    def relation(self, name: str) -> Relation:
        if name not in self.relations:
            if name in self.publics:
                raise InvalidParameter(
                    "table",
                    name,
                    "is a public table",
                    "Read it directly, or join it with join_public.",
                )
            raise unknown("private table", name, self.relations)
        return self.relations[name]

    def public(self, name: str) -> Source:
        if name not in self.publics:
            if name in self.relations:
                raise InvalidParameter(
                    "table", name, "is a private table", "Use join_private."
                )
            raise unknown("public table", name, self.publics)
        return self.publics[name]

    def public_names(self) -> tuple[str, ...]:
        return tuple(self.publics)

    def public_rows(self, name: str) -> "pa.Table":
        """Return the rows of a public table, as they were when it was opened."""
        return self.engine.frozen_rows(self.public(name).table)

    def multiplicity(self, name: str, on: tuple[str, ...]) -> int:
        """Return how many rows of a public table share their values of `on`."""
        if (name, on) not in self.multiplicities:
            self.multiplicities[name, on] = self.engine.multiplicity(name, on)
        return self.multiplicities[name, on]

    def words(self, name: str) -> list[Words]:
        """Canonical words of a table or view."""
        return self.worded[name]()

    def add(self, name: str, table: PrivateTable | PublicTable) -> None:
        """Open the source of a table and make it known."""
        self.refuse_known(name)
        schema = self.engine.open(name, table.source, table.columns)
        # before the columns are named: nothing of it is known until somebody answers
        vouched = self._refuse_computed(name, table)
        source = Source(name, schema)
        self.unusable[name] = self.engine.unusable(name)
        if isinstance(table, PublicTable):
            # held as it is now: a public table that changes would move counts at no
            # price
            self.engine.freeze(name)
            self.publics[name] = source
            rows = self.engine.frozen_rows(name).num_rows
            self.sentences[name] = f"public, {rows:,} rows"
            self.worded[name] = cache(lambda: [self._public_words(source)])
        else:
            lossy = self.engine.lossy(name)
            # public under this unit alone: elsewhere the number of rows is what is
            # protected
            size = self._count_rows(source) if table.protects.fixes_size else None
            with self.explain_refusals():
                self.relations[name] = _protect(source, table, lossy, size)
            self.units[name] = table.protects
            self.sampled[name] = table.sampled
            self.protected[name] = _certified_unit(table.protects, schema, size)
            self.marks[name] = _marks_of(name, schema, table.protects)
            self.block_columns[name] = table.blocks
            public = "" if size is None else f"; {size:,} rows, which is public"
            self.sentences[name] = (
                f"private: protects {table.protects.whom}{_frame_text(table)}{public}"
                f"{vouched}"
            )
            self.worded[name] = lambda: [_private_words(source, table)]

    def _refuse_computed(self, name: str, table: PrivateTable | PublicTable) -> str:
        """Return who answers for a source, or refuse one that nobody answers for.

        Where a row is computed of others, one row of a person changes many. A public
        table protects nobody.
        """
        reason = self.engine.doubt(name)
        if isinstance(table, PublicTable) or (not reason and table.vouched_by is None):
            return ""
        if table.vouched_by is None:
            raise InvalidParameter(
                f"tables[{name!r}]",
                type(table.source).__name__,
                f"must make each row of one row, but it {reason}",
                f"Hand over what it reads and ask in the session: sd.table({name!r})"
                ".filter(...); or write its rows to a table; or say who answers for "
                'it: sd.PrivateTable(..., vouched_by="...").',
            )
        return f"; {table.vouched_by} answers for how its rows are made"

    def refuse_other_sizes(self) -> None:
        """Refuse tables that have not as many rows any more as is taken for granted.

        Neighbours have as many, so what is said of it is public.
        """
        for name, relation in self.relations.items():
            if name in self.units and relation.size is not None:
                rows = self._count_rows(Source(name, relation.schema))
                if rows != relation.size:
                    raise EngineUnavailable(
                        f"the table {show(name)} had {relation.size:,} rows when this "
                        f"session was made, and has {rows:,} now: where one row takes "
                        "the place of another their number is public, and means are "
                        "divided by it; make a new session"
                    )

    def _count_rows(self, source: Source) -> int:
        """Return how many rows a table has, where that is public."""
        question = Question(source, (), (Total(literal(1)),))
        return int(self.engine.answer(question).column(0)[0].as_py())

    def view(self, name: str, query: Query) -> None:
        """Make a name known that is short for a query."""
        self.refuse_known(name)
        self.relations[name] = query.resolve(self)
        self.views[name] = query
        self.sentences[name] = f"a view: {query!r}"
        self.worded[name] = lambda: query.words(self)

    def without_views(self, rows: Any) -> Any:
        """Return a query with the steps of the views that it begins with written out.

        They are the same rows; the text still has the names of the views.
        """
        while rows.table in self.views:
            view = self.views[rows.table]
            rows = replace(rows, table=view.table, steps=(*view.steps, *rows.steps))
        return rows

    def with_view(self, name: str, query: Query) -> "Catalog":
        """Return a catalog that knows one view more."""
        catalog = replace(
            self,
            relations=dict(self.relations),
            worded=dict(self.worded),
            sentences=dict(self.sentences),
            views=dict(self.views),
        )
        catalog.view(name, query)
        return catalog

    def with_only(
        self, name: str, relation: Relation, part: Words, cut: tuple[str, int]
    ) -> "Catalog":
        """Return a catalog of one part of a private table, and the public tables.

        `cut` is the column that marks the parts, and how many there are.
        """
        worded = {public: self.worded[public] for public in self.publics}
        worded[name] = lambda: [*self.words(name), part]
        part_of = f"a part of the rows, {self.sentences[name]}"
        sentences = {**self.sentences, name: part_of}
        return Catalog(
            self.engine,
            relations={name: relation},
            publics=dict(self.publics),
            multiplicities=self.multiplicities,
            worded=worded,
            sentences=sentences,
            units={known: unit for known, unit in self.units.items() if known == name},
            unusable=dict(self.unusable),
            marks=self.marks,
            cuts=(*self.cuts, (relation.node, *cut)),
            protected=self.protected,
        )

    def holdings(self) -> tuple[Holding, ...]:
        """Public facts of each table and view."""
        schemas = {name: relation.schema for name, relation in self.relations.items()}
        schemas |= {name: relation.schema for name, relation in self.publics.items()}
        return tuple(
            Holding.of(name, self.sentences[name], schema, self.unusable.get(name, {}))
            for name, schema in schemas.items()
        )

    @contextmanager
    def explain_refusals(self) -> Generator[None]:
        """Refuse a column that cannot be used with the reason."""
        try:
            yield
        except UnknownName as error:
            refusal = self._explain(error)
        else:
            return
        raise refusal

    def _explain(self, error: UnknownName) -> UnknownName:
        """Return the refusal of a name, with the reason if it cannot be used."""
        if error.kind != "column" or not isinstance(error.name, str):
            return error
        for table, columns in self.unusable.items():
            if error.name in columns:
                why = f" that can be used in {show(table)}: {columns[error.name]}."
                return UnknownName("column", error.name, (), why)
        return error

    def _public_words(self, source: Source) -> Words:
        """Return the name, the types and the rows of a public table."""
        return call(
            "public table",
            name=source.table,
            columns=_types(source.schema),
            sha256=rows_digest(self.engine.frozen_rows(source.table)),
        )

    def refuse_known(self, name: str) -> None:
        """Refuse a name that is taken."""
        if name in self.relations or name in self.publics:
            raise InvalidParameter(
                "name", name, "is already the name of a table", "Choose another name."
            )


def open_catalog(engine: AbstractEngine, tables: Any) -> Catalog:
    """Return the catalog of some tables; anything that is not a table is refused."""
    catalog = Catalog(engine)
    if not isinstance(tables, Mapping) or not tables:
        raise InvalidParameter(
            "tables",
            tables,
            "must be a dict of at least one table",
            'Try {"visits": sd.PrivateTable(df, protects=sd.AddOneRow())}.',
        )
    for name, table in tables.items():
        if not isinstance(name, str):
            raise InvalidParameter(
                "tables", name, "must have text as names", 'Try "visits".'
            )
        arguments.unicode_text(tables=name)
        if not isinstance(table, (PrivateTable, PublicTable)):
            raise InvalidParameter(
                f"tables[{name!r}]",
                type(table).__name__,
                "must be a table",
                "Try sd.PrivateTable(df, protects=...) or sd.PublicTable(df).",
            )
        catalog.add(name, table)
    return catalog


def private_sources(tables: Any) -> list[Any]:
    """Return the sources of the private tables; other values are refused later."""
    values = tables.values() if isinstance(tables, Mapping) else ()
    return [table.source for table in values if isinstance(table, PrivateTable)]


def _private_words(source: Source, table: PrivateTable) -> Words:
    """Return the name, the types and the unit of a private table."""
    beside = {} if table.blocks is None else {"blocks": table.blocks}
    if table.vouched_by is not None:
        beside["vouched_by"] = table.vouched_by
    if table.sampled is not None:
        beside["sampled"] = number(table.sampled)
    return call(
        "table",
        **beside,
        name=source.table,
        columns=_types(source.schema),
        protects=table.protects.words,
    )


def _frame_text(table: PrivateTable) -> str:
    """Say of whom a table is a sample, if it is one."""
    if table.sampled is None:
        return ""
    return f"; a secret sample of {table.sampled}"


def sampled_rate(tables: Mapping[str, Any]) -> Fraction | None:
    """Rate of the secret sample that the private table of a session is, if it is one.

    Two private tables would both tell of a person: of the second nothing is proved.
    """
    private = [each for each in tables.values() if isinstance(each, PrivateTable)]
    rates = [table.sampled for table in private if table.sampled is not None]
    if rates and len(private) > 1:
        raise InvalidParameter(
            "tables",
            [name for name, each in tables.items() if isinstance(each, PrivateTable)],
            "are several private tables, and what is proved of a secret sample is "
            "proved of one",
            "Join them before, or leave sampled out.",
        )
    return rates[0] if rates else None


def _certified_unit(unit: AbstractUnit, schema: Schema, size: int | None) -> Step:
    verb, arguments = unit.name_columns(schema).words
    public: Step = {} if size is None else {"rows": size}
    return {"protects": verb, **arguments, **public}


def _types(schema: Schema) -> Words:
    """Return the columns by name, whatever their order, and their types."""
    return worded_pairs(sorted((name, column.type) for name, column in schema.columns))


def _marks_of(name: str, schema: Schema, unit: AbstractUnit) -> Cells:
    """Return the columns that say whom rows belong to: their id, or their weight."""
    weighed = unit.weigh(schema)
    names = set() if weighed is None else set(weighed.names_in(schema))
    names |= set() if unit.id_column is None else {unit.id_column}
    return frozenset((name, column) for column in names)


def _weigh_rows(rows: Relation, unit: AbstractUnit) -> Relation:
    weighed = unit.weigh(rows.schema)
    if weighed is None:
        return rows
    (name,) = weighed.names_in(rows.schema)
    facts = dict(rows.schema.columns)
    facts[name] = replace(facts[name], nullable=False)
    node = Filter(rows.node, (col(name) >= 1).tree, Schema(tuple(facts.items())))
    return replace(rows.with_node(node), weighed=weighed)


def _protect(
    source: Source, table: PrivateTable, lossy: frozenset[str], size: int | None
) -> Relation:
    """Return the rows of a private table: those without an id belong to nobody."""
    unit = table.protects
    contribution = unit.contribution(source.schema)
    unread = lossy - {unit.id_column, table.blocks}
    cells = tuple(bounded for bounded in source.schema if bounded in unread)
    if unit.id_column is None:
        # such a unit always bounds its rows; but for one that weighs them, rows of no
        # weight, of which neighbours may have any number, would be counted
        cells = () if unit.weigh(source.schema) is not None else cells
        origin = Origin(source.table, cells, Schema(()), None, contribution.rows or 0)
        whole = Relation(source, contribution, None, None, (origin,), size=size)
        return _weigh_rows(whole, unit)
    ids = source.schema[unit.id_column]
    facts = dict(source.schema.columns) | {unit.id_column: replace(ids, nullable=False)}
    named = ~col(unit.id_column).is_null()
    rows = Filter(source, named.tree, Schema(tuple(facts.items())))
    bounded = contribution.with_groups(frozenset([ids.version]), 1)
    carried = Schema(((unit.id_column, ids),))
    origin = Origin(source.table, cells, carried, unit.id_column, 1)
    return Relation(rows, bounded, unit.id_column, unit.id_space, (origin,))


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
    """Count of cells of the table, of rows in open blocks alone.

    Of these rows nothing more is known than of the table: some may have no id.
    """
    match place:
        case Origin():
            columns = dict(mark.columns) | dict(place.carried.columns)
            return replace(place, gate=gate, carried=Schema(tuple(columns.items())))
        case _:
            return place
