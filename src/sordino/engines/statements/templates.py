"""Entries as SQL text, and the pieces of SQL trees that the others are built from.

An engine computes what has no columns before it runs, and there a branch that is never
taken can raise. So every part of an entry is total by itself, not by its place in a
CASE; `Written.reads` tells where the slower total form is not needed.

Kernel: totals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any, Final, TypeAlias, final

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect as Grammar
from sqlglot.parser import Parser

from sordino.expressions.tree import Argument
from sordino.expressions.tree import kind as kind_of

Sql: TypeAlias = exp.Expression
"""A tree that stands for one value."""


@final
@dataclass(frozen=True, eq=False)
class Written:
    """The arguments of an operation as SQL, and what is known of them."""

    arguments: tuple[Sql, ...]
    known: tuple[Argument, ...]
    options: Mapping[str, Any]
    bind: Callable[[Any, str], Sql]
    """(value, type) -> a placeholder"""

    def __len__(self) -> int:
        """Return the number of arguments."""
        return len(self.arguments)

    def __getitem__(self, index: int) -> Sql:
        """Return an argument, anew each time: a tree has one parent."""
        return in_parentheses(self.arguments[index].copy())

    def each(self) -> list[Sql]:
        """Return all arguments."""
        return [self[index] for index in range(len(self))]

    @cached_property
    def types(self) -> tuple[str, ...]:
        """Return the types of the arguments."""
        return tuple(argument.type for argument in self.known)

    @property
    def reads(self) -> bool:
        """Tell whether the first argument reads a column."""
        return self.arguments[0].find(exp.Column) is not None

    @property
    def real(self) -> bool:
        """Tell whether an argument is f64."""
        return "f64" in self.types

    def joint(self, index: int) -> Sql:
        """Return a number as f64 if another argument is."""
        if self.real and self.types[index] == "i64":
            return as_type(self[index], "DOUBLE")
        return self[index]


Entry: TypeAlias = Callable[[Written], Sql]


_OPEN: Final = (exp.Binary, exp.Unary, exp.In, exp.Between)


def in_parentheses(node: Sql) -> Sql:
    """A tree in parentheses, if an operator could tear it apart."""
    could_be_torn = isinstance(node, _OPEN) and not isinstance(node, exp.Paren)
    return exp.Paren(this=node) if could_be_torn else node


def infix(kind: type[exp.Expression], left: Sql, right: Sql) -> Sql:
    """Return an operator between two values."""
    return kind(this=in_parentheses(left), expression=in_parentheses(right))


def plus(left: Sql, right: Sql) -> Sql:
    """Return left + right."""
    return infix(exp.Add, left, right)


def minus(left: Sql, right: Sql) -> Sql:
    """Return left - right."""
    return infix(exp.Sub, left, right)


def multiplied_by(left: Sql, right: Sql) -> Sql:
    """Return left * right."""
    return infix(exp.Mul, left, right)


def is_less(left: Sql, right: Sql) -> Sql:
    """Return left < right."""
    return infix(exp.LT, left, right)


def is_at_most(left: Sql, right: Sql) -> Sql:
    """Return left <= right."""
    return infix(exp.LTE, left, right)


def is_equal(left: Sql, right: Sql) -> Sql:
    """Return left = right."""
    return infix(exp.EQ, left, right)


def conjunction(left: Sql, right: Sql) -> Sql:
    """Return left AND right."""
    return infix(exp.And, left, right)


def negation(condition: Sql) -> Sql:
    """Return NOT one."""
    return exp.Not(this=in_parentheses(condition))


def is_missing(value: Sql) -> Sql:
    """Return whether a value is NULL."""
    return exp.Is(this=in_parentheses(value), expression=exp.null())


def exists(other: exp.Table, on: exp.Condition) -> exp.Exists:
    """Return whether another table has a row for which a condition holds."""
    return exp.Exists(this=exp.Select().select(whole(1)).from_(other).where(on))


def as_type(value: Sql, kind: str) -> Sql:
    """Return a value of another SQL type; it must be sure to have one."""
    return exp.Cast(this=value, to=sql_type(kind))


def as_type_or_null(value: Sql, kind: str) -> Sql:
    """Return a value of another SQL type, or NULL; unsafe ones are written CAST."""
    return exp.TryCast(this=value, to=sql_type(kind), safe=True)


def sql_type(kind: str, dialect: str = "") -> exp.DataType:
    """Return a SQL type, anew each time: a tree has one parent."""
    return _parse(kind, dialect).copy()


@cache
def _parse(kind: str, dialect: str) -> exp.DataType:
    return exp.DataType.build(kind, dialect=dialect)


def function(name: str, *arguments: Sql) -> Sql:
    """Return a function by its very name in the engine."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def case(branches: Sequence[tuple[Sql, Sql]], otherwise: Sql | None = None) -> Sql:
    """Return the value of the first branch that is true, else NULL."""
    return exp.Case(
        ifs=[exp.If(this=test, true=value) for test, value in branches],
        default=otherwise,
    )


