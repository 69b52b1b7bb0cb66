"""Sums are exact integers, at the ends of what they are made of and in any order.

A sum in doubles is exact as long as no partial sum leaves 2**53, so the rows of each
group are counted; steps are made of sizes, which are exact up to 2**52
(docs/proofs/queries.md, lemmas 12 and 13).
"""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sordino.aggregations.measurement import MOST, AbstractTotal, Missing, Total
from sordino.engines.duckdb import dialect, entries
from sordino.engines.duckdb.dialect import DuckDBDialect
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import exact_total
from sordino.engines.statements import totals as measures
from sordino.expressions.bins import FARTHEST, STEEPEST, steps
from sordino.expressions.language import col, lit
from sordino.query.nodes import Question, Source
from tests.batches import for_each

Patch: TypeAlias = Callable[[pytest.MonkeyPatch], None]
WIDE: Final = (-FARTHEST, FARTHEST - 1, 0)
"""So many steps that 2**13 rows of them leave what doubles hold."""


def totals_in_duckdb(cells: dict[str, Any], *totals: AbstractTotal) -> list[list[int]]:
    """Return the totals of each group of `g`, in their order."""
    engine = duckdb_engine(threads=2)
    schema = engine.open("rows", pa.table(cells), {})
    question = Question(Source("rows", schema), ("g",), totals)
    rows = sorted(engine.answer(question).to_pylist(), key=itemgetter("g"))
    engine.close()
    return [list(row.values())[1:] for row in rows]


def exact_totals(cells: dict[str, Any], *totals: AbstractTotal) -> list[list[int]]:
    by_group: dict[int, list[dict[str, Any]]] = {}
    for group, x in zip(cells["g"].tolist(), cells["x"].tolist(), strict=True):
        by_group.setdefault(group, []).append({"x": x})
    rows = [by_group[group] for group in sorted(by_group)]
    return [[exact_total(total, each) for total in totals] for each in rows]


def pair(low: int, high: int, exponent: int) -> tuple[AbstractTotal, ...]:
    """Return the sums of a mean, those of another way, what is there and what not."""
    tall = steps(col("x"), low, high, exponent, low)
    step = steps(col("x"), low, high, exponent)
    return (
        Total(tall, -1, high - low),
        Total(tall),
        Total(step),
        Total(step, 2, -low - high),
        Total(tall, 0, 1),
        Missing(tall, high - low),
        Total(lit(3), 2, 1),
    )


def far_and_back() -> dict[str, Any]:
    """Return a group whose sums leave 2**53 and come back, and one of few rows."""
    up = np.full(12_000, FARTHEST - 2.0)
    down = np.full(11_999, -FARTHEST + 1.0)
    x = np.concatenate([up, down, [0.5, 3.0, math.nan, math.inf]])
    return {"g": np.repeat([0, 1], [x.size - 4, 4]), "x": x}


def few_and_missing() -> dict[str, Any]:
    """Return a few rows, some of them without a value."""
    x = np.array([0.5, math.nan, -7.0, math.nan, 3.0, -math.inf])
    return {"g": np.array([0, 0, 0, 1, 2, 2]), "x": x}


def evenly() -> dict[str, Any]:
    return {"g": np.zeros(9_000, int), "x": np.full(9_000, FARTHEST - 2.0)}


@for_each("shuffled", [False, True])
@for_each("rows", [far_and_back, evenly, few_and_missing])
def test_no_row_is_lost_in_a_sum(
    rows: Callable[[], dict[str, Any]], *, shuffled: bool
) -> None:
    cells = rows()
    if shuffled:
        order = np.random.default_rng(5).permutation(cells["x"].size)
        cells = {name: values[order] for name, values in cells.items()}
    totals = pair(*WIDE)
    assert totals_in_duckdb(cells, *totals) == exact_totals(cells, *totals)


def test_a_neighbour_moves_a_total_by_its_steps() -> None:
    """A row more is its own steps more, whatever the others are."""
    cells = far_and_back()
    for x in (FARTHEST - 2.0, 1.0, -math.inf):
        total = Total(steps(col("x"), *WIDE))
        more = {"g": np.append(cells["g"], 0), "x": np.append(cells["x"], x)}
        before, after = (totals_in_duckdb(one, total)[0][0] for one in (cells, more))
        assert after - before == total.expression.value({"x": x})


@st.composite
def lattices(draw: st.DrawFn) -> tuple[int, int, int, int]:
    counts = st.integers(-FARTHEST, FARTHEST) | st.sampled_from([0, 1, -1, FARTHEST])
    low, high = sorted((draw(counts), draw(counts)))
    exponents = st.sampled_from([0, 0, -17, 3, 40, STEEPEST, -STEEPEST])
    return low, high, draw(exponents), draw(st.sampled_from([0, low, high, -7]))


