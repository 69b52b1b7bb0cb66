"""Canonical words read back into the request that writes them (docs/ledger-format.md).

For any request r without a Python function, what is read of the words of its release
has the same words. Whatever is read goes through the doors that a user calls, so it is
checked as if it were typed; what the words do not have cannot be meant. Who reads words
of somebody else writes the result down again and compares: nothing more is believed.

Words hold the digests of keys and of public rows. The keys are handed over beside them
and found by their own digest; public tables are those of the session, by name. So are
parts of a table and its rows of some blocks: only where a session has them open do the
words of one stand for a name.
"""

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction
from functools import reduce
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar, final

from sordino.aggregations import choices, count, covariance, mean, quantile
from sordino.aggregations import sum as sums
from sordino.aggregations.margins.tables import find_table
from sordino.data.keyset import KeySet
from sordino.data.limits import (
    DropExcess,
    DropNonUnique,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError
from sordino.expressions.bins import Bins
from sordino.expressions.language import OPERATIONS, Expression, lit, when
from sordino.expressions.tree import Col, Literal
from sordino.losses.budgets.risk import Advantage, ErrorRates
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Budget, PureDP
from sordino.noise.exponential import BoundedRangeLoss
from sordino.noise.gaussian import DiscreteGaussianLoss
from sordino.noise.laplace import GeometricLoss, LaplaceLoss
from sordino.noise.randomized_response import RandomizedResponseLoss
from sordino.numbers import Exact, sqrt
from sordino.query.builder import Query, table
from sordino.query.groups import Grouped, Marginals
from sordino.query.request import (
    COVERAGE,
    KEYS,
    RANK,
    Request,
    first_few,
    make_request,
)

T = TypeVar("T")
Standing: TypeAlias = Sequence[tuple[Any, str]]
"""The words of parts, or of rows of some blocks, and the name that they stand for."""
_NUMBER: Final = re.compile(
    r"(-?[0-9]+/[0-9]+)|\(([0-9]+/[0-9]+)\)\^\(1/([0-9]{1,2})\)"
)
_UNREAD: Final = (
    "Send the words that this version writes; tables may have changed: connect anew."
)
_NO_FUNCTIONS: Final = (
    "a Python function does not travel: a server takes questions and no code",
    "Write it with sd.col(...), sd.when(...) and the operations of expressions.",
)


@final
@dataclass(frozen=True)
class ToldRequest:
    """What the words of a release say."""

    verb: str
    """release or release_all"""
    question: Request | Marginals | dict[str, Request]
    budget: Budget
    weights: Mapping[str, Fraction] | None
    confidence: Fraction


@final
class ToldParts(NamedTuple):
    """What the words of a `partition` say."""

    rows: Query
    by: str
    values: list[Any]
    budget: Budget


def read_told(
    words: Any, keysets: Mapping[str, KeySet], standing: Standing = ()
) -> ToldRequest:
    """Questions and budget of the words of a `release` or a `release_all`.

    >>> from sordino.numbers.canonical import call
    >>> days = call("col", name="days")
    >>> rows = [call("table", name="visits")]
    >>> count = call("agg", rows=rows, by=[], keys=None, noise=None,
    ...              columns=[["n", call("count"), "1/1"]])
    >>> told = read_told(call("release", form=1, request=count, confidence="19/20",
    ...                       budget=call("PureDP", epsilon="1/2")), {})
    >>> told.question, told.budget
    (table('visits').agg(n=count()), PureDP(epsilon=0.5))
    >>> read_told(["release", {}], {})
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: words must be those of a request, got ...
    """
    return _read_all(words, lambda: _read_told(words, _Reader(keysets, standing)))


def read_parts(words: Any, standing: Standing = ()) -> ToldParts:
    """Rows, column, values and budget of the words of a `partition`."""
    return _read_all(words, lambda: _read_parts(words, _Reader({}, standing)))


def _read_all(words: Any, read: Callable[[], T]) -> T:
    try:
        return read()
    except SordinoError:
        raise
    # what is no tree of words fails in any of these ways, and no row is near
    except (
        *(ArithmeticError, AttributeError, LookupError, RecursionError),
        *(TypeError, ValueError),
    ):
        pass
    raise InvalidParameter("words", words, "must be those of a request", _UNREAD)


def _read_parts(words: Any, read: "_Reader") -> ToldParts:
    verb, arguments = words
    if verb != "partition":
        raise LookupError(verb)
    values = [_read_literal(value).constant for _, value in arguments["values"]]
    rows, budget = read.rows(arguments["rows"]), read_budget_words(arguments["budget"])
    return ToldParts(rows, _text(arguments["by"]), values, budget)


def _read_told(words: Any, read: "_Reader") -> ToldRequest:
    verb, arguments = words
    weights = arguments.get("weights")
    question: Any
    if verb == "release":
        question = read.question(arguments["request"])
    elif verb == "release_all":
        question = {name: read.question(each) for name, each in arguments["requests"]}
    else:
        raise LookupError(verb)
    return ToldRequest(
        verb,
        question,
        _read_value(arguments["budget"], _BUDGETS),
        None if weights is None else {name: read_number(w) for name, w in weights},
        read_number(arguments["confidence"]),
    )


def read_number(text: str) -> Any:
    """Return an exact number of words.

    >>> read_number("1/10"), read_number("(2/1)^(1/2)"), read_number("inf")
    (Fraction(1, 10), sqrt(2), inf)
    """
    if text == "inf":
        return math.inf
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    plain, radicand, index = match.groups()
    value: Exact = Fraction(plain or radicand)
    for _ in range(int(index or 1).bit_length() - 1):
        value = sqrt(value)
    return value


_LIMITS: Final[Mapping[str, Callable[..., Any]]] = {
    kind.__name__: kind for kind in (MaxRowsPerID, MaxGroupsPerID, MaxRowsPerGroupPerID)
}
_TRUNCATIONS: Final[Mapping[str, Callable[..., Any]]] = {
    kind.__name__: kind for kind in (DropExcess, DropNonUnique)
}
_BUDGETS: Final[Mapping[str, Callable[..., Any]]] = {
    kind.__name__: kind
    for kind in (
        *(PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP, Advantage, ErrorRates),
        *(LaplaceLoss, GeometricLoss, DiscreteGaussianLoss),
        *(RandomizedResponseLoss, BoundedRangeLoss),
    )
}


def read_constraints(words: Any) -> list[Any]:
    """Return limits on what an id contributes."""
    return [_read_value(each, _LIMITS) for each in words]


def read_budget_words(words: Any) -> Budget:
    """Return a budget."""
    budget: Budget = _read_value(words, _BUDGETS)
    return budget


def _read_value(words: Any, kinds: Mapping[str, Callable[..., Any]]) -> Any:
    """Return a limit, a truncation or a budget: called as its verb says."""
    verb, arguments = words
    numbers = {
        name: read_number(each) if isinstance(each, str) else each
        for name, each in arguments.items()
    }
    return kinds[verb](**numbers)


_INFIX: Final[Mapping[str, Callable[..., Any]]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "modulo": operator.mod,
    "negate": operator.neg,
    "equal": operator.eq,
    "unequal": operator.ne,
    "less": operator.lt,
    "at_most": operator.le,
    "greater": operator.gt,
    "at_least": operator.ge,
    "both": operator.and_,
    "either": operator.or_,
    "negated": operator.invert,
}
_METHODS: Final[Mapping[str, Callable[..., Expression]]] = {
    operation.name: getattr(Expression, operation.name)
    for operation in OPERATIONS
    # what has no method of its own is made by the library, never by who asks
    if operation.name not in _INFIX and hasattr(Expression, operation.name)
}


def read_expression(words: Any) -> Expression:
    """Return an expression, by the methods and operators that a user writes."""
    verb, arguments = words
    special = _FORMS.get(verb)
    if special is not None:
        return special(arguments)
    first, *rest = map(read_expression, arguments["of"])
    options = {
        name: None if option is None else _read_literal(option[1]).constant
        for name, option in arguments.items()
        if name != "of"
    }
    if verb in _INFIX:
        result: Expression = _INFIX[verb](first, *rest)
        return result
    return _METHODS[verb](first, *map(_plain, rest), **options)


def _plain(cell: Expression) -> Any:
    """Return the value of a literal, as a user writes it, or the expression."""
    constant = cell.tree.constant
    return cell if constant is None else constant


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


_CONSTANTS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "i64": lambda text: int(read_number(text)),
    # the double whose shortest decimal this is; what is no number is said by name
    "f64": lambda text: float(Fraction(text) if "/" in text else text),
    "text": _text,
    "bool": bool,
    "date": date.fromisoformat,
    "time": datetime.fromisoformat,
}


