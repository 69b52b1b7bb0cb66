"""The form of answers that are noisy numbers of one part, as they stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from sordino.aggregations.base import AbstractEstimator, Expected, Finished, Noisy
from sordino.aggregations.intervals import Shown, Sums, additive, linear
from sordino.aggregations.measurements import AbstractMeasurement


@final
@dataclass(frozen=True)
class SingleEstimator(AbstractEstimator):
    """Numbers with noise, unbiased; their intervals are cut to the public range."""

    measurements: tuple[AbstractMeasurement]
    least: float = -np.inf
    most: float = np.inf
    slopes: tuple[float, ...] = (1.0,)

    def expected_error(
        self, mechanisms: Sequence[Any], confidence: Fraction
    ) -> Expected:
        """Return the spread of the noise."""
        noise = self.measurements[0].noise(mechanisms[0])
        return Expected(noise.sd, noise.reach(confidence))

    def finish(
        self, noisy: Sequence[Noisy], confidence: Fraction
    ) -> tuple[Finished, ...]:
        """Return the numbers as they are."""
        import pyarrow as pa  # noqa: PLC0415 loaded when needed

        (numbers,) = noisy
        noise = self.measurements[0].noise(numbers.mechanism)
        if numbers.cut is None:
            bars = [
                additive(values, noise, confidence, self.least, self.most)
                for values in numbers.values
            ]
        else:
            (values,) = numbers.values
            whole = values.dtype.kind == "i"
            shown = Shown((1.0,), float(numbers.cut))
            sums = Sums((values.astype(np.float64),), (noise,), shown)
            ends = self.least, self.most
            bars = [linear(sums, (1.0,), confidence, *ends, whole=whole)]
        pairs = zip(numbers.values, bars, strict=True)
        return tuple(Finished(pa.array(values), bar) for values, bar in pairs)
