"""A law of all columns that fits noisy contrasts, and tables that agree.

Tables that were measured apart agree by weighted least squares: the cells of the finest
table whose sums are nearest to all noisy tables. For any exact tables the mean of what
is found is the exact table: it is linear in noise of the mean 0.

Of all laws on the joint cells that one is taken that is near to the contrasts, each
distance weighed by its precision, and as simple as that allows: the logarithm of the
law is a sum of contrasts whose squares cost something, but little where they are of one
column alone, so that noise alone tends to independent columns. It is found by Newton's
steps in these sums (docs/proofs/margins.md, section 6).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, final

import numpy as np

from sordino.aggregations.margins.crossing import (
    Crossing,
    Levels,
    Numbers,
    Tree,
    add_up,
    spread_out,
)
from sordino.aggregations.margins.measuring import squares_of

Operator: TypeAlias = Callable[[Numbers], Numbers]

_STEPS: Final = 400
_CLOSE: Final = 1e-8


def agree(
    crossing: Crossing,
    finest: Levels,
    noisy: Mapping[Levels, Numbers],
    variances: Mapping[Levels, float],
) -> Numbers:
    """Return the cells of the finest table that noisy tables say together.

    By conjugate gradients, which need no more steps than there are sizes of errors.
    """

    def weigh(cells: Numbers) -> Numbers:
        sums = {table: add_up(crossing, finest, cells, table) for table in noisy}
        return spread_all(sums)

    def spread_all(tables: Mapping[Levels, Numbers]) -> Numbers:
        return sum(
            (
                spread_out(crossing, table, cells / variances[table], finest)
                for table, cells in tables.items()
            ),
            np.zeros(crossing.shape(finest)),
        )

    wanted = spread_all(noisy)
    return solve(weigh, wanted)


def solve(
    weigh: Operator,
    wanted: Numbers,
    scale: Numbers | float = 1.0,
    close: float = _CLOSE,
) -> Numbers:
    """Return x with weigh(x) = wanted, for a symmetric operator without negative sizes.

    Beginning at zero, where several solve it the shortest is found. `scale` is near the
    diagonal of the operator.
    """
    solution = np.zeros_like(wanted)
    left = wanted.copy()
    step = left / scale
    size = goal = float(np.vdot(left, step))
    for _ in range(_STEPS):
        if size <= goal * close**2:
            break
        moved = weigh(step)
        far = size / max(float(np.vdot(step, moved)), np.finfo(float).tiny)
        solution += far * step
        left -= far * moved
        new = left / scale
        last, size = size, float(np.vdot(left, new))
        step = new + size / last * step
    return solution


_WIDEST: Final = 16
"""Matrices of trees are multiplied into ones of up to so many rows."""
_SMALL: Final = 2**17
"""Products of blocks: larger ones are shared by threads, which wait for each other."""
_LAW_STEPS: Final = 50
_HALVINGS: Final = 30
_LAW_CLOSE: Final = 1e-2
"""How near contrasts are to the fit, in deviations of their noise."""
_INNER: Final = 0.1
_SLOPE: Final = 1e-4
_SIMPLICITY: Final = 0.05
"""What a square costs, in units of its noise: fixed on generated people."""
_ALONE: Final = 0.01
"""How much less it costs where it is of one column alone."""


@final
@dataclass(frozen=True, eq=False)
class Basis:
    """All contrasts of joint cells, each in units of the root of its square."""

    factors: tuple[Numbers, ...]

    @classmethod
    def of(cls, crossing: Crossing) -> "Basis":
        """Return the contrasts of all trees together, as few matrices."""
        factors: list[Numbers] = [np.ones((1, 1))]
        for tree in crossing.trees:
            matrix = _matrix(tree)
            if len(factors[-1]) * len(matrix) <= _WIDEST:
                factors[-1] = np.asarray(np.kron(factors[-1], matrix))
            else:
                factors.append(matrix)
        return cls(tuple(factors))

    def contrasts(self, cells: Numbers) -> Numbers:
        """Return all contrasts of cells."""
        return self._apply(cells, self.factors)

    def spread(self, contrasts: Numbers) -> Numbers:
        """Return for each cell the sum of contrasts times what it adds to each."""
        return self._apply(contrasts, tuple(factor.T for factor in self.factors))

    @property
    def sizes(self) -> Numbers:
        """Return the mean of the squares of what the cells add to each contrast."""
        squares = tuple(factor**2 / len(factor) for factor in self.factors)
        return self._apply(np.ones(math.prod(map(len, squares))), squares)

    @staticmethod
    def _apply(numbers: Numbers, factors: tuple[Numbers, ...]) -> Numbers:
        for matrix in reversed(factors):
            size = len(matrix)
            rows = numbers.size // size
            most = max(1, _SMALL // size**2)
            block = next(many for many in range(most, 0, -1) if rows % many == 0)
            blocks = np.ascontiguousarray(numbers).reshape(-1, block, size)
            numbers = (blocks @ matrix.T).reshape(rows, size).T
        return np.ascontiguousarray(numbers).ravel()


def _matrix(tree: Tree) -> Numbers:
    leaves = int(tree.sizes[-1])
    rows = []
    for level in range(tree.depth + 1):
        nodes = np.eye(int(tree.sizes[level]))[:, tree.places[level]]
        rows.append(
            tree.contrasts(level, nodes) / np.sqrt(tree.squares(level))[:, None]
        )
    return np.concatenate(rows).reshape(leaves, leaves)


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """Contrasts that were measured: where they stand, what they are, how exactly."""

    basis: Basis
    places: Numbers
    noisy: Numbers
    precisions: Numbers
    costs: Numbers
    """Of the square of what each contrast has in the logarithm of the law."""
    total: float

    @classmethod
    def of(
        cls,
        crossing: Crossing,
        contrasts: Mapping[Levels, Numbers],
        precisions: Mapping[Levels, float],
    ) -> "Measured":
        """Return contrasts of parts of a crossing, but for the sum of all cells."""
        shape = tuple(int(tree.sizes[-1]) for tree in crossing.trees)
        numbers = np.arange(math.prod(shape)).reshape(shape)
        top = (0,) * len(shape)
        places, noisy, weights, costs = [], [], [], []
        for part, precision in precisions.items():
            if part == top:
                continue
            block = numbers[tuple(_block(crossing, part))].ravel()
            places.append(block)
            root = np.sqrt(squares_of(crossing, part)).ravel()
            noisy.append(contrasts[part].ravel() / root)
            weights.append(np.full(block.size, precision))
            alone = _ALONE if len(part) - part.count(0) == 1 else 1.0
            costs.append(np.full(block.size, _SIMPLICITY * alone / precision))
        return cls(
            Basis.of(crossing),
            np.concatenate(places),
            np.concatenate(noisy),
            np.concatenate(weights),
            np.concatenate(costs),
            max(float(contrasts[top].ravel()[0]), 1.0),
        )


def _block(crossing: Crossing, part: Levels) -> Iterator[slice]:
    """Yield where the contrasts of a part stand along each tree."""
    for tree, level in zip(crossing.trees, part, strict=True):
        first = int(tree.sizes[level - 1]) if level else 0
        yield slice(first, int(tree.sizes[level]))


@final
@dataclass(frozen=True, eq=False)
class _Point:
    """A law, and how far its dual has come."""

    angles: Numbers
    cells: Numbers
    height: float
    rise: Numbers
    seen: Numbers
    """The measured contrasts of the law."""


@final
@dataclass(frozen=True, eq=False)
class _Dual:
    """The dual of the fit: smooth and convex in the angles of the contrasts."""

    measured: Measured

    def at(self, angles: Numbers) -> _Point:
        measured, basis = self.measured, self.measured.basis
        logs = basis.spread(self._tree_levels(angles))
        top = float(logs.max())
        shares = np.exp(logs - top)
        whole = float(shares.sum())
        cells = shares * (measured.total / whole)
        seen = basis.contrasts(cells)[measured.places]
        stiff = measured.costs * angles
        height = measured.total * (math.log(whole) + top)
        height -= float(angles @ measured.noisy)
        height += float(angles @ stiff) / 2
        return _Point(angles, cells, height, seen - measured.noisy + stiff, seen)

    def step(self, point: _Point) -> Numbers:
        measured, basis = self.measured, self.measured.basis

        def weigh(step: Numbers) -> Numbers:
            moved = point.cells * basis.spread(self._tree_levels(step))
            seen = basis.contrasts(moved)[measured.places]
            return np.asarray(
                seen
                - point.seen * (point.seen @ step / measured.total)
                + measured.costs * step
            )

        near = measured.total * basis.sizes[measured.places] + measured.costs
        return -solve(weigh, point.rise, near, close=_INNER)

    def _tree_levels(self, numbers: Numbers) -> Numbers:
        """Return numbers of measured contrasts where they stand among all."""
        placed = np.zeros(math.prod(map(len, self.measured.basis.factors)))
        placed[self.measured.places] = numbers
        return placed


def fit_law(measured: Measured) -> Numbers:
    """Return the expected number of people in each joint cell, all above zero."""
    dual = _Dual(measured)
    point = dual.at(np.zeros(measured.noisy.size))
    for _ in range(_LAW_STEPS):
        size = np.sqrt(measured.precisions) * point.rise
        if float(np.abs(size).max(initial=0.0)) <= _LAW_CLOSE:
            break
        step = dual.step(point)
        slope, part = float(point.rise @ step), 1.0
        for _ in range(_HALVINGS):
            tried = dual.at(point.angles + part * step)
            if tried.height <= point.height + _SLOPE * part * slope:
                break
            part /= 2
        point = tried
    return point.cells
