# The public names, each in one place: Python reads these lines when one is used.

from sordino import errors as errors
from sordino.aggregations.choices import bounds as bounds
from sordino.aggregations.count import count as count
from sordino.aggregations.count import count_distinct as count_distinct
from sordino.aggregations.count import count_ids as count_ids
from sordino.aggregations.count import histogram as histogram
from sordino.aggregations.covariance import covariance as covariance
from sordino.aggregations.mean import mean as mean
from sordino.aggregations.mean import share as share
from sordino.aggregations.mean import stdev as stdev
from sordino.aggregations.mean import variance as variance
from sordino.aggregations.quantile import max as max  # noqa: A004 the word for it
from sordino.aggregations.quantile import median as median
from sordino.aggregations.quantile import min as min  # noqa: A004 the word for it
from sordino.aggregations.quantile import quantile as quantile
from sordino.aggregations.quantile import quantiles as quantiles
from sordino.aggregations.sum import sum as sum  # noqa: A004 the word for it
from sordino.auditing.black_box import audit as audit
from sordino.data.csv import Csv as Csv
from sordino.data.keyset import KeySet as KeySet
from sordino.data.limits import DropExcess as DropExcess
from sordino.data.limits import DropNonUnique as DropNonUnique
from sordino.data.limits import MaxGroupsPerID as MaxGroupsPerID
from sordino.data.limits import MaxRowsPerGroupPerID as MaxRowsPerGroupPerID
from sordino.data.limits import MaxRowsPerID as MaxRowsPerID
from sordino.data.tables import PrivateTable as PrivateTable
from sordino.data.tables import PublicTable as PublicTable
from sordino.data.units import AddMaxRows as AddMaxRows
from sordino.data.units import AddMaxRowsInMaxGroups as AddMaxRowsInMaxGroups
from sordino.data.units import AddMaxTotal as AddMaxTotal
from sordino.data.units import AddOneRow as AddOneRow
from sordino.data.units import AddRowsWithID as AddRowsWithID
from sordino.data.units import ChangeOneRow as ChangeOneRow
from sordino.data.workbooks import Workbook as Workbook
from sordino.expressions.bins import Bins as Bins
from sordino.expressions.language import Expression as Expression
from sordino.expressions.language import col as col
from sordino.expressions.language import lit as lit
from sordino.expressions.language import when as when
from sordino.expressions.schema import Column as Column
from sordino.ledger.ledger import Ledger as Ledger
from sordino.ledger.policy_file import Policy as Policy
from sordino.ledger.record_kinds import Entry as Entry
from sordino.losses.budgets.blocks import Blocks as Blocks
from sordino.losses.budgets.limits import Limit as Limit
from sordino.losses.budgets.risk import Advantage as Advantage
from sordino.losses.budgets.risk import ErrorRates as ErrorRates
from sordino.losses.budgets.risk import calibrate as calibrate
from sordino.losses.closed import ZCDP as ZCDP
from sordino.losses.closed import ApproxDP as ApproxDP
from sordino.losses.closed import ApproxZCDP as ApproxZCDP
from sordino.losses.closed import GaussianDP as GaussianDP
from sordino.losses.curves.tradeoff import PLRVs as PLRVs
from sordino.losses.curves.tradeoff import TradeoffCurve as TradeoffCurve
from sordino.losses.curves.tradeoff import get_beta as get_beta
from sordino.losses.interop import from_dp_accounting as from_dp_accounting
from sordino.losses.interop import to_dp_accounting as to_dp_accounting
from sordino.losses.loss import Budget as Budget
from sordino.losses.loss import Loss as Loss
from sordino.losses.loss import PureDP as PureDP
from sordino.losses.loss import compose as compose
from sordino.noise.exponential import BoundedRangeLoss as BoundedRangeLoss
from sordino.noise.exponential import Exponential as Exponential
from sordino.noise.gaussian import DiscreteGaussian as DiscreteGaussian
from sordino.noise.gaussian import DiscreteGaussianLoss as DiscreteGaussianLoss
from sordino.noise.gaussian import Gaussian as Gaussian
from sordino.noise.laplace import Geometric as Geometric
from sordino.noise.laplace import GeometricLoss as GeometricLoss
from sordino.noise.laplace import Laplace as Laplace
from sordino.noise.laplace import LaplaceLoss as LaplaceLoss
from sordino.noise.randomized_response import RandomizedResponse as RandomizedResponse
from sordino.noise.randomized_response import (
    RandomizedResponseLoss as RandomizedResponseLoss,
)
from sordino.noise.sensitivity import Sensitivity as Sensitivity
from sordino.noise.threshold.gaussian import GaussianThreshold as GaussianThreshold
from sordino.noise.threshold.laplace import LaplaceThreshold as LaplaceThreshold
from sordino.office.label.views import Label as Label
from sordino.office.notebook.magics import (
    load_ipython_extension as load_ipython_extension,
)
from sordino.office.service.connection import Connection as Connection
from sordino.office.service.connection import connect as connect
from sordino.plan.price import Batch as Batch
from sordino.plan.price import Price as Price
from sordino.query.builder import Query as Query
from sordino.query.builder import table as table
from sordino.query.functions import udf as udf
from sordino.query.request import Request as Request
from sordino.release.release import Release as Release
from sordino.release.released_files import ReleasedFiles as ReleasedFiles
from sordino.release.releases import stack as stack
from sordino.session.inspection import inspect as inspect
from sordino.session.rehearsal import Rehearsal as Rehearsal
from sordino.session.rehearsal import rehearsal as rehearsal
from sordino.session.session import Session as Session
from sordino.session.suggestion import Suggestion as Suggestion

__version__: str
