"""The picture of a release: noisy numbers with their intervals.

| case | drawn as |
|---|---|
| a number with its interval | a disc on a line |
| a number without one, or with an endless one | a ring |
| a missing number | the word |
| no groups | the words |
"""

from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from sordino import _validate
from sordino.curves.points import Floats
from sordino.display import formatting
from sordino.errors import InvalidParameter, MissingDependency
from sordino.release import cell_texts, explanation
from sordino.release.column_names import error_names
from sordino.release.release_view import ReleaseView
from sordino.schema import unknown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


_SORTS: Final = ("value", "key")
_INK, _FAINT, _RULE = "#0b5c8a", "#707070", "#e6e6e6"
_LONGEST = 30
_PANEL, _ROW, _FRAME = 3.4, 0.23, 1.35
"""Inches: the width of a panel, the height of a row, all around."""
_LETTER, _SMALL_LETTER = 0.075, 0.07
_ACROSS = 4
_LONG_TICKS = 1e5
_SMALL = 8.5
_QUIET: Final[dict[str, Any]] = {
    "va": "center",
    "fontsize": _SMALL,
    "color": _FAINT,
    "style": "italic",
}


@final
class ReleasePanel(NamedTuple):
    """The numbers of an aggregate, NaN where missing or without an end."""

    name: str
    value: Floats
    low: Floats
    high: Floats
    interval: str
    """The number in digits, where there is only one."""


def plot_release(
    release: ReleaseView, names: tuple[str, ...], ax: Any, sort: str, top: int
) -> "Figure | SubFigure":
    """Draw a panel for each aggregate, the groups as rows, and return the figure."""
    chosen = _choose(release, names)
    _validate.choice(_SORTS, sort=sort)
    _validate.integer(top=top, least=1)
    order = _order(release, chosen[0], sort)[:top]
    labels = _labels(release, order)
    panels = [_panel(release, name, order) for name in chosen]
    if ax is None:
        figure = _figure(panels, labels)
        by = "in order" if sort == "key" else f"largest {_cut_name(chosen[0])} first"
        _label(figure, release.price, _caption(release, len(order), by))
        return figure
    axes = _check_axes(ax, len(panels))
    for axis, panel in zip(axes, panels, strict=True):
        _fill(axis, panel, labels)
        axis.set_title(
            f"{_cut_name(panel.name)} ({release.price})",
            loc="left",
            parse_math=False,
        )
    return axes[0].figure


