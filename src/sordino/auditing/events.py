"""Outcomes of any kind as columns of numbers, and how much each value tells.

number, text, bytes, mapping, sequence, table, exception ── columns ── signals

A column is a function of one outcome, whatever it is: its value, its last bits, its
rows, its keys, its class. A signal is a column, or how much its cells speak for the
second world, learned of samples that are used for nothing else.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sordino.errors import InvalidData
from sordino.numbers.arrays import as_numpy
from sordino.release.release import Release

Floats: TypeAlias = NDArray[np.float64]
Columns: TypeAlias = dict[str, Floats]
"""A number of each outcome, NaN where it has none."""
VALUE: Final = "value"
_MOST_COLUMNS: Final = 128
_MOST_ROWS: Final = 16
_FEW: Final = 25
_BINS: Final = 32
_MOST_ATOMS: Final = 256
_LABELS: dict[float, str] = {}


def outcome_columns(outcomes: Any, count: int, by: str | None = None) -> Columns:
    """Columns of `count` outcomes; with `by`, of the rows of a table by their trial."""
    if by is not None:
        return _columns_by_trial(_table(outcomes), by, count)
    array = outcomes if isinstance(outcomes, np.ndarray) else None
    if array is None and type(outcomes).__module__.partition(".")[0] == "pyarrow":
        array = as_numpy(outcomes)
    if len(outcomes) != count:
        raise InvalidData(f"{len(outcomes)} outcomes were given where {count} belong.")
    if array is not None and array.dtype.kind in "iufb" and array.ndim <= 2:
        flat = array.reshape(count, -1).T
        names = [VALUE] if array.ndim == 1 else [f"[{at}]" for at in range(len(flat))]
        return dict(
            column
            for name, values in zip(names, flat, strict=True)
            for column in _number_columns(name, values)
        )
    return _columns_of_parts([dict(_parts(outcome)) for outcome in outcomes])


def _columns_of_parts(parts: Sequence[Mapping[str, Any]]) -> Columns:
    """Columns of named parts; the names that most outcomes have come first."""
    often = Counter(name for each in parts for name in each)
    columns: Columns = {}
    for name, _ in often.most_common(_MOST_COLUMNS):
        values = [each.get(name) for each in parts]
        kinds = [_label(type(value).__name__) for value in values]
        columns[f"type of {name}"] = np.array(kinds)
        numbers = np.array([_number(value) for value in values])
        columns |= _number_columns(name, numbers)
    return columns


def _number_columns(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Floats]]:
    """Give a column of numbers, and the bits that the precision attacks look at.

    In floats that are sums of floats the last bits tell which value was added to.
    """
    numbers = values.astype(np.float64)
    yield name, numbers
    whole, exponents = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    digits = np.abs(np.ldexp(whole, 53)).astype(np.int64)
    last = digits & -digits
    # the place of the last digit, and the last four: of the integer, or of the double
    steps = np.where(digits == 0, 0, exponents - 53 + np.log2(np.maximum(last, 1)))
    if values.dtype.kind in "iub":
        low = (values.astype(np.int64) & 15).astype(np.float64)
    else:
        low = np.where(steps < 0, digits & 15, np.mod(numbers, 16))
    yield f"last bits of {name}", low
    yield f"place of the last bit of {name}", steps.astype(np.float64)


def _columns_by_trial(table: Any, by: str, count: int) -> Columns:
    """Columns of a table that holds the rows of many trials: `by` says of which."""
    trials = as_numpy(table.column(by)).astype(np.int64)
    if trials.size and not 0 <= trials.min() <= trials.max() < count:
        raise InvalidData(f"column {by} must number {count} trials from 0.")
    order = np.argsort(trials, kind="stable")
    rows = np.bincount(trials, minlength=count)
    first = np.cumsum(rows) - rows
    trials = trials[order]
    places = np.arange(trials.size) - first[trials]
    columns: Columns = {"rows": rows.astype(np.float64)}
    for name in (column for column in table.column_names if column != by):
        encoded = table.column(name).combine_chunks().dictionary_encode()
        values = [_number(value) for value in encoded.dictionary.to_pylist()]
        codes = as_numpy(encoded.indices.fill_null(len(values)))
        numbers = np.array([*values, np.nan])[codes][order]
        for place in range(min(int(rows.max(initial=0)), _MOST_ROWS)):
            column = np.full(count, np.nan)
            here = places == place
            column[trials[here]] = numbers[here]
            columns |= _number_columns(f"{name}[{place}]", column)
    return columns


def _parts(outcome: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Give what can be seen of an outcome, by name."""
    match outcome:
        case BaseException():
            yield f"{name}exception", type(outcome).__qualname__
            yield f"{name}text of the exception", str(outcome)
        case str() | bytes():
            yield name or VALUE, outcome
            yield f"{name}length", len(outcome)
        case Mapping() | list() | tuple() | np.ndarray():
            yield from _parts_within(outcome, name)
        case _ if isinstance(outcome, Release) or _is_table(outcome):
            yield from _table_parts(_table(outcome), name)
        case _:
            yield name or VALUE, outcome


