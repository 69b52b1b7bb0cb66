"""Drawn worlds, requests and neighbours, measured for as long as there is time.

seed ── world ── request ── price ── neighbours ── the worst of them, made worse

A request's loss is measured against several neighbours; from the worst, rows are drawn
anew one by one, and what comes nearer to the charge is kept.
"""

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np

import sordino as sd
from sordino.auditing.black_box import audit
from sordino.auditing.dice import Dice, seeded_dice
from sordino.auditing.drawn_queries import AGGREGATIONS, ENDS, draw_query, draw_request
from sordino.auditing.growth import GrowthMeter, GrowthMoment
from sordino.auditing.loss_meter import InParts, Meter, PairLoss, worst_of
from sordino.auditing.worlds import (
    BLOCKS,
    PRIVATE,
    BlockWorld,
    Database,
    DrawnWorld,
    block_world,
    neighbour,
    row,
    world,
)
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.errors import EngineFailure, ProofRefused, SordinoError
from sordino.losses.loss import Budget, Loss
from sordino.numbers.progress import open_ticker
from sordino.session.sql import SqlGiven, sql_request
from sordino.session.tables import Catalog

_NEIGHBOURS: Final = 6
_CLIMBS: Final = 6
_NEAR: Final = 0.9
_MOST_FINDINGS: Final = 20
_BLOCKS: Final = "blocks"
_IN_BLOCKS: Final = 8
"""One in so many worlds lies in blocks."""
_METER: Final = 0.75
"""Share of the time that the loss meter has."""
_SURE: Final = "0.999999999"
BUDGETS: Final[Sequence[Callable[[], Loss]]] = (
    lambda: sd.PureDP(1),
    lambda: sd.ApproxDP(1, "1e-3"),
    lambda: sd.ZCDP("0.5"),
    lambda: sd.GaussianDP(1),
    lambda: sd.ApproxZCDP("0.5", "1e-3"),
)
STATEMENTS: Final = (
    "SELECT COUNT(*) AS n FROM {t} WHERE {c}",
    "SELECT h, COUNT(*) AS n, SUM(CLAMP(x, -3, 8)) AS s FROM {t} WHERE {c} GROUP BY h",
    "SELECT AVG(CLAMP(x, 0, 8)) AS m, COUNT(x) AS k FROM {t} WHERE {c}",
    "SELECT COUNT(*) FILTER (WHERE {c}) AS n, SUM(CLAMP(x, -1, 4)) AS s FROM {t}",
    "SELECT {c} AS k, COUNT(*) AS n FROM {t} GROUP BY 1",
    "SELECT COUNT(*) AS n FROM {t} JOIN wards USING (g)",
)
CONDITIONS: Final = ("x > 3", "g IN ('a', 'b')", "h IS NULL", "x % 2 = 1", "z >= 1")


@final
@dataclass(frozen=True)
class Finding:
    """Something that must not be: which seed draws it again, and what it is."""

    seed: int
    kind: str
    what: str


@final
@dataclass(frozen=True, eq=False)
class SuiteTally:
    """Ratios, refusals and findings of the requests that a suite has measured."""

    ratios: dict[str, list[float]] = field(default_factory=dict)
    """Greatest ratio of each request, by its kind."""
    pairs: Counter[str] = field(default_factory=Counter)
    """Pairs of neighbours, by the kind of request."""
    refusals: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def note(self, kind: str, ratio: float, pairs: int) -> None:
        """Count a request."""
        self.ratios.setdefault(kind, []).append(ratio)
        self.pairs[kind] += pairs

    @property
    def facts(self) -> dict[str, Any]:
        """All of it, for a file."""
        moved = [ratio for each in self.ratios.values() for ratio in each if ratio]
        return {
            "pairs": self.pairs.total(),
            "requests": sum(map(len, self.ratios.values())),
            "largest": max(moved, default=0.0),
            "median": median(moved) if moved else 0.0,
            "near": sum(ratio > _NEAR for ratio in moved) / max(len(moved), 1),
            "kinds": {
                kind: {
                    "pairs": self.pairs[kind],
                    "requests": len(ratios),
                    "largest": max(ratios),
                    "median": median([ratio for ratio in ratios if ratio] or [0.0]),
                }
                for kind, ratios in sorted(self.ratios.items())
            },
            "refused": self.refusals.total(),
            "findings": [vars(finding) for finding in self.findings],
        }


@final
class Trial(NamedTuple):
    """A request at a world, and what it may cost."""

    kind: str
    world: DrawnWorld
    request: Any
    budget: Loss
    salt: int