def _read_literal(arguments: Any) -> Literal:
    kind, value = arguments["type"], arguments["value"]
    constant = None if value is None else _CONSTANTS[kind](value)
    tree = lit(constant, kind).tree
    if not isinstance(tree, Literal):
        raise TypeError
    return tree


def _read_choice(arguments: Any) -> Expression:
    chosen: Any = None
    for condition, value in arguments["cases"]:
        test = read_expression(condition)
        begun = when(test) if chosen is None else chosen.when(test)
        chosen = begun.then(_read_branch(value))
    result: Expression = chosen.otherwise(_read_branch(arguments["otherwise"]))
    return result


def _read_branch(words: Any) -> Any:
    return None if words is None else read_expression(words)


def _read_one_of(arguments: Any) -> Expression:
    first, *rest = map(read_expression, arguments["of"])
    return first.is_in([_plain(each) for each in rest])


def _read_pattern(arguments: Any) -> Expression:
    pattern = _read_literal(arguments["pattern"][1]).constant
    return read_expression(arguments["of"][0]).like(pattern, escape="\\")


_FORMS: Final[Mapping[str, Callable[[Any], Expression]]] = {
    "col": lambda arguments: Expression(Col(_text(arguments["name"]))),
    "lit": lambda arguments: Expression(_read_literal(arguments)),
    "when": _read_choice,
    "bin": lambda arguments: read_expression(arguments["of"][0]).bin(
        _read_bins(arguments["bins"])
    ),
    "is_in": _read_one_of,
    "like": _read_pattern,
    # the digest of the zone's rules is compared, not read
    "utc_offset": lambda arguments: read_expression(arguments["of"][0]).utc_offset(
        arguments["zone"]
    ),
}
"""Verbs of expressions whose words are not their arguments in order."""


