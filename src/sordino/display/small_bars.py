"""Small pictures as SVG that take the colour of the text around them.

Each says in words what it shows, for those who do not see it.
"""

import math
from typing import Final

from sordino.display.elements import safe_text

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
    """Return where a number stands."""
    least, most = scale
    inner = _WIDTH - 2 * (_MARGIN + _OPEN)
    return _MARGIN + _OPEN + inner * ((number - least) / (most - least))


def _line(begin: float, end: float, look: str, heights: tuple[float, float]) -> str:
    """Return a line."""
    return (
        f'<line x1="{begin:.1f}" x2="{end:.1f}" y1="{heights[0]}" y2="{heights[1]}" '
        f'stroke="currentColor" {look}/>'
    )


def _svg(shapes: str, label: str) -> str:
    """Return a picture of its own size that says what it shows."""
    words = safe_text(label, 120)
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{shapes}</svg>"
    )
