"""Places on a picture in percent of its width, so that letters never shrink.

>>> scale = scale_around([-25.0, 0.0, 65.0])
>>> scale.least, scale.most, scale.ticks
(-25.0, 65.0, (-25.0, 0.0, 25.0, 50.0))
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, final

_STEPS: Final = (1.0, 2.0, 2.5, 5.0)
_FINEST: Final = 1e-290
"""A scale that is narrower has no round numbers of its own."""


@final
@dataclass(frozen=True)
class Scale:
    """Where numbers lie between the least and the most of a picture."""

    least: float
    most: float

    def place(self, number: float) -> float:
        """Return where a number lies, in percent."""
        return 100 * ((number - self.least) / (self.most - self.least))

    @cached_property
    def ticks(self) -> tuple[float, ...]:
        """Return round numbers to stand on the scale: two to four, if it is finite.

        Their distance is the largest of 1, 2, 2.5, 5 times a power of ten that is at
        most half of the scale.
        """
        half = (self.most - self.least) / 2
        power = 10.0 ** math.floor(math.log10(half))
        step = max(
            (size * power for size in _STEPS if size * power <= half), default=power
        )
        first = math.ceil(self.least / step)
        last = math.floor(self.most / step)
        return tuple(step * place for place in range(first, last + 1))


def scale_around(numbers: Iterable[float | None]) -> Scale:
    """Return a scale with zero that holds all finite numbers."""
    finite = [0.0, *(n for n in numbers if n is not None and math.isfinite(n))]
    least, most = min(finite), max(finite)
    usable = _FINEST < most - least < math.inf
    return Scale(least, most) if usable else Scale(least, least + 1)
