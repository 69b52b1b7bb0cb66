"""The list of parts: what holds for every one of them is tested in tests/laws."""

from collections.abc import Callable
from typing import Any, Final

import sordino as sd
from sordino.mechanisms.base import AbstractAdditiveMechanism
from sordino.mechanisms.thresholded import AbstractThresholdMechanism

MECHANISMS: Final[dict[str, Callable[[Any], AbstractAdditiveMechanism]]] = {
    "Laplace": lambda scale: sd.Laplace(scale),
    "Laplace f32": lambda scale: sd.Laplace(scale, dtype="f32"),
    "Laplace grid": lambda scale: sd.Laplace(scale, granularity=-4),
    "Geometric": lambda scale: sd.Geometric(scale),
    "Gaussian": lambda scale: sd.Gaussian(scale=scale),
    "Gaussian grid": lambda scale: sd.Gaussian(scale=scale, granularity=-4),
    "DiscreteGaussian": lambda scale: sd.DiscreteGaussian(scale=scale),
    "DiscreteGaussian i16": lambda scale: sd.DiscreteGaussian(scale=scale, dtype="i16"),
}
"""Every mechanism that adds noise to numbers, by its scale."""

THRESHOLDS: Final[dict[str, Callable[[Any, Any], AbstractThresholdMechanism]]] = {
    "LaplaceThreshold": lambda scale, level: sd.LaplaceThreshold(scale, level),
    "LaplaceThreshold f32": lambda scale, level: sd.LaplaceThreshold(
        scale, level, dtype="f32"
    ),
    "LaplaceThreshold i32": lambda scale, level: sd.LaplaceThreshold(
        scale, level, dtype="i32"
    ),
    "LaplaceThreshold grid": lambda scale, level: sd.LaplaceThreshold(
        scale, level, granularity=-2
    ),
    "GaussianThreshold": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level
    ),
    "GaussianThreshold i64": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level, dtype="i64"
    ),
    "GaussianThreshold grid": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level, granularity=-2
    ),
}
"""Every mechanism that releases maps above a threshold, by its scale and threshold."""
