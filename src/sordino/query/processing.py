"""What is done to noisy answers: it costs nothing, whatever it is.

For any two neighbours, a function of a private answer is as private as the answer.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias, final

import numpy as np

from sordino.aggregations.intervals import (
    AnswerLaws,
    Bars,
    ComputedAnswer,
    Linear,
    error_names,
    names_among,
    rank_names,
    unknown_bars,
)
from sordino.data.key_columns import canonical_order
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions import arithmetic, casts, exponentials
from sordino.expressions.dates import meet_times
from sordino.expressions.language import check_expression
from sordino.expressions.literals import lift, literal
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
from sordino.numbers.arrays import as_arrow, with_gaps

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
    """Keys, noisy numbers, and their errors."""

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    notes: tuple[str, ...] = ()
    laws: AnswerLaws | None = None
    """Of which noises the answers are made; None where a file does not say."""
    ranks: Mapping[str, str] = field(default_factory=dict)
    """How far off answers are that are chosen among candidates, by name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the answers, in order."""
        return tuple(self.table.column_names[len(self.keys) :])

    @property
    def schema(self) -> Schema:
        """Columns as expressions see them: anything may be missing."""
        bars = [name for name in self.errors.column_names if name not in self.keys]
        return Schema((
            *(
                (field.name, Column(_TYPES[str(field.type)]))
                for field in self.table.schema
            ),
            *((name, Column("f64")) for name in bars),
        ))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows with their errors: "n sd", "n low" and "n high" beside "n"."""
        pairs = zip(self.table.to_pylist(), self.errors.to_pylist(), strict=True)
        return [bars | row for row, bars in pairs]

    def noise_of(self, name: str) -> ComputedAnswer:
        """Return an answer with its printed interval and the law of its noise."""
        law = self.laws and self.laws.forms.get(name)
        bars = Bars(
            *(
                self.errors[bar].to_numpy(zero_copy_only=False).astype(np.float64)
                for bar in error_names(name)
            )
        )
        return ComputedAnswer(self.laws, law or None, bars)

    @property
    def even_errors(self) -> set[str]:
        """Names of deviations that are the same in all rows."""
        return {
            sd
            for sd, *_ in map(error_names, self.names)
            if len(self.errors[sd].unique()) <= 1
        }

    def take(self, rows: Sequence[int]) -> "NoisyRows":
        """Some rows, in an order."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        places = pa.array(rows, pa.int64())
        return replace(
            self,
            table=self.table.take(places),
            errors=self.errors.take(places),
            laws=self.laws and self.laws.take(np.array(rows, np.intp)),
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

        schema, rows = answer.schema, answer.rows
        table, errors, laws = answer.table, answer.errors, answer.laws
        new = dict(self.columns)
        ranks = {name: text for name, text in answer.ranks.items() if name not in new}
        gone = [old for name in new for old in names_among(name, errors.column_names)]
        errors = errors.drop_columns([
            old for old in gone if old in errors.column_names
        ])
        for name, tree in self.columns:
            expression = meet_times(tree, schema)
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
            known = _noise_of(answer, expression)
            noise = known if isinstance(known, ComputedAnswer) else None
            bars = (noise and noise.bars) or unknown_bars(table.num_rows)
            for at, bar in bars.columns(name).items():
                errors = _put_column(errors, at, bar)
            laws = laws and laws.with_form(name, noise and noise.law)
        computed = replace(answer, table=table, errors=errors, laws=laws, ranks=ranks)
        return _order_errors(computed)


@final
@dataclass(frozen=True)
class FilterGroups(AbstractProcess):
    """Keep the rows for which a condition on noisy answers is true."""

    condition: AbstractExpression

    def __repr__(self) -> str:
        return f"filter({self.condition})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        condition = meet_times(self.condition, answer.schema)
        column = condition.column(answer.schema)
        if column.type != "bool":
            raise InvalidQuery(
                f"a filter takes a condition, and {self.condition} has type "
                f"{column.type}",
                'Compare it with something: sd.col("n") > 10.',
            )
        rows = answer.rows
        places = [at for at, row in enumerate(rows) if condition.value(row)]
        # a choice by keys, or by errors that are alike, looks at no noisy number
        chosen = self.condition.names() - {*answer.keys, *answer.even_errors}
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
            for bar, other in zip(
                (*error_names(old), *rank_names(old)),
                (*error_names(new), *rank_names(new)),
                strict=True,
            )
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
            laws=answer.laws and answer.laws.rename(renamed),
            ranks={
                renamed.get(name, name): text for name, text in answer.ranks.items()
            },
        )


@final
@dataclass(frozen=True)
class AddUpGroups(AbstractProcess):
    """Add up the answers of groups that have some keys in common."""

    keys: tuple[str, ...]
    weights: tuple[tuple[Any, float], ...]
    """Of the values of the one key that is left out; none where each counts once."""

    def __repr__(self) -> str:
        listed = [repr(key) for key in self.keys]
        listed += [f"weights={dict(self.weights)!r}"] if self.weights else []
        return f"add_up({', '.join(listed)})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        answer.refuse_ungrouped("add up")
        _refuse_no_keys(answer, self.keys)
        laws = _addable_laws(answer)
        groups, rows = _gather(answer.table.select(self.keys))
        size = max(1, groups.num_rows) if not self.keys else groups.num_rows
        slots, weights = self._slots(answer, rows)
        sums = laws.add_up(rows, slots, weights, size)
        columns = {name: groups[name] for name in self.keys}
        errors = dict(columns)
        factors = weights[slots] if self.weights else None
        for name in answer.names:
            columns[name] = _add_column(answer.table[name], rows, size, factors)
            law = sums and sums.forms.get(name)
            bars = sums.bars(law) if sums is not None and law is not None else None
            errors |= (bars or unknown_bars(size)).columns(name)
        summed = replace(
            answer,
            table=pa.table(columns),
            errors=pa.table(errors),
            keys=self.keys,
            laws=sums,
        )
        return summed if sums is not None else summed.add_note(_HIDDEN)

    def _slots(self, answer: NoisyRows, rows: Any) -> tuple[Any, Any]:
        """Return the place of each row in its sum, and the weight of each place."""
        if not self.weights:
            taken, slots = dict[int, int](), list[int]()
            for row in rows.tolist():
                slots.append(taken.get(row, 0))
                taken[row] = slots[-1] + 1
            most = max(taken.values(), default=1)
            return np.array(slots, np.intp), np.ones(most)
        left_out = [key for key in answer.keys if key not in self.keys]
        if len(left_out) != 1:
            raise InvalidQuery(
                f"weights are of the values of one key, and {left_out} are left out",
                "Keep all keys but one, or add up the others first.",
            )
        known = {value: place for place, (value, _) in enumerate(self.weights)}
        values = answer.table[left_out[0]].to_pylist()
        unweighted = [value for value in values if value not in known]
        if unweighted:
            raise InvalidParameter(
                "weights",
                unweighted[0],
                f"has no weight among those of {left_out[0]!r}",
                "Give each value one; 0 leaves it out.",
            )
        weights = np.array([weight for _, weight in self.weights])
        return np.array([known[value] for value in values], np.intp), weights


@final
@dataclass(frozen=True)
class CompareGroups(AbstractProcess):
    """Put the answers of one value of some keys beside those of all other values."""

    baseline: tuple[tuple[str, Any], ...]
    suffix: str

    def __repr__(self) -> str:
        return f"with_baseline({dict(self.baseline)!r}, suffix={self.suffix!r})"

    def apply(self, answer: NoisyRows) -> NoisyRows:
        answer.refuse_ungrouped("compare")
        _refuse_no_keys(answer, [name for name, _ in self.baseline])
        wanted = dict(self.baseline)
        others = [name for name in answer.keys if name not in wanted]
        keys = answer.table.select(answer.keys).to_pylist()
        groups = [tuple(key[name] for name in others) for key in keys]
        is_base = [all(key[name] == wanted[name] for name in wanted) for key in keys]
        known = {groups[row]: row for row, base in enumerate(is_base) if base}
        mine = [
            row for row, base in enumerate(is_base) if not base and groups[row] in known
        ]
        theirs = [known[groups[row]] for row in mine]
        return _join_rows(answer.take(mine), answer.take(theirs), self.suffix)


def join_groups(left: NoisyRows, right: NoisyRows, suffix: str) -> NoisyRows:
    """Put the answers of groups that both have beside each other."""
    if {*left.keys} != {*right.keys}:
        raise InvalidQuery(
            f"their groups have other keys: {list(left.keys)} and {list(right.keys)}",
            "Release both by the same columns, or add one up: release.add_up(...).",
        )
    listed = []
    for rows in (left, right):
        columns = [rows.table[name].to_pylist() for name in left.keys]
        listed.append([*zip(*columns, strict=True)] or [()])
    known = {group: row for row, group in enumerate(listed[1])}
    mine = [row for row, group in enumerate(listed[0]) if group in known]
    theirs = [known[listed[0][row]] for row in mine]
    joined = _join_rows(left.take(mine), right.take(theirs), suffix)
    if len(mine) < max(map(len, listed)):
        return joined.add_note(_APART)
    return joined


_HIDDEN: Final = (
    "Sums of groups that had to show, or of very many, have no interval: what did not "
    "show is missing in them."
)
_APART: Final = "Groups that one of both lacks are left out."


def _join_rows(left: NoisyRows, right: NoisyRows, suffix: str) -> NoisyRows:
    """Put answers of as many rows beside each other, the others with a suffix."""
    renames = {name: f"{name}{suffix}" for name in right.names}
    table, errors = left.table, left.errors
    for name, new in renames.items():
        added = [new, *error_names(new), *rank_names(new)]
        taken = {*table.column_names, *errors.column_names}
        if taken & {*added}:
            raise InvalidParameter(
                "suffix", suffix, f"makes a second {new!r}", 'Try suffix=" before".'
            )
        table = table.append_column(new, right.table[name])
        there = names_among(name, right.errors.column_names)
        for bar, at in zip(there, (*error_names(new), *rank_names(new)), strict=False):
            errors = errors.append_column(at, right.errors[bar])
    laws = left.laws
    if laws is not None and right.laws is not None:
        laws = laws.join(right.laws, renames)
    joined = replace(left, table=table, errors=errors, laws=laws)
    for note in right.notes:
        joined = joined.add_note(note)
    return joined


def _gather(keys: "pa.Table") -> "tuple[pa.Table, Any]":
    """Return the different keys, sorted, and the place of each row among them."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if not keys.num_columns:
        return keys.slice(0, 0), np.zeros(keys.num_rows, np.intp)
    groups = [*zip(*(column.to_pylist() for column in keys.columns), strict=True)]
    firsts = {group: row for row, group in reversed([*enumerate(groups)])}
    groups_table = keys.take(pa.array([*firsts.values()], pa.int64()))
    order = canonical_order(groups_table)
    places = dict(
        zip((list(firsts)[at] for at in order), range(len(order)), strict=True)
    )
    listed = groups_table.take(pa.array(order, pa.int64()))
    return listed, np.array([places[group] for group in groups], np.intp)


