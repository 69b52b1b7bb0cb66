"""A text as a tree whose every node knows its place and what of it was understood.

The words of a text are held to a little more than the parser asks for: it reads
`SELECT a,, b` and `1_000` in ways that nobody means, and does not come back from fifty
open brackets.

A rule looks at a node through a `Clause` and *takes* what it understands. What no rule
took is refused in the end, so nothing of a text can be forgotten.
"""

import difflib
import itertools
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from sordino.errors import InvalidParameter, InvalidSQL, SordinoError
from sordino.query.sql.options import InputDialect

LONGEST: Final = 2**16
"""Characters of a statement."""
DEEPEST: Final = 30
"""Brackets, CASEs and signs that stand in each other: the parser calls itself."""
MOST_NOTS: Final = 30
_AFTER_COMMA: Final = (TokenType.COMMA, TokenType.FROM, TokenType.R_PAREN)
_OPEN: Final = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSED: Final = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)
_SIGNS: Final = (TokenType.NOT, TokenType.DASH, TokenType.TILDE)
_UNEVEN_COMMENTS: Final = ("{#", "\\\n", "\\\r")
"""What begins a comment of templates alone, or continues one in Spark alone."""


def check_statement(text: Any) -> str:
    """Check that an argument is a statement."""
    if not isinstance(text, str) or not text.strip():
        raise InvalidParameter(
            "text", text, "must be a statement of SQL", 'Try "SELECT COUNT(*) FROM t".'
        )
    if len(text) > LONGEST:
        raise InvalidParameter(
            "text",
            f"{len(text)} characters",
            f"must have at most {LONGEST}",
            "Put lists of values into a public table.",
        )
    return text


def split_words(text: str, dialect: InputDialect) -> list[Token]:
    """Split one statement into words; what the parser would misread is refused."""
    try:
        words = list(Grammar.get_or_raise(dialect.name).tokenize(text))
    except TokenError:
        raise InvalidSQL(
            "this text cannot be taken apart into words",
            "Look for a quote or a comment that is not closed.",
            text,
            0,
            1,
        ) from None
    _refuse_comments(text, words)
    if words and words[-1].token_type is TokenType.SEMICOLON:
        words.pop()
    _refuse_several(text, words)
    _refuse_other(text, words)
    _refuse_deep(text, words)
    for word, follower in itertools.pairwise(words):
        _refuse_pair(text, word, follower, dialect)
    return words


def _refuse_comments(text: str, words: Sequence[Token]) -> None:
    # a comment that ends elsewhere for a database hides other words there
    ends = [*(word.start for word in words), len(text)]
    starts = [0, *(word.end + 1 for word in words)]
    for start, end in zip(starts, ends, strict=True):
        for mark in _UNEVEN_COMMENTS:
            place = text.find(mark, start, end)
            if place >= 0:
                raise InvalidSQL(
                    "not every database reads this comment alike",
                    "Leave the comment out.",
                    text,
                    place,
                    place + len(mark),
                )


def _refuse_several(text: str, words: Sequence[Token]) -> None:
    for word in words:
        if word.token_type is TokenType.SEMICOLON:
            raise _word_refusal(
                text,
                word,
                "there are several statements",
                "Pose one at a time: each is priced and charged by itself.",
            )
    if not words:
        raise InvalidSQL(
            "there is no statement", "Write SELECT ... FROM a table.", text, 0, 1
        )


def _refuse_other(text: str, words: Sequence[Token]) -> None:
    if words and words[0].token_type not in _FIRST:
        raise _no_question(text, words[0], words[0].text.upper()[:20])


def _no_question(text: str, first: Token, shown: str) -> InvalidSQL:
    return _word_refusal(
        text,
        first,
        f"{shown} is no question: a session only reads, one SELECT at a time",
        "Begin with SELECT.",
    )


def _word_refusal(text: str, word: Token, problem: str, remedy: str) -> InvalidSQL:
    return InvalidSQL(problem, remedy, text, word.start, word.end + 1)


_FIRST: Final = (
    TokenType.SELECT,
    TokenType.WITH,
    TokenType.FROM,
    TokenType.L_PAREN,
    TokenType.SEMICOLON,
)


