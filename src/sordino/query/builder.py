"""Asking questions: a query is a table's name and the steps taken on it, a pure value.

>>> import sordino as sd
>>> query = sd.table("visits").filter(sd.col("age") >= 18).group_by("ward")
>>> query.agg(n=sd.count())
table('visits').filter(col('age') >= 18).group_by('ward').agg(n=count())
"""

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, Literal, final

from sordino.aggregations.count import count
from sordino.data import KeySet
from sordino.data.limits import AbstractConstraint, AbstractTruncation
from sordino.errors import InvalidParameter
from sordino.expressions.bins import Bins
from sordino.expressions.language import check_expression, col
from sordino.expressions.literals import lift
from sordino.expressions.schema import Column, unknown
from sordino.expressions.tree import AbstractExpression, AbstractTree
from sordino.numbers import arguments as _validate
from sordino.numbers.canonical import Words
from sordino.numbers.frozen import hides
from sordino.query import joins, steps
from sordino.query.functions import Udf, udf_of
from sordino.query.groups import (
    Grouped,
    GroupingSets,
    Marginals,
    PerID,
    listed_names,
    make_marginals,
)
from sordino.query.nodes import refuse_long
from sordino.query.request import Request, check_aggregation, make_request
from sordino.query.steps import AbstractCatalog, AbstractStep, Relation

Names = str | tuple[str, ...] | list[str]
Returns = Mapping[str, str | Column]

_MOST_ROWS = 10**9
_NO_COLUMNS: Final[tuple[Any, ...]] = ((), [])
"""How all rows together are written as a set of columns."""


