"""Parts of a table that are charged by the row: j of m rows cost j / m of the charge.

For tables that differ by j rows of one unit in a part, no exact number moves by more
than j / m of the change that is priced, and no price grows less than the rows
(docs/proofs/filters.md, lemma 6). Each mutant breaks one rule and must be caught.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import pytest

import sordino as sd
from sordino.aggregations.aggregation import Setting
from sordino.aggregations.measurement import GaussianShare
from sordino.auditing.dice import Dice
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.noise.sensitivity import Sensitivity
from sordino.plan import candidates, plan, purchase
from sordino.plan.plan import Plan
from sordino.plan.purchase import Purchase, purchase_of
from sordino.session.tables import Catalog, open_catalog, partition_of
from tests.batches import for_each
from tests.dice import rolled
from tests.distances import Claim, broken, claim, exact
from tests.effort import often

SEED: Final = 20_261_122
ROWS: Final = 4
"""Most rows of one unit."""
KEYS: Final = sd.KeySet.from_dict({"days": [0, 1, 2]})
UNITS: Final[dict[str, Any]] = {
    "rows": sd.AddMaxRows(ROWS),
    "ids": sd.AddRowsWithID("person"),
}


def twice(row: Any) -> Any:
    return [{"half": row["days"]}, {"half": 1}]


STEPS: Final[dict[str, Any]] = {
    "nothing": lambda rows: rows,
    "flat_map": lambda rows: rows.flat_map(twice, {"half": "i64"}, 2),
    "join": lambda rows: rows.join_public("beds", on="days"),
    "one row": lambda rows: rows.enforce(sd.MaxRowsPerID(1)),
    "two days": lambda rows: rows.enforce(sd.MaxGroupsPerID("days", 2)),
    "one a day, twice": lambda rows: rows.enforce(
        sd.MaxRowsPerGroupPerID("days", 1)
    ).flat_map(twice, {"half": "i64"}, 2),
}
FOR_ROWS: Final = {"nothing", "flat_map", "join"}
"""Steps of tables that protect rows."""
ASKED: Final[dict[str, Any]] = {
    "n": sd.count(),
    "people": sd.count_ids(),
    "different": sd.count_distinct("days"),
    "total": sd.sum("days", -1, 2),
    "mean": sd.mean("days", 0, 2),
    "spread": sd.variance("days", 0, 2),
    "bins": sd.histogram("days", [0, 1, 2]),
    "both": sd.covariance(["days"], {"days": (0, 2)}),
    "middle": sd.median("days", 0, 2),
    "largest": sd.max("days", 0, 2),
}


def row(dice: Dice, person: int) -> tuple[Any, ...]:
    return person, dice.one(["A", "B"]), dice.below(3)


def database(order: Any, rows: list[tuple[Any, ...]], unit: Any) -> Catalog:
    people, wards, days = zip(*rows, strict=True)
    table = {"person": people, "ward": wards, "days": days}
    beds = {"days": [0, 0, 1], "beds": [1, 2, 3]}
    tables = {
        "visits": sd.PrivateTable({k: list(v) for k, v in table.items()}, unit),
        "beds": sd.PublicTable(beds),
    }
    whole = open_catalog(MemoryEngine(order=order), tables)
    query = sd.table("visits")
    if unit.id_column is not None:
        query = query.enforce(sd.MaxRowsPerID(ROWS))
    whole.view("few", query.select("person", "ward", "days"))
    divided = partition_of(whole.relation("few"), "ward", ["A", "B", "C", "D"])
    assert divided.times == 1
    return whole.with_only("few", divided.parts["A"], "A", ("ward", 4))


def asked(dice: Dice, unit: Any) -> Any:
    """Return a question about a part, of which rows and of which groups."""
    alone = unit.id_column is None
    steps = [name for name in STEPS if not alone or name in FOR_ROWS]
    names = [name for name in ASKED if not alone or name != "people"]
    rows = STEPS[dice.one(steps)](sd.table("few"))
    grouped = rows.group_by(KEYS) if dice.chance(1, 2) else rows
    chosen = {name: ASKED[name] for name in (dice.one(names), dice.one(names))}
    return grouped.agg(**chosen, coverage=dice.chance(1, 3))


def cases(seed: int) -> Iterator[tuple[Claim, Fraction, list[str]]]:
    """Yield what is wrong for tables that differ by some rows in one part."""
    dice = rolled(seed)
    unit = UNITS[dice.one([*UNITS])]
    order = keyed_order(dice.below(2**16))
    kept = [row(dice, person) for person in range(dice.between(1, 6))]
    new = [(99, "A", dice.below(3)) for _ in range(dice.between(1, ROWS))]
    before, after = (database(order, rows, unit) for rows in (kept, kept + new))
    whole, share = claim(asked(dice, unit), before), Fraction(len(new), ROWS)
    apart = exact(whole, before.engine), exact(whole, after.engine)
    yield whole, share, broken(part_of(whole, share), *apart)


def part_of(whole: Claim, share: Fraction) -> Claim:
    """Return a claim about some rows of a unit: so much of each change."""
    return replace(
        whole,
        measurements=tuple(scaled(one, share) for one in whole.measurements),
        choices=tuple(scaled(one, share) for one in whole.choices),
        counts=tuple(
            replace(one, measurement=scaled(one.measurement, share))
            for one in whole.counts
        ),
    )


def scaled(one: Any, share: Fraction) -> Any:
    """Return a measurement or a choice with so much of its change."""
    known = one.change
    return replace(
        one,
        change=Sensitivity(
            l0=int(known.l0 * share),
            l1=known.l1 * share,
            l2=known.l2 * share,
            linf=known.linf * share,
        ),
    )


@pytest.mark.parametrize(
    "seeds",
    [60, pytest.param(often(300, 4_000), marks=pytest.mark.slow)],
    ids=["few", "many"],
)
def test_some_rows_move_numbers_by_their_share_of_the_change(seeds: int) -> None:
    """For drawn tables, rows, steps and questions, coverage among them."""
    for seed in range(SEED, SEED + seeds):
        for whole, share, complaints in cases(seed):
            assert not complaints, (seed, whole.request, share)


def _as_a_whole(patch: pytest.MonkeyPatch) -> None:
    """Price the change of all rows of a unit, of which one alone may make it."""
    patch.setattr(Setting, "_change_by", lambda self, rule: rule(self.contribution))


def _coverage_as_a_whole(patch: pytest.MonkeyPatch) -> None:
    """Price a count of ids above a limit as if it took all rows to come there."""
    patch.setattr(plan, "_by_row", lambda count, _: count)


@for_each("mutate", [_as_a_whole, _coverage_as_a_whole])
def test_every_mutant_is_caught(mutate: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law fails soon where a rule of the rows is broken."""
    mutate(monkeypatch)
    seeds = range(SEED, SEED + 400)
    assert any(complaints for seed in seeds for _, _, complaints in cases(seed))


