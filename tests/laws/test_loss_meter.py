"""What really reaches the noise of two databases loses what is charged, or less.

Nothing here depends on chance: noise is drawn, but only what it hides is compared.
"""

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino import kernel
from sordino.aggregations.measurement import IntegerMeasurement
from sordino.auditing.growth import GrowthMeter, GrowthMoment
from sordino.auditing.loss_meter import (
    InParts,
    Meter,
    Note,
    PairLoss,
    RecordingCarrier,
    RecordingSelection,
)
from sordino.auditing.suite import SuiteTally, measure_worlds, memory_engine
from sordino.engines import memory
from sordino.engines.duckdb.session import duckdb_engine
from sordino.expressions.logic import AT_LEAST, order
from sordino.ledger import blocks as ledger_blocks
from sordino.losses.loss import Loss
from sordino.noise import key_rounds
from sordino.noise.key_rounds import TopKeys
from sordino.noise.sampling.bits import Bits
from sordino.plan.keys_first import WeightedKeys
from sordino.query import blocks_read
from sordino.session import tables as session_tables
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


OF_IDS: Final = T.enforce(sd.MaxGroupsPerID("g", 3), sd.MaxRowsPerGroupPerID("g", 1))
OWN: Final = ("u", "v", "w")
SHARED: Final = ("a", "b", "c")
FIRST: Final[Mapping[str, tuple[Any, Loss, tuple[str, ...], float]]] = {
    # whoever has three keys alone, or shares them; the least ratio that is seen
    "own keys": (OF_IDS.group_by("g").keys(), DELTA, OWN, 0.999),
    "shared keys": (OF_IDS.group_by("g").keys(), DELTA, SHARED, 0.999),
    "shared keys, rho": (
        OF_IDS.group_by("g").keys(),
        sd.ApproxZCDP("0.5", "1e-3"),
        SHARED,
        0.999,
    ),
    "an own key beside shared ones, rho": (
        OF_IDS.group_by("g").keys(),
        sd.ApproxZCDP("0.5", "1e-3"),
        ("u", "a", "b"),
        0.95,
    ),
    "known in part": (
        OF_IDS.group_by("g", sd.KeySet.from_dict({"x": [3, 8]})).agg(n=sd.count()),
        DELTA,
        OWN,
        0.999,
    ),
    "the first two": (
        OF_IDS.group_by("g").top(2, by=sd.count()),
        DELTA,
        ("a", "u"),
        0.95,
    ),
}


def with_ids(*added: tuple[int, str, int]) -> dict[str, Any]:
    """Five people who share three keys, and who comes besides."""
    rows = [(id_, key, 3) for id_ in range(5) for key in SHARED] + list(added)
    columns = dict(
        zip(("id", "g", "x"), map(list, zip(*rows, strict=True)), strict=True)
    )
    return tables(columns, sd.AddRowsWithID("id"))


def lost_by(name: str) -> Any:
    request, budget, keys, _ = FIRST[name]
    meter = Meter.open(with_ids(), request, budget, memory_engine(7))
    assert meter.basket.purchases[0].plan.stage is not None
    return meter.measure(with_ids(*((9, key, 8) for key in keys)), memory_engine(7))


@for_each("name", FIRST)
def test_what_shows_keys_first_loses_what_is_charged(name: str) -> None:
    """Over all rounds: as much as is charged at the worst, and never more."""
    assert FIRST[name][3] <= lost_by(name).ratio <= 1 + 1e-9


def test_rows_cut_off_lose_what_is_charged_whatever_is_promised() -> None:
    """All of it: they are counted as far as they are priced, of many rows as well."""
    more = with_ids(*((9, "a", 3) for _ in range(40)))
    for promised in (None, 1, 2, 3, 31, 32, 10**9):  # at 32 it is too far to count
        limit = sd.MaxRowsPerID(1, at_most=promised)
        request = T.enforce(limit).agg(n=sd.count(), coverage=True)
        meter = Meter.open(with_ids(), request, sd.PureDP(1), memory_engine(7))
        assert meter.costs_the_same(more, memory_engine(7))
        lost = meter.measure(more, memory_engine(7))
        assert lost.ratio == pytest.approx(1), promised
        assert len(lost.losses) == 4


def _believe_all(patch: pytest.MonkeyPatch) -> None:
    """Let the kernel refuse nothing, so that the meter is asked alone."""
    for name in ("check", "check_sums"):
        patch.setattr(kernel, name, lambda *_: None)


def _whole_table(self: WeightedKeys, shown: Any) -> Any:
    """Ask a later round about rows beneath the limits."""
    node = self.relation.node
    while shown is not None and node.inputs:
        (node,) = node.inputs
    return ASKED(replace(self, relation=replace(self.relation, node=node)), shown)


FIRST_WEIGHT: Final = key_rounds.exact_weight
ASKED: Final = WeightedKeys.question_after
MORE_KEYS: Final = (*OWN, "r", "s", "t")
STAGED: Final[Mapping[str, tuple[Any, str, Any, str]]] = {
    "own keys keep the weight of the first round": (
        key_rounds,
        "exact_weight",
        lambda _: FIRST_WEIGHT(3),
        "an own key beside shared ones, rho",
    ),
    "a round whose weights are of other rows": (
        WeightedKeys,
        "question_after",
        _whole_table,
        "own keys",
    ),
    "groups chosen a tenth sharper": (
        TopKeys,
        "rate",
        property(lambda top: top.epsilon / top.scores.width * Fraction(11, 10)),
        "the first two",
    ),
}


