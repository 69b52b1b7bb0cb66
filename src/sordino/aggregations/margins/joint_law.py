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
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Final, TypeAlias, final

import numpy as np

from sordino.aggregations.margins.crossing import (
    Crossing,
    Halving,
    Integers,
    Levels,
    Numbers,
    Tree,
    add_up,
    spread_out,
)
from sordino.aggregations.margins.measuring import squares_of
from sordino.numbers.progress import open_ticker

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
    ease: Operator = np.copy,
    close: float = _CLOSE,
    most: int = _STEPS,
) -> Numbers:
    """Return x with weigh(x) = wanted, for a symmetric operator without negative sizes.

    Beginning at zero, where several solve it the shortest is found. `ease` is near the
    inverse of the operator: the nearer, the fewer steps, of `most`.
    """
    solution = np.zeros_like(wanted)
    left = wanted.copy()
    step = ease(left)
    size = goal = float(np.sum(left * step))
    for _ in range(most):
        if size <= goal * close**2:
            break
        moved = weigh(step)
        far = size / max(float(np.sum(step * moved)), np.finfo(float).tiny)
        solution += far * step
        left -= far * moved
        new = ease(left)
        last, size = size, float(np.sum(left * new))
        step = new + size / last * step
    return solution


_WIDEST: Final = 16
"""Matrices of trees are multiplied into ones of up to so many rows."""
_DENSE: Final = 64
"""Contrasts of more numbers are never written as a matrix."""
_SMALL: Final = 2**17
"""Products of blocks: larger ones are shared by threads, which wait for each other."""
_LAW_STEPS: Final = 50
_INNER_STEPS: Final = 100
_HALVINGS: Final = 30
_LAW_CLOSE: Final = 1e-2
"""How near contrasts are to the fit, in deviations of their noise."""
_INNER: Final = 0.1
_SLOPE: Final = 1e-4
_SIMPLICITY: Final = 0.05
"""What a square costs, in units of its noise: fixed on generated people."""
_ALONE: Final = 0.01
"""How much less it costs where it is of one column alone."""


class AbstractFactor(ABC):
    """Contrasts along the first axis, each in units of the root of its square."""

    size: int
    """How many numbers the contrasts are of."""

    @property
    @abstractmethod
    def squares(self) -> Numbers:
        """Return the squares of what the numbers add to each contrast, in all."""

    @abstractmethod
    def contrasts(self, numbers: Numbers) -> Numbers:
        """Return the contrasts of numbers."""

    @abstractmethod
    def spread(self, contrasts: Numbers) -> Numbers:
        """Return for each number the sum of contrasts times what it adds to each."""

    @abstractmethod
    def restore(self, contrasts: Numbers) -> Numbers:
        """Return the numbers that have these contrasts, where all are given."""


@final
class Matrix(AbstractFactor):
    """Contrasts of few numbers, multiplied out."""

    def __init__(self, matrix: Numbers) -> None:
        self.matrix, self.size = matrix, matrix.shape[1]

    @property
    def squares(self) -> Numbers:
        return np.asarray((self.matrix**2).sum(axis=1))

    def contrasts(self, numbers: Numbers) -> Numbers:
        return _multiply(self.matrix, numbers)

    def spread(self, contrasts: Numbers) -> Numbers:
        return _multiply(self.matrix.T, contrasts)

    def restore(self, contrasts: Numbers) -> Numbers:
        return _multiply(np.linalg.inv(self.matrix), contrasts)


