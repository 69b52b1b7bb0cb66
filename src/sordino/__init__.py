"""Publish statistics about people with a proof of privacy.

>>> import sordino as sd
>>> sd.Laplace(scale=2).map(1).epsilon
Fraction(1, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sordino import errors

if TYPE_CHECKING:
    from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
    from sordino.mechanisms.discrete_gaussian import DiscreteGaussian
    from sordino.mechanisms.gaussian import Gaussian
    from sordino.mechanisms.geometric import Geometric
    from sordino.mechanisms.laplace import Laplace
    from sordino.sensitivity import Sensitivity

_HOMES = {
    "ApproxDP": "losses.closed",
    "ApproxZCDP": "losses.closed",
    "DiscreteGaussian": "mechanisms.discrete_gaussian",
    "Gaussian": "mechanisms.gaussian",
    "GaussianDP": "losses.closed",
    "Geometric": "mechanisms.geometric",
    "Laplace": "mechanisms.laplace",
    "PureDP": "losses.closed",
    "Sensitivity": "sensitivity",
    "ZCDP": "losses.closed",
}

__all__ = [
    "ApproxDP",
    "ApproxZCDP",
    "DiscreteGaussian",
    "Gaussian",
    "GaussianDP",
    "Geometric",
    "Laplace",
    "PureDP",
    "Sensitivity",
    "ZCDP",
    "errors",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sordino' has no attribute {name!r}")
    value = getattr(import_module(f"sordino.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
