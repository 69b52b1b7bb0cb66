"""The facts of a label: made of a release, or stated by somebody and checked.

They are public: made of released numbers, of the request, of its price, and of what a
ledger shows. A fact that nobody knows is None, or empty, and a label says so. A reader
returns what a value of JSON stands for, or raises `ValueError`.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from fractions import Fraction
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, final

from sordino import kernel
from sordino.errors import InvalidLabel
from sordino.losses.loss import Loss
from sordino.numbers import down, probability, up
from sordino.numbers.formatting import cut_text, format_key
from sordino.office.html.odds import FALSE_ALARMS, Odds
from sordino.release.explanation import (
    Exactness,
    Protected,
    Provenance,
    Reach,
    RowLimit,
    told_loss,
    words_facts,
)
from sordino.release.text import ReleaseView, whole_names

if TYPE_CHECKING:
    import pyarrow as pa


_FIRST: Final = 1
FORM: Final = 3
_WHOLE: Final = 2
"""The form that has figures of the whole table, and no secret samples yet."""
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
    form: int = _FIRST
    whole: tuple[str, ...] = ()
    """Answers whose intervals hold the figures of the whole table."""

    @property
    def fields(self) -> dict[str, Any]:
        """Return the facts as JSON has them, in the first form where it says all."""
        fields = asdict(self)
        if not self.whole:
            del fields["whole"]
        for unit in fields["units"]:
            if not unit["sampled"]:
                del unit["sampled"]
        return fields


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
        """Privacy loss of the release."""

    @property
    def price(self) -> str:
        """Price in the terms of its budget."""

    @property
    def coverage(self) -> "pa.Table | None":
        """Return the noisy counts of what was left out, if asked for."""

    @property
    def figures(self) -> Mapping[str, str]:
        """What the interval of each answer holds."""

    @property
    def exactness(self) -> Exactness:
        """Return how far intervals reach, and how many numbers are rough."""

    @property
    def provenance(self) -> Provenance:
        """Request of a release, and the ledger record that paid for it."""


class LabelledRelease(Labelled, ReleaseView, Protocol):
    """A release with all its numbers."""


def label_facts(release: Labelled) -> LabelFacts:
    """Return the facts of a release."""
    provenance = release.provenance
    record, level = provenance.record, provenance.least_shown
    request = words_facts(provenance.words, provenance.name)
    exactness, whole = release.exactness, whole_names(release.figures)
    form = _WHOLE if whole else _FIRST
    if any(unit.sampled for unit in request.units):
        form = FORM
    return LabelFacts(
        units=request.units,
        found=Odds(told_loss(release.loss, [provenance.words])).finds(FALSE_ALARMS),
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
        made_by=_maker(provenance),
        form=form,
        whole=whole,
    )


def _maker(provenance: Provenance) -> str:
    """Name the version, and that of the kernel where it derived the price anew."""
    maker = f"Sordino {version('sordino')}"
    return f"{maker}, kernel {kernel.VERSION}" if provenance.proof else maker


def _groups(release: Labelled, groups: str) -> str:
    """Return which groups have a row; a list that was filtered is no public one."""
    if not release.keys:
        return "none"
    return "" if release.provenance.is_processed and groups == "public" else groups


def _left_out(coverage: "pa.Table | None") -> tuple[LeftOut, ...] | None:
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


T = TypeVar("T")
Reader = Callable[[Any], T]

_LONGEST: Final = 240
"""Letters of a text that are kept."""
_LONGEST_SHARE: Final = 40
_MOST: Final = 10_000
"""Entries of a list: a release may have as many answers."""
_LARGEST: Final = 2**63
_GROUPS: Final = {"none", "public", "hidden", "mixed", "first", ""}


def read_facts(name: str, text: str) -> LabelFacts:
    """Return the facts that a text of JSON states, or refuse it."""
    try:
        stated = json.loads(text)
        is_later = _whole(stated["form"]) > FORM
        facts = None if is_later else _FACTS(_fill(stated))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
        raise InvalidLabel(name, "has a label that is not one of Sordino's") from None
    if facts is None:
        raise InvalidLabel(
            name,
            "has a label of a later version than this one",
            "Read it with the version that wrote it, or a later one.",
        )
    return facts


def _fill(stated: dict[str, Any]) -> dict[str, Any]:
    """What a label of an earlier form does not say, said."""
    units = [{"sampled": "", **unit} for unit in stated["units"]]
    beside: dict[str, Any] = {} if stated["form"] == _WHOLE else {"whole": []}
    return {**beside, **stated, "units": units}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return cut_text(format_key(value[:_LONGEST]), _LONGEST)


def _whole(value: Any) -> int:
    if type(value) is not int or not -_LARGEST <= value < _LARGEST:
        raise TypeError
    return value


def _natural(value: Any) -> int:
    if _whole(value) < 0:
        raise ValueError
    return _whole(value)


def _truth(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError
    return value


def _double(value: Any) -> float:
    if type(value) not in {int, float} or not math.isfinite(value):
        raise TypeError
    return float(value)


def _hundredth(value: Any) -> int:
    if not 0 <= _whole(value) <= 100:
        raise ValueError
    return _whole(value)


def _share(value: Any) -> str:
    text = _text(value)
    if len(text) > _LONGEST_SHARE or not 0 < probability(share=text) < 1:
        raise ValueError
    return text


def _moment(value: Any) -> str:
    return datetime.fromisoformat(_text(value)).isoformat()


def _kind_of_groups(value: Any) -> str:
    if value not in _GROUPS:
        raise ValueError
    return _text(value)


def _optional(read: Reader[T]) -> Reader[T | None]:
    return lambda value: None if value is None else read(value)


def _several(read: Reader[T]) -> Reader[tuple[T, ...]]:
    def read_list(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > _MOST:
            raise TypeError
        return tuple(map(read, value))

    return read_list


def _object(make: Callable[..., T], **fields: Reader[Any]) -> Reader[T]:
    def read_object(value: Any) -> T:
        if not isinstance(value, dict) or set(value) != set(fields):
            raise TypeError
        return make(**{name: read(value[name]) for name, read in fields.items()})

    return read_object


_NAMES: Final = _several(_text)
_FACTS: Final = _object(
    LabelFacts,
    units=_several(
        _object(
            Protected,
            table=_text,
            verb=_text,
            column=_text,
            most=_several(_natural),
            sampled=_text,
        )
    ),
    found=_optional(_hundredth),
    found_by_all=_optional(_hundredth),
    is_divided=_truth,
    price=_text,
    confidence=_share,
    reaches=_several(
        _object(Reach, name=_text, least=_optional(_double), most=_optional(_double))
    ),
    numbers=_natural,
    rough=_natural,
    limits=_several(_object(RowLimit, verb=_text, most=_natural, columns=_NAMES)),
    bounds=_several(_object(CountedRange, name=_text, low=_double, high=_double)),
    groups=_kind_of_groups,
    is_processed=_truth,
    shown_from=_optional(_double),
    minimum=_optional(_natural),
    left_out=_optional(
        _several(
            _object(
                LeftOut,
                kind=_text,
                what=_text,
                counted=_text,
                count=_whole,
                low=_double,
                high=_double,
            )
        )
    ),
    noise=_NAMES,
    paid_by=_optional(
        _object(PaidBy, ledger=_text, number=_natural, hash=_text, when=_moment)
    ),
    made_by=_text,
    form=_natural,
    whole=_NAMES,
)
