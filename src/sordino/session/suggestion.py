"""Limits and bounds to choose from: what each would cost in noise, and lose in rows.

grid ── effects (of a sample, or paid for) ── prices (public facts) ── suggestion
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from sordino import _validate
from sordino._completion import hides
from sordino.display.formatting import format_number
from sordino.losses.base import Budget
from sordino.query.request import Request
from sordino.release.release import Release
from sordino.session.suggestion_page import suggestion_page
from sordino.session.suggestion_plot import plot_suggestion
from sordino.session.tried_limits import Tried

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

MOST_LOST: Final = 0.05
"""What the best choice may cut off, and clamp, if any is that gentle."""
_SHOWN: Final = 40
_SPREAD: Final = " ±"


@hides("source", "tried")
@final
@dataclass(frozen=True, eq=False, repr=False)
class Suggestion:
    """What limits and bounds would cost in noise, and what they would lose.

    | field | what |
    |---|---|
    | `table` | a row for each choice: limits, bounds, noise, what is lost |
    | `best` | the row with the least noise among those that lose little |
    | `budget` | what the noise is told for: what is left to spend |
    | `release` | what was released of the data, None with a sample |
    """

    tried: tuple[Tried, ...]
    budget: Budget
    source: str
    """Of what the shares are."""
    release: Release | None = None

    @cached_property
    def table(self) -> "pa.Table":
        """Return a row for each choice, as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        rows = [dict(_cells(tried)) for tried in self.tried]
        return pa.table({name: [row[name] for row in rows] for name in rows[0]})

    @cached_property
    def best(self) -> int:
        """Return the row of the choice with the least noise, of those that lose little.

        Little is at most one in twenty; where none is that gentle, it is the one that
        loses least.
        """
        places = range(len(self.tried))
        gentle = [place for place in places if self.tried[place].most_lost <= MOST_LOST]
        if gentle:
            return min(gentle, key=lambda place: self.tried[place].score)
        return min(places, key=lambda place: self.tried[place].losses)

    def query(self, row: int | None = None) -> Request:
        """Return the request with the limits and bounds of a row, or of the best."""
        if row is None:
            return self.tried[self.best].request
        last = len(self.tried) - 1
        return self.tried[_validate.integer(row=row, least=0, most=last)].request

    def plot(self) -> "Figure":
        """Draw the noise of each answer against what is lost, the best one marked."""
        return plot_suggestion(self.tried, self.best, self.source)

    def __repr__(self) -> str:
        """Show the choices, the best one marked, and of what the shares are."""
        heading, rows = self._texts()
        widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) for cell, width in zip(row, widths, strict=True)
            )
            for row in (heading, *rows)
        ]
        return "\n".join([*lines, *self._remarks()])

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show the same in a notebook."""
        return suggestion_page(*self._texts(), self._remarks())

    def _texts(self) -> tuple[Sequence[str], list[Sequence[str]]]:
        """Return the heading and the rows as texts; a star marks the best."""
        rows = [
            [
                f"{place}*" if place == self.best else str(place),
                *_shown(tried),
            ]
            for place, tried in enumerate(self.tried[:_SHOWN])
        ]
        names = [name for name, _ in _cells(self.tried[0])]
        return ["row", *(name for name in names if not name.endswith(_SPREAD))], [*rows]

    def _remarks(self) -> list[str]:
        """Return of what the shares are, and what the star means."""
        rest = len(self.tried) - _SHOWN
        more = [f"... and {rest} more"] if rest > 0 else []
        gentle = self.tried[self.best].most_lost <= MOST_LOST
        star = (
            "the least noise of those that lose at most one in twenty"
            if gentle
            else "all lose more than one in twenty; this one loses least"
        )
        shares = f"noise for {self.budget!r}; shares {self.source}"
        return [*more, shares, f"*: {star}"]


def _cells(tried: Tried) -> "list[tuple[str, Any]]":
    """Return the cells of a row by the names of their columns."""
    choice, cells = tried.choice, list[tuple[str, Any]]()
    if choice.groups is not None:
        cells.append(("groups per id", choice.groups))
    if choice.rows is not None:
        within = "rows per id" if choice.groups is None else "rows per id and group"
        cells.append((within, choice.rows))
    for name, (low, high) in choice.bounds:
        cells += [(f"{name} from", low), (f"{name} to", high)]
    cells += [(f"{name} noise", sd) for name, sd in tried.noise.items()]
    for name, (share, sd) in tried.lost.items():
        cells += [(name, share), (name + _SPREAD, sd)]
    return cells


def _shown(tried: Tried) -> Iterator[str]:
    """Yield the cells as people read them: shares in percent, with their noise."""
    cells = dict(_cells(tried))
    for name, cell in cells.items():
        if name in tried.lost:
            sd = cells[name + _SPREAD]
            yield f"{cell:.1%} ± {sd:.1%}" if sd else f"{cell:.1%}"
        elif name.endswith(" noise"):
            yield f"{cell:.4g}"
        elif not name.endswith(_SPREAD):
            yield str(cell) if isinstance(cell, int) else format_number(cell)
