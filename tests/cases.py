"""The list of parts: what holds for every one of them is tested in tests/laws."""

from collections.abc import Callable
from typing import Any, Final

import sordino as sd
from sordino.mechanisms.base import AbstractMechanism

MECHANISMS: Final[dict[str, Callable[[Any], AbstractMechanism]]] = {
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
