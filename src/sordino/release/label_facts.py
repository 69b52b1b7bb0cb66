"""The facts of a label: texts, whole numbers and doubles, of a form that has a number.

They are public: made of released numbers, of the request, of its price, and of what a
ledger shows. A fact that nobody knows is None, or empty, and a label says so.
"""

from dataclasses import asdict, dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from sordino.display.formatting import format_key
from sordino.losses.base import Loss
from sordino.numbers import down, up
from sordino.pages.odds import FALSE_ALARMS, Odds
from sordino.release.exactness import Exactness, Reach
from sordino.release.provenance import Provenance
from sordino.release.release_view import ReleaseView
from sordino.release.request_facts import Protected, RowLimit, words_facts

if TYPE_CHECKING:
    import pyarrow as pa

FORM: Final = 1
"""The number of the form: facts of a later one are refused by this version."""


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


class Labelled(Protocol):
    """A release that knows where it comes from, and how exact it is."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the key columns."""

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
    def coverage(self) -> "pa.Table | None":
        """Return the noisy counts of what was left out, if asked for."""

    @property
    def exactness(self) -> Exactness:
        """Return how far intervals reach, and how many numbers are rough."""

    @property
    def provenance(self) -> Provenance:
        """Return what was asked, and which record of a ledger paid for it."""


class LabelledRelease(Labelled, ReleaseView, Protocol):
    """A release with all its numbers."""


def label_facts(release: Labelled) -> LabelFacts:
    """Return the facts of a release."""
    provenance = release.provenance
    record, level = provenance.record, provenance.least_shown
    request = words_facts(provenance.words, provenance.name)
    exactness = release.exactness
    return LabelFacts(
        units=request.units,
        found=Odds(release.loss).finds(FALSE_ALARMS),
        found_by_all=None
        if record is None or record.promise is None
        else Odds(record.promise).finds(FALSE_ALARMS),
        is_divided=record is not None and record.promise is None,
        price=release.price,
        confidence=str(release.confidence),
        reaches=exactness.reaches,
        numbers=exactness.numbers,
        rough=exactness.rough,
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


def _groups(release: Labelled, groups: str) -> str:
    """Return which groups have a row; a list that was filtered is no public one."""
    if not release.keys:
        return "none"
    return "" if release.provenance.is_processed and groups == "public" else groups


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