def _parts_within(outcome: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield f"{name}length", len(outcome)
    values = outcome
    if isinstance(outcome, Mapping):
        yield f"{name}keys in order", repr(list(outcome))
    else:
        values = dict(enumerate(outcome))
    for key, value in values.items():
        yield from _parts(value, f"{name}[{key!r}]")


def _table_parts(table: Any, name: str) -> Iterator[tuple[str, Any]]:
    yield f"{name}rows", table.num_rows
    yield f"{name}schema", str(table.schema)
    for column, values in zip(table.column_names, table.columns, strict=True):
        cells = values.to_pylist()
        yield f"{name}{column} in order", repr(cells)
        for place, value in enumerate(cells[:_MOST_ROWS]):
            yield f"{name}{column}[{place}]", value
            if not isinstance(value, float):
                yield f"{name}{column} has {value!r}", 1


def _is_table(outcome: Any) -> bool:
    home = type(outcome).__module__.partition(".")[0]
    return (home, type(outcome).__name__) in {
        *(("pyarrow", "Table"), ("pandas", "DataFrame"), ("polars", "DataFrame")),
    }


def _table(outcome: Any) -> Any:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if isinstance(outcome, Release):
        return outcome.table
    return outcome if isinstance(outcome, pa.Table) else pa.table(outcome)


def _number(value: Any) -> float:
    """Number of a value: equal for equal ones, NaN for what is missing."""
    if value is None:
        return np.nan
    if isinstance(value, (int, float, np.number)):
        try:
            return float(value)
        except OverflowError:
            return np.inf if value > 0 else -np.inf
    return _label(value if isinstance(value, (str, bytes)) else repr(value))


def _label(value: str | bytes) -> float:
    """Number that stands for a text, the same within this process."""
    code = float(hash(value) >> 12)
    # for people to read; a few hundred are more than a verdict names
    if len(_LABELS) < _MOST_ATOMS * 16:
        _LABELS[code] = repr(value)
    return code


@final
@dataclass(frozen=True)
class Cells:
    """Few cells of a column, and how much each speaks for the second world."""

    atoms: Floats
    edges: Floats
    weights: Floats
    """Of each atom, of each range between edges, and of what is missing."""

    @staticmethod
    def learn(first: Floats, second: Floats) -> "Cells":
        """Learn the cells of two samples, and logarithms of their ratios of chances."""
        both = np.concatenate([first, second])
        there = both[~np.isnan(both)]
        values, often = np.unique(there, return_counts=True)
        most = np.argsort(-often, kind="stable")[:_MOST_ATOMS]
        atoms = np.sort(values[most[often[most] >= _FEW]])
        rest = there[~np.isin(there, atoms)]
        bins = min(_BINS, rest.size // _FEW)
        shares = np.arange(1, bins) / max(bins, 1)
        edges = (
            np.unique(np.quantile(rest, shares, method="lower")) if bins else rest[:0]
        )
        blank = Cells(atoms, edges, atoms[:0])
        size = atoms.size + edges.size + 2
        seen = [
            (np.bincount(blank.places(each), minlength=size) + 0.5) / (each.size + 1)
            for each in (first, second)
        ]
        return Cells(atoms, edges, np.log(seen[1] / seen[0]))

    @property
    def are_labels(self) -> bool:
        """Tell whether numbers stand for texts, so that their order says nothing."""
        return any(atom in _LABELS for atom in self.atoms.tolist())

    def places(self, values: Floats) -> NDArray[np.intp]:
        """Cells of values."""
        at = np.searchsorted(self.atoms, values)
        atoms = np.append(self.atoms, np.nan)
        cells = self.atoms.size + np.searchsorted(self.edges, values, side="right")
        cells = np.where(atoms[at] == values, at, cells)
        return np.where(np.isnan(values), self.atoms.size + self.edges.size + 1, cells)

    def name_cells(self, level: float, *, above: bool) -> str:
        """Words for the cells whose weight reaches a level, or does not."""
        chosen = np.flatnonzero((self.weights >= level) == above)
        ends = [-np.inf, *self.edges.tolist(), np.inf]
        words = []
        for place in chosen.tolist():
            if place < self.atoms.size:
                atom = float(self.atoms[place])
                words.append(_LABELS.get(atom, f"{atom:.17g}"))
            elif place <= self.atoms.size + self.edges.size:
                at = place - self.atoms.size
                words.append(f"from {ends[at]:.6g} to {ends[at + 1]:.6g}")
            else:
                words.append("missing")
        return ", ".join(words[:4]) + (", ..." if len(words) > 4 else "")


_ALL: Final = "everything together"


@final
@dataclass(frozen=True)
class Signals:
    """Numbers that an audit reads of an outcome, by which events tell inputs apart.

    Each column is cut into cells; a cell weighs as the two samples say for which input
    it speaks.
    """

    cells: Mapping[str, Cells]

    @staticmethod
    def learn(first: Columns, second: Columns) -> "Signals":
        """Learn cells of the columns of two samples."""
        size, other = (len(next(iter(each.values()))) for each in (first, second))
        cells = {
            name: Cells.learn(_column(first, name, size), _column(second, name, other))
            for name in {**first, **second}
        }
        return Signals({
            name: each for name, each in cells.items() if each.weights.size > 2
        })

    def read(self, columns: Columns, count: int) -> Iterator[tuple[str, Floats]]:
        """Give each signal of some outcomes."""
        together = np.zeros(count)
        for name, cells in self.cells.items():
            column = _column(columns, name, count)
            if not cells.are_labels:
                yield name, column
            weights = cells.weights[cells.places(column)]
            yield f"{name} in cells", weights
            if not name.startswith(("last", "place", "type")):
                together += weights
        # of independent numbers the likelihoods multiply: nothing tells more
        yield _ALL, together

    def words(self, signal: str, level: float, *, above: bool) -> str:
        """Words for an event."""
        name = signal.removesuffix(" in cells")
        if signal != name:
            return f"{name} is {self.cells[name].name_cells(level, above=above)}"
        if signal == _ALL:
            side = "for the second" if above else "against the second"
            return f"all that is seen speaks {side} input"
        return f"{signal} {'>=' if above else '<'} {level:.17g}"


def _column(columns: Columns, name: str, count: int) -> Floats:
    return columns.get(name, np.full(count, np.nan))
