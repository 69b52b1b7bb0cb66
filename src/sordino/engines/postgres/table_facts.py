"""What a server tells of a table: public facts, asked again before its rows are read.

Asked within a transaction that has read no row of the table, and holds its lock: so
nobody can alter, drop or empty it before the transaction ends. A table that was emptied
(TRUNCATE) or written anew by others between the moment of the transaction and the lock
would look empty to it; that is told by the file in which it lies.
"""

from dataclasses import dataclass
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
SELECT a.attname::text, a.atttypid::bigint, format_type(a.atttypid, a.atttypmod),
  has_column_privilege(c.oid, a.attnum, 'SELECT')
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_BELOW: Final = """
WITH RECURSIVE below(oid) AS (
  SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2
  UNION
  SELECT one.oid FROM below CROSS JOIN LATERAL (
    SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = below.oid
    UNION ALL
    SELECT d.refobjid FROM pg_rewrite AS r JOIN pg_depend AS d
      ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      AND d.refclassid = 'pg_class'::regclass
    WHERE r.ev_class = below.oid
  ) AS one
)
SELECT c.relkind::text, c.relfilenode IS NOT DISTINCT FROM
  coalesce(pg_relation_filenode(c.oid), 0)
FROM below JOIN pg_class AS c ON c.oid = below.oid
"""
"""All tables of which a table, a partitioned table or a view is made."""
_FOREIGN: Final = "f"


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
        columns = server.rows(_COLUMNS, [schema, name])
    return TableFacts(schema, name, tuple(starmap(ColumnFacts, columns)))


def refuse_foreign_or_moved(server: Server, schema: str, name: str) -> None:
    """Refuse rows that come from elsewhere, or were written anew at this moment."""
    tables = server.rows(_BELOW, [schema, name])
    if any(kind == _FOREIGN for kind, _ in tables):
        raise ServerRefusal("rows of a foreign table are not read")
    if not all(same for _, same in tables):
        raise MomentPassed("the table was emptied or written anew at this moment")
