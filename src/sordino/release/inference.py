"""What follows from the noisy sums and products of a covariance, at no further price.

A regression, a correlation or principal components of any of its columns are functions
of one noisy matrix, whose noise is known (docs/proofs/moments.md, lemma 8):

    S^ = S + E,   S^_xx b^ = S^_xy,   b^ - b* = S^_xx^-1 (E_xy - E_xx b*)

Columns are counted in half widths of their ranges, from -1 to 1. Where the least
eigenvalue of a matrix is no more than 4 sqrt(2) deviations of its noise, it may as well
be zero: then nothing is told. No matrix is mended.
"""

import itertools
import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from sordino.aggregations.covariance import CovarianceEstimator
from sordino.aggregations.intervals import Bars
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.curves.points import Floats
from sordino.numbers.arrays import with_gaps
from sordino.numbers.normal import normal_quantile_of
from sordino.plan.purchase import Purchase

if TYPE_CHECKING:
    import pyarrow as pa


Told: TypeAlias = tuple[Floats, Bars]
"""Estimates, and how far off they may be; NaN where nothing can be told."""

NOT_TOLD: Final = (
    "Estimates that are missing cannot be told from so few rows: the columns vary less "
    "than the noise, or by hardly more."
)
_LEAST: Final = 4 * math.sqrt(2)
"""How many deviations of the noise the least eigenvalue has to exceed."""


