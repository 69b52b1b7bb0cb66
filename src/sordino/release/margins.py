"""Releases of all margins of some columns, and what else can be made of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino import _validate
from sordino.display.formatting import format_key
from sordino.planning.margins_purchase import MarginsPurchase
from sordino.query.marginals import COUNT
from sordino.release.answer import Answer
from sordino.release.column_names import error_names
from sordino.release.margins_answer import known_contrasts, split_tables
from sordino.release.notes import note_protection
from sordino.release.provenance import UNKNOWN, Provenance
from sordino.release.release import Release
from sordino.sampling.bits import Bits
from sordino.tables.joint_fit import JointFit
from sordino.tables.measuring import contrasts_of
from sordino.tables.named_tables import AdjustedTables, NoisyTables, draw_people

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_PEOPLE: Final = 10**8
_DIGITS: Final = np.uint64(11)
_UNIT: Final = 2.0**-53


@final
@dataclass(frozen=True, eq=False, repr=False)
class Margins:
    """The tables of a release of margins, and what is fitted to them."""

    purchase: MarginsPurchase
    answer: Answer

    @cached_property
    def tables(self) -> NoisyTables:
        """Return the unbiased tables by their columns; they add up."""
        request = self.purchase.request
        names = (COUNT, *error_names(COUNT))
        numbers = self.answer.errors.append_column(COUNT, self.answer.table[COUNT])
        columns = {
            name: split_tables(request, numbers[name].to_numpy()) for name in names
        }
        bars = {name: columns[name] for name in names[1:]}
        called = request.crossing.names
        return NoisyTables(request.crossing, called, {COUNT: columns[COUNT]}, bars)

    @cached_property
    def adjusted(self) -> AdjustedTables:
        """Return tables that agree and are not negative."""
        called = self.purchase.request.crossing.names
        return AdjustedTables(called, COUNT, self.fit, self.fit.cells)

    @cached_property
    def fit(self) -> JointFit:
        """Return what all tables say of the cells of the finest one."""
        request = self.purchase.request
        noisy = self.tables.columns[COUNT]
        contrasts = {
            part: contrasts_of(request.crossing, part, noisy[part])
            for part in request.crossing.tables
        }
        precisions = {
            part: float(precision)
            for part, precision in self.purchase.precisions.parts.items()
        }
        known = known_contrasts(request)
        return JointFit(request.crossing, contrasts | known, precisions, request.totals)

    def synthetic(self, rows: Any) -> "pa.Table":
        """Return invented rows of the law that is fitted to all tables."""
        many = _validate.integer(rows=rows, least=0, most=_MOST_PEOPLE)
        words = Bits().words(many) >> _DIGITS
        return draw_people(self.fit, words.astype(np.float64) * _UNIT)


def margins_release(
    purchase: MarginsPurchase, answer: Answer, provenance: Provenance = UNKNOWN
) -> Release:
    """Return an answer with what it cost and how it was made."""
    first, *names = answer.table.column_names
    keys = purchase.request.keyset.columns
    # another key set of the same tables may have its columns in another order
    rest = [name for name in names if name not in keys]
    errors = [name for name in answer.errors.column_names if name not in {first, *keys}]
    return Release(
        answer.table.select([first, *keys, *rest]),
        answer.errors.select([first, *keys, *errors]),
        (first, *keys),
        purchase.request.confidence,
        purchase.loss,
        purchase.plan,
        _notes(purchase),
        purchase.budget,
        related=Margins(purchase, answer),
        provenance=provenance,
    )


def _notes(purchase: MarginsPurchase) -> tuple[str, ...]:
    """Return what the tables do not say."""
    known = ", ".join(
        " and ".join(map(format_key, purchase.request.crossing.name(table))) or "all"
        for table in purchase.request.totals
    )
    return (
        note_protection(purchase.relation),
        "All tables add up; rows with other values than the public keys are in none.",
        "Intervals belong to these unbiased numbers, not to adjusted ones.",
        *([f"Known beforehand, and exact: {known}."] if known else []),
    )
