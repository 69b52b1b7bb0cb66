"""Relations and views of the user, written as statements that make each row of one row.

DuckDB's own parser tells what a text says. It is written anew with views, tables and
files in their places, and every computation inside of TRY: what fails for a row is
missing for that row. Functions are listed that always give the same of equal arguments;
a test holds each against DuckDB's catalogue (`if` and `nullif` are macros of its own).
Whatever is not listed here is refused.

| part of a text | what becomes of it |
|---|---|
| a view, a common table expression, a subquery in FROM | its own text, in its place |
| a table, files of Parquet | its columns by their names: no number of a row or a file |
| an expression, a condition | inside of TRY, which no volatile function may be |
| ORDER BY without LIMIT | left out: rows have no order |
| all else | NotByRow, with the reason |

Kernel: totals.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias, final

import duckdb
from sqlglot import exp

from sordino.errors import show

_OPERATORS: Final = "+ - * / // % ** ^ || & | << >> ~ ~~ !~~ ~~* !~~* ~~~ ^@"
_NUMBERS: Final = """
    abs acos add asin atan atan2 bit_count cbrt ceil ceiling cos cot degrees divide even
    exp factorial floor gcd greatest hash isfinite isinf isnan lcm least ln log
    log10 log2 md5 mod multiply pi pow power radians round sha256 sign signbit sin sqrt
    subtract tan trunc xor
"""
_TEXTS: Final = """
    array_slice ascii bar base64 bin chr concat concat_ws contains ends_with format
    from_base64 hex instr lcase left length like_escape list_value lower lpad ltrim
    ilike_escape not_ilike_escape not_like_escape ord prefix printf regexp_extract
    regexp_extract_all regexp_full_match regexp_matches regexp_replace repeat replace
    reverse right row rpad rtrim split starts_with str_split string_split
    strip_accents strlen strpos substr substring suffix to_base translate trim ucase
    unicode upper
"""
_DATES: Final = """
    date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day
    dayname dayofmonth dayofweek dayofyear epoch epoch_ms epoch_us hour isodow isoyear
    last_day make_date make_time make_timestamp microsecond millisecond minute month
    monthname quarter second strftime strptime to_days to_hours to_microseconds
    to_milliseconds to_minutes to_months to_seconds to_weeks to_years try_strptime week
    weekday weekofyear year yearweek
"""
_NESTED: Final = """
    array_contains array_length element_at flatten json_extract json_extract_string
    json_valid len list_contains list_element list_extract list_has
    list_position list_sort list_slice map_extract map_keys map_values struct_extract
    struct_pack array_extract