def _read_bins(words: Any) -> Bins:
    _, arguments = words
    edges = [_read_literal(edge).constant for _, edge in arguments["edges"]]
    beside = {name: arguments[name] for name in ("names", "right", "include_ends")}
    return Bins(edges, **beside)


def _read_column(words: Any) -> Any:
    """Return the name of a column, or an expression."""
    cell = read_expression(words)
    return cell.tree.name if isinstance(cell.tree, Col) else cell


def _read_end(words: Any) -> Any:
    """Return a bound: nothing, a number, a date or a time."""
    if words is None or isinstance(words, str):
        return None if words is None else _read_plain_number(words)
    return _read_literal(words[1]).constant


def _read_plain_number(words: str) -> Any:
    """Return a number as a plan shows it best: a whole one as such, others as text."""
    number = read_number(words)
    if isinstance(number, Fraction) and number.denominator == 1:
        return number.numerator
    return words if isinstance(number, Fraction) else number


def _read_nulls(words: Any) -> Any:
    return words if words in {None, "drop"} else _read_plain_number(words)


def _read_covariance(arguments: Any) -> Any:
    pairs = zip(arguments["columns"], arguments["bounds"], strict=True)
    ends = {name: tuple(map(read_number, two)) for name, two in pairs if two}
    nulls = _read_nulls(arguments["nulls"])
    return covariance.covariance(arguments["columns"], ends, nulls=nulls)


def _read_bounds(arguments: Any) -> Any:
    return choices.bounds(
        _read_column(arguments["column"]),
        up_to=arguments["up_to"],
        nulls=_read_nulls(arguments["nulls"]),
        signed=arguments.get("signed", False),
    )


def _read_ranged(question: Callable[..., Any], *names: str) -> Callable[[Any], Any]:
    """Return the reader of a question about values between two bounds."""

    def read(arguments: Any) -> Any:
        beside = {name: arguments[name] for name in ("ddof",) if name in arguments}
        shares = [read_number(each) for each in arguments.get("probabilities", ())]
        beside |= {name: shares for name in names if name == "probabilities"}
        beside |= {name: shares[0] for name in names if name == "probability"}
        return question(
            _read_column(arguments["column"]),
            low=_read_end(arguments.get("low")),
            high=_read_end(arguments.get("high")),
            nulls=_read_nulls(arguments["nulls"]),
            **beside,
        )

    return read


_QUESTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "count": lambda arguments: count.count(**arguments),
    "count_ids": lambda arguments: count.count_ids(**arguments),
    "count_distinct": lambda arguments: count.count_distinct(*arguments["columns"]),
    "histogram": lambda arguments: count.histogram(
        _text(arguments["column"]), _read_bins(arguments["bins"])
    ),
    "covariance": _read_covariance,
    "bounds": _read_bounds,
    "sum": _read_ranged(sums.sum),
    "mean": _read_ranged(mean.mean),
    "variance": _read_ranged(mean.variance),
    "stdev": _read_ranged(mean.stdev),
    "min": _read_ranged(quantile.min),
    "max": _read_ranged(quantile.max),
    "median": _read_ranged(quantile.median),
    "quantile": _read_ranged(quantile.quantile, "probability"),
    "quantiles": _read_ranged(quantile.quantiles, "probabilities"),
}


def read_aggregation(words: Any) -> Any:
    """Return a question about each group."""
    verb, arguments = words
    return _QUESTIONS[verb](arguments)


@final
@dataclass(frozen=True)
class _Reader:
    """Reads questions and rows; key sets are those that came beside the words."""

    keysets: Mapping[str, KeySet]
    standing: Standing

    def question(self, words: Any) -> Request | Marginals:
        verb, arguments = words
        if verb == "marginals":
            return self._margins(arguments)
        if verb != "agg":
            raise LookupError(verb)
        return self._request(arguments)

    def _keys(self, words: Any) -> KeySet | None:
        """Return the keys of a digest, which whoever sent them cannot choose."""
        if words is None:
            return None
        _, arguments = words
        known = self.keysets.get(arguments["sha256"])
        if known is None:
            raise InvalidParameter(
                "keys",
                arguments["sha256"],
                "must have come beside the words",
                "Send the keys of each key set that is named.",
            )
        return known[arguments["columns"]]  # a digest knows no order of columns

    def _request(self, arguments: Any) -> Request:
        query, by = self.rows(arguments["rows"]), tuple(map(_text, arguments["by"]))
        keyset = self._keys(arguments["keys"])
        if keyset is not None and not {*keyset.columns} <= {*by}:
            raise LookupError("keys")
        weights = {
            name: read_number(weight) for name, _, weight in arguments["columns"]
        }
        top = arguments.get("top")
        if "coverage" in arguments:
            weights[COVERAGE] = read_number(arguments["coverage"])
        if "showing" in arguments:
            weights[KEYS if top is None else RANK] = read_number(arguments["showing"])
        beside: dict[str, Any] = {
            "noise": arguments["noise"],
            "weights": weights,
            "coverage": "coverage" in arguments,
        }
        if any(question[0] == "cumulative" for _, question, _ in arguments["columns"]):
            request = self._periods(
                Grouped(query, by, keyset), arguments["columns"], beside
            )
        else:
            if top is not None:
                ranked = read_aggregation(top[1]["by"])
                beside["few"] = first_few(top[1]["most"], ranked, keyset)
            questions = {
                name: read_aggregation(words) for name, words, _ in arguments["columns"]
            }
            request = make_request(query, by, keyset, questions, **beside)
        if "minimum" in arguments:
            request = request.suppress_below(read_number(arguments["minimum"]))
        return request

    def _periods(self, groups: Grouped, columns: Any, beside: Any) -> Request:
        """Return figures of periods: the last of the groups, in the order told."""
        keyset, (*by, period) = groups.keyset, groups.by
        if keyset is None:
            raise LookupError(period)
        sorted_periods = keyset[period].table()[period].to_pylist()
        first = columns[0][1][1]
        order = first["order"] or range(len(sorted_periods))
        others = tuple(name for name in keyset.columns if name != period)
        rest = Grouped(groups.query, tuple(by), keyset[others] if others else None)
        return rest.cumulative(
            period,
            [sorted_periods[place] for place in order],
            last=tuple(first["last"]),
            **beside,
            **{name: read_aggregation(words[1]["of"]) for name, words, _ in columns},
        )

    def _margins(self, arguments: Any) -> Marginals:
        query = self.rows(arguments["rows"])
        trees = [keys for words in arguments["trees"] if (keys := self._keys(words))]
        beside: dict[str, Any] = {
            "order": arguments.get("order"),
            "hierarchies": [tree.columns for tree in trees if len(tree.columns) > 1],
        }
        if "tables" in arguments:
            beside["tables"] = [tuple(names) for names in arguments["tables"]]
        if "weights" in arguments:
            pairs = arguments["weights"]
            beside["weights"] = {tuple(names): weight for names, weight in pairs}
        keyset = reduce(operator.mul, trees)
        margins = query.marginals(keyset, **beside)
        if "totals" not in arguments:
            return margins
        totals: dict[Any, Any] = {}
        for listed, counts in arguments["totals"]:
            names, crossing = tuple(listed), margins.crossing
            if not names:
                (totals[names],) = counts
                continue
            keys = crossing.keys(find_table(crossing, names))
            rows = list(zip(*(keys[name].to_pylist() for name in names), strict=True))
            cells = rows if len(names) > 1 else [row[0] for row in rows]
            totals[names] = dict(zip(cells, counts, strict=True))
        return query.marginals(keyset, **beside, totals=totals)

    def rows(self, words: Any) -> Query:
        """Return a query: a table, and what is done to its rows in order."""
        name, steps = self._source(words)
        query = table(name)
        for step in steps:
            query = self._step(query, *step)
        return query

    def _source(self, words: Any) -> tuple[str, Any]:
        """Return the name that the first of some words stand for, and the others."""
        for known, name in self.standing:
            if words[: len(known)] == known:
                return name, words[len(known) :]
        (verb, arguments), *steps = words
        if verb != "table":
            raise LookupError(verb)
        return arguments["name"], steps

    def _step(self, query: Query, verb: str, arguments: Any) -> Query:
        if verb in {"part", "in_blocks"}:
            raise InvalidQuery(
                "the part of a table, or its blocks, are not those that are open here",
                "Make the parts anew, by session.partition, or connect anew.",
            )
        if "function" in arguments:
            raise InvalidQuery(*_NO_FUNCTIONS)
        step: Callable[[Query, Any], Query] | None = _STEPS.get(verb)
        if step is not None:
            return step(query, arguments)
        if verb != "join_private":
            raise LookupError(verb)
        sides = (arguments["left"], arguments["right"])
        left, right = (
            None if side is None else _read_value(side, _TRUNCATIONS) for side in sides
        )
        other = self.rows(arguments["table"])
        named = other if other.steps else other.table
        on = tuple(arguments["on"])
        return query.join_private(named, on, left, right, arguments["suffix"])


