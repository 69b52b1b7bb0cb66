"""The facts of a report, all of them public, and its numbers as bands.

Whatever is in here was published, is public, or stands in a ledger. No bar is filled
from zero: readers take what lies in a bar for likelier than what lies beyond it. The
number and both ends stand beside the band in digits.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Final, final

from sordino.ledger.policy_file import Rules
from sordino.losses.loss import Loss
from sordino.numbers import Extended
from sordino.numbers.formatting import ENDLESS
from sordino.office.html.elements import Html, fill_template, join
from sordino.office.html.page import Language
from sordino.office.html.small_pictures import scale_around

_SHORT: Final = 9
"""Letters of a number that needs no wider column."""
_ROUGH: Final = 5
"""A band is rough that reaches further than this part of its number."""


@final
@dataclass(frozen=True)
class Banded:
    """A number as texts in English, and as numbers where there are any."""

    group: tuple[object, ...]
    """The values of its keys."""
    number: str
    interval: tuple[str, ...]
    """Both ends as texts, none where one is not known."""
    value: float | None
    low: float | None
    high: float | None

    @property
    def has_band(self) -> bool:
        """Say whether the number has an interval with two ends."""
        return bool(self.interval) and _finite(self.low) and _finite(self.high)

    @property
    def is_drawn(self) -> bool:
        """Whether it has a place on a scale."""
        return _finite(self.value)

    @property
    def is_rough(self) -> bool:
        """Say whether the interval reaches further than a fifth of the number."""
        if self.value is None or self.low is None or self.high is None:
            return False
        # an interval without an end reaches as far as any
        is_told = self.has_band or self.interval == ENDLESS
        return is_told and (self.high - self.low) / 2 > abs(self.value) / _ROUGH


def band_table(
    language: Language, title: Html, group: Html, rows: Sequence[Banded]
) -> Html:
    """Return numbers with bands on one scale, in the order given."""
    longest = max((len(row.number) for row in rows), default=0)
    return fill_template(
        "report/bands.html",
        language=language,
        title=title,
        group=group,
        rows=rows,
        scale=scale_around(
            end for row in rows for end in (row.value, row.low, row.high)
        ),
        is_long=longest > _SHORT,
        group_name=group_name,
        figure_text=figure_text,
        ends_text=ends_text,
    )


def group_name(language: Language, group: tuple[object, ...]) -> Html:
    """Return the values of keys, side by side."""
    parts = [part for key in group for part in (" · ", language.name(key))]
    return join(*parts[1:]) if group else language.html("bands.all")


def figure_text(language: Language, row: Banded) -> str:
    """Return a number as the language writes it; what is no number is a name."""
    if row.value is None:
        return language.bare_name(row.number or None)
    return language.number(row.number)


def ends_text(language: Language, row: Banded) -> str:
    """Both ends of an interval in words; empty without one."""
    if not row.interval:
        return ""
    if row.interval == ENDLESS:
        return language.plain("bands.endless")
    low, high = map(language.number, row.interval)
    return language.plain("bands.interval", low=low, high=high)


def _finite(end: float | None) -> bool:
    return end is not None and math.isfinite(end)


Amounts = Mapping[str, Extended]
"""What adds up, by its name: epsilon, delta, rho, the square of mu."""


@final
@dataclass(frozen=True)
class NumberColumn:
    """The numbers of an aggregate, in the order of the groups."""

    name: str
    rows: tuple[Banded, ...]


@final
@dataclass(frozen=True)
class ShownTable:
    """The first numbers of a published table."""

    name: str
    """Of one of several that were asked together, else empty."""
    keys: tuple[str, ...]
    groups: tuple[tuple[object, ...], ...]
    """The values of the keys, row by row."""
    columns: tuple[NumberColumn, ...]
    rows: int
    """How many groups were published, of which these are the first."""
    banded: int
    """How many of all its numbers have a band."""
    confidence: Fraction
    unshown: int = 0
    """How many more aggregates it has."""
    left_out: tuple[Mapping[str, object], ...] = ()
    """What was measured of what limits cut off."""
    whole: tuple[str, ...] = ()
    """Answers whose bands hold the figures of the whole table."""


@final
@dataclass(frozen=True)
class ShownFiles:
    """An answer whose numbers lie in files, not in a ledger."""

    groups: int | None
    """How many showed; None where that is not recorded."""
    count: int
    """How many files there are, 0 where that is not recorded."""
    size: int
    published: tuple[tuple[str, str], ...]
    """Name and SHA-256 of what a ledger knows: a label, which names all files."""


@final
@dataclass(frozen=True)
class ShownRelease:
    """A release, as a reader is told of it."""

    bound: Loss
    """What it lets anybody learn by itself."""
    plan: str
    words: str
    """What was asked, as a ledger records it; empty if that is not known."""
    answers: tuple[ShownTable, ...]
    number: int = 0
    key: str = ""
    when: datetime | None = None
    who: str = ""
    why: str = ""
    budget: str = ""
    """The name that was charged beside the dataset."""
    taken: Amounts = field(default_factory=dict)
    """Of the limit, or of that of each of its blocks."""
    blocks: tuple[str, ...] = ()
    files: ShownFiles | None = None
    """Where its numbers are, if not in the ledger."""
    proof: str = ""
    """The certificate of its charge; none of charges of earlier versions."""


@final
@dataclass(frozen=True)
class Purse:
    """A budget: its limit, and what is spent and left of it."""

    name: str
    whole: Amounts
    spent: Amounts
    left: Amounts
    aside: Amounts = field(default_factory=dict)
    is_closed: bool = False
    is_lowered: bool = False


@final
@dataclass(frozen=True)
class Trail:
    """By what a ledger can be checked."""

    head: str
    records: int
    releases: int
    answers: int
    has_witness: bool
    signed_by: str
    library: str
    rule: str
    """The name of the filter that keeps the limit."""
    policy: str = ""
    """The SHA-256 of the officer's policy that every charge obeys, if there is one."""
    officer: str = ""
    """The public key of whoever signed it."""


@final
@dataclass(frozen=True)
class ShownPolicy:
    """The rules in force, and how many releases were held against them."""

    rules: Rules
    kept: int
    """Releases since it was adopted: each was held against every rule."""
    before: int
    """Releases that were charged earlier, under other rules or none."""


@final
@dataclass(frozen=True)
class Division:
    """The blocks of a ledger, each of which has the limit for itself."""

    purses: tuple[Purse, ...]
    """In the order of opening."""
    bounds: tuple[tuple[int, Loss], ...]
    """What holds of people who are in so many blocks."""


@final
@dataclass(frozen=True)
class Accounts:
    """Facts of a ledger other than its releases."""

    purses: tuple[Purse, ...]
    """The dataset's first."""
    shares: tuple[tuple[int, Fraction], ...]
    """Which part of the limit each release took, by its number."""
    trail: Trail
    division: Division | None = None
    policy: ShownPolicy | None = None


@final
@dataclass(frozen=True)
class Story:
    """All that a report is made of."""

    title: str
    bound: Loss
    """What holds of everything together."""
    questions: tuple[str, ...]
    """The words of all releases, each once; an empty one is not known."""
    shown: tuple[ShownRelease, ...]
    """The newest releases, the newest first."""
    earlier: int
    """How many releases are not among them."""
    plans: Mapping[str, tuple[int, ...]]
    """Every plan, and the numbers of the releases that were made by it."""
    accounts: Accounts | None = None
    """Nothing, where a release tells of itself alone."""
    registry: str = ""
