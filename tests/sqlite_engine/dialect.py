"""SQLite's dialect: integers, truths, texts, dates and times, and no doubles.

It has no hash and no integers of 128 bits: the database registers functions of Python
for these, which give wide totals as decimal texts.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, final

import pyarrow as pa
from sqlglot import exp

from sordino.data.source import LONGEST, AbstractSource
from sordino.engines.statements import templates
from sordino.engines.statements.dialect import SALT, AbstractDialect, refusal
from sordino.engines.statements.templates import Sql
from sordino.expressions.language import OPERATIONS
from sordino.expressions.schema import PLAIN
from tests.sqlite_engine.entries import ENTRIES

_DOUBLES: Final = "it holds no NaN"
_LISTS: Final = "it holds no lists"
_UNWRITTEN: Final = "it has no such function, or one of other rules"


@final
class SQLiteDialect(AbstractDialect):
    """The dialect of SQLite 3.35 and later."""

    name = "sqlite"
    types: ClassVar = {
        "i64": "INTEGER",
        "text": "TEXT",
        "bool": "BOOLEAN",
        "date": "TEXT",
        "time": "INTEGER",
    }
    wide_type = pa.string()
    digest_type = pa.int64()
    entries: ClassVar = ENTRIES
    absent: ClassVar = {
        "f64": _DOUBLES,
        **{f"list[{one}]": _LISTS for one in PLAIN},
        **{one.name: _UNWRITTEN for one in OPERATIONS if one not in ENTRIES},
    }

    def placeholder(self, number: int) -> Sql:
        """Return :pn."""
        return exp.Placeholder(this=f"p{number}")

    def in_place(self, source: AbstractSource, places: Sequence[int]) -> None:
        """Return None: SQLite reads none of our sources."""
        del source, places

    def value_of(self, column: Sql, arrow: pa.DataType) -> Sql:
        """Return a text that is not too long."""
        del arrow
        size = templates.function(
            "length", exp.Cast(this=column, to=templates.sql_type("BLOB"))
        )
        return templates.case([
            (templates.is_at_most(size, templates.whole(LONGEST)), column.copy())
        ])

    def digest(self, values: Sequence[Sql]) -> Sql:
        """Return a keyed hash, of Python."""
        salt = exp.Placeholder(this=SALT)
        return templates.function("digest", salt, *(one.copy() for one in values))

    def order_term(self, value: Sql) -> exp.Ordered:
        """Return the value: texts go by their bytes, NULL is least."""
        return exp.Ordered(this=value, nulls_first=True)

    def same(self, left: Sql, right: Sql) -> Sql:
        """Return IS."""
        return exp.NullSafeEQ(this=left, expression=right)

    def first(self, value: Sql, kind: str) -> Sql:
        """Return the least value."""
        del kind
        return exp.Min(this=value)

    def in_part(self, values: Sequence[Sql], number: int, count: int) -> Sql:
        """Return the rest of the digest, compared; no digest is negative."""
        rest = templates.infix(exp.Mod, self.digest(values), templates.whole(count))
        return templates.is_equal(rest, templates.whole(number))

    def unnest(self, entries: Sql, limit: int | None) -> Sql:
        """Refuse: there are no lists."""
        del entries, limit
        raise refusal(self.name, "explode", _LISTS)

    def semi_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return WHERE EXISTS."""
        return rows.where(templates.exists(other, on), copy=False)

    def anti_join(
        self, rows: exp.Select, other: exp.Table, on: exp.Condition
    ) -> exp.Select:
        """Return WHERE NOT EXISTS."""
        return rows.where(exp.not_(templates.exists(other, on)), copy=False)

    def stores(self, *, shared: bool) -> bool:
        """Store what several read."""
        return shared

    def exact_sum(
        self, value: Sql, factor: int, shift: int, *, complete: bool = False
    ) -> Sql:
        """Return a sum of Python, as text."""
        del complete
        whole = (exp.Literal.string(str(one)) for one in (factor, shift))
        return _sum(value, *whole)

    def sum_of_totals(self, total: Sql) -> Sql:
        """Return a sum of texts, as text."""
        one, nothing = exp.Literal.string("1"), exp.Literal.string("0")
        return _sum(total, one, nothing)

    def row_count(self, times: int) -> Sql:
        """Return the sum of a constant."""
        one, each = exp.Literal.string("0"), exp.Literal.string(str(times))
        return _sum(templates.whole(1), one, each)

    def narrow_total(self, total: Sql) -> Sql:
        """Return a text held within the limits, as an integer; counts are held."""
        return templates.function("held", total)

    def distinct(self, values: Sequence[Sql]) -> Sql:
        """Return COUNT(DISTINCT ...) of the values as one text or NULL, as text."""
        told = templates.function("row_text", *(one.copy() for one in values))
        count = exp.Count(this=exp.Distinct(expressions=[told]))
        return templates.as_type(count, "TEXT")


def _sum(value: Sql, factor: Sql, shift: Sql) -> Sql:
    """Return a sum of Python; SQLite has none of no rows."""
    total = templates.function("wide_sum", value.copy(), factor, shift)
    return exp.Coalesce(this=total, expressions=[exp.Literal.string("0")])


SQLITE: Final = SQLiteDialect()
