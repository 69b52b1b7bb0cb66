"""The crossing that sets of keys of several tables span, found from the keys alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from sordino.errors import InvalidQuery, show
from sordino.keysets import KeySet
from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Integers
from sordino.tables.trees import Tree

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
    """Tell whether each value of a column lies in one value of another."""
    return keys[above, name].size == keys[name].size


def _list_keys(columns: Sequence[str]) -> str:
    """Return names of columns in a sentence."""
    return ", ".join(map(show, columns))
