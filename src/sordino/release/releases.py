"""Several releases, stacked ones, and those that a ledger kept.

The latter are made of the numbers, errors and price in the ledger alone: nothing of the
request is needed, in whatever version it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.count import Count
from sordino.aggregations.intervals import error_names
from sordino.aggregations.margins.crossing import Integers, Levels, Numbers, add_up
from sordino.aggregations.margins.fitting import JointFit
from sordino.aggregations.margins.tables import AbstractTables, KeyCrossing
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.loss import Budget, Loss, compose
from sordino.numbers import arguments
from sordino.query.request import Request
from sordino.release.explanation import UNKNOWN, Provenance
from sordino.release.release import Release
from sordino.release.released_files import FilesAnswer, holds_files
from sordino.release.storage import read_table, split_answers
from sordino.release.table_figures import without_facts
from sordino.release.text import grouping_name

if TYPE_CHECKING:
    import pyarrow as pa


_STREAM: Final = b"\xff\xff\xff\xff"
"""How every Arrow stream begins; a length of eight bytes never does."""
_NOTES: Final = (
    "Read from a ledger: the price is a bound on what this cost, without its curve.",
)


@final
@dataclass(frozen=True)
class LedgerFacts:
    """Facts of a stored answer that its bytes lack."""

    loss: Loss
    plan: str
    confidence: Fraction
    plans: Mapping[str, str]
    """Of several requests that were answered together: their names in order."""
    provenance: Provenance = UNKNOWN


def recall_files(stored: bytes) -> FilesAnswer | None:
    """Return the files that an answer lies in; None of one that a ledger keeps."""
    return FilesAnswer.read(stored) if holds_files(stored) else None


def recall_releases(stored: bytes, facts: LedgerFacts) -> dict[str, Release]:
    """Return the releases of stored bytes by name, as they were given.

    One that was asked for alone has the empty name. Bytes that are none raise a
    `ValueError`.
    """
    pieces = split_answers(stored)
    if pieces and bytes(pieces[0][: len(_STREAM)]) == _STREAM:
        return {"": _release(pieces, facts, ("", facts.plan))}
    named = zip(facts.plans.items(), pieces, strict=True)
    return {
        named_plan[0]: _release(split_answers(piece), facts, named_plan)
        for named_plan, piece in named
    }


def _release(
    pieces: list[memoryview], facts: LedgerFacts, named_plan: tuple[str, str]
) -> Release:
    name, plan = named_plan
    table, errors, *coverage = map(read_table, pieces)
    return Release(
        table,
        errors,
        _keys(table, errors),
        facts.confidence,
        facts.loss,
        plan,
        _NOTES,
        coverage=coverage[0] if coverage else None,
        provenance=replace(facts.provenance, name=name),
    )


def _keys(table: "pa.Table", errors: "pa.Table") -> tuple[str, ...]:
    return tuple(name for name in table.column_names if name in errors.column_names)


def stack(releases: Mapping[str, Release], budget: Budget | None = None) -> Release:
    """Return releases as one: a first column names the set of columns of each row.

    Keys that a set does not have are missing in its rows. It is made of noisy numbers
    alone, so it costs nothing more; `budget` is what was asked for all of them, in
    whose terms the price is shown.

    >>> import sordino as sd
    >>> visits = {"ward": ["A", "A", "B"], "days": [2, 5, 1]}
    >>> session = sd.Session(
    ...     tables={"visits": sd.PrivateTable(visits, protects=sd.AddOneRow())},
    ...     budget=sd.PureDP(2),
    ... )
    >>> wards = sd.KeySet.from_dict({"ward": ["A", "B"]})
    >>> sets = sd.table("visits").group_by_sets(wards, ()).agg(n=sd.count())
    >>> sd.stack(session.release_all(sets, sd.PureDP(1))).table.select(
    ...     ["grouping", "ward"]
    ... ).to_pylist()[1:]
    [{'grouping': 'ward', 'ward': 'B'}, {'grouping': 'all', 'ward': None}]
    """
    listed = _check(releases)
    if budget is not None and not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    first = listed[0]
    keys = tuple(dict.fromkeys(name for release in listed for name in release.keys))
    mark = grouping_name({*keys, *first.names})
    return Release(
        _join(releases, mark, keys, "table"),
        _join(releases, mark, keys, "errors"),
        (mark, *keys),
        first.confidence,
        compose([release.loss for release in listed]),
        "\n\n".join(f"{name}:\n{release.plan}" for name, release in releases.items()),
        tuple(dict.fromkeys(note for release in listed for note in release.notes)),
        budget,
        next((each.coverage for each in listed if each.coverage is not None), None),
        ranks=_same_ranks(listed),
    )


def _same_ranks(listed: list[Release]) -> dict[str, str]:
    return {
        name: text
        for name, text in listed[0].ranks.items()
        if all(each.ranks.get(name) == text for each in listed)
    }


def _check(releases: Mapping[str, Release]) -> list[Release]:
    sets: Any = releases
    kinds = isinstance(sets, Mapping) and all(
        isinstance(release, Release) for release in sets.values()
    )
    if not kinds or not sets:
        raise InvalidParameter(
            "releases",
            sets,
            "must be a dict from names to releases",
            "Give what session.release_all returned.",
        )
    first, *others = sets.values()
    for release in others:
        if (release.names, release.confidence) != (first.names, first.confidence):
            raise InvalidParameter(
                "releases",
                list(release.names),
                f"must all have the answers {list(first.names)}, and one confidence",
                "Ask the same of each set: group_by_sets(...).agg(...).",
            )
    for name in sets:
        arguments.unicode_text(releases=name)
    _refuse_other_types([first, *others])
    return [first, *others]


def _refuse_other_types(listed: list[Release]) -> None:
    known: dict[str, pa.DataType] = {}
    for field in (column for release in listed for column in release.table.schema):
        if known.setdefault(field.name, field.type) != field.type:
            raise InvalidParameter(
                "releases",
                [str(known[field.name]), str(field.type)],
                f"must all have columns {field.name!r} of one type",
                "Rename the column of one.",
            )


def _join(
    releases: Mapping[str, Release], mark: str, keys: tuple[str, ...], part: str
) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    tables = []
    for name, release in releases.items():
        table: pa.Table = release.table
        if part == "errors":  # one word would be told of the rows of all
            table = without_facts(release.errors)
        names = pa.array([name] * table.num_rows, pa.string())
        tables.append(table.add_column(0, mark, names))
    # keys that a set lacks are missing
    whole = pa.concat_tables(tables, promote_options="permissive")
    rest = [name for name in whole.column_names if name not in {mark, *keys}]
    return whole.select([mark, *keys, *rest]).combine_chunks()


_LEAST: Final = 1e-12
"""A variance that doubles have lost; what is measured so well is weighed no better."""


@final
class Releases(dict[str, Release]):  # noqa: FURB189 it was a dict, and is one
    """Releases by name, as `session.release_all` returns them."""

    def __init__(
        self, releases: Mapping[str, Release], requests: Mapping[str, Request]
    ) -> None:
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
    if other[0] is None:
        return measurement
    # by precision: no other mean errs less
    weights = np.array([1 / measurement[1], 1 / other[1]])
    mean = (measurement[0] * weights[0] + other[0] * weights[1]) / weights.sum()
    return mean, float(1 / weights.sum())


def _common_count(requests: Mapping[str, Request]) -> str:
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
        """Keys of the rows, with the numbers of their cells."""
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

    @property
    def note(self) -> str:
        """Say which tables the fit has not reached."""
        return self.together.note

    def make(self, name: Any) -> "pa.Table":
        home, crossing = self.called[name], self.together.crossing
        sums = add_up(crossing, crossing.finest, self.cells, home.table)
        return home.attach(self.number, sums)

    @property
    def integers(self) -> "AdjustedReleases":
        """Return tables of whole numbers, which agree as well."""
        return replace(self, cells=self.together.whole_cells)
