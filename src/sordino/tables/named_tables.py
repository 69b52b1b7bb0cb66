"""Tables by their columns, as Arrow tables: keys and numbers."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from sordino.errors import UnknownName
from sordino.schema import unknown
from sordino.tables.coarser import add_up
from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Integers, Numbers
from sordino.tables.joint_fit import JointFit

if TYPE_CHECKING:
    import pyarrow as pa


class AbstractTables(Mapping[Any, "pa.Table"]):
    """Tables by what they are called: their columns, or the names of requests."""

    called: Mapping[Any, Any]
    """The tables by their names."""

    @abstractmethod
    def make(self, name: Any) -> "pa.Table":
        """Return the table of one of the names."""

    def __getitem__(self, name: Any) -> "pa.Table":
        """Return a table by its name; columns may stand in any order."""
        return self.make(self._settle(name))

    def __contains__(self, name: object) -> bool:
        """Tell whether there is a table of some columns."""
        try:
            self._settle(name)
        except UnknownName:
            return False
        return True

    def __iter__(self) -> Iterator[Any]:
        """Yield the names of the tables."""
        return iter(self.called)

    def __len__(self) -> int:
        """Return the number of tables."""
        return len(self.called)

    def __repr__(self) -> str:
        """Show how many tables there are, and the first names."""
        names = ", ".join(map(repr, list(self.called)[:4]))
        more = ", ..." if len(self) > 4 else ""
        return f"{type(self).__name__}({len(self):,} tables: {names}{more})"

    def _settle(self, name: Any) -> Any:
        """Return the name by which a table is called."""
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
        """Return some names, as tuples."""
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
        """Return the keys of a table and its noisy numbers."""
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

    def make(self, name: Any) -> "pa.Table":
        """Return the keys of a table and its adjusted numbers."""
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
    """Tell whether something can be looked up: a tuple that holds a list cannot."""
    try:
        hash(name)
    except TypeError:
        return False
    return True
