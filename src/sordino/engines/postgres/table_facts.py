"""What a server tells of a table: public facts, asked again before its rows are read.

Asked within a transaction that has read no row of the table, and holds its lock: so
nobody can alter, drop or empty it before the transaction ends. A table that was emptied
(TRUNCATE) or written anew by others between the moment of the transaction and the lock
would look empty to it; that is told by the file in which it lies.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import starmap
from typing import Final, final

from sqlglot import exp

from sordino.engines.postgres.column_types import COLUMN_TYPES
from sordino.engines.postgres.refusals import ServerRefusal
from sordino.engines.postgres.server import Server
from sordino.engines.sql.database import MomentPassed

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
    number: int
    """Of its type."""
    told: str
    """How its type is called there."""
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
        parts = (
            exp.to_identifier(part, quoted=True) for part in (self.name, self.schema)
        )
        this, db = parts
        return exp.Table(
            this=this, db=db, alias=exp.TableAlias(this=exp.to_identifier("u"))
        )


def place_of(server: Server, name: str) -> tuple[str, str] | None:
    """Return the schema and the name that a name stands for, None for none."""
    server.connect()
    places = server.rows(_NAMED, [name])
    return (places[0][0], places[0][1]) if places else None


def facts_of(server: Server, schema: str, name: str) -> TableFacts:
    """Return what a server tells of a table; no columns if it is gone."""
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
        raise ServerRefusal("rows of a foreign table are not read")
    if not all(same for *_, same in tables):
        raise MomentPassed("the table was emptied or written anew at this moment")
    named: dict[int, Counter[str]] = {}
    for root, kind, stored, _ in tables:
        if kind in _STORED:
            named.setdefault(root, Counter())[stored] += 1
    return StoredBelow(_VIEW in kinds, tuple(named.values()))
