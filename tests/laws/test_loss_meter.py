"""What really reaches the noise of two databases loses what is charged, or less.

Nothing here depends on chance: noise is drawn, but only what it hides is compared.
"""

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino import kernel
from sordino.aggregations.measurement import IntegerMeasurement
from sordino.auditing.loss_meter import (
    InParts,
    Meter,
    Note,
    RecordingCarrier,
    RecordingSelection,
)
from sordino.auditing.suite import SuiteTally, measure_worlds, memory_engine
from sordino.engines import memory
from sordino.engines.duckdb.session import duckdb_engine
from sordino.errors import InvalidQuery
from sordino.losses.loss import Loss
from sordino.noise.sampling.bits import Bits
from sordino.session.executor import Desk
from tests.batches import for_each, sampled
from tests.effort import often

ROWS: Final[dict[str, list[Any]]] = {
    "id": [1, 1, 2, 3],
    "g": ["a", "b", "a", "c"],
    "x": [3, 5, 10, -4],
}
NEW: Final[dict[str, Any]] = {"id": 9, "g": "zz", "x": 8}
MORE: Final = {name: [*cells, NEW[name]] for name, cells in ROWS.items()}
KEYS: Final = sd.KeySet.from_dict({"g": ["a", "b", "zz"]})
T: Final = sd.table("t")
DELTA: Final = sd.ApproxDP(1, "1e-3")


def tables(rows: Mapping[str, Any], protects: Any = None) -> dict[str, Any]:
    unit = sd.AddOneRow() if protects is None else protects
    return {"t": sd.PrivateTable(pa.table(dict(rows)), protects=unit)}


def ratio(request: Any, budget: Loss, one: Any = ROWS, other: Any = MORE) -> float:
    meter = Meter.open(tables(one), request, budget, memory_engine(7))
    return meter.measure(tables(other), memory_engine(7)).ratio


REACHED: Final[Mapping[str, tuple[Any, Loss]]] = {
    "count": (T.agg(n=sd.count()), sd.PureDP(1)),
    "count, Gaussian": (T.agg(n=sd.count()), sd.ZCDP(1)),
    "sum": (T.group_by(KEYS).agg(s=sd.sum("x", 0, 8)), sd.GaussianDP(1)),
    "median": (T.group_by(KEYS).agg(m=sd.median("x", 0, 8)), sd.PureDP(1)),
    "unknown keys": (T.group_by("g").agg(n=sd.count()), DELTA),
    "margins": (
        T.marginals(sd.KeySet.from_dict({"g": ["a", "zz"], "x": [3, 8]}), order=2),
        sd.ZCDP(1),
    ),
    "running": (T.cumulative("x", range(3, 9), n=sd.count()), sd.PureDP(1)),
    "several": (
        {"a": T.agg(n=sd.count()), "b": T.filter(sd.col("x") > 3).agg(n=sd.count())},
        sd.ZCDP(1),
    ),
}


@for_each("name", REACHED)
def test_the_worst_neighbour_loses_what_is_charged(name: str) -> None:
    """All of it, and no more: the charge is right, and the meter has teeth."""
    request, budget = REACHED[name]
    assert ratio(request, budget) == pytest.approx(1, abs=1e-5)
    assert ratio(request, budget, ROWS, ROWS) == 0


@sampled(2, 6)
@for_each("case", range(40))
def test_no_drawn_pair_loses_more_than_is_charged(case: int) -> None:
    """Nor is a price of the rows, nor do neighbours raise: and much is measured."""
    tally = SuiteTally()
    seeds = range(100 * case, 100 * case + often(4, 6))
    measure_worlds(tally, iter(seeds), time.monotonic() + 3600)
    assert tally.findings == []


def _twice(self: IntegerMeasurement, exact: Any) -> Any:
    del self
    return exact * 2


def _one_more(rows: Any) -> Callable[..., int]:
    return lambda wanted, given: rows(wanted, given) + len(given) // 2


PLANTED: Final[Mapping[str, tuple[Any, str, Any]]] = {
    "totals that reach the noise twice": (IntegerMeasurement, "scale_totals", _twice),
    "an engine that counts some rows twice": (
        memory,
        "exact_total",
        _one_more(memory.exact_total),
    ),
}


