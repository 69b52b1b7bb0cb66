r"""The recorded plan of a release, taken apart: what was kept, and what was noisy.

A plan is lines: answers with their noise, which groups there are, and a tree of rows
(`planning.plan_text`). Plans stand in ledgers for ever, so what is not recognised is
shown as it was recorded.

>>> steps = steps_of("n = count() with Geometric(scale=3)\nall rows together\n"
...                  "└─ keep 3 rows per id\n   └─ table visits")
>>> [(step.kind, step.line) for step in steps.rows.in_order]
[('table', 'table visits'), ('keep', 'keep 3 rows per id')]
>>> steps.noise
('n = count() with Geometric(scale=3)',)
"""

import re
from dataclasses import dataclass
from typing import Final, final

_MOST_LINES: Final = 200
_DEEPEST: Final = 50
"""Of a tree that is drawn; what lies deeper is drawn there."""
_BRANCH: Final = "└─ "
_THRESHOLD: Final = re.compile(
    r"(?:threshold=|groups below )([0-9.]+(?:e[+-]?[0-9]+)?)"
)
_HIDING: Final = ("keep groups that pass ", "rank by ", "leave out groups below ")
_GROUPS: Final = ("group by ", "all rows together")
_KINDS: Final = (
    ("table ", "table"),
    ("filter ", "filter"),
    ("keep ", "keep"),
    ("select ", "select"),
    ("inner join ", "join"),
    ("left join ", "join"),
    ("explode ", "list"),
    ("map ", "function"),
    ("flat map ", "function"),
)
"""How the lines of a tree begin, and what they are."""


@final
@dataclass(frozen=True)
class RowStep:
    """What is done to rows, and the steps that they come from."""

    kind: str
    line: str
    sources: "tuple[RowStep, ...]" = ()

    @property
    def in_order(self) -> "tuple[RowStep, ...]":
        """Return the steps from the tables on."""
        before = (step for source in self.sources for step in source.in_order)
        return (*before, self)


@final
@dataclass(frozen=True)
class PlanSteps:
    """A plan: its rows, its groups, and its noisy answers."""

    rows: RowStep | None
    groups: tuple[str, ...]
    noise: tuple[str, ...]


def steps_of(plan: str) -> PlanSteps:
    """Return the parts of a plan; of several in one text the first."""
    lines = plan.split("\n\n", maxsplit=1)[0].splitlines()[:_MOST_LINES]
    tree = [line for line in lines if line.lstrip().startswith(_BRANCH)]
    others = [line for line in lines if line not in tree and not line.endswith(":")]
    groups = tuple(line for line in others if line.startswith(_GROUPS))
    noise = tuple(line for line in others if line not in groups)
    return PlanSteps(_tree(tree), groups, noise)


def hidden_below(plan: str) -> tuple[bool, float | None]:
    """Say whether a plan hides small groups, and below which noisy number."""
    hiding = [line for line in plan.splitlines() if line.startswith(_HIDING)]
    levels = [float(level) for level in _THRESHOLD.findall("\n".join(hiding))]
    return bool(hiding), max(levels, default=None)


def step_kind(line: str) -> str:
    """Return what a line of a tree is; "step" where it is not recognised."""
    return next((kind for begin, kind in _KINDS if line.startswith(begin)), "step")


def _tree(lines: list[str]) -> RowStep | None:
    """Return the tree of indented lines, None where there is none."""
    if not lines:
        return None
    top, *below = lines
    depth = _depth(top)
    branches: list[list[str]] = []
    for line in below:
        if _depth(line) == depth + 1 or not branches:
            branches.append([])
        branches[-1].append(line)
    sources = (_tree(branch) for branch in branches)
    text = top.strip().removeprefix(_BRANCH)
    return RowStep(step_kind(text), text, tuple(step for step in sources if step))


def _depth(line: str) -> int:
    """Return how deep a line stands in its tree."""
    return min((len(line) - len(line.lstrip())) // len(_BRANCH), _DEEPEST)
