"""How far each noisy number may lie from the exact one.

Functions of noisy numbers and of public facts alone, so they cost no privacy. For any
data, the exact answer lies in [low, high] with at least the given confidence, over the
noise; for a group that shows because a noisy number reached a threshold, given that it
shows. Exact means after clamping and truncation: what these took away, no error bar
shows. Proofs in docs/proofs/intervals.md.

| case | sd | low and high |
|---|---|---|
| the value is missing (NaN) | NaN | NaN |
| no noise | 0 | the value |
| confidence 1 | as ever | infinite, or the public range |
| a divisor that may be 0 | NaN | the whole public range |
| the noise left the public range | as ever | those of the nearest possible answer |

>>> from sordino.noise.laplace import Geometric
>>> bars = additive([120, 3], Noise(Geometric(2)), "0.95", least=0)
>>> bars.low.tolist(), bars.high.tolist(), bars.sd.round(3).tolist()
([114.0, 0.0], [126.0, 9.0], [2.799, 2.799])
"""

from sordino.aggregations.intervals.computed import (
    AnswerLaws,
    ComputedAnswer,
    Linear,
    NumberForm,
    NumberNoises,
)
from sordino.aggregations.intervals.linear_forms import (
    Bars,
    Noise,
    Shown,
    Sums,
    additive,
    error_names,
    linear,
    names_among,
    rank_names,
    reach,
    unknown_bars,
)
from sordino.aggregations.intervals.quotients import quotient_bars, spread_bars

__all__ = [
    "AnswerLaws",
    "Bars",
    "ComputedAnswer",
    "Linear",
    "Noise",
    "NumberForm",
    "NumberNoises",
    "Shown",
    "Sums",
    "additive",
    "error_names",
    "linear",
    "names_among",
    "quotient_bars",
    "rank_names",
    "reach",
    "spread_bars",
    "unknown_bars",
]