@for_each("name", PLANTED)
def test_more_than_is_charged_is_found(name: str) -> None:
    """Errors between the rows and the noise, of which no price knows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(*PLANTED[name])
        rows = {"id": [1, 2], "g": ["a", "a"], "x": [3, 3]}
        more = {"id": [1, 2, 3, 4], "g": ["a"] * 4, "x": [3] * 4}
        request = T.agg(n=sd.count())
        meter = Meter.open(
            tables(rows, sd.AddMaxRows(2)), request, sd.PureDP(1), memory_engine(7)
        )
        found = meter.measure(tables(more, sd.AddMaxRows(2)), memory_engine(7))
    assert found.is_broken
    assert found.ratio >= 1.5


def test_a_charge_that_is_a_millionth_too_small_is_found() -> None:
    """What is told is exact, so no sample decides how small an error shows."""
    honest = Desk.charge_of
    less = sd.PureDP(1 - Fraction(1, 10**6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Desk, "charge_of", lambda *words: honest(*words)._replace(loss=less)
        )
        request = T.agg(n=sd.count())
        meter = Meter.open(tables(ROWS), request, sd.PureDP(1), memory_engine(7))
        assert meter.measure(tables(MORE), memory_engine(7)).is_broken


def test_a_price_that_the_kernel_refuses_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(proof: str) -> None:
        raise kernel.Refused(f"too little: {proof[:9]}")

    monkeypatch.setattr(kernel, "check", refuse)
    tally = SuiteTally()
    measure_worlds(tally, iter(range(6)), time.monotonic() + 3600)
    assert "ProofRefused" in str(tally.findings)


def test_what_is_lost_in_several_parts_adds_up() -> None:
    """A unit that has a row in each of two groups is charged for two parts."""
    unit = sd.AddMaxRowsInMaxGroups("g", 2, 1)
    more = {name: [*cells, cells[0]] for name, cells in MORE.items()}
    request = InParts("t", "g", ["a", "zz", "b"], T.agg(n=sd.count()))
    meter = Meter.open(tables(ROWS, unit), request, sd.PureDP(1), memory_engine(7))
    lost = meter.measure(tables(more, unit), memory_engine(7))
    assert lost.charged == sd.PureDP(2)
    assert len(lost.losses) == 2
    assert lost.ratio == pytest.approx(1)


def test_noise_is_never_off() -> None:
    """What is recorded is hidden as ever, by the very carrier that would have been."""
    carrier = sd.Laplace(scale=1000).carrier
    recorder = RecordingCarrier(carrier, carrier.sampler, [])
    values = np.arange(100.0)
    noisy = recorder.many(values, Bits())
    (note,) = recorder.seen
    assert isinstance(note, Note)
    assert note.values.tolist() == values.tolist()
    assert np.count_nonzero(noisy == values) == 0
    shown = RecordingSelection(
        sd.LaplaceThreshold(1000, 9), np.arange(100), [], [], []
    ).select(values, Bits())
    assert np.count_nonzero(shown.answers == values) == 0
    assert shown.rows.size == 100


def test_a_key_alone_is_a_chance() -> None:
    """Its chance is that of its own count, which is below delta where it is large."""
    meter = Meter.open(
        tables(ROWS), T.group_by("g").agg(n=sd.count()), DELTA, memory_engine(7)
    )
    found = meter.measure(tables(MORE), memory_engine(7))
    assert found.breach == pytest.approx(6.666391336e-4)
    assert found.ratio == pytest.approx(1)
    assert found.losses == ()


def test_other_engines_are_measured_as_well() -> None:
    meter = Meter.open(
        tables(ROWS), REACHED["sum"][0], sd.GaussianDP(1), duckdb_engine(salt=5)
    )
    found = meter.measure(tables(MORE), duckdb_engine(salt=5))
    assert found.ratio == pytest.approx(1)
    assert meter.costs_the_same(tables(MORE), duckdb_engine(salt=5))


def test_keys_that_are_shown_first_are_refused() -> None:
    """They are not measured, and nobody takes them for measured."""
    protects = sd.AddRowsWithID("id")
    request = T.enforce(sd.MaxRowsPerID(3)).group_by("g").keys()
    meter = Meter.open(tables(ROWS, protects), request, DELTA, memory_engine(7))
    with pytest.raises(InvalidQuery, match="shown first"):
        meter.measure(tables(MORE, protects), memory_engine(7))
