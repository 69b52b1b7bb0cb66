"""The answers of requests that were planned together, and tables of them that agree."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.count import Count
from sordino.errors import InvalidQuery
from sordino.query.request import Request
from sordino.release.column_names import error_names
from sordino.release.release import Release
from sordino.tables.coarser import add_up
from sordino.tables.crossing import Levels
from sordino.tables.halving import Integers, Numbers
from sordino.tables.joint_fit import JointFit
from sordino.tables.key_crossing import KeyCrossing
from sordino.tables.named_tables import AbstractTables

if TYPE_CHECKING:
    import pyarrow as pa

_LEAST: Final = 1e-12
"""A variance that doubles have lost; what is measured so well is weighed no better."""


@final
class Releases(dict[str, Release]):  # noqa: FURB189 it was a dict, and is one
    """Releases by name, as `session.release_all` returns them."""

    def __init__(
        self, releases: Mapping[str, Release], requests: Mapping[str, Request]
    ) -> None:
        """Hold the releases, and what was asked."""
        super().__init__(releases)
        self._requests = requests

    @cached_property
    def adjusted(self) -> "AdjustedReleases":
        """Return the counts of all tables made to agree and not negative.

        They are sums of the same cells, none below zero; `adjusted.integers` has whole
        numbers. They are made of noisy numbers, so they cost nothing; they are
        not unbiased, and intervals do not belong to them.
        """
        number = _common_count(self._requests)
        keysets = [
            request.keyset for request in self._requests.values() if request.keyset
        ]
        if not keysets:
            raise InvalidQuery(
                "there are no groups whose sums could agree",
                "Group by a sd.KeySet: query.group_by_sets(wards, ()).",
            )
        spanned = KeyCrossing.of(keysets)
        homes: dict[str, Home] = {}
        tables: dict[Levels, Numbers] = {}
        variances: dict[Levels, float] = {}
        for name, release in self.items():
            home = Home.of(spanned, release)
            homes[name] = home
            sd = release.errors[error_names(number)[0]].to_numpy()
            measured = (
                home.spread(release[number].to_numpy()),
                max(float(np.mean(sd**2)), _LEAST),
            )
            tables[home.table], variances[home.table] = _merge_measurements(
                measured, (tables.get(home.table), variances.get(home.table))
            )
        together = JointFit.of_tables(spanned.crossing, tables, variances)
        return AdjustedReleases(homes, number, together, together.cells)


def _merge_measurements(
    measurement: tuple[Numbers, float], other: tuple[Any, Any]
) -> tuple[Numbers, float]:
    """Return two measurements of one table as one: the mean, by their precisions."""
    if other[0] is None:
        return measurement
    weights = np.array([1 / measurement[1], 1 / other[1]])
    mean = (measurement[0] * weights[0] + other[0] * weights[1]) / weights.sum()
    return mean, float(1 / weights.sum())


def _common_count(requests: Mapping[str, Request]) -> str:
    """Return the count that all requests have, refusing any that cannot agree."""
    first, *others = requests.values()
    for name, request in requests.items():
        chosen = request.minimum is not None or request.few is not None
        if request.selects_keys or chosen or request.processing:
            raise InvalidQuery(
                f"{name!r} does not show each of its groups as it was measured",
                "Only tables of public keys can be adjusted: group by a sd.KeySet.",
            )
        if request.rows != first.rows:
            raise InvalidQuery(
                f"{name!r} counts other rows than the first request",
                "Ask groupings of one query: query.group_by_sets(...).agg(n=...).",
            )
    for column, aggregation in first.columns:
        if isinstance(aggregation, Count) and all(
            (column, aggregation) in other.columns for other in others
        ):
            return column
    raise InvalidQuery(
        "there is no count that all requests have by one name",
        "Only numbers of rows are adjusted: agg(n=sd.count()) in each of them.",
    )


@final
@dataclass(frozen=True, eq=False)
class Home:
    """Where the rows of a release lie among the cells of a table of a crossing."""

    table: Levels
    shape: tuple[int, ...]
    places: Integers
    keys: "pa.Table"

    @classmethod
    def of(cls, spanned: KeyCrossing, release: Release) -> "Home":
        """Return the home of a release."""
        keys = release.table.select(list(release.keys))
        table = spanned.table(release.keys)
        return cls(table, spanned.crossing.shape(table), spanned.places(keys), keys)

    def spread(self, values: Numbers) -> Numbers:
        """Return values of the rows where their cells are."""
        cells = np.zeros(int(np.prod(self.shape)))
        cells[self.places] = values
        return cells.reshape(self.shape)

    def attach(self, number: str, cells: Numbers) -> "pa.Table":
        """Return the keys of the rows beside what their cells have."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        values = pa.array(cells.ravel()[self.places])
        if not self.keys.num_columns:
            return pa.table({number: values})
        return self.keys.append_column(number, values)


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdjustedReleases(AbstractTables):
    """Tables of releases that are sums of the same cells, none of which is negative."""

    called: Mapping[str, Home]
    number: str
    together: JointFit
    cells: Numbers | Integers

    def make(self, name: Any) -> "pa.Table":
        """Return the keys of a release beside its adjusted numbers."""
        home, crossing = self.called[name], self.together.crossing
        sums = add_up(crossing, crossing.finest, self.cells, home.table)
        return home.attach(self.number, sums)

    @property
    def integers(self) -> "AdjustedReleases":
        """Return tables of whole numbers, which agree as well."""
        return replace(self, cells=self.together.whole_cells)
