"""How wide texts are, and which labels have room beside each other."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, final

from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from sordino.display import formatting

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SMALL: Final = 8.5
TITLE: Final = 10.0
_DOTS: Final = (72, 100, 200)
"""In an inch: letters are moved to whole dots, so widths depend on their number."""
_SLACK: Final = 1.02
_GAP: Final = 0.08
"""Inches between two labels."""
_BEYOND: Final = 0.12
"""Inches that a label may go beyond its scale."""


@cache
def _renderer(dots: int) -> Any:
    """Return what measures texts; it draws nothing."""
    return RendererAgg(1, 1, dots)  # type: ignore[no-untyped-call]


def text_inches(
    texts: Iterable[str], size: float = SMALL, weight: str = "normal"
) -> float:
    """Return the width of the widest text, in inches."""
    font = FontProperties(size=size, weight=weight)
    return max(
        (
            _renderer(dots).get_text_width_height_descent(text, font, ismath=False)[0]
            / dots
            * _SLACK
            for text in texts
            if text
            for dots in _DOTS
        ),
        default=0.0,
    )


def cut_to(text: str, width: float, size: float = SMALL, weight: str = "normal") -> str:
    """Return a text cut to a width in inches."""
    most = formatting.text_width(text)
    while most > 1 and text_inches([text], size, weight) > width:
        most -= 1
        text = formatting.cut_text(text, most)
    return text


def wrap(
    text: str, width: float, size: float = SMALL, weight: str = "normal"
) -> list[str]:
    """Return a text as lines that are at most so wide, in inches."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_inches([longer], size, weight) <= width:
            lines[-1] = longer
        else:
            lines.append(cut_to(word, width, size, weight))
    return lines


@final
class TickLabel(NamedTuple):
    """A text below a scale: where it is centred, or begins, or ends."""

    place: float
    text: str
    side: Literal["left", "center", "right"]
    left: float
    right: float


def choose_labels(
    places: Sequence[float], texts: Sequence[str], width: float
) -> list[tuple[int, TickLabel]]:
    """Return which labels stand beside each other below a scale so many inches wide.

    Every label, or every second, or third, and so on; none goes far beyond the ends.
    """
    labels = [
        _label(place, text, width) for place, text in zip(places, texts, strict=True)
    ]
    for step in range(1, len(labels) + 1):
        chosen = list(enumerate(labels))[::step]
        if all(
            after.left - before.right > _GAP
            for (_, before), (_, after) in pairwise(chosen)
        ):
            return chosen
    return []


def set_labels(
    axis: "Axis", ticks: Sequence[float], labels: list[tuple[int, TickLabel]]
) -> None:
    """Write labels at the ticks that they belong to."""
    axis.set_ticks(
        [ticks[tick] for tick, _ in labels],
        [label.text for _, label in labels],
        parse_math=False,
    )
    for text, (_, label) in zip(axis.get_ticklabels(), labels, strict=True):
        text.set_horizontalalignment(label.side)


def _label(place: float, text: str, width: float) -> TickLabel:
    """Return a label, shifted inwards at the ends of its scale."""
    half = text_inches([text]) / 2
    if place - half < -_BEYOND:
        return TickLabel(place, text, "left", place, place + 2 * half)
    if place + half > width + _BEYOND:
        return TickLabel(place, text, "right", place - 2 * half, place)
    return TickLabel(place, text, "center", place - half, place + half)
