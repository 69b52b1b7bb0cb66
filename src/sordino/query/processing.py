"""What is done to noisy answers: it costs nothing, whatever it is.

For any two neighbours, a function of a private answer is as private as the answer.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key, partial
from typing import TYPE_CHECKING, Any, Final, Self, final

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import arithmetic, casts
from sordino.expressions.language import check_expression
from sordino.expressions.literals import lift
from sordino.expressions.logic import order
from sordino.expressions.schema import (
    NUMBERS,
    PLAIN,
    Column,
    Schema,
    arrow_type,
    unknown,
)
from sordino.expressions.tree import AbstractExpression, Call, Col, Literal, Operation
from sordino.numbers import arguments

if TYPE_CHECKING:
    import pyarrow as pa


Slope = tuple[str, float]


def slope(expression: AbstractExpression) -> Slope | None:
    """Column and factor of a linear function of one column; None of all else.

    >>> from sordino.expressions.language import col
    >>> slope((100 - col("n") / 4).tree), slope((col("n") * col("n")).tree)
    (('n', -0.25), None)
    """
    if isinstance(expression, Col):
        return expression.name, 1.0
    if isinstance(expression, Call) and expression.operation in _RULES:
        slope = _RULES[expression.operation](expression)
        return slope if slope is not None and math.isfinite(slope[1]) else None
    return None


def _number(expression: AbstractExpression) -> float | None:
    if isinstance(expression, Literal) and expression.type in NUMBERS:
        number = expression.constant
        return None if number is None else float(number)
    return None


def _sum(call: Call, sign: float = 1.0) -> Slope | None:
    left, other = call.arguments
    if _number(other) is not None:
        return slope(left)
    return _scale(slope(other), sign) if _number(left) is not None else None


def _product(call: Call) -> Slope | None:
    left, other = call.arguments
    factor = _number(other)
    if factor is not None:
        return _scale(slope(left), factor)
    return _scale(slope(other), _number(left))


def _quotient(call: Call) -> Slope | None:
    divisor = _number(call.arguments[1])
    return _scale(slope(call.arguments[0]), 1 / divisor) if divisor else None


def _cast(call: Call) -> Slope | None:
    return slope(call.arguments[0]) if call.options["to"] == "f64" else None


def _scale(slope: Slope | None, factor: float | None) -> Slope | None:
    return None if slope is None or factor is None else (slope[0], slope[1] * factor)


_RULES: Final[Mapping[Operation, Callable[[Call], Slope | None]]] = {
    arithmetic.ADD: _sum,
    arithmetic.SUBTRACT: partial(_sum, sign=-1.0),
    arithmetic.MULTIPLY: _product,
    arithmetic.DIVIDE: _quotient,
    arithmetic.NEGATE: lambda call: _scale(slope(call.arguments[0]), -1.0),
    casts.CAST: _cast,
}


_TYPES: Final = {
    str(arrow_name): kind
    for kind, arrow_name in (
        *(("i64", "int64"), ("f64", "double"), ("text", "string")),
        *(("bool", "bool"), ("date", "date32[day]"), ("time", "timestamp[us]")),
    )
}
SELECTED: Final = (
    "Rows were chosen by their noisy numbers: those shown lie farther from the exact "
    "ones than the intervals say."
)


@final
@dataclass(frozen=True, eq=False)
class NoisyRows:
    """Keys, noisy numbers, and their errors."""

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the answers, in order."""
        return tuple(self.table.column_names[len(self.keys) :])

    @property
    def schema(self) -> Schema:
        """Columns as expressions see them: anything may be missing."""
        return Schema(
            tuple(
                (field.name, Column(_TYPES[str(field.type)]))
                for field in self.table.schema
            )
        )

    def take(self, rows: Sequence[int]) -> "NoisyRows":
        """Some rows, in an order."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        places = pa.array(rows, pa.int64())
        return replace(
            self, table=self.table.take(places), errors=self.errors.take(places)
        )

    def add_note(self, note: str) -> "NoisyRows":
        """The same rows with a sentence for the reader."""
        known = (*self.notes, note)
        return replace(self, notes=tuple(dict.fromkeys(known)))

    def refuse_ungrouped(self, verb: str) -> None:
        """Refuse to choose among rows where there is one."""
        if not self.keys:
            raise InvalidQuery(
                f"there is nothing to {verb}: without groups there is one row",
                f"Leave {verb} out, or group the rows.",
            )


class AbstractProcess(ABC):
    """One thing that is done to noisy answers.

    Whether it can be done hangs on the names and types of the columns alone.
    """

    @abstractmethod
    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Answer after the step; columns that make no sense are refused."""


