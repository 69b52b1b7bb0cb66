"""Pictures of curves and suggestions, and the colours of pictures.

There are colours for a light and for a dark ground, those of the report. Letters are at
least 4.5 to 1 against what they stand on, shapes that carry a number at least 3 to 1; a
test computes it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino.errors import InvalidParameter, MissingDependency
from sordino.losses.curves.points import Floats
from sordino.numbers import arguments
from sordino.session.suggestion import Tried

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WAY: Final = 0.5
"""The lightness at which a ground is neither light nor dark."""
_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114
THEMES: Final = ("light", "dark")


@final
@dataclass(frozen=True, kw_only=True)
class Inks:
    """The colours of a picture."""

    paper: str
    ink: str
    """Letters, and the tick of a number."""
    soft: str
    """What steps back."""
    bare: str
    """Zero, and rings."""
    line: str
    """What leads the eye; it carries nothing."""
    blue: str
    """Lines over time."""
    band: str
    """Intervals."""
    find: str
    """What must not be overlooked."""
    tints: tuple[str, ...]
    """Cells, from the least to the greatest."""


LIGHT: Final = Inks(
    paper="#ffffff",
    ink="#1a1f24",
    soft="#565f69",
    bare="#7d868f",
    line="#d3d8dd",
    blue="#0b5c8a",
    band="#5f97ba",
    find="#b34700",
    tints=("#f3f5f7", "#eef5f9", "#d8e8f2", "#bcd7e7", "#9dc5dc", "#80b3d0"),
)
DARK: Final = Inks(
    paper="#14181b",
    ink="#e7eaed",
    soft="#a3adb6",
    bare="#7d8790",
    line="#363d44",
    blue="#8cc4e6",
    band="#3f7ea3",
    find="#ff9a52",
    tints=("#1c2226", "#18242c", "#1a303d", "#1b3d50", "#1c4a64", "#1d5878"),
)


def inks_of_theme(theme: Any) -> Inks:
    """Return the colours of a theme that somebody named."""
    arguments.choice(THEMES, theme=theme)
    return LIGHT if theme == "light" else DARK


def inks_here() -> Inks:
    """Return the colours that read on the ground that Matplotlib is set to."""
    from matplotlib import rcParams  # noqa: PLC0415 slow to import

    return inks_on(rcParams["figure.facecolor"], rcParams["text.color"])


def inks_on(ground: Any, letters: Any) -> Inks:
    """Return the colours that read on a ground of Matplotlib's."""
    from matplotlib.colors import to_rgba  # noqa: PLC0415 slow to import

    red, green, blue, share = to_rgba(ground)
    # a ground that lets through what is behind it says nothing; the letters then do
    if share < _WAY:
        red, green, blue, _ = (1 - part for part in to_rgba(letters))
    light = _RED * red + _GREEN * green + _BLUE * blue
    return LIGHT if light >= _WAY else DARK


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
        from sordino.office.pictures.figures import Panel, Picture  # noqa: PLC0415 slow to import
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
        # a `$` in a name begins no formula
        axes.set_title(f"{name}: noise", loc="left", parse_math=False)
        axes.set_xlabel("% lost, the greatest share", color=inks.soft)
        axes.set_ylim(bottom=0)
        axes.grid(color=inks.line)
        axes.set_axisbelow(True)
    figure.supxlabel(source, fontsize=_SMALL, color=inks.soft, parse_math=False)
    return figure
