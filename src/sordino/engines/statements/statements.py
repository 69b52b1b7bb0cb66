"""Whole statements: the subquery of each kind of node, and the rows they begin with.

In place a database reads a source by itself, and its dialect makes each value one of
ours. What it does not read is handed over under a name (`s0`, `s1`, ...), as Arrow
batches of our types; only of text files the cells are still text.

Kernel: totals.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, TypeAlias, TypeVar, final

import pyarrow as pa
from sqlglot import exp

from sordino.data.arrow import TableSource, without_rows
from sordino.data.source import AbstractSource, Opened, Stored, kind_of, lookup
from sordino.engines.statements.cached_rows import Bucket
from sordino.engines.statements.dialect import (
    SALT,
    AbstractDialect,
    Parameters,
    render,
    with_type,
)
from sordino.engines.statements.narrow import Narrow, narrow_rows
from sordino.engines.statements.plans import (
    FUNCTIONS,
    Columns,
    Leaf,
    LeafNode,
    Made,
    Pairs,
    Rule,
    Subquery,
    Writer,
    alias_as,
    columns_named,
    keep_groups,
    keep_rows,
    order_by_all,
    select_from,
    select_groups,
    table_named,
)
from sordino.engines.statements.templates import Sql
from sordino.engines.statements.totals import (
    KEYS,
    PLACE,
    Form,
    Measures,
    added_totals,
    grouped_rows,
    narrow_totals,
    total_of,
    wide_totals,
)
from sordino.errors import show
from sordino.query.nodes import (
    AbstractNode,
    Crowded,
    Explode,
    Filter,
    Gathered,
    Join,
    KeepGroups,
    KeepRows,
    KeepUnique,
    Kept,
    Memberships,
    Project,
    PublicRows,
    Question,
    Source,
    Unreadable,
    Without,
    by_kind,
)


class Attempt(Protocol):
    """What is run, and may read sources in place."""

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""


P = TypeVar("P", bound=Attempt)
T = TypeVar("T")


def try_in_place(
    first: P,
    again: Callable[[], P],
    run: Callable[[P], T],
    is_stuck: Callable[[Exception], bool],
) -> T:
    """Run in place, and again with all rows handed over if a cell stops it.

    A text that is not UTF-8 stops a database; handed over, it is missing.
    """
    try:
        return run(first)
    except Exception as error:
        if not (first.in_place and is_stuck(error)):
            raise
    return run(again())


def _leaf_rows(work: Writer, node: LeafNode) -> Subquery:
    leaf = work.leaf(node)
    select = exp.Select().from_(leaf.item, copy=False)
    if leaf.condition is not None:
        select = select.where(leaf.condition, copy=False)
    return work.part(select, _schema_pairs(leaf.columns, node), node.schema)


def _schema_pairs(columns: Columns, node: AbstractNode) -> Pairs:
    return [(name, columns[name]) for name in node.schema]


def _project(work: Writer, node: Project) -> Subquery:
    below = work.rows(node.child)
    pairs = [
        (name, work.render(expression, below.columns))
        for name, expression in node.columns
    ]
    return work.part(select_from(below), pairs, node.schema)


def _filter(work: Writer, node: Filter) -> Subquery:
    below = work.rows(node.child)
    condition = work.render(node.condition, below.columns)
    return work.select(below, node.schema, where=condition)


def _bucket(work: Writer, node: Bucket) -> Subquery:
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    there = work.dialect.in_part(per, node.number, node.count)
    return work.select(below, node.schema, where=there)


def _keep_unique(work: Writer, node: KeepUnique) -> Subquery:
    # a group of one row has the values of that row
    below = work.rows(node.child)
    per = [below.columns[name] for name in node.per]
    alone = exp.Count(this=exp.Star()).eq(exp.Literal.number(1))
    select = select_groups(below, per).having(alone, copy=False)
    pairs = [
        (name, value)
        if name in node.per
        else (name, work.dialect.first(value, node.schema[name].type))
        for name, value in columns_named(below, node.schema)
    ]
    return work.part(select, pairs, node.schema)


def _crowded_ids(work: Writer, node: Crowded) -> Subquery:
    below = work.rows(node.child)
    if node.groups:
        names = tuple(dict.fromkeys((*node.per, *node.groups)))
        each = select_groups(below, [below.columns[name] for name in names])
        below = work.part(each, columns_named(below, names), node.child.schema)
    many = exp.Count(this=exp.Star()) > exp.Literal.number(node.limit)
    select = select_groups(below, [below.columns[name] for name in node.per])
    return work.part(
        select.having(many, copy=False), columns_named(below, node.schema), node.schema
    )


def _rows_without(work: Writer, node: Without) -> Subquery:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(
        *(
            work.dialect.same(left.columns[name], right.columns[name])
            for name in node.on
        )
    )
    other = table_named(right.name)
    select = work.dialect.anti_join(select_from(left), other, agree)
    return work.part(select, columns_named(left, node.schema), node.schema)


def _memberships(work: Writer, node: Memberships) -> Subquery:
    below = work.rows(node.child)
    names = tuple(dict.fromkeys((*node.per, *node.groups)))
    each = select_groups(below, [below.columns[name] for name in names])
    pairs = work.part(each, columns_named(below, names), node.child.schema)
    size = exp.Window(
        this=exp.Count(this=exp.Star()),
        partition_by=[pairs.columns[name] for name in node.per],
    )
    columns = {**pairs.columns, node.size: size}
    return work.part(select_from(pairs), _schema_pairs(columns, node), node.schema)


def _rows_of_ids(work: Writer, node: Gathered) -> Subquery:
    below, schema = work.rows(node.child), node.child.schema
    columns = {name: below.columns[name] for name in node.per}
    for name, total in node.totals:
        columns[name] = work.dialect.narrow_total(total_of(work, total, below, schema))
    for name, extreme in node.extremes:
        value = work.render(extreme.expression, below.columns)
        columns[name] = (exp.Max if extreme.is_greatest else exp.Min)(this=value)
    select = select_groups(below, [below.columns[name] for name in node.per])
    return work.part(select, _schema_pairs(columns, node), node.schema)


def _join(work: Writer, node: Join) -> Subquery:
    left, right = work.rows(node.left), work.rows(node.right)
    agree = exp.and_(*(left.columns[name].eq(right.columns[name]) for name in node.on))
    kind = "left" if node.outer else "inner"
    select = select_from(left).join(
        table_named(right.name), on=agree, join_type=kind, copy=False
    )
    columns = {**right.columns, **left.columns}
    return work.part(select, _schema_pairs(columns, node), node.schema)


def _explode(work: Writer, node: Explode) -> Subquery:
    below = work.rows(node.child)
    entry = work.dialect.unnest(below.columns[node.column], node.limit)
    pairs = [(name, below.columns[name]) for name in node.child.schema]
    pairs = [(name, entry if name == node.column else column) for name, column in pairs]
    exploded = work.part(select_from(below), pairs)
    return work.select(exploded, node.schema)


RULES: Final[Mapping[type[AbstractNode], Rule]] = by_kind(
    AbstractNode,
    {
        Source: _leaf_rows,
        Unreadable: _leaf_rows,
        Made: _leaf_rows,
        Project: _project,
        Filter: _filter,
        KeepRows: keep_rows,
        KeepGroups: keep_groups,
        KeepUnique: _keep_unique,
        Crowded: _crowded_ids,
        PublicRows: _leaf_rows,
        Kept: _leaf_rows,
        Without: _rows_without,
        Memberships: _memberships,
        Gathered: _rows_of_ids,
        Join: _join,
        Explode: _explode,
        Bucket: _bucket,
        Narrow: narrow_rows,
    },
    elsewhere=FUNCTIONS,
)


Reading: TypeAlias = Callable[[AbstractSource, Sequence[int]], Sql | None]
"""(source, places of columns) -> what stands after FROM, or None to hand them over"""
SOURCE: Final = "sordino source"
KEPT: Final = "kept rows"  # what a statement reads that reads rows which are kept


@final
@dataclass(frozen=True)
class Handed:
    """Columns of a source that a statement reads under a name."""

    table: str
    name: str
    source: AbstractSource
    places: tuple[int, ...]
    in_place: bool  # whether the database reads the source by itself
    given: bool = False  # whether the rows are those of a plan, which are public

    def empty_copy(self) -> "Handed":
        """Return the same columns without rows, handed over."""
        return replace(self, source=without_rows(self.source), in_place=False)


def never_in_place(source: AbstractSource, places: Sequence[int]) -> None:
    """Have any source handed over, whatever a database could read by itself."""
    del source, places


@final
class Leaves:
    """Collects what a statement reads of the tables of a session."""

    def __init__(
        self, dialect: AbstractDialect, tables: Mapping[str, Opened], reading: Reading
    ) -> None:
        self._dialect = dialect
        self._tables = tables
        self._reading = reading
        self.handed: list[Handed] = []

    def leaf(self, node: LeafNode, parameters: Parameters) -> Leaf:
        """Rows of a node where they are, its columns as our types."""
        match node:
            case Made():
                return _step_rows(node)
            case Source():
                return self._stored_rows(node.table, node.schema.names, parameters)
            case Unreadable():
                return self._unreadable(node, parameters)
            case PublicRows() | Kept():
                return self._our_rows(node)

    def _our_rows(self, node: PublicRows | Kept) -> Leaf:
        """Rows whose values are of our types already."""
        name = f"s{len(self.handed)}"
        if isinstance(node, Kept):
            columns_kept = node.rows.schema.columns
            form = pa.schema([(known, column.arrow) for known, column in columns_kept])
            # no rows stand here: the database has them under the name of the node
            rows, read, table = form.empty_table(), node.name, KEPT
        else:
            rows, read, table = node.rows, name, "public rows"
        there = table == KEPT
        places = tuple(rows.column_names.index(known_as) for known_as in node.schema)
        source = TableSource(rows)
        self.handed.append(Handed(table, name, source, places, there, given=not there))
        item = handed_table(read)
        item.meta[SOURCE] = name
        columns = {
            known_as: exp.column(f"c{place}", table="t")
            for known_as, place in zip(node.schema, places, strict=True)
        }
        return Leaf(item, columns)

    def _unreadable(self, node: Unreadable, parameters: Parameters) -> Leaf:
        """Rows with a cell that is there, and has no value."""
        names = (node.column, *node.schema.names)
        rows = self._stored_rows(node.table, names, parameters)
        stored = lookup(self._tables, node.table).stored[node.column]
        natural = self._natural(self.handed[-1], stored)
        nothing = rows.columns[node.column].copy().is_(exp.null())
        there = exp.not_(natural.is_(exp.null()))
        return replace(rows, condition=exp.And(this=there, expression=nothing))

    def _stored_rows(
        self, table: str, names: tuple[str, ...], parameters: Parameters
    ) -> Leaf:
        opened = lookup(self._tables, table)
        places = tuple(opened.stored[name].place for name in names)
        item = self._reading(opened.source, places)
        name = f"s{len(self.handed)}"
        handed = Handed(table, name, opened.source, places, item is not None)
        self.handed.append(handed)
        item = item or handed_table(name)
        item.meta[SOURCE] = name
        columns = {
            known_as: self._column(handed, opened.stored[known_as], parameters)
            for known_as in names
        }
        return Leaf(item, columns)

    def _column(self, handed: Handed, stored: Stored, parameters: Parameters) -> Sql:
        value = self._natural(handed, stored)
        if stored.reading is None:
            return value
        cell = with_type(value, kind_of(stored.arrow) or "")
        return render(stored.reading, {"x": cell}, parameters)

    def _natural(self, handed: Handed, stored: Stored) -> Sql:
        column: Sql = exp.column(f"c{stored.place}", table="t")
        if handed.source.ours and not handed.in_place:
            return column
        return self._dialect.value_of(column, stored.arrow)


def handed_table(name: str) -> Sql:
    """Return a table that a database knows by a name of ours."""
    return exp.Table(this=exp.to_identifier(name), alias="t")


def _step_rows(node: Made) -> Leaf:
    name = f"m{node.number}"
    columns = {
        known_as: exp.column(f"c{place}", table=name)
        for place, known_as in enumerate(node.schema)
    }
    return Leaf(exp.Table(this=exp.to_identifier(name)), columns)


@final
@dataclass(frozen=True)
class Statement:
    """A statement, the values bound in it, and the data that it reads."""

    dialect: AbstractDialect
    kinds: tuple[pa.DataType, ...]
    """The types of its columns; one of no columns has one that stands for none."""
    tree: exp.Select  # it has placeholders for the bound values, and $salt for the key
    text: str  # what is run: the key is one more value
    values: tuple[Any, ...]
    keyed: bool
    handed: tuple[Handed, ...]

    @classmethod
    def of(
        cls,
        dialect: AbstractDialect,
        kinds: Iterable[pa.DataType],
        tree: exp.Select,
        values: Sequence[Any] = (),
        handed: Iterable[Handed] = (),
    ) -> "Statement":
        """Return a statement with its text, written once."""
        keyed, run = any(_salts(tree)), tree
        if keyed:
            run = tree.copy()
            for key in list(_salts(run)):
                key.replace(dialect.placeholder(len(values) + 1))
        text = dialect.text(run)
        bound, types = tuple(values), tuple(kinds) or (pa.int64(),)
        return cls(dialect, types, tree, text, bound, keyed, tuple(handed))

    def readable_text(self) -> str:
        """Return the text for people to read, with the bound values: all public."""
        bound = [
            f"-- {self.dialect.placeholder(n).sql(self.dialect.name)} = {show(value)}"
            for n, value in enumerate(self.values, 1)
        ]
        return "\n".join([self.tree.sql(self.dialect.name, pretty=True), *bound])

    def parameters(self, salt: int) -> list[Any]:
        """Return all values for the text, the key among them if it has a place."""
        return [*self.values, *([salt] if self.keyed else [])]

    @property
    def in_place(self) -> bool:
        """Tell whether the database reads a source of it by itself."""
        return any(part.in_place for part in self.handed)

    @property
    def reads_files(self) -> bool:
        """Tell whether the database reads files of a source by itself."""
        return any(part.in_place and part.source.paths for part in self.handed)

    def empty_copy(
        self, spared: Callable[[Handed], bool] = lambda _: False
    ) -> "Statement":
        """Return the statement over tables that have the columns, but no rows.

        Those that are spared are read as they are.
        """
        read = {part.name for part in self.handed if spared(part)}
        handed = tuple(
            part if part.name in read else part.empty_copy() for part in self.handed
        )
        if not self.in_place:
            return replace(self, handed=handed)
        tree = self.tree.copy()
        for node in list(tree.walk()):
            if SOURCE in node.meta and node.meta[SOURCE] not in read:
                node.replace(handed_table(node.meta[SOURCE]))
        return self.of(self.dialect, self.kinds, tree, self.values, handed)


@final
@dataclass(frozen=True)
class Statements:
    """Writes the statements of a session's tables."""

    dialect: AbstractDialect
    tables: Mapping[str, Opened]
    reading: Reading  # which sources the database reads by itself

    def measures(
        self, question: Question, rows: AbstractNode, measured: Measures
    ) -> Statement:
        """Return the statement that tells what the totals of a question are made of."""
        numbers = [pa.int64()] * len(measured.writes)
        return self._write_groups(question, rows, measured.write, numbers)

    def totals(self, question: Question, rows: AbstractNode) -> Statement:
        """Return the statement that tells the totals of a question."""
        totals = [pa.int64()] * len(question.totals)
        return self._write_groups(question, rows, narrow_totals, totals)

    def part(self, question: Question, rows: AbstractNode) -> Statement:
        """Return the statement that tells totals of a part, which are to be added."""
        totals = [self.dialect.wide_type] * len(question.totals)
        return self._write_groups(question, rows, wide_totals, totals)

    def _write_groups(
        self,
        question: Question,
        rows: AbstractNode,
        form: Form,
        totals: Iterable[pa.DataType],
    ) -> Statement:
        def last(work: Writer, below: Subquery) -> exp.Select:
            return grouped_rows(work, question, below, form)

        return self._write(rows, [*_groups(question), *totals], last)

    def sum_of_parts(self, question: Question) -> Statement:
        """Return the statement that adds the totals of parts."""
        kinds = [*_groups(question), *(pa.int64() for _ in question.totals)]
        return Statement.of(self.dialect, kinds, added_totals(self.dialect, question))

    def rows(self, rows: AbstractNode) -> Statement:
        """Return the statement of the rows of a node, columns in their order."""
        return self._write(rows, _types(rows), lambda _, below: _all(below))

    def rows_in_order(self, rows: AbstractNode) -> Statement:
        """Return the statement of the rows of a node, sorted by all columns."""

        def last(_: Writer, below: Subquery) -> exp.Select:
            by = order_by_all(self.dialect, below.columns.values())
            return _all(below).order_by(by, copy=False)

        return self._write(rows, _types(rows), last)

    def multiplicity(self, rows: AbstractNode) -> Statement:
        """Return the statement of how many rows agree in all columns, at most."""
        return self._write(rows, [pa.int64()], _most)

    def digests(self, width: int) -> Statement:
        """Statement of the digests of the first `width` columns."""
        values = [exp.column(f"c{n}", table=KEYS) for n in range(width)]
        digest = alias_as(self.dialect.digest(values), "a0")
        place = exp.column(PLACE, table=KEYS)
        tree = select_from(Subquery(KEYS, {})).select(digest).order_by(place)
        return Statement.of(self.dialect, [self.dialect.digest_type], tree)

    def _write(
        self,
        rows: AbstractNode,
        kinds: Iterable[pa.DataType],
        last: Callable[[Writer, Subquery], exp.Select],
    ) -> Statement:
        leaves = Leaves(self.dialect, self.tables, self.reading)
        rules = {**RULES, **self.dialect.rules}
        work = Writer(
            self.dialect, lambda node: leaves.leaf(node, work.parameters), rules
        )
        tree = work.whole(last(work, work.rows(rows)))
        values = work.parameters.values
        return Statement.of(self.dialect, kinds, tree, values, leaves.handed)


def _salts(tree: exp.Select) -> Iterator[exp.Placeholder]:
    return (key for key in tree.find_all(exp.Placeholder) if key.name == SALT)


def _groups(question: Question) -> list[pa.DataType]:
    if question.keys is not None:
        return [pa.int64()]
    return [question.rows.schema[name].arrow for name in question.by]


def _types(rows: AbstractNode) -> list[pa.DataType]:
    return [column.arrow for _, column in rows.schema.columns]


def _most(work: Writer, rows: Subquery) -> exp.Select:
    on = list(rows.columns.values())
    there = exp.and_(*(exp.not_(column.is_(exp.null())) for column in on))
    count = [("n", exp.Count(this=exp.Star()))]
    groups = work.part(select_groups(rows, on).where(there, copy=False), count)
    most = exp.Coalesce(
        this=exp.Max(this=groups.columns["n"]), expressions=[exp.Literal.number(0)]
    )
    return select_from(groups).select(alias_as(most, "a0"))


def _all(rows: Subquery) -> exp.Select:
    columns = [*rows.columns.values()] or [exp.Literal.number(1)]
    return select_from(rows).select(
        *(alias_as(column, f"a{place}") for place, column in enumerate(columns))
    )
