"""What is done to noisy answers: it costs nothing, whatever it is.

For any two neighbours, a function of a private answer is as private as the answer.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final, final

from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.base import AbstractExpression
from sordino.expressions.comparison import order
from sordino.query.slopes import slope
from sordino.schema import PLAIN, Column, Schema, arrow_type, unknown

if TYPE_CHECKING:
    import pyarrow as pa

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
    """Noisy numbers beside their keys, and their errors."""

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the answers, in order."""
        return tuple(self.table.column_names[len(self.keys) :])

    @property
    def schema(self) -> Schema:
        """Return the columns as expressions see them: anything may be missing."""
        return Schema(
            tuple(
                (field.name, Column(_TYPES[str(field.type)]))
                for field in self.table.schema
            )
        )

    def take(self, rows: Sequence[int]) -> "NoisyRows":
        """Return some rows, in an order."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        places = pa.array(rows, pa.int64())
        return replace(
            self, table=self.table.take(places), errors=self.errors.take(places)
        )

    def add_note(self, note: str) -> "NoisyRows":
        """Return the same with a sentence for the reader."""
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
        """Return what becomes of an answer, or refuse columns that make no sense."""


@final
@dataclass(frozen=True)
class ComputeAnswers(AbstractProcess):
    """Add answers that are computed of others, each from its row."""

    columns: tuple[tuple[str, AbstractExpression], ...]

    def __repr__(self) -> str:
        """Show the call."""
        columns = ", ".join(f"{name}={expression}" for name, expression in self.columns)
        return f"with_columns({columns})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return the answers with more of them; an old name is written anew."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        schema, rows = answer.schema, answer.table.to_pylist()
        table, errors = answer.table, answer.errors
        for name, expression in self.columns:
            if name in answer.keys:
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
        """Show the call."""
        return f"filter({self.condition})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return some of the rows, with a note that they were chosen."""
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
        """Show the call."""
        listed = [repr(name) for name in self.names]
        for word in ("descending", "nulls_first"):
            names = getattr(self, word)
            listed += [f"{word}={names!r}"] if names else []
        return f"sort({', '.join(listed)})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return the rows in their order, the first column counting most."""
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
    """Keep so many rows, after leaving some out."""

    rows: int
    offset: int

    def __repr__(self) -> str:
        """Show the call."""
        return f"limit({self.rows}{f', offset={self.offset}' if self.offset else ''})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return the first rows, with a note that they were chosen."""
        answer.refuse_ungrouped("limit")
        last = min(self.offset + self.rows, answer.table.num_rows)
        return answer.add_note(SELECTED).take(range(min(self.offset, last), last))


@final
@dataclass(frozen=True)
class ShowAnswers(AbstractProcess):
    """Keep some answers, in an order; keys always stay."""

    names: tuple[str, ...]

    def __repr__(self) -> str:
        """Show the call."""
        return f"select({', '.join(map(repr, self.names))})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return the keys and some of the answers."""
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
        """Show the call."""
        return f"rename({dict(self.names)!r})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        """Return the same numbers under other names."""
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
    """Refuse a name that no column has."""
    if name not in answer.table.column_names:
        raise unknown("column of the answer", name, answer.table.column_names)


def _put_column(table: "pa.Table", name: str, values: Any) -> "pa.Table":
    """Return a table with a column, written anew where it is there."""
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, values)
    return table.append_column(name, values)


def _order_errors(answer: NoisyRows, names: Sequence[str] | None = None) -> NoisyRows:
    """Return an answer whose errors stand in the order of its numbers."""
    shown = list(answer.names if names is None else names)
    bars = [bar for name in shown for bar in error_names(name)]
    return replace(
        answer,
        table=answer.table.select([*answer.keys, *shown]),
        errors=answer.errors.select([*answer.keys, *bars]),
    )


def _bars(answer: NoisyRows, expression: AbstractExpression) -> list[list[Any]]:
    """Return the error and the interval of a linear function of one answer.

    Of any other function nothing is said: intervals that each hold do not hold
    together with the same chance.
    """
    linear = slope(expression)
    name = None if linear is None else linear[0]
    nothing: list[Any] = [None] * answer.table.num_rows
    if linear is None or name not in answer.names:
        return [nothing, nothing, nothing]
    sd, low, high = (answer.errors[name].to_pylist() for name in error_names(linear[0]))
    scaled = [None if error is None else abs(linear[1]) * error for error in sd]
    pairs = [_ends(expression, linear[0], pair) for pair in zip(low, high, strict=True)]
    return [scaled, [first for first, _ in pairs], [last for _, last in pairs]]


def _ends(
    expression: AbstractExpression, name: str, pair: tuple[Any, Any]
) -> tuple[float | None, float | None]:
    """Return between what a linear function lies where its answer is in an interval."""
    if None in pair:
        return None, None
    ends = [expression.value({name: end}) for end in pair]
    return (None, None) if None in ends else (min(ends), max(ends))