def memory_engine(salt: int) -> AbstractEngine:
    """Return an engine in memory that keeps rows by a key."""
    return MemoryEngine(order=keyed_order(salt))


def measure_worlds(
    tally: SuiteTally,
    seeds: Iterator[int],
    until: float,
    engine: Callable[[int], AbstractEngine] = memory_engine,
) -> None:
    """Measure drawn requests until a time is reached or a list of findings is full."""
    for seed in seeds:
        if time.monotonic() > until or len(tally.findings) >= _MOST_FINDINGS:
            return
        dice = seeded_dice(seed)
        if dice.chance(1, _IN_BLOCKS):
            _measure_blocks(tally, seed, dice, engine)
            continue
        trial = draw_trial(dice, tally, (*KINDS, _FIRST, _PARTS))
        if trial is not None:
            _measure(tally, seed, dice, trial, engine)


def draw_trial(
    dice: Dice, tally: SuiteTally, kinds: "Kinds | None" = None
) -> Trial | None:
    """Draw a world and a request of some kinds; a refusal of ours ends the draw."""
    drawn = world(dice)
    kind, draw = dice.one(kinds or KINDS)
    budget = dice.one(BUDGETS)()
    try:
        with_tables = drawn.catalog(memory_engine(0), drawn.private)
        request = draw(dice, with_tables)
    except SordinoError as refusal:
        tally.refusals[type(refusal).__name__] += 1
        return None
    return Trial(kind, drawn, request, budget, dice.below(2**32))


def _measure(
    tally: SuiteTally,
    seed: int,
    dice: Dice,
    trial: Trial,
    engine: Callable[[int], AbstractEngine],
) -> None:
    try:
        tables = trial.world.tables(trial.world.private)
        meter = Meter.open(tables, trial.request, trial.budget, engine(trial.salt))
        meter.exact  # noqa: B018 what is asked for private reasons must not be refused
    except (EngineFailure, ProofRefused) as failure:
        # a price that the kernel refuses is no refusal of the request
        tally.findings.append(Finding(seed, trial.kind, repr(failure)))
        return
    except SordinoError as refusal:
        tally.refusals[type(refusal).__name__] += 1
        return
    losses: list[PairLoss] = []
    try:
        if not _costs_the_same(dice, trial, meter, engine):
            what = f"{trial.request!r} costs something else at a neighbour"
            tally.findings.append(Finding(seed, trial.kind, what))
        losses += _pairs(dice, trial, meter, engine)
    except Exception as error:  # noqa: BLE001 whatever a neighbour raises tells it apart
        what = f"only a neighbour raises {error!r}: {trial.request!r}"
        tally.findings.append(Finding(seed, trial.kind, what))
    worst = max((loss.ratio for loss in losses), default=0.0)
    for loss in [each for each in losses if each.is_broken][:1]:
        words = f"{worst:.6g} of {loss.charged!r} under {trial.budget!r}"
        what = f"{trial.request!r}: {loss.why or words}"
        tally.findings.append(Finding(seed, trial.kind, what))
    tally.note(trial.kind, worst, len(losses))


def _measure_blocks(
    tally: SuiteTally, seed: int, dice: Dice, engine: Callable[[int], AbstractEngine]
) -> None:
    """Measure what people lose over all releases of tables that grow."""
    drawn, limit = block_world(dice), dice.one(BUDGETS)()
    requests = [_draw_in_block(dice, drawn, limit) for _ in range(dice.between(2, 5))]
    opened = partial(engine, dice.below(2**32))
    try:
        losses = [*_people_lose(dice, drawn, (requests, limit), opened)]
    except (EngineFailure, ProofRefused) as failure:
        tally.findings.append(Finding(seed, _BLOCKS, repr(failure)))
        return
    except SordinoError as refusal:
        tally.refusals[type(refusal).__name__] += 1
        return
    worst = worst_of(losses)
    if worst.is_broken:
        words = f"{worst.ratio:.6g} of {worst.charged!r} under {limit!r}"
        what = f"{requests!r}: {worst.why or words}"
        tally.findings.append(Finding(seed, _BLOCKS, what))
    tally.note(_BLOCKS, worst.ratio, len(losses))


