"""Tables as series; sheets of pictures."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, final

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

from sordino.aggregations.intervals import error_names
from sordino.losses.curves.points import Floats
from sordino.numbers import formatting
from sordino.office.pictures.curves import Inks
from sordino.office.pictures.figures import Picture
from sordino.release.text import Figure, ReleaseView, figure_texts, grouping_name

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as MatplotlibFigure


_LARGEST: Final = 1e300
"""Numbers beyond it are told in digits alone: their distance may be no double."""
_LONGEST: Final = 30


@final
class Series(NamedTuple):
    """The numbers of an aggregate, NaN where missing or without an end."""

    name: str
    value: Floats
    low: Floats
    high: Floats

    @property
    def intervals(self) -> "np.ndarray[Any, np.dtype[np.bool_]]":
        """Return where there is an interval with two ends."""
        return ~np.isnan(self.value + self.low + self.high)  # NaN if one of them is

    @property
    def numbers(self) -> list[float]:
        """Return all numbers that a scale must hold."""
        ends = np.concatenate([
            self.value,
            self.low[self.intervals],
            self.high[self.intervals],
        ])
        return [float(end) for end in ends if np.isfinite(end)]


@final
@dataclass(frozen=True, eq=False)
class GroupTable:
    """A table of groups: its keys, and its numbers."""

    table: "pa.Table"
    errors: "pa.Table"
    keys: tuple[str, ...]
    names: tuple[str, ...]
    heading: str = ""
    """What it is among several tables."""
    ranks: Mapping[str, str] = field(default_factory=dict)
    """How far off the answers are that are chosen among candidates, by name."""

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @cached_property
    def groups(self) -> list[tuple[Any, ...]]:
        """Return the keys of each group."""
        columns = [self.table[name].to_pylist() for name in self.keys]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self)

    @cached_property
    def labels(self) -> list[str]:
        """Return the name of each group, long ones cut."""
        if not self.keys:
            return [""] * len(self)
        columns = [key_texts(self.table[key].to_pylist()) for key in self.keys]
        named = map(" · ".join, zip(*columns, strict=True))
        return [formatting.cut_text(name, _LONGEST) for name in named]

    def series(self, name: str) -> Series:
        """Return the numbers of an aggregate."""
        low, high = (_numbers(self.errors[end]) for end in error_names(name)[1:])
        return Series(name, _numbers(self.table[name]), low, high)

    def figures(self, name: str) -> list[Figure]:
        """Return the numbers of an aggregate as texts."""
        return figure_texts(self.table, self.errors, name)

    def take(self, places: Any) -> "GroupTable":
        """Return some of the groups, in the order given."""
        return replace(
            self, table=self.table.take(places), errors=self.errors.take(places)
        )

    def drop_key(self, key: str) -> "GroupTable":
        """Return the same groups, called by their other keys."""
        return replace(self, keys=tuple(name for name in self.keys if name != key))


def release_parts(release: ReleaseView, names: tuple[str, ...]) -> list[GroupTable]:
    """Return the table of a release, or those that are stacked in it."""
    whole = whole_part(release, names)
    mark = grouping_name(()) if len(release.keys) > 1 else None
    if mark is None or release.keys[0] != mark or not len(whole):
        return [whole]
    return [_drop_absent_keys(part, part.heading) for part in split_part(whole, mark)]


def whole_part(release: ReleaseView, names: tuple[str, ...]) -> GroupTable:
    """Return the table of a release as it is."""
    parts = (release.table, release.errors, release.keys, names)
    return GroupTable(*parts, ranks=release.ranks)


def split_part(part: GroupTable, key: str) -> list[GroupTable]:
    """Return a part for each value of a key, in the order in which they come."""
    column = part.table[key].to_pylist()
    rest = part.drop_key(key)
    heads = list(dict.fromkeys(column))
    return [
        replace(
            rest.take([row for row, value in enumerate(column) if value == head]),
            heading=text,
        )
        for head, text in zip(heads, key_texts(heads), strict=True)
    ]


def key_texts(values: Iterable[Any]) -> list[str]:
    """Return the values of a key; what would print nothing has a name.

    >>> key_texts(["", None, 3])
    ['(empty text)', 'missing', '3']
    """
    return [text or "(empty text)" for text in formatting.format_keys(values)]


def _drop_absent_keys(part: GroupTable, heading: str) -> GroupTable:
    columns = heading.split(", ")
    keys = tuple(
        name
        for name in part.keys
        # a name of a column may have a comma in it: a key with values is one of the set
        if name in columns or part.table[name].null_count < len(part)
    )
    return replace(part, keys=keys)


def _numbers(column: Any) -> Floats:
    values = np.asarray(column.to_numpy(zero_copy_only=False), np.float64)
    return np.where(np.abs(values) <= _LARGEST, values, np.nan)


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
    """Labels that have room below a scale of a width in inches.

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
    half = text_inches([text]) / 2
    if place - half < -_BEYOND:
        return TickLabel(place, text, "left", place, place + 2 * half)
    if place + half > width + _BEYOND:
        return TickLabel(place, text, "right", place - 2 * half, place)
    return TickLabel(place, text, "center", place - half, place + half)


MARGIN: Final = 0.15
_LINE: Final = 0.17
_NARROWEST: Final = 4.6
_HEAD: Final = 11.0
_SHEET_LONGEST: Final = 60
_HEAD_LINE: Final = 0.22
_BETWEEN: Final = 0.18


@final
class Place(NamedTuple):
    """A figure, and the upper left corner of a block on it, in inches."""

    figure: "MatplotlibFigure"
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
            parse_math=False,  # a `$` in a name begins no formula
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
    text = formatting.cut_text(name, _SHEET_LONGEST)
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
