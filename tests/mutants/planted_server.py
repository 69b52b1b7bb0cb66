"""Errors in what decides about privacy where a server is asked."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_SERVER: Final[tuple[Planted, ...]] = (
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        '    "constraint_exclusion": "off",\n',
        "",
        "a view whose rows a false CHECK hides",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        '    "enable_indexscan": "off",\n',
        "",
        "a view that is read by an index",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/tables.py",
        "_opaque(column.item()) if column.declared else column.item()",
        "column.item()",
        "groups by a primary key that comes twice",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/session.py",
        "hidden = all(table.is_hidden for table, _ in tables)",
        "hidden = True",
        "a key believed that was declared since",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/plans.py",
        "if not (known and whole and _are_pinned(settings)):",
        "if not known:",
        "settings that are not read back",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/session.py",
        "if hidden and self._scan_counts(*written) == sum(expected, Counter()):",
        "if hidden:",
        "a plan that nobody reads",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/dialect.py",
        'return templates.function("hashint8extended", inner, _salt())',
        "return inner",
        "rows kept by a hash that is far from even",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/dialect.py",
        "exp.Sum(this=value)",
        'exp.Sum(this=sql.as_type(value, "DOUBLE"))',
        "sums that round in between",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/dialect.py",
        "exp.Ordered(this=value, nulls_first=True)",
        "exp.Ordered(this=sql.is_missing(value), nulls_first=True)",
        "an order that does not end in all columns",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/dialect.py",
        "exp.Count(this=exp.Distinct(expressions=[counted]))",
        "exp.Count(this=counted)",
        "people counted by their rows",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        "statements of one question at several moments",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        "REPEATABLE READ READ ONLY",
        "REPEATABLE READ READ WRITE",
        "a question that may write",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        '"search_path": "pg_catalog, pg_temp"',
        '"search_path": "public, pg_catalog, pg_temp"',
        "names that others can take",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/server.py",
        '"row_security": "off"',
        '"row_security": "on"',
        "rows hidden in silence by a policy",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/session.py",
        "values = statement.parameters(salt - _SIGN)",
        "values = statement.parameters(0)",
        "one key for all sessions",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/tables.py",
        "if not all(same for *_, same in tables):",
        "if not any(same for *_, same in tables):",
        "a table below a view emptied without notice",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/entries.py",
        "templates.is_equal(dimensions, templates.whole(1))",
        "templates.is_at_most(dimensions, templates.whole(2))",
        "a matrix read as a list",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/views.py",
        "            if name not in _QUERY_TELLS and not _is_empty(value):\n",
        "            if False:\n",
        "a view that takes the first rows, or counts them, read as a table",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/views.py",
        "            is_total = node.text(_CALLS[kind]) in self._total\n",
        "            is_total = True\n",
        "a view that fails for one row",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/views.py",
        "            if word[1:] in node.fields:\n",
        "            if False:\n",
        "a name in a view that is taken for what the view says",
    ),
    Planted(
        "server",
        "src/sordino/engines/postgres/tables.py",
        "            if not self.doubt and view_doubt(",
        "            if self.doubt and view_doubt(",
        "a view that was replaced by one that is not made row by row",
    ),
    Planted(
        "prices",
        "src/sordino/engines/failures.py",
        "    except EngineUnavailable:\n",
        "    except ZeroDivisionError:\n",
        "a charge of which a refusal says that there was none",
    ),
)
