"""Exponentials and logarithms: near the truth, and the same bits on every engine."""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa
import pytest
from flint import arb, ctx

import sordino as sd
from sordino.engines.conformance.plans import project_to, question_of
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.postgres.session import postgres_engine
from sordino.expressions import exponentials
from sordino.expressions.bins import double_bin
from sordino.expressions.exponentials import LOG
from sordino.expressions.language import Expression, col
from sordino.expressions.literals import lift
from sordino.numbers.double_grid import DoubleGrid
from sordino.query.nodes import Source
from tests.batches import for_each
from tests.postgres_server import cluster
from tests.spark_here import engine_beside

NEAR: Final = 2.0**-51
"""The relative error that is promised."""


def numbers() -> list[float]:
    """Return all powers of two and their neighbours, and numbers of every size."""
    dice = random.Random(7)
    powers = [math.ldexp(1.0, exponent) for exponent in range(-1074, 1024)]
    beside = [math.nextafter(one, to) for one in powers for to in (0.0, math.inf)]
    roots = [math.ldexp(math.sqrt(2), exponent) for exponent in range(-1020, 1023, 5)]
    beside += [math.nextafter(one, to) for one in roots for to in (0.0, math.inf)]
    drawn = [dice.uniform(-708, 709.78) for _ in range(1500)]
    drawn += [math.exp(dice.uniform(-740, 709)) for _ in range(1500)]
    drawn += [1 + math.ldexp(dice.uniform(-1, 1), -n) for n in range(1, 53)]
    ends = [0.0, -708.0, 709.782712893384, 709.7827128933841, -708.0000000000001]
    small = [-math.ldexp(1.0, -n) for n in range(1, 1075, 13)]
    return list(dict.fromkeys([*powers, *beside, *roots, *drawn, *ends, *small]))


NUMBERS: Final = numbers()
BINS: Final = tuple(
    Expression(lift(double_bin(col("x"), DoubleGrid.of_bounds(low, high))))
    for low, high in ((0.0, 1e3), (-(2.0**200), 2.0**200), (-1e-290, 1e-280))
)
"""Bins of doubles, whose exponents are guessed in the same way."""


def bits_of(engine: AbstractEngine, expression: Expression) -> list[float | None]:
    table = pa.table({"x": NUMBERS, "row": list(range(len(NUMBERS)))})
    source = Source("numbers", engine.open("numbers", table, {}))
    rows = project_to(source, row=col("row"), made=expression)
    answer = engine.answer(question_of(rows, "row", "made"))
    pairs = zip(answer["row"].to_pylist(), answer["made"].to_pylist(), strict=True)
    return [made for _, made in sorted(pairs)]


def differing(engine: AbstractEngine) -> list[tuple[str, float]]:
    """Return the numbers for which an engine does not come to the same bits."""
    found = []
    for expression in (col("x").exp(), col("x").log(), *BINS):
        wanted = [expression.value({"x": one}) for one in NUMBERS]
        for number, ours, theirs in zip(
            NUMBERS, wanted, bits_of(engine, expression), strict=True
        ):
            if repr(ours) != repr(theirs):
                found.append((str(expression), number))
    return found


@pytest.mark.slow
def test_duckdb_comes_to_the_same_bits() -> None:
    """For every exponent there is, on both sides of each power of two."""
    assert not differing(duckdb_engine())


@pytest.mark.slow
def test_postgresql_comes_to_the_same_bits() -> None:
    engine = postgres_engine(cluster().address())
    assert not differing(engine)
    engine.close()


@pytest.mark.slow
def test_spark_comes_to_the_same_bits() -> None:
    assert not differing(engine_beside())


def worst(expression: Expression, truth: Callable[[Any], Any], low: float) -> float:
    """Return the greatest relative error over numbers that have a true value."""
    errors = [0.0]
    for number in NUMBERS:
        made = expression.value({"x": number})
        if number < low or made in (None, 0.0, math.inf):
            continue
        with ctx.workprec(200):
            exact = truth(arb(number))
            errors.append(abs(float((arb(made) - exact) / exact)))
    return max(errors)


def test_errors_are_as_small_as_promised() -> None:
    """Against ball arithmetic of 200 bits."""
    assert worst(col("x").exp(), lambda x: x.exp(), -708) < NEAR
    assert worst(col("x").log(), lambda x: x.log(), 5e-324) < NEAR


@pytest.mark.slow
def test_planted_errors_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: terms of the series left out, and the logarithm of a library."""
    monkeypatch.setattr(exponentials, "LOG_SERIES", exponentials.LOG_SERIES[3:])
    assert worst(col("x").log(), lambda x: x.log(), 5e-324) > NEAR
    monkeypatch.undo()
    plain = replace(LOG, meaning=lambda x: math.log(x) if x > 0 else None)
    wanted = [col("x").call(plain, col("x")).value({"x": one}) for one in NUMBERS]
    assert wanted != bits_of(duckdb_engine(), col("x").log())


@for_each("exponent", [1, 2, 3, 4, 5, 17, 64, -1, -3, 0.5, -0.5, 1.25])
def test_powers(exponent: float) -> None:
    power = col("x").power(exponent)
    for number in (0.25, 1.0, 1.5, 3.0, 7.25):
        assert math.isclose(power.value({"x": number}), number**exponent, rel_tol=1e-12)
    zero = power.value({"x": 0.0})
    assert zero == (0.0 if exponent > 0 else None)
    whole = exponent == int(exponent)
    negative = power.value({"x": -1.5})
    assert negative == (pytest.approx((-1.5) ** exponent) if whole else None)
    assert power.value({"x": None}) is None


@for_each("exponent", [0, 1001, "2", None, True, math.nan, math.inf])
def test_what_is_no_exponent_is_refused(exponent: Any) -> None:
    with pytest.raises(sd.errors.SordinoError):
        col("x").power(exponent)


def test_roots_and_logarithms_of_negative_numbers_are_missing() -> None:
    for made in (col("x").sqrt(), col("x").log()):
        assert made.value({"x": -1.0}) is None
        assert math.isnan(made.value({"x": math.nan}))