def _people_lose(
    dice: Dice,
    drawn: BlockWorld,
    releases: tuple[list[tuple[Any, Budget]], Loss],
    opened: Callable[[], AbstractEngine],
) -> Iterator[PairLoss]:
    """Release within a limit while rows arrive; then measure drawn people."""
    requests, limit = releases
    others = _moments_of(drawn.world.private)
    moments = [GrowthMoment(drawn.tables(rows), requests) for rows in others]
    growth = GrowthMeter.release(moments, limit, sd.Blocks(names=drawn.names), opened)
    for _ in range(_NEIGHBOURS):
        _, person = drawn.person(dice, frozenset())
        own = [name for name in drawn.blocks_of(person) if name is not None]
        tables = [
            drawn.tables({name: rows[name] + mine[name] for name in rows})
            for rows, mine in zip(others, _moments_of(person), strict=True)
        ]
        yield growth.measure(tables, own, opened)


def _moments_of(database: Database) -> tuple[Database, Database]:
    """Return a database half of whose rows have arrived, and the whole."""
    half = {name: rows[: len(rows) // 2] for name, rows in database.items()}
    return half, database


def _draw_in_block(dice: Dice, drawn: BlockWorld, limit: Loss) -> tuple[Any, Budget]:
    """Draw a request for some blocks, and its part of the limit."""
    table = dice.one([*drawn.columns])
    query = sd.table(table)
    if drawn.world.protects_ids:
        query = query.enforce(sd.MaxRowsPerID(dice.between(1, 3)))
    column = drawn.columns[table]
    if column is not None:
        pool = BLOCKS[column] if column == "g" else (0, 1, 2)
        value, cell = dice.one(pool), sd.col(column)
        query = query.filter(
            dice.one((
                cell.is_in(pool),
                cell.is_in(pool[::2]),
                cell == value,
                cell < value,
                cell >= value,
                cell != value,
            ))
        )
    groups = query.group_by(_keys(dice, least=1)) if dice.chance(1, 3) else query
    answer = dice.one((sd.count(), sd.sum("x", 0, 8, nulls=0), sd.mean("h", 0, 2)))
    part = Fraction(dice.between(1, 4), 4)
    return groups.agg(a=answer), limit.times(part)


def _costs_the_same(
    dice: Dice, trial: Trial, meter: Meter, engine: Callable[[int], AbstractEngine]
) -> bool:
    origin = trial.world
    tables = origin.tables(neighbour(dice, origin))
    return meter.costs_the_same(tables, engine(trial.salt))


def _pairs(
    dice: Dice,
    trial: Trial,
    meter: Meter,
    engine: Callable[[int], AbstractEngine],
) -> Iterator[PairLoss]:
    """Measure neighbours; then draw rows of the world anew around the worst of them."""
    origin = trial.world
    best, change = -1.0, 0
    for _ in range(_NEIGHBOURS):
        number = dice.below(2**32)
        loss = _measure_beside(meter, origin, number, engine(trial.salt))
        yield loss
        if loss.ratio > best:
            best, change = loss.ratio, number
    for _ in range(_CLIMBS if 0 < best < 1 else 0):
        nearby = replace(origin, private=_redraw(dice, origin.private))
        number = dice.one((change, dice.below(2**32)))
        there = meter.move(nearby.tables(nearby.private), engine(trial.salt))
        loss = _measure_beside(there, nearby, number, engine(trial.salt))
        yield loss
        if loss.ratio >= best:
            origin, best, change = nearby, loss.ratio, number


def _measure_beside(
    meter: Meter, origin: DrawnWorld, number: int, engine: AbstractEngine
) -> PairLoss:
    other = neighbour(seeded_dice(number), origin)
    return meter.measure(origin.tables(other), engine)


def _redraw(dice: Dice, database: Database) -> Database:
    """Draw one row of one table anew, or add it."""
    name = dice.one(list(database))
    rows = list(database[name])
    at = dice.between(0, len(rows))
    rows[at : at + 1] = [row(dice, PRIVATE)]
    return {**database, name: tuple(rows)}


def _draw_plain(dice: Dice, catalog: Catalog) -> Any:
    return draw_request(draw_query(dice, catalog))


def _keys(dice: Dice, *, least: int) -> sd.KeySet:
    pools: dict[str, list[Any]] = {"g": ["a", "b", None], "h": [0, 1, 5], "x": [3, 10]}
    names = dice.several(list(pools), least, 2)
    return sd.KeySet.from_dict({name: pools[name] for name in names})


def _bounded_table(dice: Dice, catalog: Catalog) -> sd.Query:
    name = dice.one(list(catalog.relations))
    query = sd.table(name)
    if catalog.relation(name).ids is None:
        return query
    return query.enforce(sd.MaxRowsPerID(dice.between(1, 3)))


def _draw_margins(dice: Dice, catalog: Catalog) -> Any:
    keys = _keys(dice, least=2)
    return _bounded_table(dice, catalog).marginals(keys, order=dice.between(1, 2))


def _draw_running(dice: Dice, catalog: Catalog) -> Any:
    column, values = dice.one((("h", [0, 1, 2, 3]), ("x", range(3, 9))))
    answer = dice.one((sd.count(), sd.sum("h", 0, 8, nulls=0)))
    return _bounded_table(dice, catalog).cumulative(column, list(values), n=answer)


def _draw_several(dice: Dice, catalog: Catalog) -> Any:
    query = _bounded_table(dice, catalog)
    conditions = (sd.col("x") > 3, sd.col("h") == 1, sd.col("g").is_null())
    requests = {
        f"r{at}": query.filter(condition).agg(n=sd.count())
        for at, condition in enumerate(dice.several(conditions, 1, 3))
    }
    if dice.chance(1, 2):
        name = dice.one(("sum", "mean", "median", "variance"))
        answer = AGGREGATIONS[name]("x", dice.one(ENDS))
        requests["more"] = query.group_by(_keys(dice, least=1)).agg(a=answer)
    return requests


def _draw_sql(dice: Dice, catalog: Catalog) -> Any:
    name = dice.one(list(catalog.relations))
    text = dice.one(STATEMENTS).format(t=name, c=dice.one(CONDITIONS))
    limits = [] if catalog.relation(name).ids is None else [sd.MaxRowsPerID(2)]
    options = SqlGiven(limits, {}, {"h": [0, 1, None]}, "duckdb", as_needed=True)
    return sql_request(catalog, text, None, options).request


def _draw_parts(dice: Dice, catalog: Catalog) -> Any:
    """Draw what is asked of each part; what parts there are is drawn, too."""
    name = dice.one(list(catalog.relations))
    # a unit that names a column may change several of its parts
    own = str(getattr(catalog.units[name], "column", ""))
    by = own if own in {"g", "h"} else dice.one(("g", "h"))
    pool = ["a", "b", "c", None] if by == "g" else [0, 1, 2, None]
    ends = dice.one(ENDS)
    query = sd.table(name)
    groups = query.group_by(_keys(dice, least=1)) if dice.chance(1, 2) else query
    request = dice.one((
        groups.agg(n=sd.count()),
        groups.agg(s=sd.sum("x", *ends, nulls=0), m=sd.mean("y", *ends, nulls="drop")),
        groups.agg(m=sd.median("x", *ends, nulls="drop")),
        query.group_by("h").agg(n=sd.count()),
    ))
    return InParts(name, by, dice.several(pool, 1, 4), request)


def _draw_first(dice: Dice, catalog: Catalog) -> Any:
    """Draw keys that show before anything is told of them, or the first few."""
    name = dice.one(list(catalog.relations))
    column, other = dice.one((("g", "h"), ("h", "g"), ("x", "g")))
    query = sd.table(name)
    if catalog.relation(name).ids is not None:
        query = query.enforce(
            sd.MaxGroupsPerID(column, dice.between(1, 3)),
            sd.MaxRowsPerGroupPerID(column, dice.between(1, 2)),
        )
    groups = query.group_by(column)
    pool: list[Any] = ["a", "b", "d"] if other == "g" else [0, 1, 5]
    known = sd.KeySet.from_dict({other: pool})
    most, total = dice.between(1, 3), sd.sum("x", *dice.one(ENDS), nulls=0)
    return dice.one((
        groups.keys(),
        groups.keys(),
        groups.top(most, by=sd.count()),
        groups.top(most, by=total, n=sd.count()),
        query.group_by(known).top(most, by=total, m=total),
        query.group_by(column, known).agg(n=sd.count(), s=total),
        query.group_by(column, known).agg(m=sd.median("x", 0, 8, nulls="drop")),
    ))


Kinds: TypeAlias = Sequence[tuple[str, Callable[[Dice, Catalog], Any]]]
KINDS: Final[Kinds] = (
    ("plan", _draw_plain),
    ("plan", _draw_plain),
    ("margins", _draw_margins),
    ("running figures", _draw_running),
    ("several together", _draw_several),
    ("sql", _draw_sql),
)
_PARTS: Final = ("parts", _draw_parts)
_FIRST: Final = ("keys shown first", _draw_first)


@final
class Trick(NamedTuple):
    """A mechanism on two inputs, and a claim about it."""

    name: str
    runs: tuple[Any, Any]
    claim: Loss
    by: str | None = None
    """Column that numbers the trials of a table."""


def _runs(mechanism: Any, apart: float) -> tuple[Any, Any]:
    kind = np.int64 if mechanism.input_domain.is_integer else np.float64
    inputs = np.array([0, apart], kind)
    first, second = (
        lambda n, value=value: mechanism(np.full(n, value, kind)) for value in inputs
    )
    return first, second


def _groups(rows: int) -> Callable[[int], sd.Release]:
    """Return a run of one release of many groups that hold so many rows each."""

    def run(count: int) -> sd.Release:
        names = np.repeat(np.arange(count), rows).tolist()
        private = sd.PrivateTable({"trial": names}, protects=sd.AddOneRow())
        keys = sd.KeySet.from_dict({"trial": range(count)})
        query = sd.table("t").group_by(keys).agg(n=sd.count())
        with sd.Session({"t": private}, sd.PureDP(1)) as session:
            return session.release(query, sd.PureDP(1))

    return run


_BY: Final = "trial"
_GROUPS: Final = 20_000
HONEST: Final[Sequence[Callable[[], Trick]]] = (
    lambda: Trick("Laplace", _runs(sd.Laplace(1), 1), sd.PureDP(1)),
    lambda: Trick("Geometric", _runs(sd.Geometric(1), 1), sd.PureDP(1)),
    lambda: Trick("Gaussian", _runs(sd.Gaussian(scale=1), 1), sd.GaussianDP(1)),
    lambda: Trick(
        "Discrete Gaussian",
        _runs(sd.DiscreteGaussian(scale=1), 1),
        sd.DiscreteGaussian(scale=1).map(1),
    ),
    lambda: Trick(
        "a release of many groups", (_groups(2), _groups(1)), sd.PureDP(1), "trial"
    ),
)
UNDERSTATED: Final = ("0.5", "0.2", "0.1", "0.05", "0.02", "0.01")
"""Shares by which noise is less than is said, in the order in which they are tried."""
_SAMPLES: Final = 200_000
_MOST_SAMPLES: Final = 12_800_000


def audit_mechanisms(until: float) -> Iterator[dict[str, Any]]:
    """Audit mechanisms that are honest, then less and less dishonest ones."""
    for make in HONEST:
        yield audit_trick(make(), _SAMPLES) | {"planted": ""}
    size = _SAMPLES
    for share in UNDERSTATED:
        trick = Trick("Laplace", _runs(sd.Laplace(1), 1 + float(share)), sd.PureDP(1))
        verdict: dict[str, Any] = {"is_broken": False}
        while not verdict["is_broken"] and size <= _MOST_SAMPLES:
            if time.monotonic() > until:
                return
            verdict = audit_trick(trick, size) | {"planted": share}
            size *= 1 if verdict["is_broken"] else 4
        yield verdict


def audit_trick(trick: Trick, most: int) -> dict[str, Any]:
    """Audit a trick by so many outcomes at most, as facts."""
    began = time.monotonic()
    size = most if trick.by is None else min(most, _GROUPS)
    verdict = audit(
        *trick.runs, trick.claim, samples=size, by=trick.by, confidence=_SURE
    )
    return {
        "name": trick.name,
        "claim": repr(trick.claim),
        "samples": size,
        "is_broken": verdict.is_broken,
        "epsilon": verdict.epsilon,
        "claimed_epsilon": float(trick.claim.epsilon_at(0.0)),
        "alpha": verdict.alpha,
        "beta": verdict.beta,
        "claimed_beta": verdict.claimed_beta,
        "event": verdict.event,
        "seconds": time.monotonic() - began,
    }


def run_suite(
    seed: int,
    minutes: float,
    engine: Callable[[int], AbstractEngine] = memory_engine,
) -> dict[str, Any]:
    """Measure and audit for so many minutes; facts for a page and a file."""
    began = time.monotonic()
    end = began + 60 * minutes
    tally = SuiteTally()
    with open_ticker() as tick:

        def seeds() -> Iterator[int]:
            for number in itertools.count(seed * 1_000_000):
                done = int(20 * (time.monotonic() - began) / (60 * minutes))
                bar = "#" * done + "." * (20 - done)
                tick(f"[{bar}] {tally.pairs.total():,} pairs of neighbours")
                yield number

        measure_worlds(tally, seeds(), began + _METER * (end - began), engine)
        audits = []
        for verdict in audit_mechanisms(end):
            tick(f"[audits] {verdict['name']} {verdict['planted']}")
            audits.append(verdict)
    accused = [each for each in audits if each["is_broken"]]
    shares = [each["planted"] for each in accused if each["planted"]]
    return {
        "seed": seed,
        "minutes": (time.monotonic() - began) / 60,
        "meter": tally.facts,
        "audits": audits,
        "smallest_error": shares[-1] if shares else "",
        "is_clean": not tally.findings and len(shares) == len(accused),
    }