def case_of(value: Sql, ends: Mapping[int, Sql]) -> Sql:
    """Value that belongs to a small integer, else NULL."""
    ifs = [exp.If(this=whole(number), true=end) for number, end in ends.items()]
    return exp.Case(this=value, ifs=ifs)


def whole(number: int) -> Sql:
    """Return a small integer that belongs to the form of an operation."""
    return exp.Literal.number(number)


def bigint(number: int) -> Sql:
    """Return an integer that belongs to the form of an operation, as i64."""
    return as_type(exp.Literal.number(number), "BIGINT")


def double(number: int) -> Sql:
    """Return an integer that belongs to the form of an operation, as f64."""
    return as_type(exp.Literal.number(number), "DOUBLE")


def half() -> Sql:
    """Return 1/2 as f64."""
    return as_type(exp.Literal.number("0.5"), "DOUBLE")


def letters(text: str) -> Sql:
    """Return a text that belongs to the form of an operation, never a literal."""
    return exp.Literal.string(text)


def remove(text: Sql, signs: Iterable[str]) -> Sql:
    """Return a text without some signs, wherever they stand."""
    for sign in signs:
        text = function("replace", text, letters(sign), letters(""))
    return text


Bound: TypeAlias = Callable[[Written], Any]
"""A value that a template binds, or the tree of one."""
_Make: TypeAlias = Callable[[Mapping[str, Sql], Written], Sql]
"""(what is bound, the arguments) -> the tree of a template, anew each time"""
_NO_ARGUMENTS: Final = Written((), (), {}, lambda _, __: exp.null())
_SYNTAX: Final = ("CAST", "EXTRACT", "TRY_CAST")
_TO_COME: Final = (exp.Anonymous, exp.Column, exp.Placeholder, exp.Alias)
_ARGUMENTS: Final = "abcdefgh"


