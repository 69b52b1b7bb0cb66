"""Tables of a server: by which of our types a column is read, and what values become.

    sd.PrivateTable(("postgresql://reader@db.clinic/base", "visits"), protects=...)

| type there | ours | missing |
|---|---|---|
| smallint, integer, bigint | i64 | |
| real, double precision, numeric | f64 | |
| text, varchar, char(n), uuid | text | |
| boolean | bool | |
| date | date | infinity, years before 1 and after 9999 |
| timestamp, and with time zone (in UTC) | time | the same |
| an array of one of these | list | two or more dimensions, or above 2**24 entries |

All other types have no place: what a type of a user means its owner can change (enums,
domains, citext, composite types).

Facts of a table are asked within a transaction that has read no row of it and holds its
lock: nobody can alter, drop or empty it before the transaction ends. A table that was
emptied (TRUNCATE) or written anew by others between the moment of the transaction and
the lock would look empty to it; that is told by the file in which it lies.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, Final, NoReturn, final

import pyarrow as pa
from sqlglot import exp

from sordino.data.arrow import handed_columns
from sordino.data.postgres_connection import ServerRefusal
from sordino.data.source import NOTHING, AbstractSource, internal
from sordino.engines.failures import run_uncharged
from sordino.engines.postgres.doubles import (
    first_beyond,
    is_between,
    last_lost,
    numeric,
    real,
)
from sordino.engines.postgres.entries import by_code_point, each_entry, within_years
from sordino.engines.postgres.plans import other_plan, reads_whole, scanned_tables
from sordino.engines.postgres.server import Server
from sordino.engines.postgres.views import view_doubt
from sordino.engines.statements import templates
from sordino.engines.statements.database import MomentPassed
from sordino.engines.statements.templates import Sql
from sordino.errors import EngineUnavailable, InvalidParameter, show
from sordino.expressions.schema import Column


@final
@dataclass(frozen=True)
class ColumnType:
    """Our type of a column, and what its values become."""

    arrow: pa.DataType
    read: Callable[[Sql], Sql]


def _decimal(value: Sql) -> Sql:
    # the cast itself raises at both ends of the doubles
    top, bottom = (
        numeric(templates.letters(format(end, "f")))
        for end in (first_beyond(), last_lost())
    )
    infinity = float("inf")
    is_nan = templates.is_equal(value.copy(), numeric(templates.letters("NaN")))
    under = templates.minus(templates.whole(0), top.copy())
    lost = templates.is_at_most(templates.function("abs", value.copy()), bottom)
    ends = [
        (is_nan, real(float("nan"))),
        (templates.is_at_most(top, value.copy()), real(infinity)),
        (templates.is_at_most(value.copy(), under), real(-infinity)),
        (lost, real(0.0)),
    ]
    return templates.case(ends, templates.as_type(value, "DOUBLE"))


def _text(value: Sql) -> Sql:
    return by_code_point(templates.as_type(value, "TEXT"))


def _day(value: Sql) -> Sql:
    first, last = (
        templates.as_type(templates.letters(end), "DATE")
        for end in ("0001-01-01", "9999-12-31")
    )
    return templates.case([(is_between(value.copy(), first, last), value)])


def _zoned(value: Sql) -> Sql:
    return within_years(exp.AtTimeZone(this=value, zone=templates.letters("UTC")))


def _list_of(entry: ColumnType) -> ColumnType:
    def read(value: Sql) -> Sql:
        cell = entry.read(value)
        # entries leave as they are: a zero among them has no sign from here on
        is_double = pa.types.is_floating(entry.arrow)
        return templates.plus(cell, templates.double(0)) if is_double else cell

    return ColumnType(pa.list_(entry.arrow), lambda value: each_entry(value, read))


_INTEGER: Final = ColumnType(pa.int64(), lambda x: templates.as_type(x, "BIGINT"))
_DOUBLE: Final = ColumnType(pa.float64(), lambda x: templates.as_type(x, "DOUBLE"))
_TEXT: Final = ColumnType(pa.string(), _text)
_PLAIN: Final[Mapping[int, ColumnType]] = {
    **dict.fromkeys((20, 21, 23), _INTEGER),  # bigint, smallint, integer
    **dict.fromkeys((700, 701), _DOUBLE),
    **dict.fromkeys((25, 1042, 1043, 2950), _TEXT),  # text, char(n), varchar, uuid
    16: ColumnType(pa.bool_(), lambda value: value),
    1082: ColumnType(pa.date32(), _day),
    1114: ColumnType(pa.timestamp("us"), within_years),
    1184: ColumnType(pa.timestamp("us"), _zoned),
    1700: ColumnType(pa.float64(), _decimal),
}
_ARRAYS: Final = dict([
    *((16, 1000), (20, 1016), (21, 1005), (23, 1007), (25, 1009), (700, 1021)),
    *((701, 1022), (1042, 1014), (1043, 1015), (1082, 1182), (1114, 1115)),
    *((1184, 1185), (1700, 1231), (2950, 2951)),
])
"""A type -> that of its arrays."""
COLUMN_TYPES: Final[Mapping[int, ColumnType]] = {
    **_PLAIN,
    **{_ARRAYS[number]: _list_of(entry) for number, entry in _PLAIN.items()},
}
"""By the number that each type has in every PostgreSQL."""


_NAMED: Final = """
SELECT n.nspname, c.relname
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass($1::pg_catalog.text)
"""
"""Before a transaction has our settings: a name means what it means for the role."""
_COLUMNS: Final = """
WITH RECURSIVE tree(oid) AS (
  SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2
  UNION
  SELECT i.inhrelid FROM tree JOIN pg_inherits AS i ON i.inhparent = tree.oid
), declared(name) AS (
  SELECT a.attname FROM tree JOIN pg_attribute AS a ON a.attrelid = tree.oid
  WHERE a.attnotnull OR EXISTS (
    SELECT FROM pg_depend AS d WHERE d.refclassid = 'pg_class'::regclass
    AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum
    AND d.classid <> 'pg_rewrite'::regclass
  )
)
SELECT a.attname::text, a.atttypid::bigint, format_type(a.atttypid, a.atttypmod),
  has_column_privilege(c.oid, a.attnum, 'SELECT'),
  c.relkind = 'v' OR EXISTS (SELECT FROM declared WHERE name = a.attname)
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_BELOW: Final = """
WITH RECURSIVE below(oid, root) AS (
  SELECT c.oid, c.oid FROM pg_class AS c JOIN pg_namespace AS n
    ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2
  UNION
  SELECT one.oid, one.root FROM below CROSS JOIN LATERAL (
    SELECT inhrelid AS oid, below.root FROM pg_inherits WHERE inhparent = below.oid
    UNION ALL
    SELECT d.refobjid, d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d
      ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class AS v ON v.oid = below.oid AND v.relkind = 'v'
    WHERE r.ev_class = below.oid
  ) AS one
)
SELECT below.root::bigint, c.relkind::text, c.relname::text,
  c.relfilenode IS NOT DISTINCT FROM coalesce(pg_relation_filenode(c.oid), 0)
FROM below JOIN pg_class AS c ON c.oid = below.oid
"""
"""All tables of which a table, a partitioned table or a view is made.

Each with the table that is named: itself, or one from which it inherits.
"""
_FOREIGN: Final = "f"
_VIEW: Final = "v"
_STORED: Final = frozenset("rm")
"""Tables and materialised views; partitioned tables and views have no rows."""


