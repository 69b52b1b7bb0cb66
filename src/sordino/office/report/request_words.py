r"""The recorded plan of a release, taken apart, and where its mechanisms are proved.

A plan is lines: answers with their noise, which groups there are, and a tree of rows
(`planning.plan_text`). Plans stand in ledgers for ever, so what is not recognised is
shown as it was recorded.

>>> mechanisms_of("n = count() with Geometric(scale=3, dtype='i64')")
('Geometric',)

>>> steps = steps_of("n = count() with Geometric(scale=3)\nall rows together\n"
...                  "└─ keep 3 rows per id\n   └─ table visits")
>>> [(step.kind, step.line) for step in steps.rows.in_order]
[('table', 'table visits'), ('keep', 'keep 3 rows per id')]
>>> steps.noise
('n = count() with Geometric(scale=3)',)
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

Place = tuple[str, str]
"""A file in docs/proofs, and the heading of a section."""

_PRICE: Final = ("noise.md", "Lemma 1: one long shift is the worst")
_BLOCKS: Final = ("samplers.md", "Lemma 2: dominated blocks")
_ONCE: Final = ("samplers.md", "Lemma 4: rounding once")
_SUMS: Final = ("thresholds.md", "1. The decision is taken on the exact sum")
_JOINT: Final = ("thresholds.md", "4. The joint curve")
_RANGE: Final = ("selection.md", "1. A bounded range of losses")
_WEIGHTS: Final = ("selection.md", "2. Dominated weights")
_FILTER: Final = ("filters.md", "1. One lemma for the sums")
_FAILURE: Final = ("filters.md", "2. Chances of failure come off first")
_EITHER: Final = ("filters.md", '3. "Or" with the pure sum is free')

PROOFS: Final[Mapping[str, tuple[Place, ...]]] = {
    "Geometric": (_PRICE, _BLOCKS),
    "Laplace": (_PRICE, _ONCE),
    "DiscreteGaussian": (("noise.md", "Lemma 3: discrete Gaussian noise"), _BLOCKS),
    "Gaussian": (
        ("noise.md", "Lemma 2: rounding a continuous Gaussian costs nothing"),
        _ONCE,
    ),
    "LaplaceThreshold": (_SUMS, _JOINT),
    "LaplaceSumThreshold": (_SUMS, _JOINT),
    "GaussianThreshold": (_SUMS, _JOINT),
    "KeyRounds": (("keys.md", "1. The release"),),
    "Exponential": (_RANGE, _WEIGHTS),
    "TopKeys": (
        ("first-few.md", "The first few groups: k choices without replacement"),
    ),
    "Quantiles": (("selection.md", "4. Quantiles"), _WEIGHTS),
    "QuantileIntervals": (
        ("selection.md", "4. Quantiles"),
        ("selection.md", "6. Where quantiles stand"),
        _WEIGHTS,
    ),
    "AboveThreshold": (("selection.md", "5. The walk upwards"),),
    "RandomizedResponse": (("selection.md", "3. Randomized response"),),
}
"""By the name of a mechanism as plans write it."""
FILTERS: Final[Mapping[str, tuple[Place, ...]]] = {
    "epsilon": (_FILTER,),
    "epsilon-delta": (_FILTER, _FAILURE),
    "rho": (_FILTER,),
    "rho-delta": (_FILTER, _FAILURE),
    "mu-squared": (_FILTER,),
    "mu-squared-delta": (_FILTER, _FAILURE),
    "reserve-epsilon-or-rho": (_FILTER, _FAILURE, _EITHER),
}
"""By the name of the rule that keeps a limit."""
_CALL: Final = re.compile(r"\b([A-Z][A-Za-z]+)\(")


def mechanisms_of(plan: str) -> tuple[str, ...]:
    """Return the mechanisms that a plan names, each once."""
    names = (name for name in _CALL.findall(plan) if name in PROOFS)
    return tuple(dict.fromkeys(names))


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
    """Kind of a line of a plan; "step" where it is not recognised."""
    return next((kind for begin, kind in _KINDS if line.startswith(begin)), "step")


def _tree(lines: list[str]) -> RowStep | None:
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
    # a recorded plan may be nested deeper than Python or a page can follow
    return min((len(line) - len(line.lstrip())) // len(_BRANCH), _DEEPEST)
