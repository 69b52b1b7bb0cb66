"""Publish statistics about people with a proof of privacy.

Public is what `__all__` names; each name is imported when it is first used.

>>> import sordino as sd
>>> sd.Laplace(scale=2).map(1).epsilon
Fraction(1, 2)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sordino import errors
    from sordino.accounting.calibrate import calibrate
    from sordino.accounting.risk import Advantage, ErrorRates
    from sordino.losses.base import Loss, compose
    from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP
    from sordino.losses.interop import from_dp_accounting, to_dp_accounting
    from sordino.losses.noise import (
        DiscreteGaussianLoss,
        GeometricLoss,
        LaplaceLoss,
        RandomizedResponseLoss,
    )
    from sordino.losses.tradeoff import PLRVs, TradeoffCurve, get_beta
    from sordino.mechanisms.discrete_gaussian import DiscreteGaussian
    from sordino.mechanisms.gaussian import Gaussian
    from sordino.mechanisms.gaussian_threshold import GaussianThreshold
    from sordino.mechanisms.geometric import Geometric
    from sordino.mechanisms.laplace import Laplace
    from sordino.mechanisms.laplace_threshold import LaplaceThreshold
    from sordino.sensitivity import Sensitivity

__all__ = [
    "ZCDP",
    "Advantage",
    "ApproxDP",
    "ApproxZCDP",
    "DiscreteGaussian",
    "DiscreteGaussianLoss",
    "ErrorRates",
    "Gaussian",
    "GaussianDP",
    "GaussianThreshold",
    "Geometric",
    "GeometricLoss",
    "Laplace",
    "LaplaceLoss",
    "LaplaceThreshold",
    "Loss",
    "PLRVs",
    "PureDP",
    "RandomizedResponseLoss",
    "Sensitivity",
    "TradeoffCurve",
    "calibrate",
    "compose",
    "errors",
    "from_dp_accounting",
    "get_beta",
    "to_dp_accounting",
]

_HOMES = {
    "accounting.calibrate": ("calibrate",),
    "accounting.risk": ("Advantage", "ErrorRates"),
    "losses.base": ("Loss", "compose"),
    "losses.closed": ("PureDP", "ApproxDP", "ZCDP", "ApproxZCDP", "GaussianDP"),
    "losses.interop": ("from_dp_accounting", "to_dp_accounting"),
    "losses.noise": (
        "LaplaceLoss",
        "GeometricLoss",
        "DiscreteGaussianLoss",
        "RandomizedResponseLoss",
    ),
    "losses.tradeoff": ("PLRVs", "TradeoffCurve", "get_beta"),
    "mechanisms.discrete_gaussian": ("DiscreteGaussian",),
    "mechanisms.gaussian": ("Gaussian",),
    "mechanisms.gaussian_threshold": ("GaussianThreshold",),
    "mechanisms.geometric": ("Geometric",),
    "mechanisms.laplace": ("Laplace",),
    "mechanisms.laplace_threshold": ("LaplaceThreshold",),
    "sensitivity": ("Sensitivity",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def _imported(name: str) -> Any:
    """Import a public name on first use, so that `import sordino` costs nothing."""
    if name == "errors":
        return import_module("sordino.errors")
    if name not in _HOME:
        message = f"sordino has no {name}; it has {', '.join(__all__)}"
        raise AttributeError(message)
    value = getattr(import_module(f"sordino.{_HOME[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # a type checker would take this for leave to use any name
    __getattr__ = _imported


def __dir__() -> list[str]:
    """List the public names."""
    return list(__all__)
