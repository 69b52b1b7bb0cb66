"""Expected errors of limits and bounds: noise, and what they cut off, together.

rows of a sample by id and group ── what each choice keeps of them ── error of a group

The error of an answer is the root of the mean, over groups, of (noise^2 + bias^2) /
size^2. Of a sample, bias and size are those of its groups; of what the data told, of a
group of average size. Nothing is read but what a suggestion has read or paid for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sordino.aggregations.aggregation import AbstractAggregation, Setting
from sordino.aggregations.count import Count, CountIds
from sordino.aggregations.lattice import AbstractBounded, exact_bounds
from sordino.aggregations.mean import Mean
from sordino.aggregations.measurement import Total
from sordino.aggregations.sum import Sum, exact_sum
from sordino.expressions.literals import literal
from sordino.query.limit_grid import Ends, LimitChoice, LimitGrid, with_bounds
from sordino.query.nodes import Question
from sordino.query.request import Request
from sordino.query.steps import Relation

Floats: TypeAlias = NDArray[np.float64]
Priced: TypeAlias = Mapping[str, float]
"""The deviation of each answer."""

_FAR: Final = 1024
"""Values of a sample are added up as far as so many times the widest bounds."""
_LEAST: Final = 0.1
"""Groups are no smaller than this part of the average one, where errors are divided."""


@final
@dataclass(frozen=True, eq=False)
class SampleCells:
    """The rows of a sample by id and group, and what their values come to."""

    request: Request
    grid: LimitGrid
    table: pa.Table
    """Ids and groups, then totals in the order of `totals_of`."""
    ids: str | None
    units: Mapping[tuple[str, Ends | None], float]
    scale: float
    """How many times as many people the table has."""

    @classmethod
    def question(
        cls, request: Request, relation: Relation, grid: LimitGrid
    ) -> Question:
        """Return the question whose answer it is made of."""
        totals = [Total(literal(1))]
        for sums in _sums(request, relation, grid).values():
            totals += [sums.total, sums.number]
        ids = () if relation.ids is None else (relation.ids,)
        by = tuple(dict.fromkeys((*ids, *request.by)))
        return Question(relation.node, by, tuple(totals))

    @classmethod
    def of(
        cls,
        request: Request,
        relation: Relation,
        grid: LimitGrid,
        table: pa.Table,
        people: int | None,
    ) -> "SampleCells":
        """Return the cells that the question was answered with."""
        sums = _sums(request, relation, grid)
        units = {
            key: 1.0 if each.unit is None else each.unit for key, each in sums.items()
        }
        ids = relation.ids
        people_seen = table.num_rows if ids is None else len(table[ids].unique())
        if ids is None:  # rows are what is protected, and what `people` counts
            people_seen = int(np.sum(table.column(len(request.by)).to_numpy()))
        scale = 1.0 if people is None else people / max(people_seen, 1)
        return cls(request, grid, table, ids, units, scale)

    def errors(self, choice: LimitChoice, noise: Priced) -> dict[str, float]:
        """Return the expected error of each answer whose bias a sample shows."""
        errors = {}
        for name, question in self.request.columns:
            pair = self._figures(name, question, choice)
            if pair is None:
                continue
            answer, exact = pair
            sd: Any = noise[name]
            if isinstance(question, Mean):  # told as a multiple of 1 / rows
                sd /= self.scale * np.maximum(self._sum(self._rows_kept(choice)), 1.0)
            else:
                answer, exact = self.scale * answer, self.scale * exact
            sizes = np.abs(exact)
            sizes = np.maximum(sizes, _LEAST * sizes.mean()) if sizes.size else sizes
            if sizes.size and sizes.min() > 0:
                squares = (sd**2 + (answer - exact) ** 2) / sizes**2
                errors[name] = float(np.sqrt(squares.mean()))
        return errors

    @cached_property
    def _rows(self) -> Floats:
        return self._column(0)

    def _column(self, place: int) -> Floats:
        first = self.table.num_columns - 1 - 2 * len(self.units)
        return np.asarray(self.table.column(first + place).to_numpy(), np.float64)

    @cached_property
    def _groups_of_id(self) -> Floats:
        """Return in how many groups the id of each cell has rows."""
        if self.ids is None:
            return np.ones(self.table.num_rows)
        ids = self.table[self.ids].combine_chunks()
        places = ids.dictionary_encode(null_encoding="encode").indices
        codes = np.asarray(places.to_numpy(zero_copy_only=False), np.int64)
        return np.bincount(codes)[codes].astype(np.float64)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], int]:
        """Return the group of each cell, -1 for one that is not asked about."""
        by, keyset = self.request.by, self.request.keyset
        if not by:
            return np.zeros(self.table.num_rows, np.int64), 1
        known = dict[tuple[Any, ...], int]()
        listed = None
        if keyset is not None and not self.request.unknown:
            listed = {
                tuple(row[name] for name in by) for row in keyset.table().to_pylist()
            }
        keys = zip(*(self.table[name].to_pylist() for name in by), strict=True)
        codes = [
            known.setdefault(key, len(known)) if listed is None or key in listed else -1
            for key in keys
        ]
        return np.array(codes, np.int64), len(known)

    def _sum(self, cells: Floats) -> Floats:
        codes, count = self._groups
        inside = codes >= 0
        sums = np.bincount(codes[inside], cells[inside], minlength=count)
        return sums.astype(np.float64)

    def _stays(self, choice: LimitChoice) -> Floats:
        """Return the chance that a cell's group is one of those its id keeps."""
        if choice.groups is None:
            return np.ones(self._rows.size)
        return np.minimum(1.0, choice.groups / self._groups_of_id)

    def _rows_kept(self, choice: LimitChoice) -> Floats:
        most = math.inf if choice.rows is None else choice.rows
        return self._stays(choice) * np.minimum(self._rows, most)

    def _figures(
        self, name: str, question: AbstractAggregation, choice: LimitChoice
    ) -> tuple[Floats, Floats] | None:
        """Return an answer of each group as a choice keeps it, and of all its rows."""
        rows = self._rows_kept(choice)
        if isinstance(question, Count):
            return self._sum(rows), self._sum(self._rows)
        if isinstance(question, CountIds):
            return self._sum(self._stays(choice)), self._sum(np.ones(rows.size))
        ends = dict(choice.bounds).get(name, _ends_of(question))
        places = [*self.units]
        if (name, None) not in places or (name, ends) not in places:
            return None
        within, whole = (
            (1 + 2 * places.index(key), self.units[key])
            for key in ((name, ends), (name, None))
        )
        part = rows / self._rows
        within_bounds = self._sum(part * self._column(within[0]) * within[1])
        exact = self._sum(self._column(whole[0]) * whole[1])
        if isinstance(question, Sum):
            return within_bounds, exact
        values = self._column(whole[0] + 1)
        return (
            within_bounds / np.maximum(self._sum(part * values), 1.0),
            exact / np.maximum(self._sum(values), 1.0),
        )


