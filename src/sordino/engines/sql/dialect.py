"""The forms that decide about privacy, which every SQL engine fixes for itself.

Nothing here is left to a generic translation: the digest by which rows are kept, exact
wide sums, the rules for values that have no place in our types.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp


class AbstractForms(ABC):
    """How one database says what must be said exactly.

    Proof obligation: each form has the meaning that its docstring gives, on this
    database, for any values; none of them raises.
    """

    name: str
    """What sqlglot calls the dialect."""

    @abstractmethod
    def opaque(self, column: exp.Expression, arrow: pa.DataType) -> exp.Expression:
        """Return a stored column as values of which only their type is known.

        Whatever a file states of its columns, no plan may follow from it.
        """

    @abstractmethod
    def normalised(self, value: exp.Expression, arrow: pa.DataType) -> exp.Expression:
        """Return a value of an Arrow type as a value of our type, or null.

        Integers out of range, dates outside of years 1 to 9999 and texts longer than
        1 MiB are null; a zero has no sign; timestamps are in UTC.
        """

    @abstractmethod
    def digest(self, values: Sequence[exp.Expression]) -> exp.Expression:
        """Return a keyed hash of values, equally likely in any order for other keys."""

    @abstractmethod
    def unnested(self, entries: exp.Expression, limit: int | None) -> exp.Expression:
        """Return the first entries of a list, one a row; none for a missing list."""

    @abstractmethod
    def in_part(
        self, values: Sequence[exp.Expression], number: int, count: int
    ) -> exp.Expression:
        """Return whether a digest of values belongs to one of so many parts."""

    @abstractmethod
    def summed(
        self, value: exp.Expression, factor: int, shift: int, *, complete: bool = False
    ) -> exp.Expression:
        """Return the exact sum of factor * value + shift, in a type that holds it.

        Of i64 values; null adds nothing. Complete values are not null in any row.
        """

    @abstractmethod
    def added(self, total: exp.Expression) -> exp.Expression:
        """Return the exact sum of wide totals, in a type that holds it."""

    @abstractmethod
    def counted(self, times: int) -> exp.Expression:
        """Return the number of rows, so many times, in a type that holds it."""

    @abstractmethod
    def held(self, total: exp.Expression) -> exp.Expression:
        """Return a wide total held within +-MOST, as an i64."""

    @abstractmethod
    def distinct(self, values: Sequence[exp.Expression]) -> exp.Expression:
        """Return how many different tuples there are, none of whose values is null."""