def _join_public(query: Query, arguments: Any) -> Query:
    ((_, public),) = arguments["table"]
    on = tuple(arguments["on"])
    return query.join_public(public["name"], on, arguments["how"], arguments["suffix"])


def _per_id(query: Query, arguments: Any) -> Query:
    questions = {name: read_aggregation(words) for name, words in arguments["columns"]}
    return query.per_id(*arguments["by"], **questions)


_STEPS: Final[Mapping[str, Callable[[Query, Any], Query]]] = {
    "select": lambda query, arguments: query.select(*arguments["columns"]),
    "drop_nulls": lambda query, arguments: query.drop_nulls(*arguments["columns"]),
    "drop_nan": lambda query, arguments: query.drop_nan(*arguments["columns"]),
    "rename": lambda query, arguments: query.rename(dict(arguments["columns"])),
    "filter": lambda query, arguments: query.filter(
        read_expression(arguments["condition"])
    ),
    "with_columns": lambda query, arguments: query.with_columns(**{
        name: read_expression(words) for name, words in arguments["columns"]
    }),
    "fill_null": lambda query, arguments: query.fill_null(**{
        name: _plain(read_expression(words)) for name, words in arguments["values"]
    }),
    "flat_map": lambda query, arguments: query.flat_map(
        _text(arguments["column"]), max_rows=arguments["max_rows"]
    ),
    "join_public": _join_public,
    "per_id": _per_id,
    "enforce": lambda query, arguments: query.enforce(
        *read_constraints(arguments["constraints"])
    ),
}