def _refuse_no_keys(answer: NoisyRows, names: Sequence[str]) -> None:
    for name in names:
        if name not in answer.keys:
            raise unknown("key", name, answer.keys)


def _addable_laws(answer: NoisyRows) -> AnswerLaws:
    """Return the laws of answers that add up over groups, or refuse them."""
    if answer.laws is None:
        raise InvalidQuery(
            "nobody knows which of these answers add up over groups",
            "Ask the session for them again, by their key: that costs nothing.",
        )
    for name in answer.names:
        if not isinstance(answer.laws.forms.get(name), Linear):
            raise InvalidQuery(
                f"{name!r} does not add up over groups",
                "Leave it out first, .select(...), and compute it of what adds up.",
            )
    return answer.laws


def _add_column(column: Any, rows: Any, size: int, weights: Any) -> Any:
    """Return the sums of a column by group: integers stay integers."""
    values = column.to_numpy(zero_copy_only=False)
    if weights is not None or values.dtype.kind != "i":
        values = values.astype(np.float64) * (1.0 if weights is None else weights)
    sums = np.zeros(size, values.dtype)
    np.add.at(sums, rows, values)
    return as_arrow(sums) if sums.dtype.kind == "i" else with_gaps(sums)


def _refuse_unknown(answer: NoisyRows, name: str) -> None:
    if name not in answer.table.column_names:
        raise unknown("column of the answer", name, answer.table.column_names)