BUDGETS: Final[dict[str, Any]] = {
    "epsilon": sd.PureDP(2),
    "epsilon-delta": sd.ApproxDP(1, "1e-6"),
    "much delta": sd.ApproxDP("0.1", "0.3"),
    "rho": sd.ZCDP(1),
    "mu": sd.GaussianDP(2),
}


def bought(budget: Any, noise: Any) -> list[Purchase]:
    """Return what a budget buys for sums and counts of a part."""
    catalog = database(None, [(1, "A", 2)], UNITS["ids"])
    query = sd.table("few").group_by(KEYS)
    asked = {name: ASKED[name] for name in ("n", "people", "total", "spread")}
    request = query.agg(noise=noise, **asked)
    found = (purchase_of(way, budget) for way in candidates.plans(request, catalog))
    return [one for one in found if one is not None]


def beyond(budget: Any, one: Purchase) -> Iterator[int]:
    """Yield the numbers of rows that cost more than their share of a budget."""
    for rows in range(1, ROWS + 1):
        share = Fraction(rows, ROWS)
        known = one.plan.measurements
        losses = [
            mechanism.map(scaled(known[key], share).change)
            for key, mechanism in one.noise.items()
        ]
        if not budget.times(share).admits(sum(losses)):
            yield rows


@for_each("noise", ["laplace", "gaussian"])
@for_each("budget", BUDGETS)
def test_some_rows_cost_their_share_of_the_budget(budget: str, noise: str) -> None:
    """In the terms of each budget, for each family of noise that it buys."""
    for one in bought(BUDGETS[budget], noise):
        assert not list(beyond(BUDGETS[budget], one))


def test_much_delta_without_a_limit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted mutant: all of the mu that (epsilon, delta) admits."""
    monkeypatch.setattr(Plan, "is_by_row", False)
    monkeypatch.setattr(Plan, "spendable", lambda _, budget: budget)
    (one, *_) = bought(BUDGETS["much delta"], "gaussian")
    assert isinstance(one.joint, GaussianShare)
    assert list(beyond(BUDGETS["much delta"], one))


@for_each("by", ["days", KEYS])
def test_what_is_not_charged_by_the_row_has_its_share(by: Any) -> None:
    """Unknown keys, and pairs of rows of one unit, have 1 / m of what is charged."""
    catalog = database(None, [(1, "A", 2)], UNITS["ids"])
    query = sd.table("few")
    if by is KEYS:
        query = query.join_private("few", ["person", "days"])
    request = query.group_by(by).agg(n=sd.count())
    budget = sd.ApproxDP(ROWS, "4e-6")
    best = purchase.best_purchase(request, catalog, budget)
    assert sd.ApproxDP(1, "1e-6").admits(best.loss)
    assert best.budget == budget