def _refuse_deep(text: str, words: Sequence[Token]) -> None:
    depth = signs = 0
    for word in words:
        depth += (word.token_type in _OPEN) - (word.token_type in _CLOSED)
        signs = signs + 1 if word.token_type in _SIGNS else 0
        if depth > DEEPEST or signs > MOST_NOTS:
            raise _word_refusal(
                text,
                word,
                f"more than {DEEPEST} brackets are open here",
                "Name a part of it in a query in FROM, and go on from its columns.",
            )


def _refuse_pair(
    text: str, word: Token, follower: Token, dialect: InputDialect
) -> None:
    if word.token_type is TokenType.COMMA and follower.token_type in _AFTER_COMMA:
        problem, remedy = "nothing stands after this comma", "Leave the comma out."
    elif (
        word.token_type is TokenType.STRING and follower.token_type is TokenType.STRING
    ):
        problem = "dialects put neighbouring texts together differently, or not at all"
        remedy = "Write 'a' || 'b', or one text."
    elif _is_torn(word, follower):
        problem = f"this number is not read so in the dialect {dialect.name}"
        remedy = "Write its digits without _ and letters, and a space behind them."
    else:
        return
    raise _word_refusal(text, word, problem, remedy)


def _is_torn(word: Token, follower: Token) -> bool:
    close = follower.start == word.end + 1
    number = word.token_type is TokenType.NUMBER
    return number and close and follower.text[:1].isidentifier()


_START: Final = "sordino start"
_END: Final = "sordino end"
BOUNDS: Final = "sordino bounds"
"""The argument of an aggregate that holds bounds in the style of BigQuery."""


@final
@dataclass(frozen=True, eq=False)
class Reading:
    """A statement: its text, its tree, and what of the tree was understood."""

    text: str
    dialect: InputDialect
    root: exp.Expr
    looked: set[int] = field(default_factory=set)
    """The nodes that a rule looked at."""
    taken: set[tuple[int, str]] = field(default_factory=set)
    """The arguments that a rule understood."""

    @property
    def whole(self) -> "Clause":
        """The root of the tree."""
        return Clause(self, self.root)

    def refuse_rest(self) -> None:
        """Refuse the first part of the tree that no rule understood."""
        for node in self.root.walk():
            clause = Clause(self, node)
            if id(node) not in self.looked:  # else a part of the text had no effect
                raise clause.refusal(
                    f"{clause.short_text} is not understood here", _LEAVE
                )
            for name, value in node.args.items():
                if value and (id(node), name) not in self.taken:
                    part = clause.part(value)
                    word = name.strip("_").replace("_", " ").upper()
                    word = part.short_text if name in _PLAIN else word
                    raise part.refusal(f"{word} is not understood here", _LEAVE)


_UNPLACED: Final = (exp.Floor, exp.Ceil)
"""Functions of whose brackets the parser notes nothing."""
_PLAIN: Final = ("this", "expression", "expressions")
_LEAVE: Final = "Leave it out, or ask in Python by sd.table(...)."


