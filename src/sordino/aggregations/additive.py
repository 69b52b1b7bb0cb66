"""The form of answers that are noisy numbers of one part, as they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from sordino.aggregations.base import AbstractEstimator, Expected, Finished, Noisy
from sordino.aggregations.intervals import additive
from sordino.aggregations.measurements import AbstractMeasurement

_WHOLE: Final = (Fraction(1),)


@final
@dataclass(frozen=True)
class SingleEstimator(AbstractEstimator):
    """Numbers with noise, unbiased; their intervals are cut to the public range."""

    measurements: tuple[AbstractMeasurement]
    least: float = -np.inf
    shares: tuple[Fraction, ...] = _WHOLE

    def expected(self, mechanisms: Sequence[Any], confidence: Fraction) -> Expected:
        """Return the spread of the noise."""
        noise = self.measurements[0].noise(mechanisms[0])
        return Expected(noise.sd, noise.reach(confidence))

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the numbers as they are."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        noise = self.measurements[0].noise(noisy[0].mechanism)
        return tuple(
            Finished(pa.array(values), additive(values, noise, confidence, self.least))
            for values in noisy[0].values
        )
