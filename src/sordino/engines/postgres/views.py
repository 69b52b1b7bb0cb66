"""What a view of a server says, judged: whether each of its rows is made of one row.

A view is judged by the tree that the server itself made of its text (`pg_rewrite`), as
it stands in the catalogue and as it is planned. What is listed here makes of one row
one row, always the same, and cannot fail: PostgreSQL has no TRY, so that a cell which
cannot be computed would end the question for everybody. Whatever is not listed, such as
what a later version adds to the tree, is doubted: then somebody must answer for it.

| a view may have | of which |
|---|---|
| FROM one table, view or subquery; UNION ALL of such | no join, sample, or function |
| WHERE | conditions as below |
| columns, constants, CASE, COALESCE, NULLIF, IS NULL, AND, OR, NOT | |
| comparisons of numbers, texts, dates and times, IN | those of btree indexes |
| functions and casts that are total | `_TOTAL`, and any type as text |
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from sordino.engines.postgres.server import Server

_WORD: Final = re.compile(r"[{}()]|(?:\\.|[^\s{}()\\])+", re.DOTALL)
_EMPTY: Final = frozenset({"<>", "false", "0"})
_VIEWS: Final = """
WITH RECURSIVE seen(oid) AS (
  SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind = 'v'
  UNION
  SELECT d.refobjid FROM seen JOIN pg_rewrite AS r ON r.ev_class = seen.oid
  JOIN pg_depend AS d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_class'::regclass
  JOIN pg_class AS v ON v.oid = d.refobjid AND v.relkind = 'v'
)
SELECT seen.oid::bigint, r.ev_action::text
FROM seen JOIN pg_rewrite AS r ON r.ev_class = seen.oid AND r.rulename = '_RETURN'
"""
_FUNCTIONS: Final = """
SELECT o.oprcode::oid::bigint FROM pg_operator AS o
WHERE o.oid < 16384
AND o.oprleft::bigint = ANY($1) AND o.oprright::bigint = ANY($1)
AND (o.oid = ANY(array(SELECT amopopr FROM pg_amop WHERE amopmethod = 403))
  OR o.oprnegate = ANY(array(SELECT amopopr FROM pg_amop WHERE amopmethod = 403)))
