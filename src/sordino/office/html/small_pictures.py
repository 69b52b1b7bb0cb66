"""Small pictures as SVG in the colour of the text.

Small pictures as SVG that take the colour of the text around them.

Each says in words what it shows, for those who do not see it.

Steps as a small diagram: rows at the top, the results of each step below.

visits      wards
└──┬───────┘
join
│
count

Places on a picture in percent of its width, so that letters never shrink.

>>> scale = scale_around([-25.0, 0.0, 65.0])
>>> scale.least, scale.most, scale.ticks
(-25.0, 65.0, (-25.0, 0.0, 25.0, 50.0))
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

from sordino.office.html.elements import safe_text

_WIDTH: Final = 120
_HEIGHT: Final = 14
_MARGIN: Final = 4
_OPEN: Final = 7
"""How far the end of a line that goes on for ever fades."""


def share_bar(share: float, label: str) -> str:
    """Return a bar that is filled up to a share of it.

    >>> 'width="60.0"' in share_bar(0.5, "half is spent")
    True
    """
    filled = _WIDTH * min(max(share, 0.0), 1.0)
    frame = (
        f'<rect x="0.5" y="2.5" width="{_WIDTH - 1}" height="9" rx="2" fill="none" '
        'stroke="currentColor" stroke-opacity="0.5"/>'
    )
    full = (
        f'<rect x="0" y="2" width="{filled:.1f}" height="10" rx="2" '
        'fill="currentColor" fill-opacity="0.55"/>'
    )
    return _svg(frame + full, label)


def interval_bar(
    value: float | None,
    interval: tuple[float | None, float | None],
    scale: tuple[float, float],
    label: str,
) -> str:
    """Return a number as a disc on the line of its interval, on a common scale.

    A faint line stands at zero; the end of an interval without one is dotted.
    """
    least, most = scale
    low, high = (None if end is None or math.isnan(end) else end for end in interval)
    shapes = []
    if least < 0 < most:
        zero = _place(0.0, scale)
        shapes.append(_line(zero, zero, 'stroke-opacity="0.35"', (1, _HEIGHT - 1)))
    if low is not None and high is not None:
        begin, end = _place(max(low, least), scale), _place(min(high, most), scale)
        middle = _HEIGHT / 2
        level = (middle, middle)
        inner = 'stroke-width="2" stroke-opacity="0.6"'
        shapes.append(_line(begin, end, inner, level))
        dotted = 'stroke-dasharray="1 2" stroke-opacity="0.6"'
        if low < least:
            shapes.append(_line(begin - _OPEN, begin, dotted, level))
        if high > most:
            shapes.append(_line(end, end + _OPEN, dotted, level))
    if value is not None and math.isfinite(value):
        centre = _place(min(max(value, least), most), scale)
        shapes.append(
            f'<circle cx="{centre:.1f}" cy="{_HEIGHT / 2}" r="2.8" '
            'fill="currentColor"/>'
        )
    return _svg("".join(shapes), label)


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


def _line(begin: float, end: float, look: str, heights: tuple[float, float]) -> str:
    return (
        f'<line x1="{begin:.1f}" x2="{end:.1f}" y1="{heights[0]}" y2="{heights[1]}" '
        f'stroke="currentColor" {look}/>'
    )


def _svg(shapes: str, label: str) -> str:
    words = safe_text(label, 120)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{shapes}</svg>"
    )


_LONGEST: Final = 110
_COLUMN = "display:flex;flex-direction:column;align-items:center"
_ROW = "display:flex;gap:1.2em;align-items:flex-end;justify-content:center"
_BOX = (
    "border:1px solid;border-radius:4px;padding:0.1em 0.6em;max-width:46em;"
    "white-space:normal;text-align:center"
)


@final
@dataclass(frozen=True)
class Step:
    """What is done, and the steps whose rows it takes."""

    text: str
    inputs: "tuple[Step, ...]" = ()


def diagram(step: Step) -> str:
    """Return the steps as boxes, each below those it takes its rows from.

    >>> diagram(Step("count", (Step("visits"),))).count("border:1px")
    2
    """
    above = [diagram(source) for source in step.inputs]
    parts = _first_steps(above) if above else ""
    box = f'<div style="{_BOX}">{safe_text(step.text, _LONGEST)}</div>'
    return f'<div style="{_COLUMN}">{parts}{box}</div>'


def _first_steps(diagrams: Iterable[str]) -> str:
    arrow = '<div class="aside" aria-hidden="true">↓</div>'
    return f'<div style="{_ROW}">{"".join(diagrams)}</div>{arrow}'


_SIDE: Final = 150
_LEFT: Final = 22
_TEXT: Final = 'font-size="10" fill="currentColor" fill-opacity="0.8"'


def unit_curve(
    points: Iterable[tuple[float, float]], axes: tuple[str, str], label: str
) -> str:
    """Return a curve of chances against chances; the diagonal is a coin.

    >>> unit_curve([(0, 0), (1, 1)], ("x", "y"), "a coin").count("<line")
    1
    """
    across, upward = map(safe_text, axes)
    words = safe_text(label, 160)
    along = " ".join(
        f"{_LEFT + _SIDE * x:.1f},{4 + _SIDE * (1 - y):.1f}" for x, y in points
    )
    bottom, right = 4 + _SIDE, _LEFT + _SIDE
    return (
        f'<svg width="{right + 6}" height="{bottom + 20}" role="img" '
        f'aria-label="{words}"><title>{words}</title>'
        f'<rect x="{_LEFT}" y="4" width="{_SIDE}" height="{_SIDE}" fill="none" '
        'stroke="currentColor" stroke-opacity="0.35"/>'
        f'<line x1="{_LEFT}" y1="{bottom}" x2="{right}" y2="4" stroke="currentColor" '
        'stroke-opacity="0.45" stroke-dasharray="3 3"/>'
        f'<polyline points="{along}" fill="none" stroke="currentColor" '
        'stroke-width="1.8"/>'
        f'<text x="{_LEFT + _SIDE / 2}" y="{bottom + 14}" text-anchor="middle" '
        f"{_TEXT}>{across}</text>"
        f'<text x="12" y="{4 + _SIDE / 2}" text-anchor="middle" {_TEXT} '
        f'transform="rotate(-90 12 {4 + _SIDE / 2})">{upward}</text></svg>'
    )


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
        return 100 * ((number - self.least) / (self.most - self.least))

    @cached_property
    def ticks(self) -> tuple[float, ...]:
        """Return round numbers to stand on the scale: two to four, if it is finite.

        Their distance is the largest of 1, 2, 2.5, 5 times a power of ten that is at
        most half of the scale.
        """
        half = (self.most - self.least) / 2
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
    usable = _FINEST < most - least < math.inf
    return Scale(least, most) if usable else Scale(least, least + 1)