@final
@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column."""

    name: str
    number: int  # of its type
    told: str  # how its type is called there
    readable: bool
    declared: bool = field(compare=False)
    """Whether the catalogue says anything of it: NOT NULL, or what mentions it.

    Of a column of a view that is not known here.
    """

    def item(self) -> exp.Column:
        """Return the column of a table that is called u."""
        return exp.column(exp.to_identifier(self.name, quoted=True), table="u")

    @property
    def problem(self) -> str | None:
        """Return why it cannot be used, if it cannot."""
        if not self.readable:
            return "the role may not read it"
        if self.number not in COLUMN_TYPES:
            return (
                f"its type {self.told} has no place in a private table; a view can "
                "give it another"
            )
        return None


@final
@dataclass(frozen=True)
class TableFacts:
    """Where a table is, and its columns."""

    schema: str
    name: str
    columns: tuple[ColumnFacts, ...]

    @property
    def declarations(self) -> frozenset[str]:
        """Return the columns of which the catalogue says something."""
        return frozenset(column.name for column in self.columns if column.declared)

    def item(self) -> exp.Table:
        """Return the table by its full name, as u."""
        this = exp.to_identifier(self.name, quoted=True)
        db = exp.to_identifier(self.schema, quoted=True)
        return exp.Table(
            this=this, db=db, alias=exp.TableAlias(this=exp.to_identifier("u"))
        )


def place_of(server: Server, name: str) -> tuple[str, str] | None:
    """Return the schema and the name that a name stands for, None for none."""
    server.connect()
    places = server.rows(_NAMED, [name])
    return (places[0][0], places[0][1]) if places else None


def facts_of(server: Server, schema: str, name: str) -> TableFacts:
    """Facts of a table as the server tells them; no columns if it is gone."""
    with server.transaction():
        columns = server.catalogue_rows(_COLUMNS, [schema, name])
    return TableFacts(schema, name, tuple(starmap(ColumnFacts, columns)))


@final
@dataclass(frozen=True)
class StoredBelow:
    """The stored tables of which a table, a partitioned table or a view is made."""

    is_view: bool
    named: tuple[Counter[str], ...]
    """Those that are read for each table that is named: itself, and its children."""


def stored_below(server: Server, schema: str, name: str) -> StoredBelow:
    """Return the tables in which the rows of a table lie, as the catalogue lists them.

    Rows that come from elsewhere, or were written anew at this moment, are refused.
    """
    tables = server.catalogue_rows(_BELOW, [schema, name])
    kinds = {kind for _, kind, *_ in tables}
    if _FOREIGN in kinds:
        # its bounds are believed, and its rows are not of this moment (docs/adr/0125)
        raise ServerRefusal("rows of a foreign table are not read")
    if not all(same for *_, same in tables):
        raise MomentPassed("the table was emptied or written anew at this moment")
    named: dict[int, Counter[str]] = {}
    for root, kind, stored, _ in tables:
        if kind in _STORED:
            named.setdefault(root, Counter())[stored] += 1
    return StoredBelow(_VIEW in kinds, tuple(named.values()))


_BATCH: Final = 10_000


@final
class TableOfServer(AbstractSource):
    """A table, partitioned table or view, by its schema and name."""

    ours = True

    def __init__(self, server: Server, facts: TableFacts, doubt: str = "") -> None:
        self.server = server
        self._facts = facts
        self.doubt = doubt
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
        # within a transaction it is locked until that ends. The lock needs a right to a
        # column, so it is asked for by those that the role may read
        facts = self._facts
        readable: list[Sql] = [
            column.item() for column in facts.columns if column.readable
        ]
        select = exp.Select().select(*(readable or [templates.whole(1)]))
        with self.server.transaction():
            # before any fact is asked: what is known of an unlocked table may change
            self.server.rows(select.from_(facts.item()).limit(0).sql("postgres"))
            self.below = stored_below(self.server, facts.schema, facts.name)
            now = facts_of(self.server, facts.schema, facts.name)
            if now != facts:
                raise ServerRefusal("the table is not what it was")
            self.is_hidden = now.declarations <= facts.declarations
            # who answers for a view answers for what it says by now, and nobody else
            if not self.doubt and view_doubt(self.server, facts.schema, facts.name):
                raise ServerRefusal("the view says something else by now")

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
        return handed_columns(self._batches(places), self.fields, places)

    def read(self, places: Sequence[int]) -> pa.Table:
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
            this=templates.as_type(exp.null(), "BOOLEAN"),
            alias=exp.to_identifier(NOTHING),
        )
        return exp.Select().select(*(columns or [nothing])).from_(self._facts.item())

    def _form(self, places: Sequence[int]) -> pa.Schema:
        named = zip(internal(places), (self.fields[n][1] for n in places), strict=True)
        return pa.schema(list(named) or [(NOTHING, pa.bool_())])

    def _batches(self, places: Sequence[int]) -> Iterator[pa.RecordBatch]:
        form, server = self._form(places), self.server.another()
        text = self._select(places).sql("postgres")
        try:
            with server.transaction():
                # a connection of its own: rows stream while others are asked
                table = TableOfServer(server, self._facts, self.doubt)
                table.hold()
                # read before the rows: an index or a bound may leave some out
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
    # no constraint, index, partition, key or NOT NULL is about a CASE whose condition
    # is known only when a statement runs: that there is a clock, asked once a statement
    clock = templates.function("now")
    there = exp.Subquery(
        this=exp.Select().select(templates.negation(templates.is_missing(clock)))
    )
    return templates.case([(there, column)])


def of_address(pair: Any, declared: Mapping[str, Column]) -> AbstractSource:
    """Return a source of (address, name of a table)."""
    del declared
    address, name = pair
    return run_uncharged(lambda: _checked(Server(str(address)), str(name)))


def _checked(server: Server, name: str) -> TableOfServer:
    place = place_of(server, name)
    if place is None:
        raise EngineUnavailable(
            f"there is no table {show(name)} in this database that the role sees: name "
            "it as schema.table, in quotes where it has capital letters",
            lasts=True,
        )
    with server.transaction():
        doubt = view_doubt(server, *place)
    table = TableOfServer(server, facts_of(server, *place), doubt)
    table.check()
    return table


def of_nothing(address: Any, declared: Mapping[str, Column]) -> NoReturn:
    """Refuse an address without the name of a table, and do not show it."""
    del address, declared
    raise InvalidParameter(
        "source",
        "an address",
        "must be (address, name of a table)",
        'Try ("postgresql://role@host/database", "schema.table").',
    )
