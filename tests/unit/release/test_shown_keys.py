"""Keys in rounds, from a table to a release: who shows, how often, at what price."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats
from scipy.special import ndtr

import sordino as sd
from sordino.plan.purchase import Purchase
from tests.batches import for_each, sampled
from tests.statistics import FALSE_ALARM

BUDGET = sd.ApproxDP(1, "1e-6")
HIDING = sd.ApproxDP(1, "1e-14")
"""A group of one id shows at most once in 10^14 releases."""
FEW, GIANT = 24, 2_000
GROUPS = 400


def opened(rows: Iterable[tuple[Any, ...]], engine: Any = "duckdb") -> sd.Session:
    """Return a session with (id, group) or (id, group, group) rows."""
    columns = list(zip(*rows, strict=True))
    names = ["id", "g", "h"][: len(columns)]
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    private = sd.PrivateTable(table, protects=sd.AddRowsWithID("id"))
    return sd.Session({"t": private}, sd.ApproxDP(1000, "0.5"), engine=engine)


def keys(most: int = 4, *by: str) -> sd.Request:
    """Return the question for the groups, of which an id has at most so many."""
    names = by or ("g",)
    return sd.table("t").enforce(sd.MaxGroupsPerID(names, most)).group_by(*names).keys()


def bought(session: sd.Session, most: int = 4) -> Purchase:
    return session.price(keys(most), BUDGET)._purchase


def passing(purchase: Purchase, place: int, weight: float) -> float:
    assert purchase.rounds is not None
    one = purchase.rounds.mechanisms[place]
    return float(ndtr((weight - float(one.threshold)) / float(one.scale)))


def alone() -> list[tuple[int, int]]:
    """Return groups of few ids, each of which has no other group."""
    return [(g * FEW + n, g) for g in range(GROUPS) for n in range(FEW)]


def beside_a_giant() -> list[tuple[int, int]]:
    """Return the same groups; everybody is in a large group as well."""
    crowd = [(10**6 + n, -1) for n in range(GIANT)]
    return [*alone(), *((who, -1) for who, _ in alone()), *crowd]


def agrees(shown: int, chance: float) -> bool:
    """Tell whether so many of the groups show by a chance; denied once in 1e9."""
    law = stats.binom(GROUPS, chance)
    return bool(min(law.cdf(shown), law.sf(shown - 1)) > FALSE_ALARM / 2)


def test_groups_show_as_often_as_either_round_lets_them() -> None:
    """Ids with one group weigh 1 in it, in both rounds; one round alone is caught."""
    session = opened(alone())
    purchase = bought(session)
    first, second = (passing(purchase, place, FEW) for place in (0, 1))
    shown = len(session.release(keys(), BUDGET))
    assert agrees(shown, 1 - (1 - first) * (1 - second))
    assert not agrees(shown, first)


def test_what_the_first_round_showed_gives_its_weight_to_the_rest() -> None:
    """In round two the small groups have whole weights; old weights are caught."""
    session = opened(beside_a_giant())
    purchase = bought(session)
    release = session.release(keys(), BUDGET)["g"].to_pylist()
    assert release[0] == -1
    assert passing(purchase, 0, GIANT) > 1 - 1e-9
    first = passing(purchase, 0, FEW / 2**0.5)
    second = passing(purchase, 1, FEW)
    old = passing(purchase, 1, FEW / 2**0.5)
    assert agrees(len(release) - 1, 1 - (1 - first) * (1 - second))
    assert not agrees(len(release) - 1, 1 - (1 - first) * (1 - old))


@for_each("engine", ["duckdb", "memory"])
def test_keys_are_sorted_and_stand_once(engine: Any) -> None:
    names: list[Any] = [None, "", "a", "b", "\x00"]
    wide = [(n, names[n % 5], n % 2 or None) for n in range(1500)]
    release = opened(wide, engine).release(keys(2, "g", "h"), BUDGET)
    told = [tuple(row.values()) for row in release.table.to_pylist()]
    assert told == sorted(
        {(g, h) for _, g, h in wide},
        key=lambda key: [(one is not None, one or "") for one in key],
    )
    assert release.errors.num_rows == len(told)


def test_nobody_shows_nothing() -> None:
    for rows in ([(1, 1)], [(n, n) for n in range(300)]):
        assert len(opened(rows).release(keys(), HIDING)) == 0
    session = opened([(1, 1)])
    empty = sd.table("t").filter(sd.col("g") > 5).enforce(sd.MaxGroupsPerID("g", 3))
    release = session.release(empty.group_by("g").keys(), HIDING)
    assert len(release) == 0
    assert release.names == ()


@pytest.mark.slow
def test_one_id_in_everything_is_as_hidden_as_in_one() -> None:
    """Whatever one id holds, at most its limit of groups counts, and none shows."""
    assert len(opened([(1, g) for g in range(5000)]).release(keys(20), HIDING)) == 0


BUDGETS = [
    sd.ApproxDP(1, "1e-6"),
    sd.ApproxDP("0.1", "1e-9"),
    sd.ApproxZCDP("0.05", "1e-6"),
    sd.ApproxDP(5, "1e-3"),
]


@sampled(3, 7)
@for_each("budget", BUDGETS, ids=repr)
@for_each("most", [2, 3, 20, 1000])
def test_rounds_are_within_every_budget_that_can_pay(budget: Any, most: int) -> None:
    price = opened([(1, 1)]).price(keys(most), budget)
    assert budget.admits(price.loss)
    assert price.family == "gaussian"
    assert price.thresholds == price._purchase.rounds.thresholds[-1:]  # type: ignore[union-attr]
    assert "weighted keys" in price.plan
    assert "ids that have no other group left" in repr(price)


def test_more_groups_for_each_id_need_a_greater_threshold() -> None:
    """Thresholds rise with the limit, slowly: by a fifth from 2 groups to 1000."""
    session = opened([(1, 1)])
    levels = [
        float(session.price(keys(most), BUDGET).thresholds[0])
        for most in (2, 5, 20, 100, 1000)
    ]
    assert all(low < high for low, high in pairwise(levels))
    assert levels[-1] < 1.2 * levels[0]


def test_with_one_group_for_each_id_counts_do_better() -> None:
    """Laplace noise on counts has the least threshold there."""
    price = opened([(1, 1)]).price(keys(1), BUDGET)
    assert price.family == "laplace"
    assert price._purchase.rounds is None


def test_columns_beside_keys_are_selected_by_counts() -> None:
    """What is told of a group is noised in any case, and shows it."""
    rows = sd.table("t").enforce(sd.MaxGroupsPerID("g", 20))
    request = rows.group_by("g").agg(n=sd.count_ids())
    assert opened([(1, 1)]).price(request, BUDGET)._purchase.rounds is None


@pytest.mark.slow
def test_keys_in_a_batch_have_their_part_of_the_budget() -> None:
    session = opened(beside_a_giant())
    requests = {"keys": keys(), "again": keys(3)}
    batch = session.price_all(requests, BUDGET)
    assert BUDGET.admits(batch.loss)
    assert batch.gain > 1
    releases = session.release_all(requests, BUDGET)
    assert all(-1 in one["g"].to_pylist() for one in releases.values())


@for_each("budget", [sd.PureDP(1), sd.ZCDP(1), sd.GaussianDP(1)])
def test_keys_need_a_delta(budget: Any) -> None:
    session = opened([(1, 1)])
    with pytest.raises(sd.errors.InvalidQuery, match="delta"):
        session.release(keys(), budget)
    assert session.history() == ()


def test_a_paid_answer_is_returned_again() -> None:
    session = opened(alone())
    first = session.release(keys(), BUDGET, key="groups")
    again = session.release(keys(), BUDGET, key="groups")
    assert first.table.equals(again.table)
    assert len(session.history()) == 1


def test_names_of_columns_never_collide() -> None:
    """A group column may be called as the number of groups is."""
    table = pa.table({"id": list(range(200)), "size": [1] * 200})
    private = sd.PrivateTable(table, protects=sd.AddRowsWithID("id"))
    session = sd.Session({"t": private}, sd.ApproxDP(10, "0.1"))
    rows = sd.table("t").enforce(sd.MaxGroupsPerID("size", 2))
    release = session.release(rows.group_by("size").keys(), BUDGET)
    assert release["size"].to_pylist() == [1]


def test_groups_by_id_never_show() -> None:
    rows = sd.table("t").enforce(sd.MaxGroupsPerID(("id", "g"), 3))
    session = opened([(n, 1) for n in range(500)])
    assert len(session.release(rows.group_by("id", "g").keys(), HIDING)) == 0


def test_weights_are_those_of_the_proof() -> None:
    """What the engine adds up is 2**-20 floor(2**20 / sqrt(s)) for each id."""
    session = opened([(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (3, 3)])
    question = bought(session).plan.question
    answer = (
        session._desk.engine.answer(question).sort_by("g").column("total 0").to_pylist()
    )
    each = [int(np.floor(2**20 / np.sqrt(n))) for n in (1, 2, 3)]
    assert answer == [sum(each), each[1] + each[2], each[2]]
