"""Colours of pictures on a light and on a dark ground, those of the report.

Letters are at least 4.5 to 1 against what they stand on, shapes that carry a number at
least 3 to 1; a test computes it.
"""

from dataclasses import dataclass
from typing import Any, Final, final

from sordino import _validate

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
    _validate.choice(THEMES, theme=theme)
    return LIGHT if theme == "light" else DARK


def inks_here() -> Inks:
    """Return the colours that read on the ground that Matplotlib is set to."""
    from matplotlib import rcParams  # noqa: PLC0415 slow to import

    return inks_on(rcParams["figure.facecolor"], rcParams["text.color"])


def inks_on(ground: Any, letters: Any) -> Inks:
    """Return the colours that read on a ground of Matplotlib's.

    A ground that lets through what is behind it says nothing; the letters then do.
    """
    from matplotlib.colors import to_rgba  # noqa: PLC0415 slow to import

    red, green, blue, share = to_rgba(ground)
    if share < _WAY:
        red, green, blue, _ = (1 - part for part in to_rgba(letters))
    light = _RED * red + _GREEN * green + _BLUE * blue
    return LIGHT if light >= _WAY else DARK