@final
@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """The noisy sums of products of 1 and some columns, of each group.

    For any data, `matrices` less the exact ones are the forms in noise of deviation
    `spread`: independent, Gaussian, one for each number that was measured.
    """

    names: tuple[str, ...]
    """The columns; the constant 1 stands before them."""
    keys: "pa.Table"
    matrices: Floats
    """Of each group, in half widths of the ranges."""
    forms: Floats
    """Of each entry, the factor of each number that was measured."""
    spread: float
    centres: Floats
    """Of each column the value that counts as 0, and of 1 the value 0."""
    widths: Floats
    """Half of the width of each range, 1 for the constant."""
    z: float
    """How many deviations an interval reaches."""

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of columns."""
        return [1 + self.names.index(name) for name in names]

    def regress(
        self, answer: str, predictors: Sequence[str], *, population: bool
    ) -> list[Told]:
        """Return the coefficients of each group, the constant first."""
        (y,), x = self.places([answer]), [0, *self.places(predictors)]
        units = self.widths[y] / self.widths[x]
        back = np.diag(units)
        # the constant where all predictors are 0, not in the middle of their ranges
        back[0, 1:] = -units[1:] * self.centres[x[1:]]
        estimates = []
        for matrix in self.matrices:
            known = self._regress(matrix, y, x, population=population)
            if known is None:
                estimates.append(_no_estimates(len(x)))
                continue
            slopes, covariance = known
            value = back @ slopes
            value[0] += self.centres[y]
            sd = np.sqrt(np.einsum("ij,jk,ik->i", back, covariance, back))
            estimates.append(self._bars_of(value, sd))
        return estimates

    def _regress(
        self, matrix: Floats, y: int, x: list[int], *, population: bool
    ) -> tuple[Floats, Floats] | None:
        """Coefficients and their covariance, None where they cannot be told."""
        square, beside = matrix[np.ix_(x, x)], matrix[x, y]
        if not self._is_told(square):
            return None
        slopes: Floats = np.asarray(np.linalg.solve(square, beside), np.float64)
        # e = E_xy - E_xx b, at the b that was found
        off = self.forms[x, y] - np.einsum(
            "ijn,j->in", self.forms[np.ix_(x, x)], slopes
        )
        inverse = np.linalg.inv(square)
        noise = off @ off.T * self.spread**2
        covariance: Floats = inverse @ noise @ inverse
        if population:
            left = max(matrix[y, y] - slopes @ beside, 0.0)
            covariance += inverse * left / max(matrix[0, 0] - len(x), 1.0)
        return slopes, covariance

    def correlate(self, pairs: Sequence[tuple[str, str]]) -> list[Told]:
        """Return the correlations of pairs of columns in each group."""
        places = [self.places(pair) for pair in pairs]
        return [self._correlate(matrix, places) for matrix in self.matrices]

    def _correlate(self, matrix: Floats, pairs: Sequence[Sequence[int]]) -> Told:
        values, sds = np.full((2, len(pairs)), np.nan)
        for at, pair in enumerate(pairs):
            if self._vary(matrix, pair):
                values[at], slope = _correlation(matrix, *pair)
                # to first order r moves by slope times the noise of each entry
                moved = np.einsum("ij,ijn->n", slope, self.forms)
                sds[at] = self.spread * np.linalg.norm(moved)
        _, bars = self._bars_of(values, sds)
        return np.clip(values, -1, 1), bars.clip(-1.0, 1.0)

    def components(self, names: Sequence[str]) -> list[Floats]:
        """Return the principal components of each group, the largest first.

        A row for each: its share of the variance of columns in units of their own
        deviations, then its loadings. NaN where they cannot be told.
        """
        places = self.places(names)
        estimates = list[Floats]()
        for matrix in self.matrices:
            if not self._vary(matrix, places):
                estimates.append(np.full((len(places), 1 + len(places)), np.nan))
                continue
            pairs = [[_correlation(matrix, i, j)[0] for j in places] for i in places]
            sizes, loadings = np.linalg.eigh(np.array(pairs))
            # each with its largest loading above zero, so that all are told alike
            largest = loadings[np.abs(loadings).argmax(axis=0), range(len(places))]
            rows = np.vstack([sizes / len(places), loadings * np.sign(largest)]).T
            estimates.append(rows[::-1])
        return estimates

    def _vary(self, matrix: Floats, places: Sequence[int]) -> bool:
        """Tell whether each of some columns varies more than its noise."""
        return all(self._is_told(matrix[np.ix_([0, k], [0, k])]) for k in places)

    def _is_told(self, square: Floats) -> bool:
        return bool(np.linalg.eigvalsh(square)[0] > _LEAST * self.spread)

    def _bars_of(self, value: Floats, sd: Floats) -> Told:
        return value, Bars(sd, value - self.z * sd, value + self.z * sd)


def noisy_moments(purchase: Purchase, table: "pa.Table") -> Mapping[str, NoisyMoments]:
    """Return the noisy matrices of the covariances of a release, by their names.

    A function of the request, its price and the answers, as the laws of answers are.
    """
    plan = purchase.plan
    pairs = zip(plan.request.columns, plan.estimators, strict=True)
    return {
        name: _moments_of(name, estimator, purchase, table)
        for (name, _), estimator in pairs
        if isinstance(estimator, CovarianceEstimator)
    }


def _moments_of(
    name: str, estimator: CovarianceEstimator, purchase: Purchase, table: "pa.Table"
) -> NoisyMoments:
    (measurement,) = estimator.measurements
    noise = measurement.noise(purchase.noise[measurement.key])
    widths = np.array([1.0, *(float(each.reach) for each in estimator.ranges)])
    size = len(widths)
    request = purchase.plan.request
    answers = iter(dict(request.columns)[name].columns(name))
    matrices = np.empty((table.num_rows, size, size))
    forms = np.zeros((size, size, len(measurement.totals)))
    places = [(0, 0), *((0, k) for k in range(1, size))]
    places += itertools.combinations_with_replacement(range(1, size), 2)
    for (i, j), form in zip(places, estimator.number_forms, strict=True):
        unit = widths[i] * widths[j]
        cells = table[next(answers)].to_numpy(zero_copy_only=False)
        matrices[:, i, j] = matrices[:, j, i] = cells / unit
        for (_, number), factor in form.factors.items():
            forms[i, j, number] = forms[j, i, number] = factor / unit
    return NoisyMoments(
        estimator.columns,
        table.select([*request.by]),
        matrices,
        forms,
        noise.sd,
        np.array([0.0, *(float(each.centre) for each in estimator.ranges)]),
        widths,
        float(normal_quantile_of(np.array([(1 + float(request.confidence)) / 2]))[0]),
    )


def _no_estimates(size: int) -> Told:
    nothing = np.full(size, np.nan)
    return nothing, Bars(nothing, nothing, nothing)


def _correlation(matrix: Floats, i: int, j: int) -> tuple[float, Floats]:
    """Return r, and by how much it moves with each entry of the matrix.

    r = c_ij / sqrt(c_ii c_jj) with c_ij = m_00 m_ij - m_0i m_0j.
    """

    def product(k: int, m: int) -> tuple[float, Floats]:
        slope = np.zeros_like(matrix)
        slope[0, 0] += matrix[k, m]
        slope[k, m] += matrix[0, 0]
        slope[0, k] -= matrix[0, m]
        slope[0, m] -= matrix[0, k]
        return float(matrix[0, 0] * matrix[k, m] - matrix[0, k] * matrix[0, m]), slope

    (both, up), (size, first), (size_of_other, second) = (
        product(i, j),
        product(i, i),
        product(j, j),
    )
    root = math.sqrt(size * size_of_other)
    r = both / root
    return r, up / root - r / 2 * (first / size + second / size_of_other)


def find_moments(
    known: Mapping[str, NoisyMoments] | None, names: Sequence[str]
) -> NoisyMoments:
    """Return the smallest covariance that has some columns, or refuse."""
    if known is None:
        raise InvalidQuery(
            "of this release only the numbers are known, not what noise is in them",
            "Ask the session for it again, by its key: that costs nothing.",
        )
    if len(names) < 1 or len({*names}) < len(names):
        raise InvalidParameter(
            "columns", list(names), "must be different columns", "Name each once."
        )
    fitting = [each for each in known.values() if {*names} <= {*each.names}]
    if not fitting:
        listed = [list(each.names) for each in known.values()]
        raise InvalidParameter(
            "columns",
            list(names),
            f"must be columns of one covariance, and there are {listed}",
            f"Ask agg(c=sd.covariance({list(names)!r}, bounds)).",
        )
    return min(fitting, key=lambda each: len(each.names))


def estimates_tables(
    moments: NoisyMoments, terms: Sequence[str], estimates: Sequence[Told]
) -> "tuple[pa.Table, pa.Table]":
    """Return a row for each group and term, and the errors of the estimates."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    keys: dict[str, Any] = {}
    rows = pa.array(np.repeat(np.arange(len(moments.matrices)), len(terms)))
    for name in moments.keys.column_names:
        keys[name] = moments.keys[name].take(rows)
    keys[new_name("term", keys)] = pa.array([*terms] * len(estimates), pa.string())
    values = np.concatenate([value for value, _ in estimates])
    parts = zip(*(bars for _, bars in estimates), strict=True)
    bars = Bars(*map(np.concatenate, parts))
    table = pa.table(keys | {"estimate": with_gaps(values)})
    return table, pa.table(keys | bars.columns("estimate"))


def components_table(
    moments: NoisyMoments, names: Sequence[str], estimates: Sequence[Floats]
) -> "pa.Table":
    """Return a row for each group and component."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    columns: dict[str, Any] = {}
    rows = pa.array(np.repeat(np.arange(len(estimates)), len(names)))
    for name in moments.keys.column_names:
        columns[name] = moments.keys[name].take(rows)
    place = np.tile(np.arange(1, len(names) + 1), len(estimates))
    columns[new_name("component", columns)] = pa.array(place)
    cells = np.concatenate(estimates)
    for name, values in zip(("share", *names), cells.T, strict=True):
        columns[new_name(name, columns)] = with_gaps(values)
    return pa.table(columns)


def new_name(name: str, taken: Container[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name