def _multiply(matrix: Numbers, numbers: Numbers) -> Numbers:
    columns = np.ascontiguousarray(numbers.reshape(len(numbers), -1).T)
    products = np.empty((len(columns), len(matrix)))
    most = max(1, _SMALL // matrix.size)
    for first in range(0, len(columns), most):
        part = slice(first, first + most)
        np.matmul(columns[part], matrix.T, out=products[part])
    return products.T.reshape(len(matrix), *numbers.shape[1:])


@final
class Cuts(AbstractFactor):
    """Contrasts of some levels of a tree, of the nodes of a level, cut by cut."""

    def __init__(self, tree: Tree, levels: tuple[int, ...], below: int) -> None:
        self.tree, self.levels, self.below = tree, levels, below
        self.size = int(tree.sizes[below])
        self._roots = [np.sqrt(tree.squares(level)) for level in levels]

    @property
    def squares(self) -> Numbers:
        rows = []
        for level, roots in zip(self.levels, self._roots, strict=True):
            starts = self.tree.starts(level, self.below)
            if not level:
                rows.append(np.array([float(self.size)]))
                continue
            cuts = self.tree.halvings[level - 1]
            low, middle, high = starts[cuts.low], starts[cuts.middle], starts[cuts.high]
            whole = cuts.left**2 * (middle - low) + cuts.right**2 * (high - middle)
            rows.append(whole / roots**2)
        return np.concatenate(rows)

    def contrasts(self, numbers: Numbers) -> Numbers:
        rows = []
        for level, roots in zip(self.levels, self._roots, strict=True):
            starts = self.tree.starts(level, self.below)[:-1]
            sums = np.add.reduceat(numbers, starts, axis=0)
            rows.append(self.tree.contrasts(level, sums) / _on_first(roots, sums))
        return np.concatenate(rows)

    def spread(self, contrasts: Numbers) -> Numbers:
        whole, first = np.zeros((self.size, *contrasts.shape[1:])), 0
        for level, roots in zip(self.levels, self._roots, strict=True):
            end = first + roots.size
            nodes = contrasts[first:end] / _on_first(roots, contrasts)
            if level:
                cuts, size = self.tree.halvings[level - 1], int(self.tree.sizes[level])
                nodes = _hand_down(cuts, nodes, size)
            many = np.diff(self.tree.starts(level, self.below))
            whole += np.repeat(nodes, many, axis=0)
            first = end
        return whole

    def restore(self, contrasts: Numbers) -> Numbers:
        roots = np.concatenate(self._roots)
        return self.tree.restore(self.below, contrasts * _on_first(roots, contrasts))


def _on_first(numbers: Numbers, like: Numbers) -> Numbers:
    return numbers.reshape(-1, *([1] * (like.ndim - 1)))


def _hand_down(cuts: Halving, contrasts: Numbers, size: int) -> Numbers:
    """Return for each number the sum of contrasts times what it adds to each."""
    first = 0
    steps = np.zeros((size + 1, *contrasts.shape[1:]))
    for end in cuts.ends:  # ranges of one depth are disjoint: no place comes twice
        part = slice(first, end)
        left, right = (
            _on_first(side[part], contrasts) * contrasts[part]
            for side in (cuts.left, cuts.right)
        )
        steps[cuts.low[part]] += left
        steps[cuts.middle[part]] -= left + right
        steps[cuts.high[part]] += right
        first = end
    return np.cumsum(steps[:-1], axis=0)


def _factor(tree: Tree, levels: tuple[int, ...], below: int) -> AbstractFactor:
    cuts = Cuts(tree, levels, below)
    return cuts if cuts.size > _DENSE else Matrix(cuts.contrasts(np.eye(cuts.size)))


@final
@dataclass(frozen=True, eq=False)
class Basis:
    """All contrasts of joint cells, each in units of the root of its square."""

    factors: tuple[AbstractFactor, ...]

    @classmethod
    def of(cls, crossing: Crossing) -> "Basis":
        """Return the contrasts of all trees together, as few factors."""
        factors: list[AbstractFactor] = []
        for tree in crossing.trees:
            factor = _factor(tree, tuple(range(tree.depth + 1)), tree.depth)
            last = factors[-1] if factors else None
            if (
                isinstance(last, Matrix)
                and isinstance(factor, Matrix)
                and last.size * factor.size <= _WIDEST
            ):
                factors[-1] = Matrix(np.asarray(np.kron(last.matrix, factor.matrix)))
            else:
                factors.append(factor)
        return cls(tuple(factors))

    @property
    def size(self) -> int:
        """Return the number of joint cells."""
        return math.prod(factor.size for factor in self.factors)

    def contrasts(self, cells: Numbers) -> Numbers:
        """Return all contrasts of cells."""
        for factor in reversed(self.factors):
            # the last axis becomes the first one: after all they stand as before
            cells = factor.contrasts(cells.reshape(-1, factor.size).T).ravel()
        return cells

    def spread(self, contrasts: Numbers) -> Numbers:
        """Return for each cell the sum of contrasts times what it adds to each."""
        for factor in reversed(self.factors):
            rows = contrasts.reshape(-1, factor.size).T
            contrasts = factor.spread(rows).ravel()
        return contrasts


@final
@dataclass(frozen=True, eq=False)
class Alike:
    """Tables of a crossing that have the same factors, side by side."""

    factors: tuple[AbstractFactor, ...]
    places: Integers
    """Where their contrasts stand among those measured, an entry for each table; the
    sum of all cells stands behind them."""
    costs: Numbers

    def ease(self, seen: Numbers) -> Operator:
        """Return nearly the inverse of how their contrasts move in a law.

        Of one table alone, whose contrasts are free, it is the inverse: contrasts of
        what is spread over the table and divided by its cells (margins.md, section 6).
        """
        cells = seen
        for axis, factor in enumerate(self.factors, start=1):
            cells = _on_axis(factor.restore, axis, cells)
        weights = 1 / (np.maximum(cells, 0.0) + _on_first(self.costs, cells))
        squares = reduce(np.multiply.outer, (each.squares for each in self.factors))

        def apply(contrasts: Numbers) -> Numbers:
            numbers = contrasts / squares
            for axis, factor in enumerate(self.factors, start=1):
                numbers = _on_axis(factor.spread, axis, numbers)
            numbers *= weights
            for axis, factor in enumerate(self.factors, start=1):
                numbers = _on_axis(factor.contrasts, axis, numbers)
            return numbers / squares

        return apply


def _on_axis(operator: Operator, axis: int, numbers: Numbers) -> Numbers:
    return np.moveaxis(operator(np.moveaxis(numbers, axis, 0)), 0, axis)


@final
@dataclass(frozen=True, eq=False)
class Measured:
    """Contrasts that were measured: where they stand, what they are, how exactly."""

    crossing: Crossing
    basis: Basis
    parts: tuple[Levels, ...]
    ends: Integers
    """Where the contrasts of each part end."""
    places: Integers
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
        parts = tuple(part for part in precisions if part != top)
        for part in parts:
            precision = precisions[part]
            block = numbers[tuple(_block(crossing, part))].ravel()
            places.append(block)
            root = np.sqrt(squares_of(crossing, part)).ravel()
            noisy.append(contrasts[part].ravel() / root)
            weights.append(np.full(block.size, precision))
            alone = _ALONE if len(part) - part.count(0) == 1 else 1.0
            costs.append(np.full(block.size, _SIMPLICITY * alone / precision))
        return cls(
            crossing,
            Basis.of(crossing),
            parts,
            np.cumsum([block.size for block in places]),
            np.concatenate(places),
            np.concatenate(noisy),
            np.concatenate(weights),
            np.concatenate(costs),
            max(float(contrasts[top].ravel()[0]), 1.0),
        )

    @cached_property
    def alike(self) -> tuple[Alike, ...]:
        """Return the finest tables whose parts were measured, those alike together."""
        trees = self.crossing.trees
        kinds = [tuple(parents.tobytes() for parents in tree.parents) for tree in trees]
        groups: dict[object, list[Levels]] = {}
        for table in _finest(self.parts):
            kind = [pair for pair in zip(kinds, table, strict=True) if pair[1]]
            groups.setdefault(tuple(kind), []).append(table)
        return tuple(map(self._put_together, groups.values()))

    @cached_property
    def shares(self) -> Numbers:
        """Return one over the root of how many of these tables each contrast is in."""
        every = [alike.places.ravel() for alike in self.alike]
        many = np.bincount(np.concatenate(every), minlength=self.noisy.size + 1)
        return 1 / np.sqrt(np.maximum(many, 1))

    def _put_together(self, tables: list[Levels]) -> Alike:
        factors = tuple(
            _factor(tree, tuple(range(level + 1)), level)
            for tree, level in zip(self.crossing.trees, tables[0], strict=True)
            if level
        )
        standing = np.full(self.crossing.joint_cells, self.noisy.size)
        standing[self.places] = np.arange(self.noisy.size)
        standing = standing.reshape(self.crossing.shape(self.crossing.finest))
        blocks = [
            standing[
                tuple(
                    slice(0, int(tree.sizes[level]))
                    for tree, level in zip(self.crossing.trees, table, strict=True)
                )
            ].reshape(self.crossing.shape(table))
            for table in tables
        ]
        places = np.stack(blocks)
        return Alike(
            factors, places, self.costs[places.reshape(len(tables), -1)[:, -1]]
        )


def _finest(parts: Iterable[Levels]) -> list[Levels]:
    """Return the parts that lie in no other one, of some that contain coarser ones."""
    listed = dict.fromkeys(parts)
    return [part for part in listed if not any(f in listed for f in _finer(part))]


def _finer(part: Levels) -> Iterator[Levels]:
    for place, level in enumerate(part):
        yield (*part[:place], level + 1, *part[place + 1 :])


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

        seen = np.append(point.seen, measured.total)
        eased = [(each.places, each.ease(seen[each.places])) for each in measured.alike]
        shares = measured.shares

        def ease(left: Numbers) -> Numbers:
            padded = np.append(left, 0.0) * shares
            near = sum(
                np.bincount(places.ravel(), apply(padded[places]).ravel(), shares.size)
                for places, apply in eased
            )
            return np.asarray(near * shares)[:-1]

        return -solve(weigh, point.rise, ease, _INNER, _INNER_STEPS)

    def far(self, point: _Point) -> Numbers:
        """Return how far each contrast is from the fit, in deviations of its noise."""
        return np.asarray(np.abs(np.sqrt(self.measured.precisions) * point.rise))

    def _tree_levels(self, numbers: Numbers) -> Numbers:
        """Return numbers of measured contrasts where they stand among all."""
        placed = np.zeros(self.measured.basis.size)
        placed[self.measured.places] = numbers
        return placed


@final
@dataclass(frozen=True, eq=False)
class Law:
    """The expected number of people in each joint cell, all above zero."""

    cells: Numbers
    steps: int
    far: Mapping[Levels, float]
    """How far the contrasts of a part are from the fit, in deviations of their noise:
    of those parts alone that have not come near it."""


def fit_law(measured: Measured) -> Law:
    """Return the law that fits, or how far it came in a bounded number of steps.

    Each step is nearer than the one before.
    """
    dual = _Dual(measured)
    point, steps = dual.at(np.zeros(measured.noisy.size)), 0
    with open_ticker() as tick:
        while steps < _LAW_STEPS and dual.far(point).max(initial=0.0) > _LAW_CLOSE:
            tick(f"adjusting tables: step {steps + 1} of at most {_LAW_STEPS}")
            nearer = _descend(dual, point)
            if nearer is None:
                break
            point, steps = nearer, steps + 1
    each = np.split(dual.far(point), measured.ends[:-1])
    most = {
        part: float(far.max(initial=0.0))
        for part, far in zip(measured.parts, each, strict=True)
    }
    left = {part: far for part, far in most.items() if far > _LAW_CLOSE}
    return Law(point.cells, steps, left)


def _descend(dual: _Dual, point: _Point) -> _Point | None:
    """Return a point that is lower, in the direction of Newton's step."""
    step = dual.step(point)
    slope, part = float(point.rise @ step), 1.0
    for _ in range(_HALVINGS):
        tried = dual.at(point.angles + part * step)
        if tried.height <= point.height + _SLOPE * part * slope:
            return tried
        part /= 2
    return None
