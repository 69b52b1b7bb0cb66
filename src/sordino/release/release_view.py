"""What every way to show a release needs of it."""

from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from sordino.losses.base import Loss

if TYPE_CHECKING:
    import pyarrow as pa


class ReleaseView(Protocol):
    """A release, as texts, pages, pictures and files read it."""

    @property
    def table(self) -> "pa.Table":
        """Return the keys and the answers."""

    @property
    def errors(self) -> "pa.Table":
        """Return the keys and the error columns of each answer."""

    @property
    def coverage(self) -> "pa.Table | None":
        """Return the noisy counts of what was left out, if asked for."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the key columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the answers."""

    @property
    def confidence(self) -> Fraction:
        """Return the least chance that an interval holds."""

    @property
    def loss(self) -> Loss:
        """Return what it cost."""

    @property
    def price(self) -> str:
        """Return what it cost, in the terms of its budget."""

    @property
    def plan(self) -> str:
        """Return how it was made."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what else a reader must know."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, name: str) -> "pa.Array":
        """Return a column as an Arrow array."""
