"""The picture of a trade-off curve."""

from pathlib import Path
from typing import TYPE_CHECKING

from sordino.errors import InvalidParameter, MissingDependency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sordino.losses.tradeoff import TradeoffCurve

_KINDS = (".png", ".svg", ".pdf")


def plot_curve(curve: "TradeoffCurve", path: "str | Path | None", title: str) -> "Axes":
    """Draw the curve between the lines of no privacy and of perfect privacy."""
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
    _lines(axes, curve)
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


def _lines(axes: "Axes", curve: "TradeoffCurve") -> None:
    """Draw the three curves and the area no attack reaches."""
    ideal, ours, bound, edge = "#8a8a8a", "#0b5c8a", "#c8702a", "#b03030"
    axes.fill_between(curve.alpha, 0, curve.beta, color=ours, alpha=0.08, linewidth=0)
    axes.plot([0, 1], [1, 0], color=ideal, linestyle="--", label="perfect privacy")
    axes.plot(curve.alpha, curve.beta, color=ours, linewidth=2, label="this release")
    # three digits, upwards, so that the label never understates
    text = f"({curve.epsilon:.3g}, {curve.delta:.1g})-DP"
    axes.plot(
        curve.alpha,
        curve.bound_beta,
        color=bound,
        linestyle=":",
        linewidth=1.6,
        label=text,
    )
    axes.plot(
        [0, 0, 1],
        [1, 0, 0],
        color=edge,
        linewidth=1.6,
        clip_on=False,
        label="no privacy",
    )
