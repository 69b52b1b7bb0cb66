"""The figure of a release: a sheet of its own, or axes that somebody else has made."""

from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl

from sordino import _validate
from sordino.display.inks import inks_here, inks_of_theme, inks_on
from sordino.release.drawing.forms import FORMS
from sordino.release.drawing.given_axes import check_axes, fill_axes
from sordino.release.drawing.parts import release_parts, whole_part
from sordino.release.drawing.picture import draw_release
from sordino.release.drawing.wishes import Wishes
from sordino.release.release_view import ReleaseView

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

_PLAIN: Final[Any] = {"axes.grid": False, "text.usetex": False}
"""Habits of users that would cross the picture, or read names as formulas."""


def release_figure(
    release: ReleaseView, names: tuple[str, ...], ax: Any, wishes: Wishes, theme: Any
) -> "Figure | SubFigure":
    """Return some aggregates of a release as a figure."""
    if wishes.form is not None:
        _validate.choice(FORMS, form=wishes.form)
    named = None if theme is None else inks_of_theme(theme)
    if ax is None:
        inks = named or inks_here()
        with mpl.rc_context(_PLAIN):
            return draw_release(release, release_parts(release, names), wishes, inks)
    axes = check_axes(ax, len(names))
    inks = named or inks_on(axes[0].get_facecolor(), mpl.rcParams["text.color"])
    return fill_axes(axes, whole_part(release, names), wishes, inks, release.price)