@final
@dataclass(frozen=True)
class ComputeAnswers(AbstractProcess):
    """Add answers that are computed of others, each from its row."""

    columns: tuple[tuple[str, AbstractExpression], ...]

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}={expression}" for name, expression in self.columns)
        return f"with_columns({columns})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        schema, rows = answer.schema, answer.table.to_pylist()
        table, errors = answer.table, answer.errors
        for name, expression in self.columns:
            if name in answer.keys:  # a group would stand under another's name
                raise InvalidQuery(
                    f"the key {name!r} cannot be overwritten", "Choose another name."
                )
            kind = expression.column(schema).type
            if kind not in PLAIN:
                raise InvalidQuery(
                    f"{expression} has type {kind}, and an answer must be a single "
                    "value",
                    "Compute one of the list, or leave it out.",
                )
            values = pa.array([expression.value(row) for row in rows], arrow_type(kind))
            table = _put_column(table, name, values)
            for at, bar in zip(
                error_names(name), _bars(answer, expression), strict=True
            ):
                errors = _put_column(errors, at, pa.array(bar, pa.float64()))
        return _order_errors(replace(answer, table=table, errors=errors))


@final
@dataclass(frozen=True)
class FilterGroups(AbstractProcess):
    """Keep the rows for which a condition on noisy answers is true."""

    condition: AbstractExpression

    def __repr__(self) -> str:
        return f"filter({self.condition})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        answer.refuse_ungrouped("filter")
        column = self.condition.column(answer.schema)
        if column.type != "bool":
            raise InvalidQuery(
                f"a filter takes a condition, and {self.condition} has type "
                f"{column.type}",
                'Compare it with something: sd.col("n") > 10.',
            )
        rows = answer.table.to_pylist()
        places = [at for at, row in enumerate(rows) if self.condition.value(row)]
        # a choice by keys alone looks at no noisy number
        chosen = self.condition.names() - set(answer.keys)
        return (answer.add_note(SELECTED) if chosen else answer).take(places)


@final
@dataclass(frozen=True)
class SortGroups(AbstractProcess):
    """Put rows into an order; equal ones stay as they are."""

    names: tuple[str, ...]
    descending: tuple[str, ...]
    nulls_first: tuple[str, ...]

    def __repr__(self) -> str:
        listed = [repr(name) for name in self.names]
        for word in ("descending", "nulls_first"):
            names = getattr(self, word)
            listed += [f"{word}={names!r}"] if names else []
        return f"sort({', '.join(listed)})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        answer.refuse_ungrouped("sort")
        for name in self.names:
            _refuse_unknown(answer, name)
        rows = list(range(answer.table.num_rows))
        for name in reversed(self.names):
            values = answer.table[name].to_pylist()
            there = [at for at in rows if values[at] is not None]
            gone = [at for at in rows if values[at] is None]
            there.sort(
                key=lambda at, cells=values: cmp_to_key(order)(cells[at]),  # type: ignore[misc]
                reverse=name in self.descending,
            )
            rows = gone + there if name in self.nulls_first else there + gone
        return answer.take(rows)


@final
@dataclass(frozen=True)
class CutGroups(AbstractProcess):
    """Keep `rows` rows after the first `offset`."""

    rows: int
    offset: int

    def __repr__(self) -> str:
        return f"limit({self.rows}{f', offset={self.offset}' if self.offset else ''})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        answer.refuse_ungrouped("limit")
        last = min(self.offset + self.rows, answer.table.num_rows)
        return answer.add_note(SELECTED).take(range(min(self.offset, last), last))


@final
@dataclass(frozen=True)
class ShowAnswers(AbstractProcess):
    """Keep some answers, in an order; keys always stay."""

    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"select({', '.join(map(repr, self.names))})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        for name in self.names:
            _refuse_unknown(answer, name)
        shown = [name for name in self.names if name not in answer.keys]
        if not shown and not answer.keys:
            raise InvalidQuery("nothing is left to show", "Name an answer.")
        return _order_errors(answer, shown)


@final
@dataclass(frozen=True)
class RenameAnswers(AbstractProcess):
    """Give columns other names."""

    names: tuple[tuple[str, str], ...]

    def __repr__(self) -> str:
        return f"rename({dict(self.names)!r})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        renamed = dict(self.names)
        for old in renamed:
            _refuse_unknown(answer, old)
        bars = {
            bar: other
            for old, new in renamed.items()
            for bar, other in zip(error_names(old), error_names(new), strict=True)
        }
        names = [renamed.get(name, name) for name in answer.table.column_names]
        errors = [
            (renamed | bars).get(name, name) for name in answer.errors.column_names
        ]
        if len({*names, *errors}) < len({
            *answer.table.column_names,
            *answer.errors.column_names,
        }):
            raise InvalidParameter(
                "columns",
                renamed,
                "gives two columns the same name",
                "Choose other names.",
            )
        keys = tuple(renamed.get(key, key) for key in answer.keys)
        return replace(
            answer,
            table=answer.table.rename_columns(names),
            errors=answer.errors.rename_columns(errors),
            keys=keys,
        )


