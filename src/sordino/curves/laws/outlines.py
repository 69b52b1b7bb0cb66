"""Laws of very many losses: of most only an outline is held, and the table made again.

A table of masses is needed twice: for the step of a grid that serves all laws, and when
the law is put on that grid. Up to a limit tables are kept in between; beyond it each is
dropped and made again, so that no number of losses needs more memory than a few.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, final

from sordino.curves.laws.law import AbstractLossLaw, Laws
from sordino.curves.points import Floats

_MOST_HELD: Final = 1 << 20
"""Numbers in the tables that are kept."""


@final
@dataclass(frozen=True, slots=True)
class Outline(AbstractLossLaw):
    """What a grid is chosen by, and how to make the law again."""

    source: Callable[[], Laws]
    side: int
    margin: float = 0.0
    span: tuple[float, float] = (0.0, 0.0)
    deviation: float = 0.0
    step: float = 0.0
    anchor: float = 0.0
    table_size: int = 0

    def masses(self, edges: Floats) -> tuple[Floats, Floats]:
        """Return the masses of the law, made for this once."""
        return self.source()[self.side].masses(edges)


def outline_laws(sources: Iterable[Callable[[], Laws]]) -> list[Laws]:
    """Return the laws of each source, as outlines once the tables are large."""
    listed: list[Laws] = []
    room = _MOST_HELD
    for source in sources:
        laws = source()
        room -= sum(law.table_size for law in laws)
        listed.append(laws if room >= 0 else _outlines(laws, source))
    return listed


def _outlines(laws: Laws, source: Callable[[], Laws]) -> Laws:
    """Return outlines of the laws that hold tables."""
    return tuple(
        Outline(source, side, law.margin, law.span, law.deviation, law.step, law.anchor)
        if law.table_size
        else law
        for side, law in enumerate(laws)
    )
