"""Pictures that show themselves in a notebook, with no magic word before.

This module is imported when a picture is drawn: Matplotlib is slow to import.
"""

import io
from typing import Final, final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

_SHARP: Final = 2
"""Dots for each one that is shown: screens are finer than pages."""


@final
class Picture(Figure):
    """A figure that a notebook shows as a picture."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:  # noqa: PLW3201 looked for
        return png(self)


@final
class Panel(Axes):
    """Axes that a notebook shows as the picture they stand in."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:  # noqa: PLW3201 too
        figure = self.get_figure(root=True)
        return None if figure is None else png(figure)


def png(figure: Figure) -> tuple[bytes, dict[str, int]]:
    """Return a figure as a picture, with the width and height to show it at."""
    sink = io.BytesIO()
    figure.savefig(sink, format="png", dpi=figure.dpi * _SHARP)
    width, height = figure.get_size_inches() * figure.dpi
    return sink.getvalue(), {"width": round(width), "height": round(height)}
