"""Aggregates of SQL, within public bounds."""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import chain
from itertools import count as count_from
from typing import Any, Final, TypeAlias, final

from sqlglot import exp

from sordino.aggregations import quantile
from sordino.aggregations.aggregation import AbstractAggregation
from sordino.aggregations.count import count, count_distinct, count_ids
from sordino.aggregations.lattice import Nulls
from sordino.aggregations.mean import mean, stdev, variance
from sordino.aggregations.sum import sum as sum_of
from sordino.errors import InvalidParameter
from sordino.expressions import arithmetic
from sordino.expressions.language import Expression, when
from sordino.expressions.schema import NUMBERS
from sordino.expressions.tree import AbstractTree, Call, Col
from sordino.numbers import arguments
from sordino.query.sql.ranges import hold_within, range_of
from sordino.query.sql.reading import BOUNDS, Clause, unknown_part
from sordino.query.sql.scope import AbstractScope, RowScope, Value, is_null_word
from sordino.query.sql.truth_rules import check_order, condition, written_number

PER_ROW: Final = "contribution_bounds_per_row"
PER_GROUP: Final = "contribution_bounds_per_group"


def column_or_tree(tree: Any) -> Any:
    """A column by its name, an expression as it is."""
    return tree.name if isinstance(tree, Col) else Expression(tree)


def _rows_per_group(clause: Clause, this: Clause, rows: AbstractScope) -> int:
    word, (low, high) = named_bounds(clause, rows)
    if word != PER_GROUP or this.kind is not exp.Star or low:
        raise clause.refusal(
            "these bounds clamp each person's count",
            f"Write COUNT(*, {PER_GROUP} => (0, 3)).",
        )
    if not isinstance(high, int) or high < 1:
        raise clause.refusal(
            "the upper bound of COUNT must be a whole number of 1 or more",
            "Write (0, 3).",
        )
    return high


def _row_ends(
    clause: Clause, value: Value, rows: AbstractScope
) -> tuple[Any, Any, Any]:
    word, ends = named_bounds(clause, rows)
    if word != PER_ROW:
        raise clause.refusal(
            f"{word} is not understood in this aggregate",
            "Write CLAMP(x, low, high), which clamps each row.",
        )
    return (column_or_tree(value.expression.tree), *check_order(clause, *ends))


def is_per_group(node: exp.Expr) -> bool:
    """Whether an aggregate has bounds per group."""
    bounds = node.args.get(BOUNDS)
    return isinstance(bounds, exp.Expr) and bounds.name.lower() == PER_GROUP


def named_bounds(clause: Clause, rows: AbstractScope) -> tuple[str, tuple[Any, Any]]:
    """Name and ends of bounds in the style of BigQuery."""
    named = clause.take(BOUNDS)
    named.look()
    word = named.take("this")
    word.look()
    pair = named.take("expression")
    if pair.kind is not exp.Tuple or len(pair.node.expressions) != 2:
        raise pair.refusal(
            "contribution bounds are a pair of numbers", "Write => (0, 30)."
        )
    low, high = (written_number(end, rows) for end in pair.each("expressions"))
    return str(word.scalar("this")).lower(), (low, high)


Ends = tuple[Any, Any]


@final
@dataclass(frozen=True, eq=False)
class Aggregate:
    """A question, the type of its answer, and how it may be called."""

    asked: AbstractAggregation
    type: str
    name: str
    counts: bool = False
    """Whether it counts the rows of a group."""