def _put_column(table: "pa.Table", name: str, values: Any) -> "pa.Table":
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, values)
    return table.append_column(name, values)


def _order_errors(answer: NoisyRows, names: Sequence[str] | None = None) -> NoisyRows:
    shown = list(answer.names if names is None else names)
    there = answer.errors.column_names
    bars = [bar for name in shown for bar in names_among(name, there)]
    return replace(
        answer,
        table=answer.table.select([*answer.keys, *shown]),
        errors=answer.errors.select([*answer.keys, *bars]),
    )


def _noise_of(
    answer: NoisyRows, expression: AbstractExpression
) -> ComputedAnswer | float | None:
    """Law and interval of an expression; of one without noise the number.

    None where nothing is known: then no interval is noise, never a wrong one.
    """
    match expression:
        case Col(name=name):
            return answer.noise_of(name) if name in answer.names else None
        case Literal() if expression.type in NUMBERS:
            number = expression.constant
            return None if number is None else _finite(float(number))
        case Call(operation=operation, arguments=arguments):
            parts = [_noise_of(answer, each) for each in arguments]
            if operation in _MONOTONE:
                return _map_ends(expression, parts)
            if operation in _RULES and None not in parts:
                return _RULES[operation](expression, *parts)
    return None


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


Part: TypeAlias = ComputedAnswer | float


