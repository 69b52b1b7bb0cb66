"""Where things lie on the pictures of pages; `svg.html` draws them.

Each small picture says in words what it shows, for those who do not see it. Places on
a scale are in percent of its width, so that letters never shrink.

>>> scale = scale_around([-25.0, 0.0, 65.0])
>>> scale.least, scale.most, scale.ticks
(-25.0, 65.0, (-25.0, 0.0, 25.0, 50.0))
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, final

from sordino.office.html.elements import Html, draw_svg, fill_template, short_text

_WIDTH: Final = 120
_HEIGHT: Final = 14
_MARGIN: Final = 4
_OPEN: Final = 7
"""How far the end of a line that goes on for ever fades."""


def share_bar(share: float, label: str) -> Html:
    """Bar that is filled up to a share of it.

    >>> 'width="60.0"' in share_bar(0.5, "half is spent")
    True
    """
    filled = _WIDTH * min(max(share, 0.0), 1.0)
    return draw_svg("share_bar", filled, short_text(label, 120))


@final
class Stroke(NamedTuple):
    """A line of a small picture: at zero, of an interval, or on beyond the scale."""

    kind: str
    begin: float
    end: float
    top: float = _HEIGHT / 2
    bottom: float = _HEIGHT / 2


@final
class IntervalBar(NamedTuple):
    """A number on the line of its interval: what is drawn of it."""

    lines: tuple[Stroke, ...]
    centre: float | None
    label: str


def interval_bar(
    value: float | None,
    interval: tuple[float | None, float | None],
    scale: tuple[float, float],
    label: str,
) -> IntervalBar:
    """Place a number and its interval on a common scale, with a line at zero."""
    least, most = scale
    low, high = (None if end is None or math.isnan(end) else end for end in interval)
    lines = []
    if least < 0 < most:
        zero = _place(0.0, scale)
        lines.append(Stroke("zero", zero, zero, 1, _HEIGHT - 1))
    if low is not None and high is not None:
        begin, end = _place(max(low, least), scale), _place(min(high, most), scale)
        lines.append(Stroke("band", begin, end))
        # an end that is not known must not look like one that was reached
        if low < least:
            lines.append(Stroke("dotted", begin - _OPEN, begin))
        if high > most:
            lines.append(Stroke("dotted", end, end + _OPEN))
    centre = None
    if value is not None and math.isfinite(value):
        centre = _place(min(max(value, least), most), scale)
    return IntervalBar(tuple(lines), centre, short_text(label, 120))


def scale_of(numbers: "list[float | None]") -> tuple[float, float] | None:
    """Return the least and the greatest of the finite numbers and zero.

    >>> scale_of([3.0, None, float("inf"), -1.0]), scale_of([None]), scale_of([0.0])
    ((-1.0, 3.0), None, None)
    """
    finite = [
        number for number in numbers if number is not None and math.isfinite(number)
    ]
    if not any(finite):
        return None
    least, most = min(0.0, *finite), max(0.0, *finite)
    return (least, most) if math.isfinite(most - least) else None


def _place(number: float, scale: tuple[float, float]) -> float:
    least, most = scale
    inner = _WIDTH - 2 * (_MARGIN + _OPEN)
    return _MARGIN + _OPEN + inner * ((number - least) / (most - least))


_SIDE: Final = 150
_LEFT: Final = 22


@final
@dataclass(frozen=True)
class Step:
    """What is done, and the steps whose rows it takes."""

    text: str
    inputs: "tuple[Step, ...]" = ()


def diagram(step: Step) -> Html:
    """Steps as boxes, each below those it takes its rows from.

    >>> diagram(Step("count", (Step("visits"),))).count("border:1px")
    2
    """
    return fill_template("notebook/diagram.html", step=step, short_text=short_text)


def unit_curve(
    points: Iterable[tuple[float, float]], axes: tuple[str, str], label: str
) -> Html:
    """Curve of chances against chances; the diagonal is a coin.

    >>> unit_curve([(0, 0), (1, 1)], ("x", "y"), "a coin").count("<line")
    1
    """
    along = " ".join(
        f"{_LEFT + _SIDE * x:.1f},{4 + _SIDE * (1 - y):.1f}" for x, y in points
    )
    return draw_svg("unit_curve", along, *map(short_text, axes), short_text(label, 160))


_STEPS: Final = (1.0, 2.0, 2.5, 5.0)
_FINEST: Final = 1e-290
"""A scale that is narrower has no round numbers of its own."""


@final
@dataclass(frozen=True)
class Scale:
    """Where numbers lie between the least and the most of a picture."""

    least: float
    most: float

    def place(self, number: float) -> float:
        """Return where a number lies, in percent."""
        # halves, since the distance of two doubles may be beyond all doubles
        return 100 * ((number / 2 - self.least / 2) / (self.most / 2 - self.least / 2))

    @cached_property
    def ticks(self) -> tuple[float, ...]:
        """Return round numbers to stand on the scale: two to four, if it is finite.

        Their distance is the largest of 1, 2, 2.5, 5 times a power of ten that is at
        most half of the scale.
        """
        half = self.most / 2 - self.least / 2
        power = 10.0 ** math.floor(math.log10(half))
        step = max(
            (size * power for size in _STEPS if size * power <= half), default=power
        )
        first = math.ceil(self.least / step)
        last = math.floor(self.most / step)
        return tuple(step * place for place in range(first, last + 1))


def scale_around(numbers: Iterable[float | None]) -> Scale:
    """Return a scale with zero that holds all finite numbers."""
    finite = [0.0, *(n for n in numbers if n is not None and math.isfinite(n))]
    least, most = min(finite), max(finite)
    return Scale(least, most if most - least > _FINEST else least + 1)