@final
@dataclass(frozen=True, eq=False)
class Asking:
    """What is asked: of which rows, within which bounds, with which more columns."""

    rows: RowScope
    bounds: Mapping[str, Ends]
    used: set[str] = field(default_factory=set)
    """The columns whose bounds were needed."""
    made: dict[str, Expression] = field(default_factory=dict)
    """Columns that are counted by their values."""
    per_group: set[int] = field(default_factory=set)
    """How many rows of a person count in a group, where COUNT says so."""
    persons: dict[str, AbstractAggregation] = field(default_factory=dict)
    """What is asked of each person in a group first, where its result is clamped."""
    questions: "Mapping[type[exp.Expr], Question]" = field(
        default_factory=lambda: QUESTIONS
    )

    def question(self, clause: Clause) -> Aggregate:
        """Question of an aggregate."""
        inner, kept = clause, None
        if clause.kind is exp.Filter:
            inner, where = clause.take("this"), clause.take("expression")
            where.look()
            kept = condition(where.take("this"), self.rows)
        ask = self.questions.get(inner.kind)
        if ask is None:
            raise unknown_part(inner)
        return ask(self, inner, kept)

    def value(self, clause: Clause, kept: Expression | None) -> Value:
        """Aggregated value, missing in rows that do not count."""
        if clause.kind is exp.Distinct:
            raise clause.refusal(
                "an aggregate of DISTINCT values has no bound: whether a row counts "
                "depends on other rows",
                "Leave DISTINCT out, or write COUNT(DISTINCT ...).",
            )
        value = self.rows.value(clause)
        if kept is None:
            return value
        counted = when(kept).then(value.expression).otherwise(None)
        return self.rows.value_of(counted, decimal=value.decimal)

    def ends(self, clause: Clause, value: Value) -> tuple[Any, Any, Any]:
        """Aggregated value and its bounds; bounds that follow from it are left out."""
        tree = value.expression.tree
        ends = self.known_ends(value)
        if ends is None and isinstance(tree, Col):
            known = self.rows.schema[tree.name].bounds
            ends = None if known is None else (tree.name, None, None)
        # of a sum alone: nothing else of a weighed column is bounded
        if ends is None and clause.kind is exp.Sum and self.rows.is_weighed(tree):
            ends = (column_or_tree(tree), None, None)
        if ends is None:
            raise clause.refusal(
                f"{clause.node.key.upper()} needs bounds: one person could move it "
                "without limit",
                f"Write CLAMP({clause.argument_text}, low, high) in it, or give "
                "bounds={...} for the column.",
            )
        return ends

    def known_ends(self, value: Value) -> tuple[Any, Any, Any] | None:
        """Aggregated value, with bounds that are stated or follow; None without any."""
        tree = value.expression.tree
        if isinstance(tree, Call) and tree.operation is arithmetic.CLIP:
            inner, low, high = tree.arguments
            return column_or_tree(inner), low.constant, high.constant
        name = tree.name if isinstance(tree, Col) else None
        if name in self.bounds:
            self.used.add(str(name))
            return (name, *self.bounds[str(name)])
        known = range_of(tree)
        if known is None:
            bounds = self._bounds_of(tree)
            tree = hold_within(tree, bounds, self._is_truth)
            known = range_of(tree)
            self.used.update(set(bounds) & set(self.bounds) if known else ())
        return None if known is None else (column_or_tree(tree), *known)

    def _is_truth(self, tree: AbstractTree) -> bool:
        return self.rows.value_of(Expression(tree)).type == "bool"

    def _bounds_of(self, tree: AbstractTree) -> dict[str, Ends]:
        """Bounds of the columns of an expression: what is said goes before facts."""
        if isinstance(tree, Col):
            return {}
        named = ((name, self.rows.schema[name].bounds) for name in tree.names())
        known = {name: ends for name, ends in named if ends is not None}
        return known | {n: e for n, e in self.bounds.items() if n in tree.names()}

    def column(self, clause: Clause, kept: Expression | None) -> str:
        """Name of a column that holds the values of an expression, made if need be."""
        value = self.value(clause, kept)
        tree = value.expression.tree
        if isinstance(tree, Col):
            return tree.name
        for name, known in self.made.items():
            if known.same(value.expression):
                return name
        name = fresh_name("value", {*self.rows.schema, *self.made})
        self.made[name] = value.expression
        return name


def fresh_name(name: str, taken: Container[str]) -> str:
    """Name that is not taken: itself, or with the first number that is free."""
    numbered = (f"{name}_{number}" for number in count_from(2))
    return next(free for free in chain([name], numbered) if free not in taken)


