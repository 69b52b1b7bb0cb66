"""Noise for a part of the groups, which a task can draw again, bit for bit.

exact totals of a part ── bits of (secret, these keys, these totals) ── noisy rows

For any two parts of one release the keys differ, so their noise is independent; for
any two attempts at one part all is equal, so their rows are
(docs/proofs/noise-in-tasks.md).
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

import numpy as np

from sordino.errors import InvalidQuery
from sordino.keysets.canonical import canonical_order, fingerprint
from sordino.planning.purchase import Purchase
from sordino.release.answer import noisy_tables
from sordino.release.column_names import side_by_side
from sordino.release.rehearsal import no_totals
from sordino.sampling.keyed_bits import KeyedBits

if TYPE_CHECKING:
    import pyarrow as pa

_TRIED: Final = 4096
"""Rows that a machine draws noise for, to see whether it draws what others do."""
_STEP: Final = 2**20 + 7


@final
@dataclass(frozen=True)
class PartNoise:
    """Adds the noise of a purchase to the exact totals of a part of the groups."""

    purchase: Purchase

    def __call__(self, exact: "pa.Table", secret: bytes) -> "pa.Table":
        """Return noisy numbers beside their keys and error bars, sorted by key."""
        by = len(self.purchase.plan.request.by)
        exact = exact.take(canonical_order(exact.select(range(by)))).combine_chunks()
        totals = [column.to_numpy() for column in exact.columns[by:]]
        content = [fingerprint(exact.select(range(by))).encode()]
        content += [column.astype("<i8").tobytes() for column in totals]
        return self._noisy(exact, KeyedBits(secret, b"".join(content)))

    @cached_property
    def schema(self) -> "pa.Schema":
        """Return the columns of what it returns."""
        empty = no_totals(self.purchase, self.purchase.plan.width)
        return self._noisy(empty, KeyedBits(b"", b"")).schema

    @property
    def names(self) -> tuple[str, ...]:
        """Return the columns among them that hold noisy numbers."""
        return tuple(
            column
            for name, aggregation in self.purchase.plan.request.columns
            for column in aggregation.columns(name)
        )

    def trial(self) -> str:
        """Return a digest of what this machine draws for invented totals.

        Machines of other doubles, or with another version of a package, might read
        other bits for the same noise: its law is the same, but not its digits.
        """
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        empty = no_totals(self.purchase, self.purchase.plan.width)
        numbers = np.arange(_TRIED, dtype=np.int64) * _STEP
        by = len(self.purchase.plan.request.by)
        keys = [pa.nulls(_TRIED, field.type) for field in list(empty.schema)[:by]]
        totals = [pa.array(numbers)] * self.purchase.plan.width
        invented = pa.Table.from_arrays([*keys, *totals], names=empty.column_names)
        drawn = self._noisy(invented, KeyedBits(b"", b"trial"))
        return hashlib.sha256(repr(drawn.to_pydict()).encode()).hexdigest()

    def _noisy(self, exact: "pa.Table", bits: KeyedBits) -> "pa.Table":
        """Return a table of noisy numbers and their errors."""
        table, errors = noisy_tables(self.purchase, exact, {}, bits)
        return side_by_side(table, errors, len(self.purchase.plan.request.by))


def refuse_whole(purchase: Purchase) -> None:
    """Refuse what needs all groups at once, or has none: the driver answers that."""
    for problem in _problems(purchase):
        raise InvalidQuery(
            f"{problem}, and groups are given their noise apart from each other here",
            "Ask session.release(...).",
        )


def _problems(purchase: Purchase) -> Iterator[str]:
    """Yield why a request cannot be answered in parts."""
    plan = purchase.plan
    if not plan.request.by:
        yield "the request has no groups"
    if plan.stage is not None or plan.request.few is not None:
        yield "the groups that show are chosen before anything is told of them"
    if plan.choices:
        yield "quantiles and other choices are drawn for all groups together"
    if plan.of_everything:
        yield "counts of groups share a noisy number of all ids"
    if plan.request.coverage is not None:
        yield "coverage counts rows of all groups together"
    if plan.request.processing:
        yield "what is done to noisy answers is done to all groups together"
