"""Bounds to enforce on what one id contributes, and on what one row of a join meets.

A constraint says whose rows are counted (`marks`, beside the id), what is counted
(`values`: values of these columns, or rows if there are none) and how many are kept.

Kernel: sensitivity.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

from sordino.data.contribution import Contribution, Versions, limit
from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from sordino.numbers.canonical import Words, call
from sordino.numbers.frozen import fill, hides

Columns: TypeAlias = str | tuple[str, ...] | list[str]


@hides("marks", "promised_rows", "tighten", "values", "words")
class AbstractConstraint(ABC):
    """A bound on the rows of one id.

    Proof obligation: for any table, what is kept of an id depends on that id's rows
    alone and satisfies `tighten`, and so does every subset of it.
    """

    limit: int

    @property
    @abstractmethod
    def marks(self) -> tuple[str, ...]:
        """Return the columns that, with the id, mark the rows that are counted."""

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """Return the columns whose values are counted, none to count rows."""

    @property
    @abstractmethod
    def words(self) -> Words:
        """Return the bound, in a form that lasts."""

    @property
    def promised_rows(self) -> int | None:
        """Return how many rows nobody exceeds, as the curator promises, if so."""
        return None

    @abstractmethod
    def tighten(
        self, known: Contribution, versions: Callable[[tuple[str, ...]], Versions]
    ) -> Contribution:
        """Contribution of an id after the limit is enforced."""


@final
@dataclass(frozen=True)
class MaxRowsPerID(AbstractConstraint):
    """Keep at most `limit` rows of each id.

    `at_most` is a promise of the curator: nobody has more rows than that before any are
    left out. Intervals rest on it, with `coverage=True`; no noise ever does.

    >>> MaxRowsPerID(5), MaxRowsPerID(5, at_most=31)
    (MaxRowsPerID(limit=5), MaxRowsPerID(limit=5, at_most=31))
    """

    limit: int
    at_most: int | None = None
    marks: ClassVar[tuple[str, ...]] = ()
    values: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        most = self.at_most
        promised = None if most is None else limit(at_most=most)
        fill(self, limit=limit(limit=self.limit), at_most=promised)

    def __repr__(self) -> str:
        promise = "" if self.at_most is None else f", at_most={self.at_most}"
        return f"MaxRowsPerID(limit={self.limit}{promise})"

    @property
    def promised_rows(self) -> int | None:
        return self.at_most

    @property
    def words(self) -> Words:
        if self.at_most is None:  # words of paid answers stay as they were
            return call("MaxRowsPerID", limit=self.limit)
        return call("MaxRowsPerID", limit=self.limit, at_most=self.at_most)

    def tighten(
        self, known: Contribution, versions: Callable[[tuple[str, ...]], Versions]
    ) -> Contribution:
        del versions
        return known.with_rows(self.limit)


@final
@dataclass(frozen=True)
class MaxGroupsPerID(AbstractConstraint):
    """Keep the rows of each id in at most `limit` groups of one or more columns.

    >>> MaxGroupsPerID(("ward", "year"), 2)
    MaxGroupsPerID(columns=('ward', 'year'), limit=2)
    """

    columns: Columns
    limit: int
    marks: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        fill(self, columns=_columns(self.columns), limit=limit(limit=self.limit))

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def words(self) -> Words:
        return call("MaxGroupsPerID", columns=list(self.columns), limit=self.limit)

    def tighten(
        self, known: Contribution, versions: Callable[[tuple[str, ...]], Versions]
    ) -> Contribution:
        return known.with_groups(versions(self.values), self.limit)


@final
@dataclass(frozen=True)
class MaxRowsPerGroupPerID(AbstractConstraint):
    """Keep at most `limit` rows of each id in each group of one or more columns.

    >>> MaxRowsPerGroupPerID("ward", 3)
    MaxRowsPerGroupPerID(columns=('ward',), limit=3)
    """

    columns: Columns
    limit: int
    values: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        fill(self, columns=_columns(self.columns), limit=limit(limit=self.limit))

    @property
    def marks(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def words(self) -> Words:
        return call(
            "MaxRowsPerGroupPerID", columns=list(self.columns), limit=self.limit
        )

    def tighten(
        self, known: Contribution, versions: Callable[[tuple[str, ...]], Versions]
    ) -> Contribution:
        return known.with_group_rows(versions(self.marks), self.limit)


@hides("drops_all")
class AbstractTruncation(ABC):
    """What is done, on one side of a private join, to rows that share a key.

    Proof obligation: for any table and any row added to it, the rows kept change by at
    most `change`, and no key keeps more than `limit` (docs/proofs/queries.md, lemma 2).
    """

    limit: int

    @property
    @abstractmethod
    def change(self) -> int:
        """Return how many kept rows one row can change."""

    @property
    @abstractmethod
    def words(self) -> Words:
        """Return the truncation, in a form that lasts."""

    @property
    @abstractmethod
    def drops_all(self) -> bool:
        """Tell whether a key with too many rows keeps none of them."""


@final
@dataclass(frozen=True)
class DropExcess(AbstractTruncation):
    """Keep at most `limit` rows of each key; one row may push another out."""

    limit: int

    def __post_init__(self) -> None:
        fill(self, limit=limit(limit=self.limit))

    @property
    def change(self) -> int:
        return 2  # a new row enters, and pushes another out

    @property
    def words(self) -> Words:
        return call("DropExcess", limit=self.limit)

    @property
    def drops_all(self) -> bool:
        return False


@final
@dataclass(frozen=True)
class DropNonUnique(AbstractTruncation):
    """Keep the rows whose key no other row has; a second row removes the first."""

    @property
    def limit(self) -> int:  # type: ignore[override]
        return 1

    @property
    def change(self) -> int:
        return 1  # the first row of a key enters, or leaves when a second comes

    @property
    def words(self) -> Words:
        return call("DropNonUnique")

    @property
    def drops_all(self) -> bool:
        return True


def _columns(columns: object) -> tuple[str, ...]:
    listed = (columns,) if isinstance(columns, str) else columns
    if not isinstance(listed, (tuple, list)) or not listed:
        raise InvalidParameter(
            "columns",
            columns,
            "must be the name of a column, or a list of names",
            'Try columns="ward".',
        )
    names = tuple(arguments.text(columns=name) for name in listed)
    if len(set(names)) < len(names):
        raise InvalidParameter(
            "columns", columns, "must name each column once", "Drop the repeated name."
        )
    return names
