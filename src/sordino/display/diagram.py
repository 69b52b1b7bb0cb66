"""Steps as a small diagram: rows at the top, the results of each step below.

visits      wards
└──┬───────┘
join
│
count
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from sordino.display.elements import safe_text

_LONGEST: Final = 110
_COLUMN = "display:flex;flex-direction:column;align-items:center"
_ROW = "display:flex;gap:1.2em;align-items:flex-end;justify-content:center"
_BOX = (
    "border:1px solid;border-radius:4px;padding:0.1em 0.6em;max-width:46em;"
    "white-space:normal;text-align:center"
)


@final
@dataclass(frozen=True)
class Step:
    """What is done, and the steps whose rows it takes."""

    text: str
    inputs: "tuple[Step, ...]" = ()


def diagram(step: Step) -> str:
    """Return the steps as boxes, each below those it takes its rows from.

    >>> diagram(Step("count", (Step("visits"),))).count("border:1px")
    2
    """
    above = [diagram(source) for source in step.inputs]
    parts = _first_steps(above) if above else ""
    box = f'<div style="{_BOX}">{safe_text(step.text, _LONGEST)}</div>'
    return f'<div style="{_COLUMN}">{parts}{box}</div>'


def _first_steps(diagrams: Iterable[str]) -> str:
    """Return what comes first, and an arrow down."""
    arrow = '<div class="aside" aria-hidden="true">↓</div>'
    return f'<div style="{_ROW}">{"".join(diagrams)}</div>{arrow}'
