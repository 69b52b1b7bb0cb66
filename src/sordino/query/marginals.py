"""All margins of some columns: every table of up to so many of them, measured once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from sordino import _validate
from sordino._completion import hides
from sordino.aggregations.intervals import error_names
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.keysets import KeySet
from sordino.query.listed_names import listed_names
from sordino.query.relation import AbstractCatalog
from sordino.query.request import CONFIDENCE, Rows
from sordino.schema import unknown
from sordino.tables.crossing import Crossing, Levels
from sordino.tables.halving import Numbers
from sordino.tables.public_totals import read_totals
from sordino.tables.trees import Tree
from sordino.words import Words, call

COUNT = "count"
"""The name of the number of every table."""


@hides("keyset", "crossing", "rows", "totals", "words")
@final
@dataclass(frozen=True, eq=False, repr=False)
class Marginals:
    """The numbers of rows by up to so many columns of public keys, in all tables."""

    rows: Rows
    keyset: KeySet
    crossing: Crossing
    totals: Mapping[Levels, Numbers]
    """Tables that everybody knows."""
    confidence: Fraction = CONFIDENCE

    def __repr__(self) -> str:
        """Show the question as it was written."""
        levels = [tree.columns for tree in self.crossing.trees if tree.depth > 1]
        more = f", hierarchies={levels!r}" if levels else ""
        more += ", totals=..." if self.totals else ""
        return f"{self.rows!r}.marginals(keys, order={self.crossing.order}{more})"

    def words(self, catalog: AbstractCatalog) -> Words:
        """Return all that is asked of which rows, in a form that lasts."""
        beside: dict[str, Words] = {}
        if self.totals:
            beside["totals"] = [
                [list(self.crossing.name(table)), counts.ravel().tolist()]
                for table, counts in sorted(self.totals.items())
            ]
        return call(
            "marginals",
            **beside,
            rows=self.rows.words(catalog),
            trees=[self.keyset[tree.columns].words for tree in self.crossing.trees],
            order=self.crossing.order,
        )


def make_marginals(
    rows: Rows, keyset: Any, order: Any, totals: Any, hierarchies: Any
) -> Marginals:
    """Return a checked request for margins, from public facts alone."""
    if not isinstance(keyset, KeySet):
        raise InvalidParameter(
            "keyset",
            keyset,
            "must be a KeySet: the values of each column are public",
            'Try sd.KeySet.from_dict({"ward": ["A", "B"], "year": [2025, 2026]}).',
        )
    for name in (COUNT, *error_names(COUNT)):
        if name in keyset.columns:
            raise InvalidParameter(
                "keyset",
                name,
                "is the name of a number in every table",
                f'Rename the column: query.rename({{"{name}": "rows"}}).',
            )
    trees = tuple(Tree.of(keyset, columns) for columns in _groups(keyset, hierarchies))
    most = _validate.integer(order=order, least=1, most=len(trees))
    crossing = Crossing(trees, most)
    crossing.refuse_large()
    _refuse_gaps(keyset, crossing)
    known = {} if totals is None else read_totals(crossing, totals)
    return Marginals(rows, keyset, crossing, known)


def _groups(keyset: KeySet, hierarchies: Any) -> list[tuple[str, ...]]:
    """Return the columns of each tree, in the order of the keys."""
    if not isinstance(hierarchies, Sequence) or isinstance(hierarchies, str):
        raise InvalidParameter(
            "hierarchies",
            hierarchies,
            "must be a list of columns from the top down",
            'Try hierarchies=[("region", "city", "ward")].',
        )
    trees: dict[str, tuple[str, ...]] = {name: (name,) for name in keyset.columns}
    taken: set[str] = set()
    for hierarchy in hierarchies:
        columns = listed_names(hierarchies=hierarchy, some=True)
        for name in columns:
            if name not in keyset.columns:
                raise unknown("column of the keys", name, keyset.columns)
            if name in taken:
                raise InvalidParameter(
                    "hierarchies", name, "stands in two of them", "Name it once."
                )
            trees[name] = columns
            taken.add(name)
    return list(dict.fromkeys(trees.values()))


def _refuse_gaps(keyset: KeySet, crossing: Crossing) -> None:
    """Refuse keys that are none, or not every combination of their columns."""
    if not crossing.joint_cells:
        raise InvalidParameter(
            "keyset", keyset, "must have keys", "Name the values of each column."
        )
    if math.prod(int(tree.sizes[-1]) for tree in crossing.trees) != keyset.size:
        raise InvalidQuery(
            "margins need every combination of the values of all columns, and the keys "
            "leave some out",
            "Give the values of each column, KeySet.from_dict({...}), or say which "
            'columns nest: hierarchies=[("region", "city")].',
        )
