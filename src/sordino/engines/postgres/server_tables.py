"""Tables of a server as sources: read in place there, or handed over to others."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.engines.postgres.column_types import COLUMN_TYPES
from sordino.engines.postgres.plans import other_plan, reads_whole, scanned_tables
from sordino.engines.postgres.refusals import ServerRefusal
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.table_facts import (
    StoredBelow,
    TableFacts,
    facts_of,
    stored_below,
)
from sordino.engines.sql import pieces as sql
from sordino.engines.sql.database import MomentPassed
from sordino.engines.sql.pieces import Sql
from sordino.sources.arrow import handed_columns
from sordino.sources.base import NOTHING, AbstractSource, internal

_BATCH: Final = 10_000


@final
class TableOfServer(AbstractSource):
    """A table, partitioned table or view, by its schema and name."""

    ours = True

    def __init__(self, server: Server, facts: TableFacts) -> None:
        """Keep what is known of it."""
        self.server = server
        self._facts = facts
        self.below = StoredBelow(is_view=False, named=())
        """As it was when it was last checked."""
        self.is_hidden = True
        """Whether each column of which something is declared was hidden, then."""
        self.unsaid = {
            column.name: column.problem
            for column in facts.columns
            if column.problem is not None
        }
        self.fields = tuple(
            (column.name, COLUMN_TYPES[column.number].arrow)
            if column.number in COLUMN_TYPES
            else (column.name, pa.null())
            for column in facts.columns
        )

    def check(self) -> None:
        """Refuse a table that is gone, or has other columns or foreign rows.

        Within a transaction it is locked until that ends. The lock needs a right to a
        column, so it is asked for by those that the role may read.
        """
        facts = self._facts
        readable: list[Sql] = [
            column.item() for column in facts.columns if column.readable
        ]
        select = exp.Select().select(*(readable or [sql.whole(1)]))
        with self.server.transaction():
            self.server.rows(select.from_(facts.item()).limit(0).sql("postgres"))
            self.below = stored_below(self.server, facts.schema, facts.name)
            now = facts_of(self.server, facts.schema, facts.name)
            if now != facts:
                raise ServerRefusal("the table is not what it was")
            self.is_hidden = now.declarations <= facts.declarations

    def hold(self) -> None:
        """Lock the table; a transaction whose moment has passed is begun once more."""
        try:
            self.check()
        except MomentPassed:
            self.server.begin_anew()
            self.check()

    def item(self, places: Sequence[int]) -> Sql:
        """Return the columns of the table as our types, c0, c1, ..., as t."""
        return exp.Subquery(
            this=self._select(places), alias=exp.TableAlias(this=exp.to_identifier("t"))
        )

    def hand_over(self, places: Sequence[int]) -> pa.RecordBatchReader:
        """Return the columns, read by a connection of their own."""
        return handed_columns(self._batches(places), self.fields, places)

    def read(self, places: Sequence[int]) -> pa.Table:
        """Return the columns."""
        return pa.Table.from_batches(self._batches(places), self._form(places))

    def scans(self, places: Sequence[int]) -> Counter[str]:
        """Return the stored tables that are read for some columns of all rows.

        Of a view they are those that it reads where nothing else is asked of it: of
        each table that it names the whole, or nothing.
        """
        if not self.below.is_view:
            return sum(self.below.named, Counter())
        scanned = scanned_tables(self.server, self._select(places).sql("postgres"))
        if not reads_whole(scanned, self.below.named):
            raise other_plan()
        return scanned

    def _select(self, places: Sequence[int]) -> exp.Select:
        columns: list[Sql] = []
        for place in places:
            column = self._facts.columns[place]
            cell = _opaque(column.item()) if column.declared else column.item()
            value = COLUMN_TYPES[column.number].read(cell)
            columns.append(exp.Alias(this=value, alias=exp.to_identifier(f"c{place}")))
        nothing = exp.Alias(
            this=sql.as_type(exp.null(), "BOOLEAN"), alias=exp.to_identifier(NOTHING)
        )
        return exp.Select().select(*(columns or [nothing])).from_(self._facts.item())

    def _form(self, places: Sequence[int]) -> pa.Schema:
        named = zip(internal(places), (self.fields[n][1] for n in places), strict=True)
        return pa.schema(list(named) or [(NOTHING, pa.bool_())])

    def _batches(self, places: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Yield the rows as they come, at one moment."""
        form, server = self._form(places), self.server.another()
        text = self._select(places).sql("postgres")
        try:
            with server.transaction():
                table = TableOfServer(server, self._facts)
                table.hold()
                if scanned_tables(server, text) != table.scans(places):
                    raise other_plan()
                for rows in server.stream(text, _BATCH):
                    columns = zip(*rows, strict=True)
                    arrays = [
                        pa.array(column, field.type)
                        for column, field in zip(columns, form, strict=True)
                    ]
                    yield pa.RecordBatch.from_arrays(arrays, schema=form)
        finally:
            server.close()


def _opaque(column: Sql) -> Sql:
    """Return a value of which no planner can know what is declared of its column.

    No constraint, index, partition, key or NOT NULL is about a CASE whose condition is
    known only when a statement runs: that there is a clock, asked once a statement.
    """
    clock = sql.function("now")
    there = exp.Subquery(this=exp.Select().select(sql.negation(sql.is_missing(clock))))
    return sql.case([(there, column)])