@for_each("name", STAGED)
def test_an_error_of_one_round_is_found(name: str) -> None:
    """By what reaches the noise alone: the kernel is not asked."""
    *patched, case = STAGED[name]
    request, budget, keys, _ = FIRST[case]
    added = [(9, key, 8) for key in (MORE_KEYS if case == "own keys" else keys)]
    with pytest.MonkeyPatch.context() as patch:
        _believe_all(patch)
        patch.setattr(*patched)
        meter = Meter.open(with_ids(), request, budget, memory_engine(7))
        found = meter.measure(with_ids(*added), memory_engine(7))
    assert found.is_broken
    honest = Meter.open(with_ids(), request, budget, memory_engine(7))
    assert not honest.measure(with_ids(*added), memory_engine(7)).is_broken


MONTHS: Final = sd.Blocks(start="2026-01", every="month")
DAY: Final = sd.col("day")
OF_BLOCKS: Final = T.enforce(sd.MaxRowsPerID(2))
Asked: TypeAlias = Sequence[tuple[Any, Loss]]


def in_month(month: int) -> Any:
    return (dt.date(2026, month, 1) <= DAY) & (dt.date(2026, month + 1, 1) > DAY)


def count_of(condition: Any, epsilon: Any) -> tuple[Any, Loss]:
    return OF_BLOCKS.filter(condition).agg(n=sd.count()), sd.PureDP(epsilon)


def arrived(*rows: tuple[int, int]) -> dict[str, Any]:
    """Return a table of rows (id, month) that arrived so far; month 0 is no day."""
    days = [dt.date(2026, month, 9) if month else None for _, month in rows]
    columns = {"id": [id_ for id_, _ in rows], "day": pa.array(days, pa.date32())}
    unit = sd.AddRowsWithID("id")
    return {"t": sd.PrivateTable(pa.table(columns), protects=unit, blocks="day")}


def grown(requests: Asked, *months: tuple[int, ...], limit: Loss) -> PairLoss:
    """What somebody loses who has rows of some months, as these have arrived."""
    others = [(1, 1), (2, 1)], [(1, 1), (2, 1), (3, 2)]
    moments = [GrowthMoment(arrived(*rows), requests) for rows in others]
    growth = GrowthMeter.release(moments, limit, MONTHS, lambda: memory_engine(7))
    beside = [
        arrived(*rows, *((9, month) for month in mine))
        for rows, mine in zip(others, months, strict=True)
    ]
    own = {f"2026-{month:02}" for month in months[-1] if month}
    return growth.measure(beside, own, lambda: memory_engine(7))


EACH: Final = [
    count_of(condition, "0.5")
    for condition in (in_month(1), in_month(2), dt.date(2027, 1, 1) > DAY)
]
APART: Final = [
    count_of(in_month(2), "0.9"),
    count_of(in_month(1) | in_month(3), "0.5"),
    count_of(in_month(2), "0.5"),
]


def test_over_all_blocks_and_moments_people_lose_what_is_charged() -> None:
    """One block is spent, and no more; who is in two loses two limits, or less."""
    one = sd.PureDP(1)
    assert grown(EACH, (1, 1), (1, 1), limit=one).ratio == pytest.approx(1)
    # a half was spent before the rows came
    assert grown(EACH, (), (2, 2), limit=sd.PureDP(2)).ratio == pytest.approx(0.5)
    assert 0.4 < grown(EACH, (1,), (1, 2), limit=sd.PureDP(4)).ratio <= 1
    mu = [(request, sd.GaussianDP("0.5")) for request, _ in EACH]
    squares = grown(mu, (1, 1), (1, 1), limit=sd.GaussianDP(1))
    assert squares.ratio == pytest.approx(1)
    nothing = grown(EACH, (), (0, 0), limit=one)
    assert (nothing.charged, nothing.ratio) == (sd.PureDP(0), 0)


def _no_gaps(sums: Any) -> Any:
    """Runs of alike sums, whatever lies between them."""
    for charge, run in groupby(sorted(sums.items()), itemgetter(1)):
        places = [place for place, _ in run]
        yield (places[0], places[-1]), charge


FROM_LEAST: Final = {
    **blocks_read._PASSES,
    AT_LEAST: lambda low, _, values: order(low, values[0]) >= 0,
}
_HONEST_GATE: Final = session_tables._gate
IN_BLOCKS: Final[Mapping[str, tuple[tuple[Any, str, Any], Asked, tuple[int, ...]]]] = {
    "what a block was charged overwritten": (
        (ledger_blocks, "runs_of", _no_gaps),
        APART,
        (2, 2),
    ),
    "a release charged to other blocks than it reads": (
        (blocks_read, "_PASSES", FROM_LEAST),
        [count_of(dt.date(2026, 1, 5) <= DAY, "0.5")],
        (1, 1),
    ),
    "rows of no block that are read": (
        (
            session_tables,
            "_gate",
            lambda cell, *words: _HONEST_GATE(cell, *words) | cell.is_null(),
        ),
        [count_of(DAY.is_null(), "0.5")],
        (0, 0),
    ),
}


@for_each("name", IN_BLOCKS)
def test_a_budget_of_a_block_that_is_spent_twice_is_found(name: str) -> None:
    patched, requests, mine = IN_BLOCKS[name]
    assert not grown(requests, mine, mine, limit=sd.PureDP(1)).is_broken
    with pytest.MonkeyPatch.context() as patch:
        _believe_all(patch)
        patch.setattr(*patched)
        found = grown(requests, mine, mine, limit=sd.PureDP(1))
    assert found.is_broken
    assert found.ratio >= 1.4
