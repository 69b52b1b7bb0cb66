"""The most memory a noisy array takes while it is made, over its own size."""

import tracemalloc
from typing import Any

import numpy as np

import sordino as sd
from benchmarks.frame import Figure, Row

N = 1_000_000


def peak(mechanism: Any, dtype: Any) -> float:
    """Return the peak of one call over the bytes of its answer."""
    exact = np.zeros(N, dtype)
    mechanism(exact[:10])  # tables that are made once and kept are not the call's
    tracemalloc.start()
    try:
        noisy = mechanism(exact)
        return tracemalloc.get_traced_memory()[1] / float(noisy.nbytes)
    finally:
        tracemalloc.stop()


ROWS: tuple[Row, ...] = (
    Figure(
        what="integer Laplace, n=1e6: peak memory over the output",
        figure=lambda: peak(sd.Geometric(10), np.int64),
        unit="x",
        floor=3,
    ),
    Figure(
        what="float Laplace, n=1e6: peak memory over the output",
        figure=lambda: peak(sd.Laplace(10), np.float64),
        unit="x",
        floor=3,
    ),
    Figure(
        what="integer Gaussian, n=1e6: peak memory over the output",
        figure=lambda: peak(sd.DiscreteGaussian(scale=10), np.int64),
        unit="x",
        floor=3,
    ),
    Figure(
        what="float Gaussian, n=1e6: peak memory over the output",
        figure=lambda: peak(sd.Gaussian(scale=10), np.float64),
        unit="x",
        floor=3,
    ),
)