def _refuse_unknown(answer: NoisyRows, name: str) -> None:
    if name not in answer.table.column_names:
        raise unknown("column of the answer", name, answer.table.column_names)


def _put_column(table: "pa.Table", name: str, values: Any) -> "pa.Table":
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, values)
    return table.append_column(name, values)


def _order_errors(answer: NoisyRows, names: Sequence[str] | None = None) -> NoisyRows:
    shown = list(answer.names if names is None else names)
    bars = [bar for name in shown for bar in error_names(name)]
    return replace(
        answer,
        table=answer.table.select([*answer.keys, *shown]),
        errors=answer.errors.select([*answer.keys, *bars]),
    )


def _bars(answer: NoisyRows, expression: AbstractExpression) -> list[list[Any]]:
    """Errors and intervals of a linear function of one answer.

    Of any other function nothing is said: intervals that each hold do not hold
    together with the same chance.
    """
    linear = slope(expression)
    if linear is None or linear[0] not in answer.names:
        return [[None] * answer.table.num_rows] * 3
    name, factor = linear
    sd, low, high = (answer.errors[bar].to_pylist() for bar in error_names(name))
    scaled = [None if error is None else abs(factor) * error for error in sd]
    pairs = [_ends(expression, name, pair) for pair in zip(low, high, strict=True)]
    return [scaled, [first for first, _ in pairs], [last for _, last in pairs]]


def _ends(
    expression: AbstractExpression, name: str, pair: tuple[Any, Any]
) -> tuple[float | None, float | None]:
    if None in pair:
        return None, None
    ends = [expression.value({name: end}) for end in pair]
    return (None, None) if None in ends else (min(ends), max(ends))  # it may fall


_MOST_ROWS: Final = 2**62


def _several(word: str, which: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(which, bool):
        return names if which else ()
    listed = (which,) if isinstance(which, str) else which
    if not isinstance(listed, (tuple, list)):
        raise InvalidParameter(
            word, which, "must be a column name or a list of names", f'Try {word}="n".'
        )
    some = tuple(arguments.text(**{word: name}) for name in listed)
    for name in some:
        if name not in names:
            raise InvalidParameter(
                word,
                name,
                "must be one of the columns that are sorted by",
                "Name it first.",
            )
    return some


def _new_name(label: Any) -> str:
    return arguments.unicode_text(columns=label)


class AbstractNoisyAnswers(ABC):
    """Noisy answers of groups, or a request for them.

    Each method returns a new value, and leaves this one as it is.
    """

    def with_columns(self, **columns: Any) -> Self:
        """Add answers that are computed from the noisy ones."""
        if not columns:
            raise InvalidParameter(
                "with_columns",
                columns,
                "must name at least one column",
                "Try share=sd.col('n') / 10.",
            )
        new = {_new_name(name): lift(column) for name, column in columns.items()}
        return self._process(ComputeAnswers(tuple(new.items())))

    def filter(self, condition: AbstractExpression) -> Self:
        """Keep the groups whose noisy answers fulfil a condition."""
        return self._process(FilterGroups(check_expression(condition=condition)))

    def sort(
        self,
        *names: str,
        descending: "bool | str | Sequence[str]" = False,
        nulls_first: "bool | str | Sequence[str]" = False,
    ) -> Self:
        """Put the groups into an order: by all names, or by some downwards."""
        by = tuple(arguments.text(names=name) for name in names)
        if not by:
            raise InvalidParameter(
                "names", names, "must name at least one column", 'Try sort("n").'
            )
        falling = _several("descending", descending, by)
        return self._process(
            SortGroups(by, falling, _several("nulls_first", nulls_first, by))
        )

    def limit(self, rows: int, offset: int = 0) -> Self:
        """Keep `rows` groups after the first `offset`."""
        most = arguments.integer(rows=rows, least=0, most=_MOST_ROWS)
        first = arguments.integer(offset=offset, least=0, most=_MOST_ROWS)
        return self._process(CutGroups(int(most), int(first)))

    def select(self, *names: str) -> Self:
        """Keep some of the answers; keys always stay."""
        shown = tuple(arguments.text(names=name) for name in names)
        return self._process(ShowAnswers(shown))

    def rename(self, columns: Mapping[str, str]) -> Self:
        """Give columns of the answer other names: `{"old": "new"}`."""
        names: Any = columns
        if not isinstance(names, Mapping) or not names:
            raise InvalidParameter(
                "columns",
                names,
                "must be a dict from old names to new names",
                'Try {"n": "visits"}.',
            )
        pairs = ((arguments.text(columns=a), _new_name(b)) for a, b in names.items())
        return self._process(RenameAnswers(tuple(pairs)))

    @abstractmethod
    def _process(self, step: AbstractProcess) -> Self:
        """Answers after one more step."""
