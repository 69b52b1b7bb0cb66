"""The picture of a trade-off curve."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, final

from sordino.curves.points import Floats
from sordino.display.inks import inks_here
from sordino.errors import InvalidParameter, MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = (".png", ".svg", ".pdf")


@final
class CurveLines(NamedTuple):
    """The least miss rates at false alarm rates, and those that one statement gives."""

    alpha: Floats
    beta: Floats
    bound: Floats
    statement: str


def plot_lines(lines: CurveLines, path: "str | Path | None", title: str) -> "Axes":
    """Draw a curve between the lines of no privacy and of perfect privacy."""
    target = None if path is None else Path(path)
    if target is not None and target.suffix not in _KINDS:
        raise InvalidParameter(
            "path", str(path), "must end in .png or .svg", "Rename it."
        )
    try:
        from sordino.losses.pictures import (  # noqa: PLC0415 slow to import
            Panel,
            Picture,
        )
    except ImportError as error:
        raise MissingDependency("plot()", "matplotlib", "plots") from error
    figure = Picture(figsize=(5.6, 5.2), layout="constrained")
    axes = figure.add_subplot(axes_class=Panel)
    _draw(axes, lines)
    axes.set_xlabel("false alarms: chance of accusing a person who is not there")
    axes.set_ylabel("misses: chance of not finding a person who is")
    axes.set_title(title or "What the best attack achieves", loc="left")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_aspect("equal")
    axes.legend(loc="upper right", frameon=False)
    if target is not None:
        figure.savefig(target, dpi=160)
    return axes


def _draw(axes: "Axes", lines: CurveLines) -> None:
    """Draw the three curves and the area no attack reaches."""
    inks = inks_here()
    ideal, ours, bound, edge = inks.bare, inks.blue, inks.soft, inks.find
    axes.fill_between(lines.alpha, 0, lines.beta, color=ours, alpha=0.08, linewidth=0)
    axes.plot([0, 1], [1, 0], color=ideal, linestyle="--", label="perfect privacy")
    axes.plot(lines.alpha, lines.beta, color=ours, linewidth=2, label="this release")
    axes.plot(
        lines.alpha,
        lines.bound,
        color=bound,
        linestyle=":",
        linewidth=1.6,
        label=lines.statement,
    )
    axes.plot(
        [0, 0, 1],
        [1, 0, 0],
        color=edge,
        linewidth=1.6,
        clip_on=False,
        label="no privacy",
    )