def near(low: int, high: int, exponent: int) -> list[float]:
    """Return numbers around all places at which the form of steps changes."""
    numbers = [0.0, -0.0, 5e-324, -5e-324, math.inf, -math.inf, math.nan]
    counts = (low, high, (low + high) // 2, *(2**n for n in range(50, 55)), 2**63)
    for count in (*counts, *(-one for one in counts)):
        for off in (0, 0.5, -0.5, 1, -1):
            with_unit = math.ldexp(count + off, exponent) if exponent < 960 else 0.0
            up, down = math.inf, -math.inf
            numbers += [
                with_unit,
                math.nextafter(with_unit, up),
                math.nextafter(with_unit, down),
            ]
    return numbers


def wrong_steps(lattice: tuple[int, int, int, int], more: list[float]) -> list[Any]:
    """Return the numbers of which DuckDB says other steps than are meant."""
    meant = steps(col("x"), *lattice)
    cells = {"x": [*near(*lattice[:3]), *more]}
    engine = duckdb_engine(threads=1)
    schema = engine.open("rows", pa.table({"g": range(len(cells["x"])), **cells}), {})
    totals = (Total(meant), Total(meant, 0, 1))
    answer = engine.answer(Question(Source("rows", schema), ("g",), totals))
    engine.close()
    told = {row["g"]: (row["total 0"], row["total 1"]) for row in answer.to_pylist()}
    wrong = []
    for place, x in enumerate(cells["x"]):
        value = meant.value({"x": x})
        expected = (value, 1) if isinstance(value, int) else (0, 0)
        if told[place] != expected:
            wrong.append((x, told[place], expected))
    return wrong


@settings(deadline=None, max_examples=15)
@given(lattices(), st.lists(st.floats(), max_size=30))
def test_steps_are_those_that_are_meant(
    lattice: tuple[int, int, int, int], more: list[float]
) -> None:
    assert not wrong_steps(lattice, more)


@for_each("lattice", [(-FARTHEST, 1 - FARTHEST, 0, 0), (0, FARTHEST - 1, 0, 0)])
def test_steps_far_out_are_those_that_are_meant(
    lattice: tuple[int, int, int, int],
) -> None:
    assert not wrong_steps(lattice, [])


def _any_number_of_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dialect, "MOST", 2**70)


def _twice_as_many_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(dialect, "MOST", 4 * MOST)


def _half_of_the_steps(patch: pytest.MonkeyPatch) -> None:
    size = entries.size_of_double
    patch.setattr(dialect, "size_of_double", lambda value: (size(value) or 0) >> 20)


def _other_values_counted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        measures, "_values_of", lambda _, times: measures.Term(times, *measures._ROWS)
    )


def _sums_of_doubles_alone(patch: pytest.MonkeyPatch) -> None:
    form = DuckDBDialect.brief_sum

    def brief_sum(self: DuckDBDialect, value: Any) -> Any:
        return form(self, value).args["ifs"][0].args["true"]

    patch.setattr(DuckDBDialect, "brief_sum", brief_sum)


@for_each(
    "mutant",
    [
        _any_number_of_rows,
        _twice_as_many_rows,
        _half_of_the_steps,
        _other_values_counted,
        _sums_of_doubles_alone,
    ],
)
def test_a_sum_that_rounds_is_noticed(
    mutant: Patch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are not counted, or too many of them, or rows without a value."""
    mutant(monkeypatch)
    totals = pair(*WIDE)
    assert any(
        totals_in_duckdb(cells, *totals) != exact_totals(cells, *totals)
        for cells in (far_and_back(), evenly(), few_and_missing())
    )


@for_each("bits", [53, 60, 1000])
def test_a_form_used_too_far_out_is_noticed(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond 2**53 steps sizes round, and infinities have no difference."""
    monkeypatch.setattr(entries, "_WHOLE_BITS", bits)
    lattices = ((-FARTHEST, 1 - FARTHEST, 0, 0), (0, FARTHEST - 1, 0, 0))
    assert any(wrong_steps(lattice, []) for lattice in lattices)


def test_what_does_not_fit_is_asked_anew() -> None:
    most = 2**63 - 1
    cells = {"g": [0] * 6, "x": [most, most, most, -most, -most, 5 - most]}
    assert totals_in_duckdb(cells, Total(col("x").tree)) == [[5]]
    cells["x"][-1] = 0
    assert totals_in_duckdb(cells, Total(col("x").tree, -1)) == [[-MOST]]
