"""The picture of a suggestion: noise against what is lost, a panel for each answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sordino.display.inks import inks_here
from sordino.errors import MissingDependency
from sordino.session.tried_limits import Tried

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL: Final = 3.8
_HEIGHT: Final = 3.2
_SMALL: Final = 8.5


def plot_suggestion(tried: Sequence[Tried], best: int, source: str) -> "Figure":
    """Return the figure; each disc is a choice, with the number of its row."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 matplotlib is slow
    except ImportError as error:
        raise MissingDependency("plot()", "matplotlib", "plots") from error
    names, inks = list(tried[0].noise), inks_here()
    figure = Figure(figsize=(_PANEL * len(names), _HEIGHT), layout="constrained")
    for axes, name in zip(
        figure.subplots(1, len(names), squeeze=False)[0], names, strict=True
    ):
        lost = [100 * choice.most_lost for choice in tried]
        noise = [choice.noise[name] for choice in tried]
        axes.scatter(lost, noise, color=inks.blue, s=18)
        axes.scatter(
            lost[best], noise[best], edgecolor=inks.blue, facecolor="none", s=110
        )
        for place, spot in enumerate(zip(lost, noise, strict=True)):
            axes.annotate(
                str(place),
                spot,
                xytext=(4, 3),
                textcoords="offset points",
                fontsize=_SMALL,
                color=inks.soft,
            )
        axes.set_title(f"{name}: noise", loc="left", parse_math=False)
        axes.set_xlabel("% lost, the greatest share", color=inks.soft)
        axes.set_ylim(bottom=0)
        axes.grid(color=inks.line)
        axes.set_axisbelow(True)
    figure.supxlabel(source, fontsize=_SMALL, color=inks.soft, parse_math=False)
    return figure