def _choose(release: ReleaseView, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the aggregates to draw: those named, or all that are numbers."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    types = {name: release.table.schema.field(name).type for name in release.names}
    numbers = tuple(
        name
        for name, kind in types.items()
        if pa.types.is_integer(kind) or pa.types.is_floating(kind)
    )
    for name in names:
        if name not in types:
            raise unknown("aggregate", name, types)
        if name not in numbers:
            problem = "is not a column of numbers"
            raise InvalidParameter("names", name, problem, f"Choose from {numbers}.")
    if not numbers:
        problem = "has no column of numbers"
        raise InvalidParameter("release", list(types), problem, "Print it instead.")
    return names or numbers


def _numbers(column: Any) -> Floats:
    """Return a column as doubles, NaN where null."""
    return np.asarray(column.to_numpy(zero_copy_only=False), np.float64)


def _order(release: ReleaseView, name: str, sort: str) -> Any:
    """Return the rows in the order of the picture, missing numbers last."""
    if sort == "key":
        return np.arange(len(release))
    return np.argsort(-_numbers(release[name]), kind="stable")


def _labels(release: ReleaseView, order: Any) -> list[str]:
    """Return the names of the groups, long ones cut."""
    picked = release.table.select(list(release.keys)).take(order)
    parts = [
        map(formatting.format_key, column.to_pylist()) for column in picked.columns
    ]
    joined = [" · ".join(row) for row in zip(*parts, strict=True)]
    return [formatting.cut_text(label, _LONGEST) for label in joined] or [""] * len(
        order
    )


def _panel(release: ReleaseView, name: str, order: Any) -> ReleasePanel:
    """Return the numbers of a panel, in order."""
    _, *ends = (_numbers(release.errors[part])[order] for part in error_names(name))
    low, high = (np.where(np.isfinite(end), end, np.nan) for end in ends)
    interval = "" if release.keys else _interval_text(release, name)
    return ReleasePanel(name, _numbers(release[name])[order], low, high, interval)


def _interval_text(release: ReleaseView, name: str) -> str:
    """Return the only number of an aggregate, and its standard deviation."""
    figure = cell_texts.row_texts(release)[0].figures[release.names.index(name)]
    return f"{figure.value} ± {figure.sd}" if figure.sd else figure.value


def _figure(panels: list[ReleasePanel], labels: list[str]) -> "Figure":
    """Return a figure of panels, side by side as far as they are few."""
    try:
        from matplotlib.layout_engine import (  # noqa: PLC0415 slow to import
            ConstrainedLayoutEngine,
        )

        from sordino.losses.pictures import Picture  # noqa: PLC0415 slow to import
    except ImportError as error:
        raise MissingDependency("plot()", "matplotlib", "plots") from error
    across = min(len(panels), _ACROSS)
    down = -(-len(panels) // across)
    margin = 0.3 + _LETTER * max(map(formatting.text_width, labels), default=0)
    height = (_FRAME + _ROW * max(2, len(labels))) * down
    layout = ConstrainedLayoutEngine(w_pad=0.12)
    figure = Picture(figsize=(margin + _PANEL * across, height), layout=layout)
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for place, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        _fill(ax, panel, labels)
        ax.tick_params(labelleft=place % across == 0)
        ax.set_title(_cut_name(panel.name), loc="left", fontsize=10, parse_math=False)
    for unused in axes[len(panels) :]:
        unused.remove()
    return figure


def _label(figure: "Figure", price: str, caption: str) -> None:
    """Write the price above the panels, and what they show below."""
    figure.suptitle(f"price: {price}", x=0.01, ha="left", fontsize=11, weight="bold")
    room = int(figure.get_size_inches()[0] / _SMALL_LETTER)
    caption = formatting.cut_text(caption, room)
    figure.supxlabel(
        caption, x=0.01, ha="left", fontsize=_SMALL, color=_FAINT, parse_math=False
    )


def _check_axes(ax: Any, count: int) -> "list[Axes]":
    """Return the axes that the user gave, one for each panel."""
    try:
        from matplotlib.axes import Axes  # noqa: PLC0415 slow to import
    except ImportError as error:
        raise MissingDependency("plot()", "matplotlib", "plots") from error
    axes = list(np.ravel(ax))
    if len(axes) != count or not all(isinstance(ax, Axes) for ax in axes):
        problem = f"must be {count} Axes, one for each aggregate"
        raise InvalidParameter("ax", ax, problem, "Name the aggregates to draw.")
    return axes


def _fill(axes: "Axes", panel: ReleasePanel, labels: list[str]) -> None:
    """Draw the points and lines of a panel."""
    rows = np.arange(len(labels))
    has_bars = ~np.isnan(panel.low + panel.high)
    axes.hlines(
        rows[has_bars],
        panel.low[has_bars],
        panel.high[has_bars],
        _INK,
        alpha=0.45,
        lw=2.4,
    )
    for marked, face in ((has_bars, _INK), (~has_bars, "none")):
        axes.plot(
            panel.value[marked],
            rows[marked],
            "o",
            ms=4.5,
            mec=_INK,
            mfc=face,
            ls="none",
        )
    edge = axes.get_yaxis_transform()
    for row in rows[np.isnan(panel.value)]:
        axes.text(0.01, row, formatting.MISSING, transform=edge, **_QUIET)
    if not len(labels):
        axes.text(0.01, 0, "no groups", transform=edge, **_QUIET)
    _frame(axes, labels)
    if np.isnan(panel.value).all():
        axes.set_xticks([])
    elif panel.interval:
        axes.text(panel.value[0], -0.15, panel.interval, ha="center", fontsize=_SMALL)


def _frame(axes: "Axes", labels: list[str]) -> None:
    """Set the scales, the names of the rows and the quiet lines behind them."""
    axes.set_yticks(range(len(labels)), labels, fontsize=_SMALL, parse_math=False)
    axes.set_ylim(max(len(labels), 1) - 0.5, -0.5)
    axes.margins(x=0.06)
    axes.spines[["top", "left", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.grid(axis="y", color=_RULE, linewidth=0.8)
    axes.set_axisbelow(True)
    left, right = axes.get_xlim()
    axes.locator_params(axis="x", nbins=5 if max(-left, right) < _LONG_TICKS else 3)
    axes.xaxis.set_major_formatter("{x:,.10g}")


def _caption(release: ReleaseView, shown: int, by: str) -> str:
    """Say what the lines are, and which rows are left out."""
    part = f"the first {shown:,} of " if shown < len(release) else ""
    order = f", {by}" if release.keys else ""
    share = formatting.format_percent(release.confidence)
    return f"{share} intervals; {part}{explanation.rows_phrase(release)}{order}"


def _cut_name(name: str) -> str:
    """Return the name of a column, cut to the width of a panel."""
    return formatting.cut_text(formatting.format_key(name), _LONGEST)
