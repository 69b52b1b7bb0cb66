"""A curve in the unit square as SVG, beside the diagonal, in the colour of the text."""

from collections.abc import Iterable
from typing import Final

from sordino.display.elements import safe_text

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
