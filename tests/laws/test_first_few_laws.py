"""The first few groups: exact laws of neighbours against the price, and the draws."""

import math
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.engines.doors import Settings, engine_named
from sordino.noise.key_rounds import TopKeys, TopScores, fit_top_keys
from sordino.plan.candidates import plans
from sordino.query.request import Request
from sordino.session.tables import open_catalog
from tests.batches import for_each, sampled

Scores = Mapping[int, int]
Law = dict[tuple[int, ...], float]
Asked = tuple[TopScores, Any]
"""How many are asked for, by what, and with which budget."""


def law(scores: Scores, top: TopKeys, *, tells_the_end: bool = False) -> Law:
    """Return the chances of all lists by definition, key by key."""
    rate, end = float(top.rate), top.end
    found: Law = {}

    def go(done: tuple[int, ...], chance: float) -> None:
        left = [key for key in scores if key not in done]
        if len(done) == top.scores.most or not left:
            ran_out = tells_the_end and len(done) < top.scores.most
            outcome = (*done, -1) if ran_out else done
            found[outcome] = found.get(outcome, 0.0) + chance
            return
        weights = {key: math.exp(rate * scores[key]) for key in left}
        stop = 0.0 if end is None else math.exp(rate * end)
        whole = sum(weights.values()) + stop
        if stop:
            found[done] = found.get(done, 0.0) + chance * stop / whole
        for key, weight in weights.items():
            go((*done, key), chance * weight / whole)

    go((), 1.0)
    return found


def delta(first: Law, second: Law, epsilon: float) -> float:
    """Return the hockey-stick divergence of two laws."""
    outcomes = first.keys() | second.keys()
    apart = (
        first.get(one, 0.0) - math.exp(epsilon) * second.get(one, 0.0)
        for one in outcomes
    )
    return sum(part for part in apart if part > 0)


def excess(first: Scores, second: Scores, top: TopKeys, **more: Any) -> float:
    """Return how far two laws are beyond the loss that is charged, at the worst."""
    laws = law(first, top, **more), law(second, top, **more)
    return max(
        delta(one, other, epsilon) - charged
        for epsilon, charged in curve(top)
        for one, other in (laws, laws[::-1])
    )


@cache
def curve(top: TopKeys) -> list[tuple[float, float]]:
    whole = float(top.epsilon) * top.scores.most
    points = [round(part * whole, 9) for part in (0, 0.2, 0.5, 0.9, 1.001)]
    return [(point, float(top.loss.delta_at(str(point)))) for point in points]


def neighbours(dice: random.Random, top: TopScores) -> tuple[Scores, Scores]:
    """Return scores that differ by one unit: common keys, and new ones if allowed."""
    width = int(top.width)
    common = {key: dice.randint(0, 5) for key in range(dice.randint(1, 3))}
    moved = {key: score + dice.randint(0, width) for key, score in common.items()}
    if top.fresh is not None:
        for key in range(dice.randint(0, top.keys)):
            moved[10 + key] = int(top.fresh)
    return common, moved


KNOWN: Final[list[Asked]] = [
    (TopScores(most, Fraction(width), Fraction(1)), limit)
    for most in (1, 2, 3)
    for width, limit in ((1, sd.PureDP(1)), (2, sd.ApproxDP(2, "0.05")))
]
UNKNOWN: Final[list[Asked]] = [
    (TopScores(most, Fraction(1), Fraction(1), Fraction(1), 2), limit)
    for most in (1, 2, 3)
    for limit in (sd.ApproxDP(1, "0.2"), sd.ApproxZCDP("0.5", "0.1"))
]


@cache
def fitted(case: Asked) -> TopKeys:
    return fit_top_keys(*case)


@sampled(3, 4)
@for_each("case", KNOWN + UNKNOWN, ids=repr)
def test_no_law_is_beyond_its_price(case: Asked) -> None:
    """For drawn neighbours of either kind of keys the price is an upper bound."""
    dice, top = random.Random(5), fitted(case)
    pairs = [neighbours(dice, top.scores) for _ in range(40)]
    assert max(excess(*pair, top) for pair in pairs) < 1e-9
    assert top.limit.admits(top.loss)


