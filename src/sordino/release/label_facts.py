"""The facts of a label: texts, whole numbers and doubles, of a form that has a number.

They are public: made of released numbers, of the request, of its price, and of what a
ledger shows. A fact that nobody knows is None, or empty, and a label says so.
"""

from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

import numpy as np

from sordino.display.formatting import format_key
from sordino.numbers import down, up
from sordino.pages.odds import FALSE_ALARMS, Odds
from sordino.release.column_names import error_names
from sordino.release.provenance import Provenance
from sordino.release.release_view import ReleaseView
from sordino.release.request_facts import Protected, RowLimit, words_facts

if TYPE_CHECKING:
    import pyarrow as pa

FORM: Final = 1
"""The number of the form: facts of a later one are refused by this version."""
_ROUGH: Final = 5
"""A number is rough whose interval reaches further than this part of it."""


@final
@dataclass(frozen=True)
class Reach:
    """How far the intervals of an answer reach, from the number to the farther end."""

    name: str
    least: float | None
    """None where no number of it has an interval with two ends."""
    most: float | None


@final
@dataclass(frozen=True)
class CountedRange:
    """Between which bounds values count; as decimals, rounded outward."""

    name: str
    low: float
    high: float


@final
@dataclass(frozen=True)
class LeftOut:
    """A noisy count of what was left out, which was paid for."""

    kind: str
    what: str
    counted: str
    count: int
    low: float
    high: float


@final
@dataclass(frozen=True)
class PaidBy:
    """The record of a ledger that paid."""

    ledger: str
    number: int
    hash: str
    when: str


@final
@dataclass(frozen=True)
class LabelFacts:
    """All that a label says."""

    units: tuple[Protected, ...]
    found: int | None
    """Named rightly at 5 false alarms of 100, by this release; 100 is "over 99"."""
    found_by_all: int | None
    """The same, by everything that the ledger ever pays for."""
    is_divided: bool
    """Whether its ledger has blocks, each of which brings new budget."""
    price: str
    confidence: str
    """Of each interval, as an exact share."""
    reaches: tuple[Reach, ...]
    numbers: int
    """How many there are, missing ones aside."""
    rough: int
    limits: tuple[RowLimit, ...]
    bounds: tuple[CountedRange, ...]
    groups: str
    is_processed: bool
    """Whether something was done to noisy answers afterwards."""
    shown_from: float | None
    """About how many must be in a group that shows."""
    minimum: int | None
    left_out: tuple[LeftOut, ...] | None
    """None where nobody paid to count it."""
    noise: tuple[str, ...]
    paid_by: PaidBy | None
    made_by: str
    form: int = FORM

    @property
    def fields(self) -> dict[str, Any]:
        """Return the facts as JSON has them."""
        return asdict(self)


class LabelledRelease(ReleaseView, Protocol):
    """A release that knows where it comes from."""

    @property
    def provenance(self) -> Provenance:
        """Return what was asked, and which record of a ledger paid for it."""


def label_facts(release: LabelledRelease) -> LabelFacts:
    """Return the facts of a release."""
    provenance = release.provenance
    record, level = provenance.record, provenance.least_shown
    request = words_facts(provenance.words, provenance.name)
    columns = [_exactness(release, name) for name in release.names]
    return LabelFacts(
        units=request.units,
        found=Odds(release.loss).finds(FALSE_ALARMS),
        found_by_all=None
        if record is None or record.promise is None
        else Odds(record.promise).finds(FALSE_ALARMS),
        is_divided=record is not None and record.promise is None,
        price=release.price,
        confidence=str(release.confidence),
        reaches=tuple(column.reach for column in columns),
        numbers=sum(column.numbers for column in columns),
        rough=sum(column.rough for column in columns),
        limits=request.limits,
        bounds=tuple(
            CountedRange(each.name, down(each.low), up(each.high))
            for each in request.bounds
        ),
        groups=_groups(release, request.groups),
        is_processed=provenance.is_processed,
        shown_from=None if level is None else up(level),
        minimum=request.minimum,
        left_out=_left_out(release.coverage),
        noise=provenance.noise,
        paid_by=record
        and PaidBy(record.ledger, record.number, record.hash, record.when),
        made_by=f"Sordino {version('sordino')}",
    )


def _groups(release: LabelledRelease, groups: str) -> str:
    """Return which groups have a row; a list that was filtered is no public one."""
    if not release.keys:
        return "none"
    return "" if release.provenance.is_processed and groups == "public" else groups


@final
class _Exactness(NamedTuple):
    """How exact an answer is, over all groups."""

    reach: Reach
    numbers: int
    rough: int


def _exactness(release: ReleaseView, name: str) -> _Exactness:
    """Return how exact an answer is, of all numbers that have an interval."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    column = release.table[name]
    present = len(column) - column.null_count
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return _Exactness(Reach(name, None, None), present, 0)
    _, low, high = (
        release.errors[part].to_numpy(zero_copy_only=False).astype(np.float64)
        for part in error_names(name)
    )
    value = column.to_numpy(zero_copy_only=False).astype(np.float64)
    known = np.isfinite(value) & np.isfinite(low) & np.isfinite(high)
    value, low, high = value[known], low[known], high[known]
    reach = np.maximum(high - value, value - low)
    rough = int(np.count_nonzero(reach > np.abs(value) / _ROUGH))
    ends = (float(reach.min()), float(reach.max())) if len(reach) else (None, None)
    return _Exactness(Reach(name, *ends), present, rough)


def _left_out(coverage: "pa.Table | None") -> tuple[LeftOut, ...] | None:
    """Return the counts of what was left out, if they were asked for."""
    if coverage is None:
        return None
    return tuple(
        LeftOut(
            row["kind"],
            format_key(row["what"]),
            row["counted"],
            row["count"],
            row["low"],
            row["high"],
        )
        for row in coverage.to_pylist()
    )