"""
_CHOICES: Final = "if nullif typeof"
ROW_FUNCTIONS: Final = frozenset(
    f"{_OPERATORS} {_NUMBERS} {_TEXTS} {_DATES} {_NESTED} {_CHOICES}".split()
)


_NAMED: Final = """
SELECT database_name, schema_name, table_name, NULL FROM duckdb_tables()
WHERE lower(table_name) = lower($1) AND NOT internal
UNION ALL
SELECT database_name, schema_name, view_name, sql FROM duckdb_views()
WHERE lower(view_name) = lower($1) AND NOT internal
"""
_COLUMNS: Final = """
SELECT column_name, is_generated FROM duckdb_columns()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 ORDER BY column_index
"""
_TEMPORARY: Final = """
SELECT table_name FROM duckdb_tables() WHERE temporary
UNION ALL
SELECT view_name FROM duckdb_views() WHERE temporary AND NOT internal
"""
_FORMS: Final = """
SELECT count(DISTINCT form) FROM (
    SELECT list((name, type, type_length, converted_type, scale, precision,
        logical_type, num_children)) AS form
    FROM parquet_schema({}) GROUP BY file_name
)
"""
_OURS: Final = "SELECT database_name FROM duckdb_databases() WHERE type = 'duckdb'"
_REDEFINED: Final = """
SELECT function_name FROM duckdb_functions() WHERE NOT internal
"""
_HOME: Final = "SELECT current_database(), current_schema()"
_VIEW: Final = re.compile(r'CREATE VIEW (?:[^"]|"(?:[^"]|"")*")*? AS (.*);', re.DOTALL)
"""The first AS that does not stand in a quoted name."""

Home = tuple[str, str]  # a database and a schema


@final
@dataclass(frozen=True)
class NamedTable:
    """A table that DuckDB itself stores."""

    path: str
    columns: tuple[str, ...]


@final
@dataclass(frozen=True)
class NamedView:
    """A view: its text, where the names in it are looked for, and its columns."""

    text: str
    home: Home
    columns: tuple[str, ...]


@final
@dataclass(frozen=True)
class UserNames:
    """What names mean to a cursor."""

    cursor: duckdb.DuckDBPyConnection
    hidden: frozenset[str] = frozenset()
    """Names that mean something else to the connection that made the relation."""
    redefined: frozenset[str] = frozenset()
    """Functions that it has redefined for itself alone."""

    @cached_property
    def functions(self) -> frozenset[str]:
        """The functions that the user made, which may stand before DuckDB's own."""
        return self.redefined | _names(self.cursor.execute(_REDEFINED).fetchall())

    def find(
        self, qualifiers: Sequence[str], name: str, home: Home | None
    ) -> NamedTable | NamedView | None:
        """Table or view that a name stands for; None unless that is certain."""
        rows = self.cursor.execute(_NAMED, [name]).fetchall()
        wanted = {part.casefold() for part in qualifiers}
        if wanted:
            near = [
                row for row in rows if wanted <= {part.casefold() for part in row[:2]}
            ]
        else:
            here = home or self.cursor.execute(_HOME).fetchall()[0]
            near = [row for row in rows if row[:2] == here] or rows
        if len(near) != 1 or name.casefold() in self.hidden:
            return None
        database, schema, exact, text = near[0]
        columns = self.cursor.execute(_COLUMNS, [database, schema, exact]).fetchall()
        names = tuple(column for column, _ in columns)
        if text is not None:
            view = _VIEW.fullmatch(text.strip())
            return view and NamedView(view[1], (database, schema), names)
        stored = (database,) in self.cursor.execute(_OURS).fetchall()
        # What another database hands over, and what a generated column computes, is
        # not seen here.
        if not stored or any(generated for _, generated in columns):
            return None
        parts = (exp.to_identifier(part, quoted=True) for part in near[0][:3])
        return NamedTable(".".join(part.sql("duckdb") for part in parts), names)

    def columns_of(self, table: str) -> tuple[tuple[str, str], ...]:
        """Return the columns of what stands in FROM, and their types."""
        described = self.cursor.execute(f"DESCRIBE FROM {table}").fetchall()
        return tuple((name, kind) for name, kind, *_ in described)

    def are_alike(self, files: str) -> bool:
        """Tell whether Parquet files have the same columns: else a cast could fail."""
        ((forms,),) = self.cursor.execute(_FORMS.format(files)).fetchall()
        return bool(forms == 1)


def have_one_type(parts: list[tuple[tuple[str, str], ...]], *, by_name: bool) -> bool:
    """Tell whether the columns that are put together have the same types."""
    if not by_name:
        return len({tuple(kind for _, kind in columns) for columns in parts}) == 1
    pairs = {(name.casefold(), kind) for columns in parts for name, kind in columns}
    return len(pairs) == len({name for name, _ in pairs})