@pytest.mark.slow
def test_blunt_prices_are_caught() -> None:
    """Half the width, an end sign that lies too low, and a told end all break it."""
    dice, top = random.Random(5), fitted(KNOWN[0])
    sharp = replace(top, scores=replace(top.scores, width=Fraction(1, 2)))
    claimed = replace(sharp, epsilon=top.epsilon)
    pairs = [neighbours(dice, top.scores) for _ in range(40)]
    assert max(excess(*pair, claimed) for pair in pairs) > 1e-3
    hidden = fitted(UNKNOWN[2])
    pairs = [({}, {10: 1, 11: 1}), ({0: 9}, {0: 9, 10: 1, 11: 1})]
    assert max(excess(*pair, hidden) for pair in pairs) < 1e-9
    low = replace(hidden, seen=hidden.seen / 20)
    low.__dict__["end"] = hidden.end
    assert max(excess(*pair, low) for pair in pairs) > 1e-3
    tight = fit_top_keys(replace(hidden.scores, most=2), sd.ApproxDP(1, "1e-4"))
    pairs = [({}, {10: 1}), ({0: 9}, {0: 9, 10: 1})]
    assert max(excess(*pair, tight, tells_the_end=True) for pair in pairs) > 1e-2


def test_the_end_hides_new_keys_and_no_more() -> None:
    """A new key has a chance in each round; one step lower it would have too much."""
    scores = TopScores(10, Fraction(1), Fraction(1), Fraction(1), 20)
    top = fit_top_keys(scores, sd.ApproxDP(1, "1e-6"))
    assert top.end is not None

    def seen(end: int) -> float:
        return 10 * 20 * math.exp(-float(top.rate) * (end - 1))

    assert seen(top.end) <= float(top.seen) < seen(top.end - 1)


def test_of_two_scores_so_far_apart_the_greater_comes_first() -> None:
    """As often as was asked for, whatever one step of the scores is worth."""
    top = fitted(KNOWN[3])
    coarse = replace(top, scores=replace(top.scores, unit=Fraction(8)))
    for each in (top, coarse):
        steps = each.distance_apart(0.9) / float(each.scores.unit)
        assert 1 / (1 + math.exp(-float(each.rate) * steps)) == pytest.approx(0.9)


@sampled(1)
@for_each("case", [KNOWN[3], UNKNOWN[2]], ids=repr)
def test_draws_follow_the_law(case: Asked) -> None:
    """Chi-squared of 4,000 lists; a false alarm once in 1e9 runs."""
    scores, top = [4, 1, 1, 0, 3], fitted(case)
    expected = law(dict(enumerate(scores)), top)
    totals = np.array(scores, np.int64)
    drawn = Counter(tuple(top.select(totals).rows.tolist()) for _ in range(4000))
    assert drawn.keys() <= expected.keys()
    assert surprise(drawn, expected) < 6.2
    twice = law(dict(enumerate(scores)), replace(top, epsilon=top.epsilon * 2))
    assert surprise(drawn, twice) > 8


def surprise(drawn: Mapping[tuple[int, ...], int], expected: Law) -> float:
    """Return chi-squared as a normal number, rare lists taken together."""
    draws = sum(drawn.values())
    common = [one for one, chance in expected.items() if chance * draws >= 5]
    pairs = [(drawn.get(one, 0), expected[one] * draws) for one in common]
    rest = 1 - sum(expected[one] for one in common)
    if rest * draws >= 5:
        pairs.append((draws - sum(n for n, _ in pairs), rest * draws))
    chi = sum((n - mean) ** 2 / mean for n, mean in pairs)
    freedom = len(pairs) - 1
    cube = math.cbrt(chi / freedom)
    return (cube - 1 + 2 / (9 * freedom)) / math.sqrt(2 / (9 * freedom))


def scores_of(request: Request, rows: Any, unit: Any, engine: Any) -> tuple[Any, Any]:
    """Return the plan of a request, and the exact scores of rows by key."""
    holder = engine_named(engine, Settings(None, None, False))
    columns = {"p": "text", "g": "text", "x": "i64"}
    table = sd.PrivateTable(rows, protects=unit, columns=columns)
    plan = plans(request, open_catalog(holder, {"t": table}))[0]
    answer = holder.prepare(plan.question)()
    pairs = zip(answer.column(0).to_pylist(), answer.column(1).to_pylist(), strict=True)
    return plan, dict(pairs)


def table_of(rows: list[tuple[str, str, int]]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate("pgx")}