def _map_ends(call: Call, parts: Sequence[Part | None]) -> ComputedAnswer | None:
    first, *others = parts
    if not isinstance(first, ComputedAnswer) or any(
        isinstance(each, ComputedAnswer) for each in others
    ):
        return None

    def value_at(end: float) -> float | None:
        at_end = replace(call, arguments=(lift(end), *call.arguments[1:]))
        value = at_end.value({})
        return None if value is None else float(value)

    return first.map_ends(value_at)


def _sum(_call: Call, left: Part, right: Part) -> Part | None:
    if isinstance(left, ComputedAnswer):
        return left.plus(right)
    return right.plus(left) if isinstance(right, ComputedAnswer) else left + right


def _difference(call: Call, left: Part, right: Part) -> Part | None:
    return _sum(call, left, _negative(call, right))


def _negative(_call: Call, part: Part) -> Part:
    return part.times(-1.0) if isinstance(part, ComputedAnswer) else -part


def _product(_call: Call, left: Part, right: Part) -> Part | None:
    if isinstance(left, ComputedAnswer):
        return None if isinstance(right, ComputedAnswer) else left.times(right)
    if isinstance(right, ComputedAnswer):
        return right.times(left)
    return _finite(left * right)


def _quotient(_call: Call, left: Part, right: Part) -> Part | None:
    if isinstance(right, ComputedAnswer):
        if isinstance(left, ComputedAnswer):
            return left.divide_by(right)
        return right.divide_number(left)
    if not right or not math.isfinite(1 / right):
        return None
    if isinstance(left, ComputedAnswer):
        return left.divide_by_number(right)
    return left / right


def _cast(call: Call, part: Part) -> Part | None:
    return part if call.options["to"] == "f64" else None


_RULES: Final[Mapping[Operation, Callable[..., Part | None]]] = {
    arithmetic.ADD: _sum,
    arithmetic.SUBTRACT: _difference,
    arithmetic.MULTIPLY: _product,
    arithmetic.DIVIDE: _quotient,
    arithmetic.NEGATE: _negative,
    casts.CAST: _cast,
}
_MONOTONE: Final = frozenset({
    *(arithmetic.SQRT, arithmetic.FLOOR, arithmetic.CEIL, arithmetic.ROUND),
    *(arithmetic.ROUND_DOWN, arithmetic.CLIP, exponentials.EXP, exponentials.LOG),
})
"""Functions of their first argument that never fall."""


_MOST_ROWS: Final = 2**62
_MOST_WEIGHT: Final = 10**9


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


def _read_weights(weights: Any) -> tuple[tuple[Any, float], ...]:
    if weights is None:
        return ()
    if not isinstance(weights, Mapping) or not weights:
        raise InvalidParameter(
            "weights", weights, "must be a dict of numbers", 'Try {"young": 0.4}.'
        )
    numbers = {key: arguments.exact(weights=each) for key, each in weights.items()}
    if not all(-_MOST_WEIGHT <= w <= _MOST_WEIGHT for w in numbers.values()):
        raise InvalidParameter(
            "weights", weights, "must be at most 1e9 each", 'Try {"young": 0.4}.'
        )
    return tuple((key, float(each)) for key, each in numbers.items())


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

    def add_up(self, *keys: str, weights: "Mapping[Any, float] | None" = None) -> Self:
        """Add up the answers of groups, to those of some of the keys.

        With `weights` each is multiplied by the weight of its value of the one key that
        is left out. Counts, sums and what is linear in them add up; a mean does not.
        """
        names = tuple(arguments.text(keys=key) for key in keys)
        return self._process(AddUpGroups(names, _read_weights(weights)))

    def with_baseline(self, *, suffix: str = " before", **baseline: Any) -> Self:
        """Put the answers of a baseline beside those of all other groups.

        `with_baseline(year=2019)` gives each other year the answers of 2019 as well,
        "n before" beside "n", of the same other keys.
        """
        if not baseline:
            raise InvalidParameter(
                "baseline", baseline, "must name a key and its value", "Try year=2019."
            )
        pairs = tuple(
            (name, literal(value).constant) for name, value in baseline.items()
        )
        return self._process(CompareGroups(pairs, _new_name(suffix)))

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
