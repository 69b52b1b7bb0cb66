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
    from sordino.aggregations.bounds import bounds
    from sordino.aggregations.count import count
    from sordino.aggregations.count_distinct import count_distinct
    from sordino.aggregations.count_ids import count_ids
    from sordino.aggregations.histogram import histogram
    from sordino.aggregations.mean import mean
    from sordino.aggregations.quantile import (
        max,  # noqa: A004 the word for it
        median,
        min,  # noqa: A004 the word for it
        quantile,
        quantiles,
    )
    from sordino.aggregations.sum import sum  # noqa: A004 the word for it
    from sordino.aggregations.variance import stdev, variance
    from sordino.budgets.calibration import calibrate
    from sordino.budgets.limits import Limit
    from sordino.budgets.risk import Advantage, ErrorRates
    from sordino.constraints import (
        DropExcess,
        DropNonUnique,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        MaxRowsPerID,
    )
    from sordino.expressions.bins import Bins
    from sordino.expressions.language import Expression, col, lit, when
    from sordino.keysets.keyset import KeySet
    from sordino.ledger.entries import Entry
    from sordino.ledger.ledger import Ledger
    from sordino.losses.base import Budget, Loss, compose
    from sordino.losses.bounded_range import BoundedRangeLoss
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
    from sordino.mechanisms.exponential import Exponential
    from sordino.mechanisms.gaussian import Gaussian
    from sordino.mechanisms.gaussian_threshold import GaussianThreshold
    from sordino.mechanisms.geometric import Geometric
    from sordino.mechanisms.laplace import Laplace
    from sordino.mechanisms.laplace_threshold import LaplaceThreshold
    from sordino.mechanisms.randomized_response import RandomizedResponse
    from sordino.planning.batch import Batch
    from sordino.planning.price import Price
    from sordino.query.builder import Query, table
    from sordino.query.functions import udf
    from sordino.query.request import Request
    from sordino.query.tables import PrivateTable, PublicTable
    from sordino.release.release import Release
    from sordino.schema import Column
    from sordino.sensitivity import Sensitivity
    from sordino.session.inspection import inspect
    from sordino.session.session import Session
    from sordino.sources.csv_format import Csv
    from sordino.units import (
        AddMaxRows,
        AddMaxRowsInMaxGroups,
        AddOneRow,
        AddRowsWithID,
    )

__all__ = [
    "ZCDP",
    "AddMaxRows",
    "AddMaxRowsInMaxGroups",
    "AddOneRow",
    "AddRowsWithID",
    "Advantage",
    "ApproxDP",
    "ApproxZCDP",
    "Batch",
    "Bins",
    "BoundedRangeLoss",
    "Budget",
    "Column",
    "Csv",
    "DiscreteGaussian",
    "DiscreteGaussianLoss",
    "DropExcess",
    "DropNonUnique",
    "Entry",
    "ErrorRates",
    "Exponential",
    "Expression",
    "Gaussian",
    "GaussianDP",
    "GaussianThreshold",
    "Geometric",
    "GeometricLoss",
    "KeySet",
    "Laplace",
    "LaplaceLoss",
    "LaplaceThreshold",
    "Ledger",
    "Limit",
    "Loss",
    "MaxGroupsPerID",
    "MaxRowsPerGroupPerID",
    "MaxRowsPerID",
    "PLRVs",
    "Price",
    "PrivateTable",
    "PublicTable",
    "PureDP",
    "Query",
    "RandomizedResponse",
    "RandomizedResponseLoss",
    "Release",
    "Request",
    "Sensitivity",
    "Session",
    "TradeoffCurve",
    "bounds",
    "calibrate",
    "col",
    "compose",
    "count",
    "count_distinct",
    "count_ids",
    "errors",
    "from_dp_accounting",
    "get_beta",
    "histogram",
    "inspect",
    "lit",
    "max",
    "mean",
    "median",
    "min",
    "quantile",
    "quantiles",
    "stdev",
    "sum",
    "table",
    "to_dp_accounting",
    "udf",
    "variance",
    "when",
]

_HOMES = {
    "budgets.calibration": ("calibrate",),
    "ledger.ledger": ("Ledger",),
    "budgets.limits": ("Limit",),
    "budgets.risk": ("Advantage", "ErrorRates"),
    "ledger.entries": ("Entry",),
    "losses.base": ("Budget", "Loss", "compose"),
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
    "aggregations.bounds": ("bounds",),
    "aggregations.count": ("count",),
    "aggregations.histogram": ("histogram",),
    "aggregations.count_ids": ("count_ids",),
    "aggregations.count_distinct": ("count_distinct",),
    "aggregations.sum": ("sum",),
    "aggregations.mean": ("mean",),
    "aggregations.variance": ("variance", "stdev"),
    "aggregations.quantile": ("quantile", "quantiles", "median", "min", "max"),
    "constraints": (
        "MaxRowsPerID",
        "MaxGroupsPerID",
        "MaxRowsPerGroupPerID",
        "DropExcess",
        "DropNonUnique",
    ),
    "units": ("AddOneRow", "AddMaxRows", "AddMaxRowsInMaxGroups", "AddRowsWithID"),
    "sources.csv_format": ("Csv",),
    "expressions.bins": ("Bins",),
    "expressions.language": ("Expression", "col", "lit", "when"),
    "keysets.keyset": ("KeySet",),
    "planning.batch": ("Batch",),
    "query.builder": ("Query", "table"),
    "query.functions": ("udf",),
    "planning.price": ("Price",),
    "query.request": ("Request",),
    "query.tables": ("PrivateTable", "PublicTable"),
    "release.release": ("Release",),
    "schema": ("Column",),
    "session.inspection": ("inspect",),
    "session.session": ("Session",),
    "mechanisms.exponential": ("Exponential",),
    "mechanisms.randomized_response": ("RandomizedResponse",),
    "losses.bounded_range": ("BoundedRangeLoss",),
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