def _count(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    if clause.has(BOUNDS):
        rows = _rows_per_group(clause, clause.take("this"), asking.rows)
        asking.per_group.add(rows)
    return count_of(asking, clause, kept)


def count_of(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    """Question of COUNT: of rows, of values that are there, or of different values."""
    clause.scalar("big_int")
    this = clause.take("this")
    if this.kind is exp.Distinct:
        return _count_distinct(asking, this, kept)
    if is_null_word(this):
        raise this.refusal("COUNT(NULL) is 0 whatever the rows hold", "Write COUNT(*).")
    if this.kind is not exp.Star:
        value = asking.rows.value(this)
        facts = value.expression.column(asking.rows.schema)
        if facts.nullable:
            there = ~value.expression.is_null()
            kept = there if kept is None else kept & there
    if kept is None:
        return Aggregate(count(), "i64", "count", counts=True)
    return Aggregate(_ones(kept), "i64", "count")


def _ones(kept: Expression) -> AbstractAggregation:
    return sum_of(when(kept).then(1).otherwise(0), 0, 1)


def _count_distinct(
    asking: Asking, clause: Clause, kept: Expression | None
) -> Aggregate:
    parts = clause.each("expressions")
    for part in parts:
        if part.kind is exp.Tuple:
            raise part.refusal(
                "COUNT(DISTINCT (a, b)) counts a pair with a NULL, and this does not",
                "Write COUNT(DISTINCT a || '-' || b), or ask of one column.",
            )
    if len(parts) > 1 and clause.dialect.name != "spark":
        raise clause.refusal(
            "COUNT(DISTINCT ...) takes one column in this dialect",
            "Ask of one column at a time.",
        )
    names = [asking.column(part, kept) for part in parts]
    if names == [asking.rows.ids]:  # a person counts once in a group, however many rows
        return Aggregate(count_ids(), "i64", "people")
    return Aggregate(count_distinct(*names), "i64", f"distinct_{names[0]}")


def _count_if(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    clause.scalar("zero_on_all_null")
    true = condition(clause.take("this"), asking.rows)
    both = true if kept is None else kept & true
    return Aggregate(_ones(both), "i64", "count")


def _numeric(
    word: str, build: Callable[..., AbstractAggregation], kind: str | None = "f64"
) -> Callable[[Asking, Clause, Expression | None], Aggregate]:
    """Rule of an aggregate of numbers; its answer may be of their type."""

    def ask(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
        body = clause.take("this")
        value = asking.value(body, kept)
        if value.type not in NUMBERS:
            raise clause.refusal(
                f"{clause.node.key.upper()} takes numbers, and this is of type "
                f"{value.type}",
                _REMEDIES.get(value.type, "Group by it, or write COUNT(DISTINCT ...)."),
            )
        if clause.has(BOUNDS) and not is_per_group(clause.node):
            column, low, high = _row_ends(clause, value, asking.rows)
        else:
            column, low, high = asking.ends(clause, value)
        question = build(column, low, high, nulls=nulls_rule(asking, value))
        return Aggregate(question, kind or value.type, answer_name(word, column))

    return ask


_sum_of_numbers: Final = _numeric("sum", sum_of, None)


def _sum(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    value = asking.value(clause.take("this"), kept)
    if value.type == "bool" and clause.dialect.name == "duckdb":
        return Aggregate(_ones(value.expression), "i64", "count")
    return _sum_of_numbers(asking, clause, kept)


_REMEDIES: Final = {
    "bool": "Write COUNT_IF(...), or AVG(CASE WHEN ... THEN 1.0 ELSE 0.0 END)."
}


def nulls_rule(asking: Asking, value: Value) -> Nulls:
    """Rule for missing values: written only where one must be."""
    facts = value.expression.column(asking.rows.schema)
    return None if facts.unsettled is None else "drop"


def answer_name(word: str, column: Any) -> str:
    """Name of an answer that has no alias."""
    return f"{word}_{column}" if isinstance(column, str) else word


def _share(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    """Rule of PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)."""
    inner, order = clause.take("this"), clause.take("expression")
    if inner.kind not in _SHARES or order.kind is not exp.Order:
        raise unknown_part(inner)
    (ordered,) = order.each("expressions")
    ordered.look()
    ordered.scalar("nulls_first")
    share = _share_of(inner.take("this"))
    share = 1 - share if ordered.scalar("desc") else share
    return _quantile(asking, clause, ordered.take("this"), share, kept)


def _direct_share(asking: Asking, clause: Clause, kept: Expression | None) -> Aggregate:
    """Rule of QUANTILE_CONT(x, 0.9)."""
    share_argument = "quantile" if clause.has("quantile") else "expression"
    share = _share_of(clause.take(share_argument))
    return _quantile(asking, clause, clause.take("this"), share, kept)


def _quantile(
    asking: Asking,
    clause: Clause,
    body: Clause,
    share: Fraction,
    kept: Expression | None,
) -> Aggregate:
    value = asking.value(body, kept)
    if value.type not in NUMBERS:
        raise clause.refusal(
            f"a percentile is of numbers, and this is of type {value.type}",
            "Group by it, or ask COUNT(DISTINCT ...) of it.",
        )
    column, low, high = asking.ends(clause, value)
    question = quantile.quantile(
        column, share, low, high, nulls=nulls_rule(asking, value)
    )
    return Aggregate(question, value.type, answer_name("quantile", column))


def _share_of(clause: Clause) -> Fraction:
    inner = clause.bare()
    if inner.kind is exp.Literal and not inner.scalar("is_string"):
        return Fraction(str(inner.scalar("this")))  # exactly as it is written
    raise clause.refusal(
        "the share of a percentile must be a number written here, from 0 to 1",
        "Write 0.5 for the median.",
    )


_SHARES: Final = (exp.PercentileCont, exp.PercentileDisc)
_VARIANCE: Final = _numeric("variance", variance)
_STDEV: Final = _numeric("stdev", stdev)
_SAMPLE_VARIANCE: Final = _numeric("variance", partial(variance, ddof=1))  # over n - 1
_SAMPLE_STDEV: Final = _numeric("stdev", partial(stdev, ddof=1))
Question: TypeAlias = Callable[[Asking, Clause, Any], Aggregate]
QUESTIONS: Final[Mapping[type[exp.Expr], Question]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.Sum: _sum,
    exp.Avg: _numeric("mean", mean),
    exp.VariancePop: _VARIANCE,
    exp.StddevPop: _STDEV,
    exp.Variance: _SAMPLE_VARIANCE,
    exp.Stddev: _SAMPLE_STDEV,
    exp.StddevSamp: _SAMPLE_STDEV,
    exp.Min: _numeric("min", quantile.min, None),
    exp.Max: _numeric("max", quantile.max, None),
    exp.Median: _numeric("median", quantile.median, None),
    exp.WithinGroup: _share,
    exp.PercentileCont: _direct_share,
    exp.PercentileDisc: _direct_share,
    exp.Quantile: _direct_share,
}


def asks(node: exp.Expr) -> bool:
    """Whether a node is an aggregate, or one with a FILTER or an order."""
    kinds = (exp.Filter, exp.WithinGroup, exp.AggFunc)
    return isinstance(node, kinds) and not isinstance(node, exp.Grouping)


def checked_bounds(bounds: Any) -> dict[str, Ends]:
    """Bounds by column; anything else is refused."""
    if bounds is None:
        return {}
    if not isinstance(bounds, Mapping):
        raise InvalidParameter(
            "bounds",
            bounds,
            "must be a dict from columns to pairs of bounds",
            'Try {"days": (0, 30)}.',
        )
    ends = {}
    for name, pair in bounds.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InvalidParameter(
                f"bounds[{name!r}]", pair, "must be a pair of bounds", "Try (0, 30)."
            )
        ends[arguments.text(bounds=name)] = (pair[0], pair[1])
    return ends