@final
@dataclass(frozen=True, eq=False)
class Clause:
    """A node of a tree, looked at by a rule."""

    reading: Reading
    node: exp.Expr

    @property
    def kind(self) -> type[exp.Expr]:
        """Kind of the node, which counts as looked at."""
        self.reading.looked.add(id(self.node))
        return type(self.node)

    @property
    def dialect(self) -> InputDialect:
        """Dialect of the text."""
        return self.reading.dialect

    def has(self, name: str) -> bool:
        """Whether there is an argument."""
        return bool(self.node.args.get(name))

    def take(self, name: str) -> "Clause":
        """Take an argument that is a node, which the caller understands."""
        node = self.scalar(name)
        if not isinstance(node, exp.Expr):
            raise self.refusal(
                f"{self.short_text} is not complete", "Write it in full."
            )
        return Clause(self.reading, node)

    def some(self, name: str) -> "Clause | None":
        """Take an argument that may be left out."""
        return self.take(name) if self.has(name) else None

    def each(self, name: str) -> "list[Clause]":
        """Take an argument that is a list."""
        return [Clause(self.reading, node) for node in self.scalar(name) or []]

    def scalar(self, name: str) -> Any:
        """Take an argument as it is, which the caller understands."""
        self.reading.looked.add(id(self.node))
        self.reading.taken.add((id(self.node), name))
        return self.node.args.get(name)

    def part(self, value: Any) -> "Clause":
        """Place of the value of an argument, this one itself if it has none."""
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, exp.Expr):
            return Clause(self.reading, first)
        return self

    def place(self, name: str) -> "Clause":
        """Place of an argument, which stays as it is: not taken."""
        return self.part(self.node.args[name])

    def bare(self) -> "Clause":
        """Clause within brackets."""
        inner = self
        while inner.kind is exp.Paren:
            inner = inner.take("this")
        return inner

    @property
    def span(self) -> tuple[int, int]:
        """Where it begins and ends in the text."""
        starts, ends = [], []
        for node in self.node.walk():
            for begin, end in (("start", "end"), (_START, _END)):
                if begin in node.meta:
                    starts.append(node.meta[begin])
                    ends.append(node.meta[end] + 1)
        if starts:
            return self._close_brackets(min(starts), max(ends))
        parent = self.node.parent
        return (0, 1) if parent is None else Clause(self.reading, parent).span

    def _close_brackets(self, start: int, end: int) -> tuple[int, int]:
        text = self.reading.text
        # the name of some functions has no place in the tree
        if isinstance(self.node, _UNPLACED):
            end = text.index(")", end) + 1
        closed = text.count(")", start, end) - text.count("(", start, end)
        named = isinstance(self.node, (exp.Func, exp.Binary))
        while named and closed > 0 and "(" in text[:start]:
            start = text.rindex("(", 0, start)
            start = len(_FUNCTION.sub("", text[:start]))
            closed -= 1
        opened = text.count("(", start, end) - text.count(")", start, end)
        while opened > 0 and text[end:].lstrip().startswith(")"):
            end = text.index(")", end) + 1
            opened -= 1
        return start, end

    @property
    def short_text(self) -> str:
        """Its letters, shortened."""
        start, end = self.span
        words = " ".join(self.reading.text[start:end].split())
        return words if len(words) <= _SHORT else f"{words[: _SHORT - 3]}..."

    @property
    def argument_text(self) -> str:
        """The letters between the brackets of a function."""
        start, end = self.span
        text = self.reading.text[start:end]
        inner = text.partition("(")[2].rstrip().removesuffix(")")
        words = " ".join((inner or text).split())
        return words if len(words) <= 2 * _SHORT else f"{words[: 2 * _SHORT - 3]}..."

    def look(self) -> "Clause":
        """Mark it as a part that says no more than its arguments do."""
        self.reading.looked.add(id(self.node))
        return self

    def wrap(self, error: Exception) -> InvalidSQL:
        """Refusal of this part for the reason of another refusal."""
        problem, _, remedy = str(error).partition(". ")
        return self.refusal(problem.rstrip("."), remedy or "Ask for something else.")

    @contextmanager
    def wrap_refusals(self) -> Generator[None]:
        """Give refusals that name no place of the text the place of this part."""
        try:
            yield
        except InvalidSQL:
            raise
        except SordinoError as error:
            raise self.wrap(error) from None

    def refusal(self, problem: str, remedy: str) -> InvalidSQL:
        """Refusal of this part of the text."""
        return InvalidSQL(problem, remedy, self.reading.text, *self.span)


_SHORT: Final = 40
_FUNCTION: Final = re.compile(r"\w+\s*\Z")
_DEEPEST: Final = 100
"""Nodes above each other, chains of AND and OR counted once."""