ASKED: Final = (
    sd.count(),
    sd.count_ids(),
    sd.sum("x", 0, 5),
    sd.sum("x", -3, 5),
    sd.sum("x", -5, 5),
)


@sampled(1, 3)
@for_each("engine", ["memory", "duckdb"])
@for_each("by", ASKED, ids=repr)
def test_scores_move_within_their_width(by: Any, engine: str) -> None:
    """Of drawn tables that differ by an id, of which one group holds two rows."""
    dice = random.Random(3)
    query = sd.table("t").enforce(
        sd.MaxGroupsPerID("g", 3), sd.MaxRowsPerGroupPerID("g", 2)
    )
    request = query.group_by("g").top(2, by=by)
    widest = Fraction(0)
    for _ in range(4):
        rows = [
            (person, group, dice.choice([-9, 9, 2]))
            for person in "abc"
            for group in dice.sample("UVWX", dice.randint(0, 3))
            for _ in range(dice.randint(1, 2))
        ]
        unit = sd.AddRowsWithID("p")
        plan, with_them = scores_of(request, table_of(rows), unit, engine)
        rest = [row for row in rows if row[0] != "a"]
        _, without = scores_of(request, table_of(rest), unit, engine)
        scores = plan.scores
        assert scores.fresh is not None
        common = [with_them[key] - without[key] for key in without]
        fresh = [score for key, score in with_them.items() if key not in without]
        moved = max([0, *common]) - min([0, *common])
        assert moved <= scores.width
        assert all(score <= scores.fresh for score in fresh)
        assert len(with_them.keys() - without.keys()) <= scores.keys
        widest = max(widest, moved / scores.width)
    assert widest >= Fraction(1, 4)


def test_rows_that_come_and_go_are_twice_as_wide() -> None:
    """A row may leave one group and another enter a second: one unit of two rows."""
    request = sd.table("t").group_by("g").top(2, by=sd.count())
    before, after = [("a", "U", 1), ("b", "V", 1)], [("b", "V", 1), ("a", "V", 1)]
    unit = sd.AddMaxRows(2)
    plan, first = scores_of(request, table_of(before), unit, "memory")
    _, second = scores_of(request, table_of(after), unit, "memory")
    assert plan.scores.width == 2
    assert second["V"] - first["V"] - (0 - first["U"]) == 2


def test_sums_of_both_signs_are_twice_as_wide() -> None:
    """An id may raise one group by all that it has, and lower another by as much."""
    query = sd.table("t").enforce(
        sd.MaxGroupsPerID("g", 2), sd.MaxRowsPerGroupPerID("g", 1)
    )
    request = query.group_by("g").top(2, by=sd.sum("x", -5, 5))
    rest = [("b", "U", 1), ("b", "V", 1)]
    rows, unit = [*rest, ("a", "U", 9), ("a", "V", -9)], sd.AddRowsWithID("p")
    plan, after = scores_of(request, table_of(rows), unit, "memory")
    _, before = scores_of(request, table_of(rest), unit, "memory")
    moved = {group: after[group] - before[group] for group in "UV"}
    assert moved == {"U": 5, "V": -5}
    assert plan.scores.width == moved["U"] - moved["V"]


def test_a_replaced_row_is_twice_as_wide() -> None:
    """It leaves one group and enters another, whatever size of the table is public."""
    request = sd.table("t").group_by("g").top(2, by=sd.count())
    rows = table_of([("a", "U", 1), ("b", "V", 1)])
    plan, _ = scores_of(request, rows, sd.ChangeOneRow(), "memory")
    assert plan.scores.width == 2
    assert plan.scores.fresh == 1
    assert plan.scores.keys == 2


def test_values_are_those_of_few_groups() -> None:
    rows = [("a", key, 4) for key in "UVW"] + [("b", "U", 1), ("b", "V", 2)]
    keys = sd.KeySet.from_dict({"g": ["U", "V", "W"]})
    query = sd.table("t").enforce(sd.MaxRowsPerGroupPerID("g", 1)).group_by(keys)
    request = query.top(2, by=sd.count(), x=sd.sum("x", 0, 4))
    unit = sd.AddRowsWithID("p")
    plan, _ = scores_of(request, table_of(rows), unit, "memory")
    measurement = next(
        one for key, one in plan.measurements.items() if key != plan.presence.key
    )
    moved = max(sum(4 for _ in pair) for pair in combinations("UVW", 2))
    assert measurement.change.l1 == moved == 8
