"""Tables by their columns; their keys; public totals."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sordino.aggregations.margins.crossing import (
    Crossing,
    Integers,
    Levels,
    Name,
    Numbers,
    Tree,
    add_up,
)
from sordino.aggregations.margins.fitting import JointFit
from sordino.data import KeySet
from sordino.errors import InvalidParameter, InvalidQuery, UnknownName, show
from sordino.expressions.schema import unknown
from sordino.numbers import arguments

if TYPE_CHECKING:
    import pyarrow as pa


@final
@dataclass(frozen=True, eq=False)
class KeyCrossing:
    """A crossing, and where tables with keys of its columns lie in it."""

    crossing: Crossing

    @classmethod
    def of(cls, keysets: Sequence[KeySet]) -> "KeyCrossing":
        """Return the crossing of keys, refusing some that have no common tables."""
        ordered = sorted(keysets, key=lambda keys: -len(keys.columns))
        whole = ordered[0]
        for keys in ordered[1:]:
            if set(keys.columns) <= set(whole.columns):
                continue
            shared = set(keys.columns) & set(whole.columns)
            whole = whole.join(keys) if shared else whole * keys
        for keys in keysets:
            if not whole[keys.columns].is_equivalent(keys):
                raise InvalidQuery(
                    f"the tables do not have the same {_list_keys(keys.columns)}: sums "
                    "of one are not in the other",
                    "Give all of them keys of the same values.",
                )
        trees = tuple(Tree.of(whole, columns) for columns in _chains(whole))
        crossing = Crossing(trees, len(trees))
        if crossing.joint_cells != whole.size:
            raise InvalidQuery(
                f"the keys of {_list_keys(whole.columns)} are not every combination of "
                "their values, nor does one lie in the other",
                "Give the values of each column: KeySet.from_dict({...}).",
            )
        return cls(crossing)

    def table(self, columns: tuple[str, ...]) -> Levels:
        """Return the table that has some columns of keys."""
        return tuple(
            max(
                (
                    tree.columns.index(column) + 1
                    for column in columns
                    if column in tree.columns
                ),
                default=0,
            )
            for tree in self.crossing.trees
        )

    def places(self, keys: "pa.Table") -> Integers:
        """Return in which cell of their table the rows of keys lie."""
        import pyarrow.compute as pc  # noqa: PLC0415 loaded when needed

        places = np.zeros(max(keys.num_rows, 1), np.int64)
        table = self.table(tuple(keys.column_names))
        for tree, level in zip(self.crossing.trees, table, strict=True):
            if level:
                values = tree.values[level - 1]
                column_values = keys[tree.columns[level - 1]].cast(values.type)
                at = pc.index_in(column_values, values, skip_nulls=False)
                places = places * tree.sizes[level] + at.to_numpy()
        return places


def _chains(keys: KeySet) -> list[tuple[str, ...]]:
    """Return the columns that lie in each other from the top down, others alone."""
    chains: list[list[str]] = []
    for name in sorted(keys.columns, key=lambda name: keys[name].size):
        above = [chain for chain in chains if _determines(keys, name, chain[-1])]
        if above and keys[above[0][-1]].size > 1:
            above[0].append(name)
        else:
            chains.append([name])
    order = {name: place for place, name in enumerate(keys.columns)}
    chains.sort(key=lambda chain: min(order[name] for name in chain))
    return [tuple(chain) for chain in chains]


def _determines(keys: KeySet, name: str, above: str) -> bool:
    return keys[above, name].size == keys[name].size


def _list_keys(columns: Sequence[str]) -> str:
    return ", ".join(map(show, columns))


class AbstractTables(Mapping[Any, "pa.Table"]):
    """Tables by what they are called: their columns, or the names of requests."""

    called: Mapping[Any, Any]
    """The tables by their names."""

    @abstractmethod
    def make(self, name: Any) -> "pa.Table":
        """Return the table of one of the names."""

    def __getitem__(self, name: Any) -> "pa.Table":
        return self.make(self._settle(name))

    def __contains__(self, name: object) -> bool:
        try:
            self._settle(name)
        except UnknownName:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.called)

    def __len__(self) -> int:
        return len(self.called)

    @property
    def note(self) -> str:
        """Say what a reader of these tables must know."""
        return ""

    def __repr__(self) -> str:
        names = ", ".join(map(repr, list(self.called)[:4]))
        more = ", ..." if len(self) > 4 else ""
        return f"{type(self).__name__}({len(self):,} tables: {names}{more})" + (
            f" {self.note}" if self.note else ""
        )

    def _settle(self, name: Any) -> Any:
        alone = (name,) if isinstance(name, str) else name
        for known in (name, alone):
            if _is_hashable(known) and known in self.called:
                return known
        if isinstance(alone, tuple):
            for known in self.called:
                if isinstance(known, tuple) and sorted(known) == sorted(
                    map(str, alone)
                ):
                    return known
        raise unknown(
            "table", name, [", ".join(map(str, known)) for known in self._some_names]
        )

    @property
    def _some_names(self) -> list[tuple[Any, ...]]:
        some = list(self.called)[:8]
        return [name if isinstance(name, tuple) else (name,) for name in some]


@final
@dataclass(frozen=True, eq=False, repr=False)
class NoisyTables(AbstractTables):
    """Unbiased tables, which add up where they were measured together."""

    crossing: Crossing
    called: Mapping[Any, Levels]
    columns: Mapping[str, Mapping[Levels, Numbers]]
    bars: Mapping[str, Mapping[Levels, Numbers]]
    """Deviations and intervals of these numbers."""

    def make(self, name: Any) -> "pa.Table":
        table = self.called[name]
        numbers = {name: tables[table] for name, tables in self.columns.items()}
        return with_keys(self.crossing, table, numbers)

    @property
    def errors(self) -> "NoisyTables":
        """Return, for each table, the deviations and intervals of its numbers."""
        return NoisyTables(self.crossing, self.called, self.bars, {})


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdjustedTables(AbstractTables):
    """Tables that are sums of the same cells, none of which is below zero.

    They agree with each other, and are nearer to the exact ones where these are small;
    they are not unbiased, and no interval is known for them. All is made of noisy
    numbers: it costs nothing.
    """

    called: Mapping[Any, Levels]
    number: str
    together: JointFit
    cells: Numbers | Integers

    @property
    def note(self) -> str:
        """Say which tables the fit has not reached."""
        return self.together.note

    def make(self, name: Any) -> "pa.Table":
        table, crossing = self.called[name], self.together.crossing
        numbers = add_up(crossing, crossing.finest, self.cells, table)
        return with_keys(crossing, table, {self.number: numbers})

    @property
    def integers(self) -> "AdjustedTables":
        """Return tables of whole numbers, which agree as well."""
        return replace(self, cells=self.together.whole_cells)


def with_keys(
    crossing: Crossing, table: Levels, numbers: Mapping[str, Numbers]
) -> "pa.Table":
    """Return an Arrow table of the keys of a table, and of numbers of its cells."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    columns = [pa.array(values.ravel()) for values in numbers.values()]
    if not any(table):
        return pa.table(columns, names=list(numbers))
    whole = crossing.keys(table)
    for name, values in zip(numbers, columns, strict=True):
        whole = whole.append_column(name, values)
    return whole


