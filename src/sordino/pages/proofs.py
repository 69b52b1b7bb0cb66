"""Where the price of each mechanism is proved: a file of docs/proofs, and its section.

>>> mechanisms_of("n = count() with Geometric(scale=3, dtype='i64')")
('Geometric',)
"""

import re
from collections.abc import Mapping
from typing import Final

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