@hides("asked", "resolve", "split_filters", "steps", "table", "words")  # noqa: PLR0904 a verb each
@final
@dataclass(frozen=True, repr=False)
class Query:
    """Rows of a private table, and what is done to them before they are counted."""

    table: str
    steps: tuple[AbstractStep, ...] = ()
    asked: str = ""
    """How the query was written."""

    def __repr__(self) -> str:
        return self.asked

    def words(self, catalog: AbstractCatalog) -> list[Words]:
        """Canonical words of the table and of the steps."""
        return [
            *catalog.words(self.table),
            *(step.words(catalog) for step in self.steps),
        ]

    def resolve(self, catalog: AbstractCatalog) -> Relation:
        """Relation after all steps."""
        relation = catalog.relation(self.table)
        for step in self.steps:
            relation = step.apply(relation, catalog)
        refuse_long(relation.node)  # engines call themselves, node by node
        return relation

    def split_filters(self) -> "tuple[Query, tuple[AbstractTree, ...]]":
        """The query before the filters that stand last, and what these ask."""
        last = len(self.steps)
        while last and isinstance(self.steps[last - 1], steps.Where):
            last -= 1
        conditions = tuple(
            lift(step.condition)
            for step in self.steps[last:]
            if isinstance(step, steps.Where)
        )
        return replace(self, steps=self.steps[:last]), conditions

    def select(self, *columns: str) -> "Query":
        """Keep some columns; the column of ids is kept in any case."""
        step = steps.Select(listed_names(columns=columns))
        return self._then(step, "select", columns)

    def rename(self, columns: Mapping[str, str]) -> "Query":
        """Give columns other names: `{"old": "new"}`."""
        names: Any = columns
        if not isinstance(names, Mapping) or not names:
            raise InvalidParameter(
                "columns",
                names,
                "must be a dict from old names to new names",
                'Try rename({"old": "new"}).',
            )
        pairs = tuple(
            (_validate.text(columns=old), _validate.text(columns=new))
            for old, new in columns.items()
        )
        return self._then(steps.Rename(pairs), "rename", (dict(columns),))

    def filter(self, condition: AbstractExpression) -> "Query":
        """Keep the rows for which a condition is true."""
        tree = check_expression(condition=condition)
        return self._then(steps.Where(tree), "filter", (tree,))

    def with_columns(self, /, *functions: Udf, **columns: Any) -> "Query":
        """Add columns, or write columns anew: `with_columns(old=col("age") > 65)`.

        `sd.udf(f, returns=...)` adds the columns that a Python function computes.
        """
        if functions:
            step, shown = _udf(functions[0]), ("a Python function",)
            query = self._then(step, "with_columns", shown)
            rest = functions[1:]
            return query.with_columns(*rest, **columns) if rest or columns else query
        expressions = {name: lift(value) for name, value in columns.items()}
        added = steps.WithColumns(steps.literal_pairs(expressions, "with_columns"))
        return self._then(added, "with_columns", (), expressions)

    def drop_nulls(self, *columns: str) -> "Query":
        """Drop the rows in which one of the columns, or any, is missing."""
        step = steps.DropNulls(listed_names(columns=columns))
        return self._then(step, "drop_nulls", columns)

    def drop_nan(self, *columns: str) -> "Query":
        """Drop the rows in which one of the columns, or any, is NaN."""
        step = steps.DropNaN(listed_names(columns=columns))
        return self._then(step, "drop_nan", columns)

    def fill_null(self, /, **values: Any) -> "Query":
        """Put a value where one is missing: `fill_null(age=0)`."""
        listed = steps.literal_pairs(values, "fill_null")
        for name, value in listed:
            col(name).fill_null(value)  # refuses what is no value
        return self._then(steps.FillNull(listed), "fill_null", (), values)

    def fill_nan(self, /, **values: Any) -> "Query":
        """Put a number where there is NaN: `fill_nan(weight=70.0)`."""
        listed = steps.literal_pairs(values, "fill_nan")
        filled = tuple((name, col(name).fill_nan(value).tree) for name, value in listed)
        return self._then(steps.WithColumns(filled), "fill_nan", (), values)

    def replace_infinity(self, /, **ends: Any) -> "Query":
        """Put numbers for the infinities: `replace_infinity(weight=(0, 500))`."""
        replaced = tuple(
            (name, _finite(name, pair))
            for name, pair in steps.literal_pairs(ends, "replace_infinity")
        )
        return self._then(steps.WithColumns(replaced), "replace_infinity", (), ends)

    def bin(self, column: str, bins: Any, name: str | None = None) -> "Query":
        """Put a column into bins, as a new column or under its own name."""
        binned = col(_validate.text(column=column)).bin(bins).tree
        target = column if name is None else _validate.text(name=name)
        step = steps.WithColumns(((target, binned),))
        return self._then(step, "bin", (column, bins))

    def flat_map(
        self,
        function: Any,
        returns: Returns | None = None,
        max_rows: int | None = None,
    ) -> "Query":
        """Make rows of each row, by a Python function or from the list in a column.

        `flat_map("codes", max_rows=3)` makes a row of each of the first 3 entries.
        """
        most = None
        if max_rows is not None:
            most = _validate.integer(max_rows=max_rows, least=0, most=_MOST_ROWS)
        if isinstance(function, str):
            if returns is not None:
                raise InvalidParameter(
                    "returns",
                    returns,
                    "does not apply to a list column",
                    "Leave it out, or give a function.",
                )
            return self._then(
                joins.ExplodeStep(function, most), "flat_map", (function, most)
            )
        step = joins.FlatMapStep(udf_of(function, returns), most)
        return self._then(step, "flat_map", ("a Python function", most))

    def join_public(
        self,
        table: str,
        on: Names,
        how: Literal["inner", "left"] = "inner",
        suffix: str = "_right",
    ) -> "Query":
        """Bring in the columns of a public table, matched by the columns `on`."""
        outer = _validate.choice(("inner", "left"), how=how) == "left"
        name, keys = _validate.text(table=table), listed_names(on=on, some=True)
        step = joins.JoinPublic(name, keys, outer, _validate.text(suffix=suffix))
        return self._then(step, "join_public", (name,), {"on": on, "how": how})

    def join_private(
        self,
        table: "str | Query",
        on: Names,
        left: AbstractTruncation | None = None,
        right: AbstractTruncation | None = None,
        suffix: str = "_right",
    ) -> "Query":
        """Bring together two private tables, each bounded by a truncation.

        The other is a table, a view or a query. Tables that protect ids are joined on
        the ids, with no truncation.
        """
        for side, truncation in (("left", left), ("right", right)):
            if truncation is not None and not isinstance(
                truncation, AbstractTruncation
            ):
                raise InvalidParameter(
                    side,
                    truncation,
                    "must be a truncation",
                    f"Try {side}=sd.DropExcess(2).",
                )
        other = table if isinstance(table, Query) else _validate.text(table=table)
        rows = other if isinstance(other, Query) else Query(other)
        keys = listed_names(on=on, some=True)
        step = joins.JoinPrivate(rows, keys, left, right, _validate.text(suffix=suffix))
        shown = {"on": on, "left": left, "right": right}
        return self._then(step, "join_private", (other,), shown)

    def enforce(self, *constraints: AbstractConstraint) -> "Query":
        """Bound what each id contributes."""
        for constraint in constraints:
            if not isinstance(constraint, AbstractConstraint):
                raise InvalidParameter(
                    "constraints",
                    constraint,
                    "must be a constraint",
                    "Try sd.MaxRowsPerID(5).",
                )
        return self._then(steps.Enforce(constraints), "enforce", constraints)

    def per_id(self, /, *columns: str, **aggregations: Any) -> "Query":
        """Make one row of all rows of an id: `per_id(visits=sd.count())`.

        With columns there is a row for each id and each of its values of them. What is
        asked of the rows is exact, and has noise once it is asked of all ids.
        """
        by = listed_names(columns=columns)
        checked = tuple(
            (name, check_aggregation(**{name: aggregation}))
            for name, aggregation in aggregations.items()
        )
        return self._then(PerID(by, checked), "per_id", by, aggregations)

    def group_by(self, *columns: Any, **expressions: Any) -> Grouped:
        """Ask for each group: of columns of unknown values, of a `KeySet`, or of both.

        Groups may be computed: `group_by("ward", decade=col("age").round_down(10))`.
        Beside a `KeySet` each unknown value that shows has a row for all its keys.
        """
        query = self.with_columns(**expressions) if expressions else self
        if any(isinstance(column, KeySet) for column in columns):
            return _with_keys(query, columns, tuple(expressions))
        flat = columns[0] if len(columns) == 1 else columns
        named = listed_names(columns=flat) if columns or not expressions else ()
        names = listed_names(columns=(*named, *expressions), some=True)
        return Grouped(query, names, None)

    def group_by_sets(self, *sets: Any) -> GroupingSets:
        """Ask for the groups of several sets of columns, at one price together.

        A set is a name, some names, a `KeySet`, or `()` for all rows together:
        `group_by_sets(("ward", "year"), "ward", ())`.
        """
        ways = (
            Grouped(self, (), None) if group in _NO_COLUMNS else self.group_by(group)
            for group in sets
        )
        return GroupingSets.of(tuple(ways))

    def cumulative(
        self, period: str, periods: Any, /, *, last: Any = (), **answers: Any
    ) -> Request:
        """Ask for counts and sums of ordered periods, and for what they come to.

        `cumulative("week", range(1, 53), last=(4, 13), n=sd.count())` tells each week
        n, n_to_date, n_last_4 and n_last_13: one release, in which all add up. It
        takes noise, weights and coverage as `agg` does.
        """
        return Grouped(self, (), None).cumulative(period, periods, last=last, **answers)

    def agg(
        self,
        /,
        *,
        noise: Literal["laplace", "gaussian"] | None = None,
        weights: Mapping[str, Any] | None = None,
        coverage: bool = False,
        **aggregations: Any,
    ) -> Request:
        """Ask for one row of answers about all the rows.

        `coverage=True` adds noisy counts of what was unreadable, clamped or cut off.
        """
        return make_request(
            self,
            (),
            None,
            aggregations,
            noise=noise,
            weights=weights,
            coverage=coverage,
        )

    def histogram(self, column: str, bins: Any, name: str = "count") -> Request:
        """Ask for the number of rows in each bin of a column."""
        ranges = bins if isinstance(bins, Bins) else Bins(bins)
        binned = col(_validate.text(column=column)).bin(ranges).tree
        step = steps.WithColumns(((column, binned),))
        query = self._then(step, "bin", (column, bins))
        # all bins are keys, those without rows too: which ones have some is private
        keys = KeySet.from_dict({column: list(ranges.labels)})
        counts: dict[str, Any] = {_validate.text(name=name): count()}
        return query.group_by(keys).agg(**counts)

    def marginals(
        self,
        keyset: KeySet,
        order: int | None = None,
        totals: Mapping[Any, Any] | None = None,
        hierarchies: Iterable[Names] = (),
        *,
        tables: Iterable[Names] | None = None,
        weights: Mapping[Any, Any] | None = None,
        **others: Any,
    ) -> Marginals:
        """Ask for the number of rows in all tables of up to `order` columns of keys.

        They are measured together, and add up (docs/guides/margins.md). `totals` are
        tables that everybody knows: {(): 1200, "year": {2025: 700, 2026: 500}}. Columns
        of `hierarchies`, [("region", "city")], count as one, at any of its levels.
        `tables` are asked for in place of all up to an order, 2 unless it is said:
        [("county", "month"), "county", ()]. A table with a weight, {("county",
        "month"): 4}, errs less than others, which weigh 1.
        """
        for name, value in others.items():
            raise InvalidParameter(
                name,
                value,
                "is no argument of marginals, which count rows",
                "Give order, totals, hierarchies, tables or weights; ask for sums by "
                "session.release_all(...).",
            )
        return make_marginals(
            self,
            keyset,
            (order, tables),
            totals=totals,
            hierarchies=hierarchies,
            weights=weights,
        )

    def _then(
        self,
        step: AbstractStep,
        verb: str,
        arguments: Iterable[Any],
        named: Mapping[str, Any] | None = None,
    ) -> "Query":
        shown = [repr(argument) for argument in arguments]
        shown += [f"{name}={argument!r}" for name, argument in (named or {}).items()]
        text = f"{self.asked}.{verb}({', '.join(shown)})"
        return Query(self.table, (*self.steps, step), text)


def table(name: str) -> Query:
    """Begin a query on a private table or a view of the session.

    >>> table("visits")
    table('visits')
    """
    checked = _validate.text(table=name)
    return Query(checked, (), f"table({checked!r})")


def _with_keys(
    query: Query, columns: tuple[Any, ...], computed: tuple[str, ...]
) -> Grouped:
    keysets = [column for column in columns if isinstance(column, KeySet)]
    keys = reduce(operator.mul, keysets)
    listed = [
        column.columns if isinstance(column, KeySet) else (column,)
        for column in columns
    ]
    names = listed_names(columns=tuple(name for each in listed for name in each))
    for name in computed:
        if name not in names:
            raise unknown("column of the keys", name, names)
    return Grouped(query, names, keys)


def _finite(name: str, pair: Any) -> AbstractExpression:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidParameter(
            name, pair, "must be a pair of numbers", f"Try {name}=(-1000, 1000)."
        )
    low, high = pair
    return col(name).replace_infinity(low, high).tree


def _udf(function: Any) -> AbstractStep:
    if not isinstance(function, Udf):
        raise InvalidParameter(
            "with_columns",
            function,
            "takes new columns by name",
            'Write with_columns(old=sd.col("age") > 65).',
        )
    return joins.MapStep(function)
