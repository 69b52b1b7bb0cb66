"""A label as a picture, by Matplotlib: the same rows, so that no browser is needed."""

import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino.errors import MissingDependency
from sordino.office.label.label import LabelRow, LabelTexts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WIDTH: Final = 4.2
_MARGIN: Final = 0.22
_INDENT: Final = 0.12
_DPI: Final = 200
_INK, _SOFT, _PAPER = "#1a1f24", "#565f69", "#ffffff"
_SIZE: Final = 9.5
_TITLE: Final = 19.0
_FOOT: Final = 7.5
_FEWEST: Final = 8
"""Letters on a line, however wide they are."""
_GAP: Final = 0.15
_POINTS: Final = 72


@final
class PictureLine(NamedTuple):
    """A line of a picture: texts at its sides, or a rule of some thickness."""

    height: float
    left: str = ""
    right: str = ""
    size: float = _SIZE
    weight: str = "normal"
    colour: str = _INK
    indent: float = 0.0
    rule: float = 0.0


def label_png(texts: LabelTexts) -> bytes:
    """Return the bytes of a PNG."""
    room = BytesIO()
    with warnings.catch_warnings():  # a letter that no font has is drawn as a box
        warnings.simplefilter("ignore", UserWarning)
        figure = label_figure(texts)
        figure.savefig(room, format="png", dpi=_DPI, metadata={"Software": None})
    return room.getvalue()


def label_figure(texts: LabelTexts) -> "Figure":
    """Return a label drawn on a figure of its own size."""
    try:
        from matplotlib.backends.backend_agg import (  # noqa: PLC0415 slow to import
            FigureCanvasAgg,
        )
        from matplotlib.figure import Figure  # noqa: PLC0415 slow to import
    except ImportError as error:
        raise MissingDependency(
            "A label as a picture", "matplotlib", "plots"
        ) from error
    lines = _lines(texts)
    height = sum(line.height for line in lines) + 2 * _MARGIN
    figure = Figure(figsize=(_WIDTH, height), facecolor=_PAPER)
    FigureCanvasAgg(figure)
    _draw(figure, lines, height)
    return figure


def _lines(texts: LabelTexts) -> list[PictureLine]:
    lines = [*_strong(texts.title, 0.4, _TITLE), *_strong(texts.file, 0.22)]
    lines += [PictureLine(0.22, texts.when)] if texts.when else []
    lines += _strong(texts.status, 0.2)
    for place, part in enumerate(texts.parts):
        lines.append(PictureLine(0.2, rule=6 if place == 0 else 2))
        lines += _strong(part.heading, 0.25)
        lines += [line for row in part.rows for line in _row(row, bool(part.heading))]
    lines.append(PictureLine(0.2, rule=2))
    lines += [
        PictureLine(0.19, piece, size=_FOOT, colour=_SOFT)
        for foot in texts.feet
        for piece in _fold(foot, _FOOT)
    ]
    return lines


def _strong(text: str, height: float, size: float = _SIZE) -> list[PictureLine]:
    pieces = _fold(text, size, "bold") if text else []
    return [PictureLine(height, piece, size=size, weight="bold") for piece in pieces]


def _row(row: LabelRow, is_under: bool) -> Iterator[PictureLine]:  # noqa: FBT001 of one caller
    indent = _INDENT if is_under else 0.0
    room = _WIDTH - 2 * _MARGIN - indent
    if _width(row.name) + _width(row.value, "bold") + _GAP <= room:
        yield PictureLine(0.24, row.name, row.value, indent=indent)
        return
    for piece in _fold(row.name):
        yield PictureLine(0.2, piece, indent=indent)
    for piece in _fold(row.value, _SIZE, "bold"):
        yield PictureLine(0.21, "", piece, indent=indent)


def _fold(text: str, size: float = _SIZE, weight: str = "normal") -> list[str]:
    room = _WIDTH - 2 * _MARGIN - _INDENT
    letters = max(int(len(text) * room / max(_width(text, weight, size), 0.1)), _FEWEST)
    pieces = textwrap.wrap(text, letters)
    while letters > _FEWEST and any(
        _width(piece, weight, size) > room for piece in pieces
    ):
        letters -= 1
        pieces = textwrap.wrap(text, letters)
    return pieces or [""]


@cache
def _width(text: str, weight: str = "normal", size: float = _SIZE) -> float:
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 slow to import
    from matplotlib.textpath import TextPath  # noqa: PLC0415 slow to import

    if not text.strip():
        return 0.0
    font = FontProperties(weight=weight)
    # between two dollar signs a name would be read as a formula
    shape = TextPath((0, 0), text.replace("$", "S"), size=size, prop=font)
    return float(shape.get_extents().x1) / _POINTS


def _draw(figure: "Figure", lines: list[PictureLine], height: float) -> None:
    from matplotlib.lines import Line2D  # noqa: PLC0415 slow to import
    from matplotlib.patches import Rectangle  # noqa: PLC0415 slow to import

    frame: dict[str, Any] = {"fill": False, "edgecolor": _INK, "linewidth": 3}
    figure.add_artist(Rectangle((0, 0), 1, 1, **frame))
    top, left, right = height - _MARGIN, _MARGIN / _WIDTH, 1 - _MARGIN / _WIDTH
    for line in lines:
        middle = (top - line.height / 2) / height
        if line.rule:
            ends = ([left, right], [middle, middle])
            style: dict[str, Any] = {
                "color": _INK,
                "linewidth": line.rule,
                "solid_capstyle": "butt",
            }
            figure.add_artist(Line2D(*ends, **style))
        look: dict[str, Any] = {
            "fontsize": line.size,
            "color": line.colour,
            "va": "center",
            "parse_math": False,
        }
        begin = left + line.indent / _WIDTH
        figure.text(begin, middle, line.left, weight=line.weight, **look)
        figure.text(right, middle, line.right, ha="right", weight="bold", **look)
        top -= line.height
