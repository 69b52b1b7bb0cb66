"""The tables and views of a session, as the public knows them."""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, final

from sordino import _validate
from sordino.engines.base import AbstractEngine
from sordino.errors import EngineUnavailable, InvalidParameter, UnknownName, show
from sordino.expressions.language import col
from sordino.expressions.literals import literal
from sordino.query.builder import Query
from sordino.query.covers import BlockLayout
from sordino.query.lineage import Cells, Origins
from sordino.query.nodes import AbstractNode, Filter, Source
from sordino.query.passage import Origin
from sordino.query.question import Question, Total
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.tables import PrivateTable, PublicTable
from sordino.schema import Schema, unknown
from sordino.session.holding import Holding
from sordino.session.rows_digest import rows_digest
from sordino.units import AbstractUnit
from sordino.words import Words, call, worded_pairs

if TYPE_CHECKING:
    import pyarrow as pa


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
    parts: tuple[AbstractNode, ...] = ()
    """The filters that a table was parted by."""

    @property
    def origins(self) -> Origins:
        """Return the private tables, as a plan may read them."""
        gates = (layout.gate for layout in self.layouts.values())
        return Origins(self.marks, self.parts, tuple(gates))

    def relation(self, name: str) -> Relation:
        """Return a private table or a view."""
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
        """Return a public table."""
        if name not in self.publics:
            if name in self.relations:
                raise InvalidParameter(
                    "table", name, "is a private table", "Use join_private."
                )
            raise unknown("public table", name, self.publics)
        return self.publics[name]

    def public_names(self) -> tuple[str, ...]:
        """Return the names of the public tables."""
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
        """Return what a name stands for, in a form that lasts."""
        return self.worded[name]()

    def add(self, name: str, table: PrivateTable | PublicTable) -> None:
        """Open the source of a table and make it known."""
        self.refuse_known(name)
        schema = self.engine.open(name, table.source, table.columns)
        vouched = self._refuse_computed(name, table)
        source = Source(name, schema)
        self.unusable[name] = self.engine.unusable(name)
        if isinstance(table, PublicTable):
            self.engine.freeze(name)
            self.publics[name] = source
            rows = self.engine.frozen_rows(name).num_rows
            self.sentences[name] = f"public, {rows:,} rows"
            self.worded[name] = cache(lambda: [self._public_words(source)])
        else:
            lossy = self.engine.lossy(name)
            size = self._count_rows(source) if table.protects.fixes_size else None
            with self.explain_refusals():
                self.relations[name] = _protect(source, table, lossy, size)
            self.units[name] = table.protects
            self.marks[name] = _marks_of(name, schema, table.protects)
            self.block_columns[name] = table.blocks
            public = "" if size is None else f"; {size:,} rows, which is public"
            self.sentences[name] = (
                f"private: protects {table.protects.whom}{public}{vouched}"
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

    def with_only(self, name: str, relation: Relation, part: Words) -> "Catalog":
        """Return a catalog of one part of a private table, and the public tables."""
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
            parts=(*self.parts, relation.node),
        )

    def holdings(self) -> tuple[Holding, ...]:
        """Return what is to be said of each name."""
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
        _validate.unicode_text(tables=name)
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
    return call(
        "table",
        **beside,
        name=source.table,
        columns=_types(source.schema),
        protects=table.protects.words,
    )


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
    """Return rows with the column that weighs them; a row of no weight is none."""
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