def _ends_of(question: AbstractAggregation) -> Ends | None:
    if isinstance(question, AbstractBounded) and not question.lacks_bounds:
        return question.low, question.high
    return None


def _sums(request: Request, relation: Relation, grid: LimitGrid) -> dict[Any, Any]:
    """Return the totals of the values of each answer, clamped to each pair, and far."""
    setting = Setting(relation.schema, relation.contribution, (), relation.ids)
    sums: dict[Any, Any] = {}
    tried: dict[str, dict[Ends, None]] = {}
    for choice in grid.choices:
        for name, ends in choice.bounds:
            tried.setdefault(name, {})[ends] = None
    for name, question in request.columns:
        column = question.with_known_bounds(relation.schema)
        if not isinstance(column, (Sum, Mean)):
            continue
        own = _ends_of(column)
        pairs = [*tried.get(name, {} if own is None else {own: None})]
        if not pairs:
            continue
        most = max(abs(end) for low, high in pairs for end in exact_bounds(low, high))
        far = math.ceil(most) * _FAR
        for pair in pairs:
            bounded = with_bounds(column, pair)
            sums[name, pair] = exact_sum(setting, bounded, column.nulls)
        whole = with_bounds(column, (-far, far))
        sums[name, None] = exact_sum(setting, whole, column.nulls)
    return sums


_PART: Final = 0.25
"""What of the farther end of its bounds a value is taken to be, where none was seen."""


@final
@dataclass(frozen=True)
class AverageGroup:
    """What a release told of a choice: rows of a group, and what is lost of them."""

    request: Request
    groups: int
    rows: float
    """Of all groups, as far as the widest limits keep them."""

    def errors(self, lost: Mapping[str, float], noise: Priced) -> dict[str, float]:
        """Return the expected error of each answer, with values of a usual size.

        `lost` has the share of rows that are cut off under "", and of ids of whose
        values one is clamped under the name of an answer.
        """
        errors, size = {}, max(self.rows, 1.0) / self.groups
        for name, question in self.request.columns:
            cut, clamped = lost.get("", 0.0), lost.get(name, 0.0) / 2
            if isinstance(question, Count):
                errors[name] = math.hypot(noise[name] / size, cut)
            ends = _ends_of(question)
            if isinstance(question, (Sum, Mean)) and ends is not None:
                value = _PART * float(max(map(abs, exact_bounds(*ends))))
                bias = clamped if isinstance(question, Mean) else cut + clamped
                errors[name] = math.hypot(noise[name] / (size * value), bias)
        return errors
