"""A sheet of pictures, one below another: places in inches, so that nothing meets."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino.display import formatting
from sordino.display.inks import Inks
from sordino.losses.pictures import Picture
from sordino.release.drawing.lettering import SMALL, TITLE, text_inches, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN: Final = 0.15
_LINE: Final = 0.17
_NARROWEST: Final = 4.6
_HEAD: Final = 11.0
_LONGEST: Final = 60
_HEAD_LINE: Final = 0.22
_BETWEEN: Final = 0.18


@final
class Place(NamedTuple):
    """A figure, and the upper left corner of a block on it, in inches."""

    figure: "Figure"
    left: float
    top: float
    inks: Inks

    def axes(self, left: float, top: float, width: float, height: float) -> "Axes":
        """Return axes at a place within the block; its frame is left to the caller."""
        whole, high = self.figure.get_size_inches()
        bottom = high - self.top - top - height
        box = (
            (self.left + left) / whole,
            bottom / high,
            width / whole,
            height / high,
        )
        axes = self.figure.add_axes(box)
        axes.set_facecolor("none")
        axes.tick_params(colors=self.inks.soft, labelsize=SMALL, length=0)
        axes.spines[:].set_visible(False)
        return axes

    def write(self, left: float, top: float, text: str, **look: Any) -> None:
        """Write a line of text, its middle at a height within the block."""
        whole, high = self.figure.get_size_inches()
        style: dict[str, Any] = {
            "fontsize": SMALL,
            "color": self.inks.ink,
            "va": "center",
        } | look
        self.figure.text(
            (self.left + left) / whole,
            (high - self.top - top) / high,
            text,
            parse_math=False,
            **style,
        )


@final
class Drawing(NamedTuple):
    """A picture of known size, in inches."""

    width: float
    height: float
    draw: Callable[[Place], None]


def heading_block(name: str) -> Drawing:
    """Return a line above the pictures of a table."""
    text = formatting.cut_text(name, _LONGEST)
    return Drawing(
        text_inches([text], TITLE, "bold"),
        0.3,
        lambda place: place.write(0, 0.15, text, fontsize=TITLE, weight="bold"),
    )


def sheet(blocks: Sequence[Drawing], inks: Inks, head: str, caption: str) -> Picture:
    """Return a figure of blocks between a head and a caption."""
    inner = max(_NARROWEST, *(block.width for block in blocks))
    above = wrap(head, inner, _HEAD, "bold")
    below = wrap(caption, inner)
    middle = sum(block.height + _BETWEEN for block in blocks)
    top = MARGIN + _HEAD_LINE * len(above) + _BETWEEN / 2
    height = top + middle + _LINE * len(below) + MARGIN
    size = (inner + 2 * MARGIN, height)
    figure = Picture(figsize=size, facecolor=inks.paper)
    figure.set_layout_engine("none")
    place = Place(figure, MARGIN, MARGIN, inks)
    for number, line in enumerate(above):
        down = _HEAD_LINE * (number + 0.5)
        place.write(0, down, line, fontsize=_HEAD, weight="bold")
    for block in blocks:
        block.draw(place._replace(top=top))
        top += block.height + _BETWEEN
    for number, line in enumerate(below):
        place.write(0, top - MARGIN + _LINE * (number + 0.5), line, color=inks.soft)
    return figure
