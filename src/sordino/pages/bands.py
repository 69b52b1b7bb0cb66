"""Numbers with their intervals: a band with a tick, from a quiet line at zero.

No bar is filled from zero: readers take what lies in a bar for likelier than what lies
beyond it. The number and both ends stand beside the band in digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

from sordino.pages.languages import Language
from sordino.pages.markup import NOTHING, Html, join, tag
from sordino.pages.scales import Scale, scale_around

_HEIGHT: Final = 18
_MIDDLE: Final = 9
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
    def is_rough(self) -> bool:
        """Say whether the interval reaches further than a fifth of the number."""
        if self.value is None or self.low is None or self.high is None:
            return False
        return self.has_band and (self.high - self.low) / 2 > abs(self.value) / _ROUGH


def band_table(
    language: Language, title: Html, group: Html, rows: Sequence[Banded]
) -> Html:
    """Return numbers with bands on one scale, in the order given."""
    scale = scale_around(end for row in rows for end in (row.value, row.low, row.high))
    longest = max((len(row.number) for row in rows), default=0)
    columns = (
        tag("col", class_="k"),
        tag("col", class_="v"), tag("col"),
        tag("col", class_="range"),
    )  # fmt: skip
    head = tag(
        "tr",
        tag("th", group, scope="col"),
        tag("th", language.html("bands.number"), scope="col", class_="n"),
        tag(
            "th",
            tag("span", language.html("bands.band"), class_="vh"),
            axis(language, scale) if any(map(_is_drawn, rows)) else NOTHING,
            scope="col",
        ),
        tag("th", language.html("bands.ends"), scope="col", class_="range"),
    )
    body = (_row(language, scale, row) for row in rows)
    table = tag(
        "table",
        tag("caption", tag("b", title)),
        tag("colgroup", *columns),
        tag("thead", head),
        tag("tbody", *body),
        class_="iv" if longest <= _SHORT else "iv long",
    )
    return tag("div", table, class_="panel")


def axis(language: Language, scale: Scale) -> Html:
    """Return the round numbers of a scale, each above its place."""
    texts = []
    for place, tick in enumerate(scale.ticks):
        percent = scale.place(tick)
        side = "start" if percent < 1 else "end" if percent > 95 else "middle"
        look = "odd" if len(scale.ticks) > 3 and place % 2 else "even"
        figure = language.number(f"{tick:,.10g}")
        texts.append(
            tag("text", figure, class_=look, x=f"{percent:.2f}%", y=14,
                text_anchor=side)
        )  # fmt: skip
    return tag("svg", *texts, aria_hidden="true", width="100%", height=_HEIGHT)


def band(scale: Scale, row: Banded) -> Html:
    """Return a band and its tick; a ring where there is no band."""
    if row.value is None or not _is_drawn(row):
        return NOTHING
    middle, zero = scale.place(row.value), scale.place(0)
    parts = [_line("guide", zero, middle)]
    if row.low is not None and row.high is not None and row.has_band:
        left, right = scale.place(row.low), scale.place(row.high)
        parts.append(
            tag("rect", class_="band", x=f"{left:.2f}%", y=4,
                width=f"{right - left:.2f}%", height=10, rx=1.5)
        )  # fmt: skip
        tick = tag("rect", class_="tick", x=-1, width=2, height=14)
        parts.append(tag("svg", tick, x=f"{middle:.2f}%", y=2, width=1, height=14))
    else:
        parts.append(tag("circle", class_="ring", cx=f"{middle:.2f}%", cy=_MIDDLE, r=4))
    return tag("svg", join(*parts), aria_hidden="true", width="100%", height=_HEIGHT)


def _is_drawn(row: Banded) -> bool:
    """Tell whether a row has a number that has a place."""
    return row.value is not None and math.isfinite(row.value)


def _row(language: Language, scale: Scale, row: Banded) -> Html:
    """Return a group."""
    ends = ends_text(language, row)
    cells = (
        tag("th", group_name(language, row.group), scope="row"),
        tag("td", figure_text(language, row), class_="n"),
        tag("td", band(scale, row), tag("span", ends, class_="under num")),
        tag("td", ends, class_="range num"),
    )
    return tag("tr", *cells, **({"class_": "rough"} if row.is_rough else {}))


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
    """Return both ends of an interval in words, nothing where there is none."""
    if not row.interval:
        return ""
    low, high = map(language.number, row.interval)
    return language.plain("bands.interval", low=low, high=high)


def _line(look: str, begin: float, end: float) -> Html:
    """Return a level line."""
    return tag("line", class_=look, x1=f"{begin:.2f}%", x2=f"{end:.2f}%",
               y1=_MIDDLE, y2=_MIDDLE)  # fmt: skip


def _finite(end: float | None) -> bool:
    """Tell whether an end is a number."""
    return end is not None and math.isfinite(end)
