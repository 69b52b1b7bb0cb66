"""Whole statements: the tree, the values bound in it, and the data that it reads."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.sql.dialect import SALT, AbstractDialect
from sordino.engines.sql.group_totals import (
    KEYS,
    PLACE,
    Form,
    added_totals,
    grouped_rows,
    narrow_totals,
    wide_totals,
)
from sordino.engines.sql.leaves import (
    SOURCE,
    Handed,
    Leaves,
    Reading,
    handed_table,
)
from sordino.engines.sql.measures import Measures
from sordino.engines.sql.plan_rows import RULES
from sordino.engines.sql.writer import (
    Subquery,
    Writer,
    alias_as,
    order_by_all,
    select_from,
    select_groups,
)
from sordino.errors import show
from sordino.query.nodes import AbstractNode
from sordino.query.question import Question
from sordino.sources.base import Opened


@final
@dataclass(frozen=True)
class Statement:
    """A statement, the values bound in it, and the data that it reads."""

    dialect: AbstractDialect
    kinds: tuple[pa.DataType, ...]
    """The types of its columns; one of no columns has one that stands for none."""
    tree: exp.Select
    """It has placeholders for the bound values, and $salt for the key."""
    text: str
    """What is run: the key is one more value."""
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
    reading: Reading
    """Which sources the database reads by itself."""

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
        """Return the statement of the digests of so many columns, in their places."""
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
    """Yield the places of the key."""
    return (key for key in tree.find_all(exp.Placeholder) if key.name == SALT)


def _groups(question: Question) -> list[pa.DataType]:
    """Return the types of groups, or of the places of keys."""
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
