# The public names, each in one place: Python reads these lines when one is used.

from sordino import errors as errors
from sordino.aggregations.bounds import bounds as bounds
from sordino.aggregations.count import count as count
from sordino.aggregations.count_distinct import count_distinct as count_distinct
from sordino.aggregations.count_ids import count_ids as count_ids
from sordino.aggregations.histogram import histogram as histogram
from sordino.aggregations.mean import mean as mean
from sordino.aggregations.quantile import max as max  # noqa: A004 the word for it
from sordino.aggregations.quantile import median as median
from sordino.aggregations.quantile import min as min  # noqa: A004 the word for it
from sordino.aggregations.quantile import quantile as quantile
from sordino.aggregations.quantile import quantiles as quantiles
from sordino.aggregations.sum import sum as sum  # noqa: A004 the word for it
from sordino.aggregations.variance import stdev as stdev
from sordino.aggregations.variance import variance as variance
from sordino.budgets.calibration import calibrate as calibrate
from sordino.budgets.limits import Limit as Limit
from sordino.budgets.risk import Advantage as Advantage
from sordino.budgets.risk import ErrorRates as ErrorRates
from sordino.budgets.table_blocks import Blocks as Blocks
from sordino.constraints import DropExcess as DropExcess
from sordino.constraints import DropNonUnique as DropNonUnique
from sordino.constraints import MaxGroupsPerID as MaxGroupsPerID
from sordino.constraints import MaxRowsPerGroupPerID as MaxRowsPerGroupPerID
from sordino.constraints import MaxRowsPerID as MaxRowsPerID
from sordino.curves.loss_variables import PLRVs as PLRVs
from sordino.curves.loss_variables import get_beta as get_beta
from sordino.expressions.bins import Bins as Bins
from sordino.expressions.language import Expression as Expression
from sordino.expressions.language import col as col
from sordino.expressions.language import lit as lit
from sordino.expressions.language import when as when
from sordino.keysets.keyset import KeySet as KeySet
from sordino.ledger.entries import Entry as Entry
from sordino.ledger.ledger import Ledger as Ledger
from sordino.losses.base import Budget as Budget
from sordino.losses.base import Loss as Loss
from sordino.losses.base import PureDP as PureDP
from sordino.losses.base import compose as compose
from sordino.losses.bounded_range import BoundedRangeLoss as BoundedRangeLoss
from sordino.losses.closed import ZCDP as ZCDP
from sordino.losses.closed import ApproxDP as ApproxDP
from sordino.losses.closed import ApproxZCDP as ApproxZCDP
from sordino.losses.closed import GaussianDP as GaussianDP
from sordino.losses.interop import from_dp_accounting as from_dp_accounting
from sordino.losses.interop import to_dp_accounting as to_dp_accounting
from sordino.losses.noise_losses import DiscreteGaussianLoss as DiscreteGaussianLoss
from sordino.losses.noise_losses import GeometricLoss as GeometricLoss
from sordino.losses.noise_losses import LaplaceLoss as LaplaceLoss
from sordino.losses.noise_losses import RandomizedResponseLoss as RandomizedResponseLoss
from sordino.losses.tradeoff import TradeoffCurve as TradeoffCurve
from sordino.mechanisms.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from sordino.mechanisms.exponential import Exponential as Exponential
from sordino.mechanisms.gaussian import Gaussian as Gaussian
from sordino.mechanisms.gaussian_threshold import GaussianThreshold as GaussianThreshold
from sordino.mechanisms.geometric import Geometric as Geometric
from sordino.mechanisms.laplace import Laplace as Laplace
from sordino.mechanisms.laplace_threshold import LaplaceThreshold as LaplaceThreshold
from sordino.mechanisms.randomized_response import (
    RandomizedResponse as RandomizedResponse,
)
from sordino.notebook.magics import load_ipython_extension as load_ipython_extension
from sordino.planning.batch import Batch as Batch
from sordino.planning.price import Price as Price
from sordino.policy.signed import Policy as Policy
from sordino.query.builder import Query as Query
from sordino.query.builder import table as table
from sordino.query.functions import udf as udf
from sordino.query.request import Request as Request
from sordino.query.tables import PrivateTable as PrivateTable
from sordino.query.tables import PublicTable as PublicTable
from sordino.release.label import Label as Label
from sordino.release.release import Release as Release
from sordino.release.released_files import ReleasedFiles as ReleasedFiles
from sordino.release.stacked import stack as stack
from sordino.schema import Column as Column
from sordino.sensitivity import Sensitivity as Sensitivity
from sordino.session.inspection import inspect as inspect
from sordino.session.invented_session import Rehearsal as Rehearsal
from sordino.session.invented_session import rehearsal as rehearsal
from sordino.session.session import Session as Session
from sordino.session.suggestion import Suggestion as Suggestion
from sordino.sources.csv_format import Csv as Csv
from sordino.units import AddMaxRows as AddMaxRows
from sordino.units import AddMaxRowsInMaxGroups as AddMaxRowsInMaxGroups
from sordino.units import AddMaxTotal as AddMaxTotal
from sordino.units import AddOneRow as AddOneRow
from sordino.units import AddRowsWithID as AddRowsWithID
from sordino.units import ChangeOneRow as ChangeOneRow

__version__: str