@final
@dataclass(frozen=True, eq=False)
class Templates:
    """Entries written as SQL text, and the definitions that one dialect's share.

    >>> templates = Templates("duckdb", {"huge(x)": "x::HUGEINT"})
    >>> entry = templates.entry("TRY_CAST(huge(a) + huge(b) AS BIGINT)")

    The arguments are `a`, `b`, ..., as doubles if one of them is a double; `a_`, `b_`,
    ... are the same as they come. `:name` is a bound value. Brackets in a text only
    group: each operator gets those that it needs, as by `infix`. A text is parsed at
    the first use of its entry, by the dialect's grammar without its table of functions:
    a translated function could have another meaning. No text of a user is ever parsed.
    """

    dialect: str
    definitions: Mapping[str, str]

    def entry(
        self,
        text: str | Callable[[Written], str],
        real: str | None = None,
        **bound: Bound,
    ) -> Entry:
        """Return an entry: a text, another one if an argument is a double.

        Values are bound in the order in which they are named here.
        """
        known: dict[str, tuple[_Make, list[tuple[str, Bound]]]] = {}

        def written(to: Written) -> Sql:
            chosen = real if real is not None and to.real else text
            written_out = chosen if isinstance(chosen, str) else chosen(to)
            if written_out not in known:
                make, names = self._compile(written_out)
                used = [(name, bound[name]) for name in bound if name in names]
                known[written_out] = make, used
            make, used = known[written_out]
            return make({name: _bind(to, value) for name, value in used}, to)

        return written

    def piece(self, parameters: str, text: str) -> Callable[..., Sql]:
        """Return a function of trees, whose names stand in a text.

        >>> share = Templates("duckdb", {}).piece("x, y", "x / (x + y)")
        >>> share(exp.column("c0"), exp.column("c1")).sql()
        'c0 / (c0 + c1)'
        """
        names = parameters.split(", ")

        @cache
        def compiled() -> _Make:
            known: dict[str, _Make] = {
                name: partial(_named_tree, name) for name in names
            }
            return self._maker(_parse_template(text, self.dialect), known)

        return lambda *trees: compiled()(
            dict(zip(names, trees, strict=True)), _NO_ARGUMENTS
        )

    def _compile(self, text: str) -> tuple[_Make, set[str]]:
        tree = _parse_template(text, self.dialect)
        names = self._bound_names(tree)
        arguments: dict[str, _Make] = {}
        for place, name in enumerate(_ARGUMENTS):
            arguments[name] = partial(_joint, place)
            arguments[f"{name}_"] = partial(_argument, place)
        return self._maker(tree, arguments), names

    def _bound_names(self, tree: Sql) -> set[str]:
        names = {each.name for each in tree.find_all(exp.Placeholder)}
        for call in tree.find_all(exp.Anonymous):
            if call.name in self._heads:
                body = self._heads[call.name][1]
                names |= self._bound_names(_parse_template(body, self.dialect))
        return names

    @cached_property
    def _heads(self) -> Mapping[str, tuple[Sequence[str], str]]:
        """Return the parameters and the text of each definition."""
        heads = (
            (_parse_template(head, self.dialect), body)
            for head, body in self.definitions.items()
        )
        return {
            head.name: ([each.name for each in head.expressions], body)
            for head, body in heads
        }

    def _maker(self, node: Any, known: Mapping[str, _Make]) -> _Make:
        match node:
            case exp.Paren() | exp.Alias():  # in brackets, an alias without a name
                return self._maker(node.this, known)
            case exp.Column() if node.name in known:
                return known[node.name]
            case exp.Placeholder():
                return partial(_named_tree, node.name)
            case exp.DataType():
                return partial(_copy, node)
            case exp.Anonymous() if node.name in self._heads:
                return self._expand(node, known)
        return self._node(node, known)

    def _expand(self, call: exp.Anonymous, known: Mapping[str, _Make]) -> _Make:
        names, body = self._heads[call.name]
        arguments = [self._maker(each, known) for each in call.expressions]
        parameters = dict(zip(names, arguments, strict=True))
        return self._maker(_parse_template(body, self.dialect), parameters)

    def _operand(self, node: Sql, known: Mapping[str, _Make]) -> _Make:
        """Make a node in brackets: whether it needs them is decided once, if it can."""
        make, inner = self._maker(node, known), node.unnest()
        if isinstance(inner, _TO_COME):
            return lambda bound, to: in_parentheses(make(bound, to))
        if isinstance(inner, _OPEN):
            return lambda bound, to: exp.Paren(this=make(bound, to))
        return make

    def _node(self, node: Sql, known: Mapping[str, _Make]) -> _Make:
        kind, operator = type(node), isinstance(node, _OPEN)
        fixed: dict[str, Any] = {}
        single: list[tuple[str, _Make]] = []
        several: list[tuple[str, list[_Make]]] = []
        for key, value in node.args.items():
            if isinstance(value, exp.Expression):
                # in what an operator stands between, another one needs brackets
                torn = operator and key in {"this", "expression"}
                part = self._operand if torn else self._maker
                single.append((key, part(value, known)))
            elif isinstance(value, list):
                several.append((key, [self._maker(each, known) for each in value]))
            else:
                fixed[key] = value

        def make(bound: Mapping[str, Sql], to: Written) -> Sql:
            parts = dict(fixed)
            for key, part in single:
                parts[key] = part(bound, to)
            for key, each in several:
                parts[key] = [part(bound, to) for part in each]
            return kind(**parts)

        return make


def _named_tree(name: str, bound: Mapping[str, Sql], _: Written) -> Sql:
    tree = bound[name]
    return tree if tree.parent is None else tree.copy()  # a tree has one parent


def _joint(place: int, _: Mapping[str, Sql], to: Written) -> Sql:
    return to.joint(place)


def _argument(place: int, _: Mapping[str, Sql], to: Written) -> Sql:
    return to[place]


def _copy(tree: Sql, _: Mapping[str, Sql], __: Written) -> Sql:
    return tree.copy()


def _bind(to: Written, value: Bound) -> Sql:
    constant = value(to)
    if isinstance(constant, exp.Expression):
        return constant
    return to.bind(constant, kind_of(constant))


@cache
def _parse_template(text: str, dialect: str) -> Sql:
    grammar = Grammar.get_or_raise(dialect)
    [tree] = _parser(dialect)(dialect=grammar).parse(grammar.tokenize(text), text)
    if not isinstance(tree, exp.Expression):
        raise TypeError(f"no expression: {text}")
    for part in tree.find_all(exp.Var):  # EXTRACT(year ...) is parsed as YEAR
        part.set("this", part.name.lower())
    for part in tree.find_all(exp.Var):  # EXTRACT(year ...) is parsed as YEAR
        part.set("this", part.name.lower())
    return tree


@cache
def _parser(dialect: str) -> type[Parser]:
    known = Grammar.get_or_raise(dialect).parser_class
    rules = {
        "FUNCTIONS": {},
        "FUNCTION_PARSERS": {name: known.FUNCTION_PARSERS[name] for name in _SYNTAX},
        "NO_PAREN_FUNCTIONS": {},
        "STRICT_CAST": True,  # x::T is CAST, in Spark too
    }
    return type("TemplateParser", (known,), rules)


def step_of(to: Written) -> float | int:
    """Return the step of a rounding, of the type of its multiples."""
    size: float | int = to.options["step"]
    return float(size) if to.real else size