def draw_people(together: JointFit, chances: Numbers) -> "pa.Table":
    """Return invented people: one for each chance, of the law that was fitted."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    crossing = together.crossing
    cells = together.cells.ravel()
    sums = np.cumsum(cells if cells.any() else np.ones(cells.size))
    places = np.searchsorted(sums, chances * sums[-1], side="right")
    places = np.minimum(places, sums.size - 1)
    leaves = np.unravel_index(places, crossing.shape(crossing.finest))
    columns = {}
    for tree, leaf in zip(crossing.trees, leaves, strict=True):
        for level, column in enumerate(tree.columns, start=1):
            nodes = tree.places[level][leaf]
            columns[column] = tree.values[level - 1].take(pa.array(nodes))
    return pa.table(columns)


def _is_hashable(name: object) -> bool:
    try:
        hash(name)
    except TypeError:
        return False
    return True


_MOST: Final = 2**40
_HEAVIEST: Final = Fraction(2**20)
_NAMED: Final = 'Try tables=[("county", "month"), "county", ()].'
_WEIGHED: Final = 'Try weights={("county", "month"): 4}.'
_EXAMPLE: Final = 'Try totals={(): 1200, "year": {2025: 700, 2026: 500}}.'


def read_totals(
    crossing: Crossing, totals: Mapping[Any, Any]
) -> dict[Levels, NDArray[np.int64]]:
    """Return the counts of tables that are known, refusing any that contradict."""
    if not isinstance(totals, Mapping):
        raise InvalidParameter(
            "totals", totals, "must be a dict from columns to counts", _EXAMPLE
        )
    known = {}
    for name, counts in totals.items():
        columns = (name,) if isinstance(name, str) else name
        table = find_table(crossing, columns)
        known[table] = _counts(crossing, table, (columns, counts), f"totals[{name!r}]")
    _refuse_contradictions(crossing, known)
    return known


def find_table(crossing: Crossing, columns: Any) -> Levels:
    """Return the table of some columns, in any order, or of which one is made."""
    names = {crossing.name(part): part for part in crossing.parts}
    if isinstance(columns, tuple):
        for name, table in names.items():
            if len(name) == len(columns) and set(name) == set(columns):
                return table
    raise unknown("table", columns, [", ".join(name) for name in names if name])


def choose_tables(trees: tuple[Tree, ...], tables: Any) -> tuple[Levels, ...]:
    """Return the tables that are named by their columns, each once, in any order."""
    if not isinstance(tables, (list, tuple)) or not tables:
        raise InvalidParameter(
            "tables", tables, "must be a list of columns of tables", _NAMED
        )
    chosen: set[Levels] = set()
    for columns in tables:
        table = _choose_table(trees, columns)
        if table in chosen:
            raise InvalidParameter(
                "tables", columns, "is named twice", "Name each table once."
            )
        chosen.add(table)
    for place, tree in enumerate(trees):
        if max(table[place] for table in chosen) < tree.depth:
            raise InvalidParameter(
                "tables",
                tables,
                f"have none by {tree.columns[-1]!r}, which is a column of the keys",
                "Leave it out of the keys.",
            )
    return tuple(chosen)


def _choose_table(trees: tuple[Tree, ...], columns: Any) -> Levels:
    named = (columns,) if isinstance(columns, str) else columns
    if not isinstance(named, tuple) or not all(isinstance(n, str) for n in named):
        raise InvalidParameter(
            "tables", columns, "must be a column or a tuple of columns", _NAMED
        )
    levels = {
        column: (place, level)
        for place, tree in enumerate(trees)
        for level, column in enumerate(tree.columns, start=1)
    }
    table = [0] * len(trees)
    for column in named:
        if column not in levels:
            raise unknown("column of the keys", column, levels)
        place, level = levels[column]
        if table[place]:
            raise InvalidParameter(
                "tables",
                columns,
                f"names two columns of {_list_keys(trees[place].columns)}",
                "Each lies in the one above it: name the lowest alone.",
            )
        table[place] = level
    return tuple(table)


def read_weights(crossing: Crossing, weights: Any) -> dict[Levels, Fraction]:
    """Return the weights of tables by their columns; others weigh 1."""
    if not isinstance(weights, Mapping):
        raise InvalidParameter(
            "weights", weights, "must be a dict from columns to weights", _WEIGHED
        )
    weighed: dict[Levels, Fraction] = {}
    for columns, weight in weights.items():
        table = find_table(
            crossing, (columns,) if isinstance(columns, str) else columns
        )
        value = arguments.positive(weights=weight)
        if table not in crossing.tables or table in weighed:
            problem = "is named twice" if table in weighed else "is not asked for"
            raise InvalidParameter(
                "weights",
                columns,
                problem,
                "Weigh each table once, of those asked for.",
            )
        if not isinstance(value, Fraction) or not 1 / _HEAVIEST <= value <= _HEAVIEST:
            raise InvalidParameter(
                "weights", weight, "must be rational, from 2**-20 to 2**20", _WEIGHED
            )
        weighed[table] = value
    return weighed


def _counts(
    crossing: Crossing,
    table: Levels,
    columns_and_counts: tuple[Name, Any],
    argument: str,
) -> NDArray[np.int64]:
    """Return the counts of a table that was given as a number or by its keys.

    Keys are tuples in the order in which the columns were named.
    """
    name, counts = columns_and_counts
    if not name:
        return np.asarray(arguments.integer(**{argument: counts}, least=0, most=_MOST))
    keys = _total_list_keys(crossing.keys(table), name)
    wanted = set(keys)
    if not isinstance(counts, Mapping) or set(counts) != wanted:
        missing = wanted - set(counts) if isinstance(counts, Mapping) else wanted
        example = next(iter(missing), next(iter(wanted)))
        raise InvalidParameter(
            argument,
            f"{len(counts)} counts" if isinstance(counts, Mapping) else counts,
            f"must have a count for each of the {len(wanted)} keys, such as "
            f"{show(example)}, and for no others",
            _EXAMPLE,
        )
    numbers = [
        arguments.integer(**{argument: counts[key]}, least=0, most=_MOST)
        for key in keys
    ]
    return np.array(numbers, np.int64).reshape(crossing.shape(table))


def _total_list_keys(keys: "pa.Table", name: Name) -> list[Any]:
    columns = [keys[column].to_pylist() for column in name]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _refuse_contradictions(
    crossing: Crossing, known: Mapping[Levels, NDArray[np.int64]]
) -> None:
    tables = list(known)
    for place, table in enumerate(tables):
        for other in tables[:place]:
            both = tuple(map(min, table, other))
            sums, others = (
                add_up(crossing, each, known[each], both) for each in (table, other)
            )
            if not np.array_equal(sums, others):
                at = np.flatnonzero(sums.ravel() != others.ravel())[0]
                raise InvalidParameter(
                    "totals",
                    f"{_title(crossing, table)} and {_title(crossing, other)}",
                    f"contradict each other: one adds up to {sums.ravel()[at]:,}, the "
                    f"other to {others.ravel()[at]:,}",
                    "Totals are public facts of the same rows: leave one out.",
                )


def _title(crossing: Crossing, table: Levels) -> str:
    return ", ".join(crossing.name(table)) or "all rows"