UNION
SELECT p.oid::bigint FROM pg_proc AS p
WHERE p.oid < 16384 AND p.provolatile = 'i' AND NOT p.proretset
AND p.proname || '(' || oidvectortypes(p.proargtypes) || ')' = ANY($2)
"""
"""Functions of the server itself, by number: comparisons of some types, and others."""
_SHOWN: Final = """
SELECT oid::bigint FROM pg_type
WHERE typoutput::oid < 16384 AND typtype IN ('b', 'e') AND typcategory <> 'A'
"""
"""Types, enums of a user among them, of which any value can be shown as text."""
_COMPARED: Final = (16, 20, 21, 23, 25, 700, 701, 1042, 1082, 1114, 1184, 1700, 2950)
"""By number: those that columns can have here (`COLUMN_TYPES`), but for arrays."""
_TOTAL: Final = (
    *("int4(smallint)", "int8(smallint)", "int8(integer)"),
    *("float8(smallint)", "float8(integer)", "float8(bigint)", "float8(real)"),
    *("numeric(smallint)", "numeric(integer)", "numeric(bigint)"),
    *("text(character)", "text(boolean)"),
    *("lower(text)", "upper(text)", "length(text)", "char_length(text)"),
    *("btrim(text)", "ltrim(text)", "rtrim(text)"),
)
_QUERY_TELLS: Final = frozenset({
    *("commandType", "querySource", "queryId", "canSetTag", "rtable", "jointree"),
    *("rteperminfos", "targetList", "override", "setOperations", "constraintDeps"),
    *("stmt_location", "stmt_len"),
})
"""Fields of a query that are judged, or tell nothing; all others must be empty."""
_CALLS: Final = {
    "OPEXPR": "opfuncid",
    "DISTINCTEXPR": "opfuncid",
    "NULLIFEXPR": "opfuncid",
    "SCALARARRAYOPEXPR": "opfuncid",
    "FUNCEXPR": "funcid",
}
"""Nodes that call a function, and the field that has its number."""
_PLAIN: Final = frozenset({
    *("CONST", "RELABELTYPE", "BOOLEXPR", "NULLTEST", "BOOLEANTEST"),
    *("CASEEXPR", "CASEWHEN", "CASETESTEXPR", "COALESCEEXPR", "ARRAYEXPR"),
    *("TARGETENTRY", "FROMEXPR", "RANGETBLREF"),
})
_OLD_NAMES: Final = {
    "CASE": "CASEEXPR",
    "WHEN": "CASEWHEN",
    "COALESCE": "COALESCEEXPR",
    "ARRAY": "ARRAYEXPR",
}
"""How versions before 16 call some of them."""
_TO_TEXT: Final = "COERCEVIAIO"
_TEXT: Final = "25"
_SOURCES: Final = frozenset("rmpv")
_RELATION: Final = "0"
_SUBQUERY: Final = "1"
_UNION: Final = "1"


@final
class DoubtedView(Exception):
    """Why a view may make a row of more than one, or fail for one."""


Value: TypeAlias = "Node | str | list[Value]"


@final
@dataclass(frozen=True)
class Node:
    """A node of the server's tree: its kind, and its fields by name."""

    kind: str
    fields: dict[str, list[Value]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the one word of a field."""
        match self.fields.get(name):
            case [str(word)]:
                return word
        raise DoubtedView(f"has a {self.kind} that is not known")

    def nodes(self, name: str) -> list["Node"]:
        """Return the nodes of a field that is a list, or one, or empty."""
        values = _flat(self.fields.get(name, []))
        return [value for value in values if isinstance(value, Node)]


def _flat(values: Iterable[Value]) -> Iterator[Value]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


def parse_tree(text: str) -> list[Value]:
    """Return a tree of nodes as PostgreSQL writes it (`nodeToString`).

    Names that somebody gave may look like fields. A field that comes twice is refused,
    and so a name that looks like one of its node.

    >>> (rule,) = parse_tree("({QUERY :commandType 1 :limitCount <>})")
    >>> rule[0].fields
    {'commandType': ['1'], 'limitCount': ['<>']}
    """
    words = iter(_WORD.findall(text))
    return _parse_list(words, None)


def _parse_list(words: Iterator[str], end: str | None) -> list[Value]:
    values: list[Value] = []
    for word in words:
        if word == end:
            return values
        values.append(_parse_value(word, words))
    if end is not None:
        raise DoubtedView("has a tree that is not known")
    return values


def _parse_value(word: str, words: Iterator[str]) -> Value:
    match word:
        case "(":
            return _parse_list(words, ")")
        case "{":
            return _parse_node(words)
        case ")" | "}":
            raise DoubtedView("has a tree that is not known")
    return word


def _parse_node(words: Iterator[str]) -> Node:
    node = Node(next(words, ""))
    values: list[Value] = []
    for word in words:
        if word == "}":
            return node
        if word.startswith(":") and len(word) > 1:
            # a name that somebody gave may look like a field
            if word[1:] in node.fields:
                raise DoubtedView("has a name that cannot be told from its tree")
            values = node.fields[word[1:]] = []
        else:
            values.append(_parse_value(word, words))
    raise DoubtedView("has a tree that is not known")


def view_doubt(server: Server, schema: str, name: str) -> str:
    """Return why a row of a view may be made of more than one; "" of a table.

    Asked in a transaction that holds the lock of the view, it stays so until its end.
    """
    views: dict[int, str] = dict(server.catalogue_rows(_VIEWS, [schema, name]))
    if not views:  # a table
        return ""
    total = server.catalogue_rows(_FUNCTIONS, [list(_COMPARED), list(_TOTAL)])
    shown = server.catalogue_rows(_SHOWN, [])
    try:
        judge = _Judge(views, (row[0] for row in total), (row[0] for row in shown))
        for text in views.values():
            judge.rule(text)
    except DoubtedView as doubt:
        return str(doubt)
    return ""


@final
class _Judge:
    """What is listed passes; all else is doubted, whatever it is."""

    def __init__(
        self, views: Mapping[int, str], total: Iterable[int], shown: Iterable[int]
    ) -> None:
        self._views = {str(number) for number in views}
        self._total = {str(number) for number in total}
        self._shown = [[str(number)] for number in shown]

    def rule(self, text: str) -> None:
        match list(_flat(parse_tree(text))):
            case [Node(kind="QUERY") as query]:
                self._query(query)
            case _:
                raise DoubtedView("has a rule of several statements")

    def _query(self, query: Node) -> None:
        for name, value in query.fields.items():
            # a field of a later version, too: what it says is not known
            if name not in _QUERY_TELLS and not _is_empty(value):
                raise DoubtedView(f"is not made row by row ({name})")
        if query.text("commandType") != "1":
            raise DoubtedView("is no SELECT")
        (tree,) = query.nodes("jointree") or [Node("")]
        united = query.nodes("setOperations")
        read = united or tree.nodes("fromlist")
        if len(read) != 1 or (united and not _is_empty(tree.fields["quals"])):
            raise DoubtedView("reads several tables, or none")
        for place in self._places(read[0]):
            self._source(query.nodes("rtable")[place - 1])
        for part in (*query.nodes("targetList"), *tree.nodes("quals")):
            self._expression(part)

    def _places(self, read: Node) -> Iterator[int]:
        match read.kind:
            case "RANGETBLREF":
                yield int(read.text("rtindex"))
            case "SETOPERATIONSTMT" if (
                read.text("op") == _UNION and read.text("all") == "true"
            ):
                for side in ("larg", "rarg"):
                    for part in read.nodes(side):
                        yield from self._places(part)
            case _:
                raise DoubtedView("joins tables")

    def _source(self, entry: Node) -> None:
        kind = entry.text("rtekind")
        if not _is_empty(entry.fields.get("securityQuals", ["<>"])):
            raise DoubtedView("has a policy for rows")
        if kind == _SUBQUERY:
            (inner,) = entry.nodes("subquery")
            self._query(inner)
            return
        is_known = kind == _RELATION and entry.text("relkind") in _SOURCES
        if not is_known or not _is_empty(entry.fields["tablesample"]):
            raise DoubtedView("reads what is neither a table nor a view")
        if entry.text("relkind") == "v" and entry.text("relid") not in self._views:
            raise DoubtedView("reads a view that is not known")

    def _expression(self, node: Node) -> None:
        kind = _OLD_NAMES.get(node.kind, node.kind)
        if kind in _CALLS:
            is_total = node.text(_CALLS[kind]) in self._total
        elif kind == _TO_TEXT:
            shown = [part.fields.get("vartype") for part in node.nodes("arg")]
            is_total = node.text("resulttype") == _TEXT and shown[0] in self._shown
        elif kind == "VAR":
            is_total = _is_column(node)
        else:
            is_total = kind in _PLAIN
        if not is_total:
            raise DoubtedView("computes what may fail for a row, or is not listed")
        for name in node.fields:
            for part in node.nodes(name):
                self._expression(part)


def _is_column(node: Node) -> bool:
    # a column of this query: not a whole row, nor its place
    return (
        node.text("varlevelsup") == "0"
        and node.text("varattno").isdigit()
        and (node.text("varattno") != "0")
    )


def _is_empty(value: list[Value]) -> bool:
    return len(value) == 1 and isinstance(value[0], str) and value[0] in _EMPTY
