"""The picture of a release: the form that fits its shape, with the numbers in digits.

| case | drawn as |
|---|---|
| a number with its interval | a tick on a band, a point of a line in a ribbon, a cell |
| a number without one, or with an endless one | a ring |
| a missing number | the word |
| more groups than can be named | hairlines by rank |
| no groups | the words |

Only what is published is drawn: the values and errors of a release, and its price.
"""

from typing import TYPE_CHECKING, Any, Final

from sordino.errors import InvalidParameter, MissingDependency
from sordino.expressions.schema import unknown
from sordino.numbers import arguments
from sordino.query.request import RANK
from sordino.release.release import Wishes
from sordino.release.text import ReleaseView

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure


_SORTS: Final = ("value", "key")
_LONGEST: Final = 300
"""Rows with names; a picture of more is too tall for any screen."""


def plot_release(
    release: ReleaseView, names: tuple[str, ...], ax: Any, wishes: Wishes, theme: Any
) -> "Figure | SubFigure":
    """Draw a release as it fits its shape, and return the figure."""
    chosen = _choose(release, names)
    arguments.choice(_SORTS, sort=wishes.sort)
    if wishes.top is not None:
        arguments.integer(top=wishes.top, least=1, most=_LONGEST)
    try:
        from sordino.office.pictures.release import release_figure  # noqa: PLC0415 slow to import
    except ImportError as error:
        raise MissingDependency("plot()", "matplotlib", "plots") from error
    return release_figure(release, chosen, ax, wishes, theme)


def _choose(release: ReleaseView, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the aggregates to draw: those named, or all that are numbers.

    Ranks are told by the order of the rows, where there is anything else to draw.
    """
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
    return names or tuple(name for name in numbers if name != RANK) or numbers