def read_statement(
    text: str, listed: Sequence[Token], dialect: InputDialect
) -> Reading:
    """Read the words of a statement as a tree; all but a SELECT is refused."""
    grammar = Grammar.get_or_raise(dialect.name)
    try:
        trees = _parser(grammar).parse(list(listed), text)
    except ParseError as error:
        raise _parse_refusal(text, error, dialect) from None
    except (SqlglotError, RecursionError, ValueError, TypeError, AttributeError):
        raise InvalidSQL(
            "this cannot be read as SQL", "Write it in simpler parts.", text, 0, 1
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise InvalidSQL("there is no statement", "Begin with SELECT.", text, 0, 1)
    reading = Reading(text, dialect, trees[0])
    _refuse_deep_text(reading)
    if reading.whole.kind is not exp.Select:
        raise _no_question(text, listed[0], listed[0].text.upper())
    return reading


def _refuse_deep_text(reading: Reading) -> None:
    # before any rule looks: rules call themselves, and recursion would be no refusal
    waiting = [(reading.root, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > _DEEPEST:
            raise Clause(reading, node).refusal(
                "this stands too deep in other operations",
                "Name a part of it in a query in FROM, and go on from its columns.",
            )
        for child in node.iter_expressions():
            chained = isinstance(node, exp.Connector) and type(child) is type(node)
            waiting.append((child, depth + (not chained)))


def _parse_refusal(text: str, error: ParseError, dialect: InputDialect) -> InvalidSQL:
    details = error.errors[0] if error.errors else {}
    line, column = int(details.get("line") or 1), int(details.get("col") or 1)
    first = 0
    for _ in range(line - 1):
        first = text.find("\n", first) + 1
    end = min(first + column, len(text))
    size = max(1, len(str(details.get("highlight") or "x")))
    return InvalidSQL(
        "this cannot be read as SQL",
        f"Is it written for {dialect.name}? Say dialect=... if not.",
        text,
        max(first, end - size),
        max(end, 1),
    )


def _parser(grammar: Grammar) -> Parser:
    base: Any = grammar.parser_class

    @final
    class Placed(base):  # type: ignore[misc]  # the class of a dialect
        """A parser that notes places, and reads the bounds of aggregates."""

        FUNCTION_PARSERS = {  # noqa: RUF012 so the base class has it
            **base.FUNCTION_PARSERS,
            **(
                {name: _bounded_aggregate(name) for name in _AGGREGATES}
                if type(grammar).__name__ == "BigQuery"
                else {}
            ),
        }

        def expression(self, instance: Any, *given: Any, **named: Any) -> Any:
            """Note the word that a node ends with."""
            node = super().expression(instance, *given, **named)
            if self._prev is not None and _END not in node.meta:
                node.meta[_START], node.meta[_END] = self._prev.start, self._prev.end
            return node

        def _parse_cube_or_rollup(self, with_prefix: bool = False) -> Any:  # noqa: FBT001, FBT002 as it is called
            # of any expressions: `CUBE(x IS NULL)`, too
            kinds = {TokenType.CUBE: exp.Cube, TokenType.ROLLUP: exp.Rollup}
            for word, kind in kinds.items():
                if self._match(word):
                    read = self._parse_disjunction
                    parts = [] if with_prefix else self._parse_wrapped_csv(read)
                    return self.expression(kind(expressions=parts))
            return None

        def _parse_grouping_set(self) -> Any:
            within = self._parse_grouping_sets() or self._parse_cube_or_rollup()
            return within or self._parse_disjunction()

    parser: Parser = Placed(dialect=grammar, error_level=ErrorLevel.IMMEDIATE)
    return parser


def _bounded_aggregate(name: str) -> Any:
    def parse(parser: Any) -> Any:
        distinct = parser._match(TokenType.DISTINCT)  # noqa: SLF001 its own door
        this = parser._parse_star() or parser._parse_disjunction()  # noqa: SLF001
        listed = [this]
        bounds = None
        while parser._match(TokenType.COMMA):  # noqa: SLF001
            argument = parser._parse_lambda() or parser._parse_disjunction()  # noqa: SLF001
            if isinstance(argument, (exp.Kwarg, exp.PropertyEQ)) and bounds is None:
                bounds = argument
            else:
                listed.append(argument)
        if distinct:
            listed = [parser.expression(exp.Distinct(expressions=listed))]
        if len(listed) > 1 or listed[0] is None:
            parser.raise_error("Expected one argument")
        aggregate = _AGGREGATES[name](this=listed[0])
        if bounds is not None:
            aggregate.set(BOUNDS, bounds)
        return aggregate

    return parse


_AGGREGATES: Final[dict[str, type[exp.Expr]]] = {
    "SUM": exp.Sum,
    "AVG": exp.Avg,
    "COUNT": exp.Count,
    "VAR_POP": exp.VariancePop,
    "STDDEV_POP": exp.StddevPop,
}


_CLOCK: Final = (
    "the clock changes between two releases of one request",
    "Write the time: TIMESTAMP '2026-01-31 00:00:00'.",
)
_LISTS: Final = (
    "lists of values would show rows of people",
    "Ask COUNT(*) for each value: GROUP BY it.",
)
_ONE_DECIDES: Final = (
    "this is decided by one person",
    "Ask the share: AVG(CASE WHEN ... THEN 1.0 ELSE 0.0 END).",
)
_INNER_QUERY: Final = (
    "a query inside an expression is not asked",
    "Ask it by itself first, or join a public table.",
)
_PARAMETER: Final = (
    "a parameter has no value here",
    "Write the value into the text.",
)
_WHY: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    exp.Window: (
        "a window function gives each row an answer about other people's rows",
        "Ask for groups: GROUP BY. To keep a few rows of each person, give limits=.",
    ),
    exp.Rand: (
        "this gives another answer each time, so no price covers it",
        "Leave it out. To ask of a sample, make the sample a table of its own.",
    ),
    **dict.fromkeys((exp.CurrentDate, exp.CurrentTimestamp), _CLOCK),
    **dict.fromkeys((exp.CurrentTime, exp.CurrentDatetime), _CLOCK),
    **dict.fromkeys((exp.ArrayAgg, exp.GroupConcat), _LISTS),
    exp.AnyValue: (
        "this would show the value of one person",
        "Ask COUNT(DISTINCT ...), or group by the column.",
    ),
    **dict.fromkeys((exp.LogicalAnd, exp.LogicalOr), _ONE_DECIDES),
    exp.Exists: (
        "whether another query has rows is not asked inside a query",
        "Join a public table, or ask of each person in Python.",
    ),
    **dict.fromkeys((exp.Subquery, exp.Select), _INNER_QUERY),
    exp.Null: (
        "NULL has no type here",
        "Write CAST(NULL AS BIGINT), or IS NULL to ask for it.",
    ),
    exp.Star: (
        "* would show rows of people",
        "Ask something of them: COUNT(*), or AVG(...) of a column.",
    ),
    exp.Interval: (
        "an interval stands alone",
        "Add it to a date or a time: day + INTERVAL 3 DAY.",
    ),
    **dict.fromkeys((exp.Placeholder, exp.Parameter), _PARAMETER),
    exp.Reverse: (
        "what is one letter differs: DuckDB keeps an accent behind its letter",
        "Reverse the column before it is given to the session.",
    ),
}
_CLOCKS: Final = ("now", "today", "current_date", "clock_timestamp", "getdate")
_KNOWN: Final = (
    *("count", "sum", "avg", "min", "max", "median", "variance", "stddev", "clamp"),
    *("var_pop", "stddev_pop", "percentile_cont", "count_if", "abs", "floor", "ceil"),
    *("round", "sqrt", "exp", "ln", "power", "greatest", "least", "coalesce"),
    *("nullif", "concat"),
    *("length", "substring", "left", "right", "trim", "replace", "lower", "upper"),
    *("starts_with", "ends_with", "contains", "strpos", "extract", "year", "month"),
    *("day", "hour", "minute", "second", "quarter", "date_trunc", "date_diff", "cast"),
)


def unknown_part(clause: Clause) -> InvalidSQL:
    """Refusal of what no rule understands, with the reason if it has one."""
    if isinstance(clause.node, exp.IgnoreNulls):
        return unknown_part(clause.take("this"))
    if isinstance(clause.node, exp.Anonymous):
        return _unknown_function(clause, clause.node.name)
    if isinstance(clause.node, exp.AggFunc) and clause.kind not in _WHY:
        return clause.refusal(
            f"{clause.short_text} is not asked of people here",
            "There are COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN and "
            "PERCENTILE_CONT.",
        )
    problem, remedy = _WHY.get(
        clause.kind, (f"{clause.short_text} is not known here", "")
    )
    return clause.refusal(problem, remedy or _nearest(clause.node.key))


def _unknown_function(clause: Clause, name: str) -> InvalidSQL:
    if name.lower() in _CLOCKS:
        return clause.refusal(*_CLOCK)
    return clause.refusal(f"there is no function {name.upper()} here", _nearest(name))


def _nearest(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), _KNOWN, n=2, cutoff=0.6)
    if not near:
        return "Compute it with sd.udf, or ask in Python by sd.table(...)."
    return f"Did you mean {' or '.join(near).upper()}?"