def own_names(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tables and the functions that mean something to a connection alone."""
    hidden = connection.execute(_TEMPORARY).fetchall()
    return _names(hidden), _names(connection.execute(_REDEFINED).fetchall())


def _names(rows: list[tuple[str]]) -> frozenset[str]:
    return frozenset(name.casefold() for (name,) in rows)


Part: TypeAlias = dict[str, Any]
_PLACES: Final = {"query_location", "query_location_length"}
_EVERY: Final = ("type", "modifiers", "cte_map")
_SELECT: Final = ("select_list", "from_table", "where_clause")
_BARE: Final = {"COLUMN_REF", "CONSTANT", "STAR"}
_CLASSES: Final = {
    *_BARE,
    *("BETWEEN", "CASE", "CAST", "COMPARISON", "CONJUNCTION", "FUNCTION", "OPERATOR"),
    "TYPE",
}
_KINDS_OF_JOINED: Final = {"UNION": "UNION ALL", "UNION_BY_NAME": "UNION ALL BY NAME"}
_PARQUET: Final = {"parquet_scan", "read_parquet"}
_OPTIONS: Final = {"binary_as_string", "filename", "union_by_name"}
_RANGES: Final = {"generate_series", "range"}
_LONGEST: Final = 100_000
"""Characters of a statement: texts in their places can grow with each use."""
_WHY: Final = {
    "DISTINCT_MODIFIER": "takes one of equal rows (DISTINCT)",
    "JOIN": "joins tables",
    "LIMIT_MODIFIER": "takes some rows of many (LIMIT)",
    "LIMIT_PERCENT_MODIFIER": "takes some rows of many (LIMIT)",
    "PARAMETER": "has parameters (write their values into its text)",
    "PIVOT": "computes a row from many (PIVOT)",
    "RECURSIVE_CTE_NODE": "computes rows from rows (RECURSIVE)",
    "SET_OPERATION_NODE": "compares rows (a set operation other than UNION ALL)",
    "SUBQUERY": "computes a cell from other rows (a subquery)",
    "WINDOW": "computes a cell from other rows (a window)",
    "group_expressions": "computes a row from many (GROUP BY)",
    "group_sets": "computes a row from many (GROUP BY)",
    "having": "computes a row from many (HAVING)",
    "qualify": "computes a cell from other rows (QUALIFY)",
    "sample": "samples rows",
}


@final
class NotByRow(Exception):
    """Why a row of a text may depend on more than one row."""


@final
@dataclass(frozen=True)
class RowByRow:
    """Writes texts as statements that make each row of one row."""

    parser: duckdb.DuckDBPyConnection
    """A database of our own, which holds nothing: what a text says needs no table."""
    names: UserNames
    open_views: tuple[NamedView, ...] = field(default=())

    def statement(self, text: str) -> str:
        """Statement that makes each row of one row, or NotByRow."""
        return self._query(self._parse(text), {}, None)

    def _query(self, node: Part, known: Mapping[str, str], home: Any) -> str:
        if node["cte_map"]["map"]:
            known = dict(known)
            for entry in node["cte_map"]["map"]:
                part = entry["value"]
                _refuse_others(part, {"materialized", "query_node", "aliases"})
                inner = self._query(part["query_node"], known, home)
                known[entry["key"].casefold()] = _as_columns(inner, part["aliases"])
        for modifier in node["modifiers"]:
            if modifier["type"] != "ORDER_MODIFIER":
                raise _because(modifier["type"])
        if node["type"] == "SELECT_NODE":
            text = self._select(node, known, home)
        else:
            text = self._union(node, known, home)
        if len(text) > _LONGEST:
            raise NotByRow("is too long when its views are written in their places")
        return text

    def _union(self, node: Part, known: Mapping[str, str], home: Any) -> str:
        # a cell must not be cast for it: the cast may fail
        joined = _KINDS_OF_JOINED.get(node.get("setop_type", ""))
        if joined is None or node["setop_all"] is not True:
            raise _because(node["type"])
        _refuse_others(node, {*_EVERY, "setop_type", "setop_all", "children"})
        parts = [f"({self._query(child, known, home)})" for child in node["children"]]
        columns = [self.names.columns_of(part) for part in parts]
        if not have_one_type(columns, by_name=node["setop_type"] == "UNION_BY_NAME"):
            raise NotByRow("joins columns of other types (UNION ALL): cast them first")
        return f" {joined} ".join(parts)

    def _select(self, node: Part, known: Mapping[str, str], home: Any) -> str:
        _refuse_others(node, {*_EVERY, "aggregate_handling", *_SELECT})
        if node["aggregate_handling"] != "STANDARD_HANDLING":
            raise _because("group_expressions")
        items = ", ".join(map(self._item, node["select_list"]))
        table = self._from_clause(node["from_table"], known, home)
        where = node["where_clause"]
        condition = "" if where is None else f" WHERE {self._try_text(where)}"
        return f"SELECT {items}{table}{condition}"

    def _item(self, item: Part) -> str:
        if item["class"] in _BARE:
            return self._judge_text(item)
        bare = {**item, "alias": ""}
        name = _quoted(item["alias"] or self._text(bare))
        if item["class"] == "FUNCTION" and item["function_name"] == "unnest":
            (listed,) = _arguments(item)
            return f"unnest({self._try_text(listed)}) AS {name}"
        return f"{self._try_text(bare)} AS {name}"

    def _try_text(self, expression: Part) -> str:
        return f"TRY({self._judge_text(expression)})"

    def _judge_text(self, expression: Part) -> str:
        for part in _parts(expression):
            if part["class"] not in _CLASSES:
                raise _because(part["class"])
            if part["class"] == "STAR":
                _refuse_others(part, {*_VIEW_NAMED, "relation_name", *_NAMES_OF_STARS})
            if part["class"] == "FUNCTION":
                self._judge_call(part)
            if part["class"] == "COLUMN_REF":
                self._judge_name(part)
        return self._text(expression)

    def _judge_name(self, column: Part) -> None:
        """Refuse a name that is a function without brackets where no column has it."""
        if len(column["column_names"]) > 1:
            return
        name = _quoted(column["column_names"][0])
        with suppress(duckdb.Error):
            self.parser.execute(f"SELECT {name}")
            raise NotByRow(f"reads {name}, which can be a function: say table.{name}")

    def _judge_call(self, call: Part) -> None:
        name = call["function_name"].casefold()
        _refuse_others(call, {*_VIEW_NAMED, *_CALLED})
        if call["order_bys"]["orders"]:
            raise NotByRow("computes a cell from other rows (an aggregate in order)")
        if name not in ROW_FUNCTIONS:
            raise NotByRow(f"calls {show(name)}, which is not known to be of one row")
        if name in self.names.functions:  # a macro stands before DuckDB's own function
            raise NotByRow(f"calls {show(name)}, which its connection has redefined")

    def _from_clause(self, table: Part, known: Mapping[str, str], home: Any) -> str:
        if table["type"] == "EMPTY":
            return ""
        inner, name = self._table(table, known, home)
        columns = ", ".join(map(_quoted, table.get("column_name_alias", ())))
        alias = _quoted(table["alias"] or name)
        return f" FROM ({inner}) AS {alias}{columns and f'({columns})'}"

    def _table(
        self, table: Part, known: Mapping[str, str], home: Any
    ) -> tuple[str, str]:
        allowed = {"type", "alias", "column_name_alias"}
        match table["type"]:
            case "BASE_TABLE":
                path = {"schema_name", "table_name", "catalog_name", "qualified_name"}
                _refuse_others(table, allowed | path)
                return self._resolve_name(table, known, home), table["table_name"]
            case "SUBQUERY":
                _refuse_others(table, {*allowed, "subquery"})
                return self._query(table["subquery"]["node"], known, home), "subquery"
            case "EXPRESSION_LIST":
                _refuse_others(table, {*allowed, "values"})
                rows = (
                    ", ".join(map(self._judge_text, row)) for row in table["values"]
                )
                return f"VALUES {', '.join(f'({row})' for row in rows)}", "valueslist"
            case "TABLE_FUNCTION":
                _refuse_others(table, {*allowed, "function", "with_ordinality"})
                if table["with_ordinality"] != "WITHOUT_ORDINALITY":
                    raise NotByRow("numbers its rows (WITH ORDINALITY)")
                call = table["function"]
                return self._call_text(call), call["function_name"]
        raise _because(table["type"])

    def _resolve_name(self, table: Part, known: Mapping[str, str], home: Any) -> str:
        name = table["table_name"]
        qualifiers = [
            name for name in (table["catalog_name"], table["schema_name"]) if name
        ]
        if not qualifiers and name.casefold() in known:
            return known[name.casefold()]
        named = self.names.find(qualifiers, name, home)
        if isinstance(named, NamedView):
            if named in self.open_views:  # else its text would be written without end
                raise NotByRow("is a view of itself")
            inner = RowByRow(self.parser, self.names, (*self.open_views, named))
            text = inner._query(self._parse(named.text), {}, named.home)
            return _as_columns(text, named.columns)
        if named is None and not qualifiers and name.casefold().endswith(".parquet"):
            return self._files([name], {})
        if named is None:
            raise NotByRow(
                f"reads {show(name)}, which other cursors of its connection do not see "
                "as a table, a view or a Parquet file: hand over a frame, or a "
                "temporary table made permanent, itself"
            )
        return _columns_of(named.columns, named.path)

    def _call_text(self, call: Part) -> str:
        name = call["function_name"].casefold()
        _refuse_others(call, {*_VIEW_NAMED, *_CALLED})
        if name in self.names.functions:
            raise NotByRow(f"calls {show(name)}, which its connection has redefined")
        if name in _RANGES:
            listed = ", ".join(
                self._judge_text(_constant(value)) for value in _arguments(call)
            )
            return f"FROM {name}({listed})"
        if name not in _PARQUET or not call["arguments"]:
            raise NotByRow(
                f"reads {show(name)}, whose rows cannot be read one by one here (text "
                "files are handed over as sd.Csv)"
            )
        first, *options = (_option(argument) for argument in call["arguments"])
        return self._files(_paths(first[1]), dict(options))

    def _files(self, paths: list[str], options: dict[str, Part]) -> str:
        settings = []
        for name, value in options.items():
            text = self._judge_text(_constant(value))
            if name in {"file_row_number", "hive_partitioning"}:
                if text.casefold() != "false":
                    raise NotByRow(f"reads Parquet files with {name}")
            elif name in _OPTIONS:
                settings.append(f"{name} := {text}")
            else:
                raise NotByRow(f"reads Parquet files with {show(name)}")
        # a column of a folder's name would be no value of the row
        settings.append("hive_partitioning := false")
        listed = ", ".join(exp.Literal.string(path).sql("duckdb") for path in paths)
        call = f"read_parquet([{listed}], {', '.join(settings)})"
        if not self.names.are_alike(f"[{listed}]"):  # else a cast could fail
            raise NotByRow("reads Parquet files whose columns or types differ")
        return _columns_of([name for name, _ in self.names.columns_of(call)], call)

    def _parse(self, text: str) -> Part:
        query = "SELECT json_serialize_sql(?::VARCHAR)"
        ((tree_text,),) = self.parser.execute(query, [text]).fetchall()
        tree = json.loads(tree_text)
        if tree["error"] or len(tree["statements"]) != 1:
            raise NotByRow("is no query of one statement")
        node: Part = tree["statements"][0]["node"]
        return node

    def _text(self, expression: Part) -> str:
        """Return the text of an expression, which is read as the same again."""
        node = {**_ONE_CELL, "select_list": [expression]}
        tree = {"error": False, "statements": [{"node": node, "named_param_map": []}]}
        query = "SELECT json_deserialize_sql(?::JSON)"
        ((text,),) = self.parser.execute(query, [json.dumps(tree)]).fetchall()
        again = self._parse(text)["select_list"]
        # read again: what it was judged by is what will run
        if [_without_places(item) for item in again] != [_without_places(expression)]:
            raise NotByRow("has an expression that cannot be written anew")
        return str(text).removeprefix("SELECT ")


_VIEW_NAMED: Final = {"class", "type", "alias"}
_CALLED: Final = (
    *("function_name", "arguments", "is_operator", "order_bys", "qualified_name"),
)
_NAMES_OF_STARS: Final = ("exclude_list", "qualified_exclude_list", "rename_list")
_ONE_CELL: Final[Part] = {
    "type": "SELECT_NODE",
    "modifiers": [],
    "cte_map": {"map": []},
    "from_table": {"type": "EMPTY", "alias": "", "sample": None},
    "where_clause": None,
    "group_expressions": [],
    "group_sets": [],
    "aggregate_handling": "STANDARD_HANDLING",
    "having": None,
    "sample": None,
    "qualify": None,
}


def _parts(value: Any) -> Iterator[Part]:
    if isinstance(value, dict):
        if "class" in value:
            yield value
        for member in value.values():
            yield from _parts(member)
    if isinstance(value, list):
        for member in value:
            yield from _parts(member)


def _refuse_others(node: Part, allowed: set[str]) -> None:
    for name, value in node.items():
        if value and name not in allowed | _PLACES:
            raise _because(name)


def _because(name: str) -> NotByRow:
    return NotByRow(_WHY.get(name, f"has a step that is not known here ({name})"))


def _arguments(call: Part) -> list[Part]:
    if any(argument["name"] for argument in call["arguments"]):
        raise NotByRow(f"calls {show(call['function_name'])} with named arguments")
    return [argument["expression"] for argument in call["arguments"]]


def _option(argument: Part) -> tuple[str, Part]:
    # it may be written `a = 1`
    value = argument["expression"]
    if value["class"] == "COMPARISON" and value["left"]["class"] == "COLUMN_REF":
        return value["left"]["column_names"][-1].casefold(), value["right"]
    return argument["name"].casefold(), value


def _constant(value: Part) -> Part:
    if value["class"] != "CONSTANT":
        raise NotByRow("makes rows of what is not written as a constant")
    return {**value, "alias": ""}


def _paths(value: Part) -> list[str]:
    listed = [value]
    if value["class"] == "FUNCTION" and value["function_name"] == "list_value":
        listed = _arguments(value)
    return [str(_constant(item)["literal"]["text"]) for item in listed]


def _without_places(value: Any) -> Any:
    if isinstance(value, dict):
        members = (item for item in value.items() if item[0] not in _PLACES)
        return {name: _without_places(member) for name, member in members}
    if isinstance(value, list):
        return [_without_places(item) for item in value]
    return value


def _as_columns(text: str, columns: Any) -> str:
    names = ", ".join(map(_quoted, columns))
    return f"FROM ({text}) AS t({names})" if names else text


def _columns_of(names: Any, table: str) -> str:
    listed = [exp.column(exp.to_identifier(name, quoted=True)) for name in names]
    return f"{exp.select(*listed).sql('duckdb')} FROM {table}"


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("duckdb")
