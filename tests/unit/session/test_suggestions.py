"""Suggestions: limits and bounds to choose from, and what each costs and loses."""

import io
import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.errors import (
    BudgetExceeded,
    InvalidParameter,
    InvalidQuery,
    SordinoError,
    UnknownName,
)
from sordino.session.suggestion import Suggestion
from tests.batches import for_each, sampled

BUDGET: Final = sd.ApproxDP(1, "1e-6")
VISITS: Final[dict[str, list[Any]]] = {
    "patient": [i % 300 for i in range(900)],
    "ward": ["A" if i % 300 < 290 else "ABC"[i // 300] for i in range(900)],
    "days": [40 if i == 0 else i % 10 for i in range(900)],
}
QUERY: Final = (
    sd.table("visits").group_by("ward").agg(n=sd.count(), days=sd.sum("days", 0, 30))
)


def opened(rows: dict[str, list[Any]] = VISITS, protects: Any = None) -> sd.Session:
    unit = protects or sd.AddRowsWithID("patient")
    table = sd.PrivateTable(rows, protects=unit)
    return sd.Session({"visits": table}, sd.ApproxDP(3, "1e-5"))


def test_a_sample_costs_nothing() -> None:
    """Shares are exact, noise is that of the price, and nothing is charged."""
    session = opened()
    limits = {"groups": [1, 3], "rows": [1, 3], "days": [(0, 5), (0, 9)]}
    found = session.suggest(QUERY, BUDGET, sample=VISITS, limits=limits)
    table = found.table.to_pydict()
    assert table["groups per id"] == [1] * 4 + [3] * 4
    assert table["rows per id and group"] == [1, 1, 3, 3] * 2
    cut = [1 - 300 / 900, 1 - 880 / 900, 1 - 320 / 900, 0]
    assert table["rows cut off"] == pytest.approx([one for one in cut for _ in "xx"])
    assert table["days clamped"] == pytest.approx([121 / 300, 1 / 300] * 4)
    assert set(table["days clamped ±"]) == {0.0}
    price = session.price(found.query(), BUDGET)
    assert table["n noise"][found.best] == price.errors["n"].sd
    assert "nothing was charged" in repr(found)
    assert not session.history()
    assert found.release is None


@pytest.mark.slow
def test_the_data_is_a_release_of_a_share() -> None:
    """It is charged, in the ledger, kept under a key, and the rest is for the query."""
    session = opened()
    found = session.suggest(QUERY, BUDGET, share="0.2", key="limits")
    (entry,) = session.history()
    assert entry.why == "to suggest limits"
    assert entry.asked == "ApproxDP(epsilon=1/5, delta=1/5000000)"
    assert found.release is not None
    assert found.budget.admits(sd.ApproxDP("0.8", "8e-7"))
    again = session.suggest(QUERY, BUDGET, share="0.2", key="limits")
    assert again.table == found.table
    assert len(session.history()) == 1
    session.release(found.query(), found.budget)
    assert "above these are about" in repr(found)


def test_noise_of_the_data_is_told() -> None:
    """Each share has a deviation, and the widest limits are the measure of cuts."""
    table = opened().suggest(QUERY, BUDGET).table.to_pydict()
    assert table["rows cut off ±"][-1] == 0.0
    assert all(sd > 0 for sd in table["days clamped ±"])
    assert all(0 <= share <= 1 for share in table["rows cut off"])


def test_the_chosen_one_is_a_query() -> None:
    limits = {"rows": [2], "groups": [2], "days": [(0, 7), (0, 9)]}
    found = opened().suggest(QUERY, BUDGET, sample=VISITS, limits=limits)
    assert repr(found.query(1)) == (
        "table('visits').enforce(MaxGroupsPerID(columns=('ward',), limit=2), "
        "MaxRowsPerGroupPerID(columns=('ward',), limit=2)).group_by('ward')"
        ".agg(n=count(), days=sum('days', 0, 9))"
    )
    with pytest.raises(InvalidParameter, match="row"):
        found.query(99)
    with pytest.raises(InvalidParameter, match="row"):
        found.query(-1)


def test_rehearsals_are_samples() -> None:
    session = opened()
    session.view("short", sd.table("visits").filter(sd.col("days") < 20))
    trial = sd.rehearsal(session, rows=400)
    query = sd.table("short").agg(n=sd.count())
    found = session.suggest(query, sd.PureDP(1), sample=trial.tables)
    assert found.table["rows per id"].to_pylist() == [1, 2, 3, 5, 10, 20]
    assert not session.history()


def test_rows_have_bounds_alone() -> None:
    """Where rows are protected, shares are of rows, and limits are refused."""
    session = opened(protects=sd.AddOneRow())
    query = sd.table("visits").agg(days=sd.mean("days", 0, 20))
    found = session.suggest(query, sd.PureDP(1), sample=VISITS)
    assert found.table["days to"].to_pylist() == [10, 20, 40]
    assert found.table["days clamped"].to_pylist() == pytest.approx([1 / 900] * 2 + [0])
    paid = session.suggest(query, sd.PureDP(1))
    assert paid.release is not None
    with pytest.raises(InvalidParameter, match="protects rows"):
        session.suggest(query, sd.PureDP(1), sample=VISITS, limits={"rows": [1]})


def test_people_of_one_row_need_no_limit() -> None:
    """After per_id there is one row of each, and bounds are all there is to choose."""
    query = sd.table("visits").per_id(visits=sd.count())
    session = opened()
    limits = {"visits": [(0, 1), (0, 5)]}
    asked = query.agg(visits=sd.sum("visits"))
    found = session.suggest(asked, sd.PureDP(1), sample=VISITS, limits=limits)
    assert found.table["visits clamped"].to_pylist() == [1.0, 0.0]
    assert found.best == 1


def test_an_id_that_holds_everything() -> None:
    """Nothing gentle is found: by error it is said that limits end too early.

    Where no error is known it is the one that loses least, and that is said.
    """
    rows = {**VISITS, "patient": [1] * 900}
    limits = {"groups": [3], "rows": [1, 2], "days": [(0, 5), (0, 40)]}
    found = opened(rows).suggest(QUERY, sd.ApproxDP(90, "1e-6"), rows, limits)
    assert "wider groups, rows were not tried" in repr(found)
    asked = sd.table("visits").group_by("ward").agg(days=sd.median("days", 0, 30))
    found = opened(rows).suggest(asked, BUDGET, sample=rows)
    assert "all lose more than one in twenty" in repr(found)
    shares = found.table["rows cut off"].to_pylist()
    assert shares[found.best] == min(shares)


def figures(
    rows: dict[str, list[Any]],
    kept: tuple[float, int] = (math.inf, 10**9),
    most: int = 99,
) -> dict[str, tuple[float, float]]:
    """Rows and days of each ward that limits keep, on average over their choice."""
    cells: dict[int, dict[str, list[int]]] = {}
    for patient, ward, days in zip(*rows.values(), strict=True):
        cells.setdefault(patient, {}).setdefault(ward, []).append(min(days, most))
    sums: dict[str, tuple[float, float]] = {}
    for held in cells.values():
        for ward, days in held.items():
            stays = min(1, kept[0] / len(held)) * min(1, kept[1] / len(days))
            n, total = sums.get(ward, (0.0, 0.0))
            sums[ward] = n + stays * len(days), total + stays * sum(days)
    return sums


@for_each("people", [None, 3_000])
def test_expected_errors_are_of_noise_and_loss_together(people: int | None) -> None:
    """By definition, from the rows of the sample; for ten times as many people, too."""
    limits = {"groups": [1, 2], "rows": [1, 2], "days": [(0, 5), (0, 30)]}
    session = opened()
    found = session.suggest(QUERY, BUDGET, VISITS, limits, people=people)
    exact, more = figures(VISITS), (people or 300) / 300
    scores = []
    for row in found.table.to_pylist():
        both = row["groups per id"], row["rows per id and group"]
        told = figures(VISITS, both, row["days to"])
        errors = []
        for place, name in enumerate(("n", "days")):
            sizes = np.array([each[place] for each in exact.values()])
            bias = np.array([each[place] for each in told.values()]) - sizes
            sizes = np.maximum(sizes, sizes.mean() / 10)
            squares = (row[f"{name} noise"] / more) ** 2 + bias**2
            errors.append(math.sqrt((squares / sizes**2).mean()))
            assert row[f"{name} expected error"] == pytest.approx(errors[-1], rel=1e-3)
        scores.append(math.prod(errors))
    assert found.best == scores.index(min(scores))


def test_of_the_data_groups_are_of_average_size() -> None:
    """A count errs by its noise and by the rows that the widest limits keep alone."""
    keys: Any = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
    query = (
        sd.table("visits").group_by(keys).agg(n=sd.count(), days=sd.sum("days", 0, 9))
    )
    paid = opened().suggest(query, BUDGET, limits={"groups": [1, 2], "rows": [1, 3]})
    widest = paid.release and paid.release["kept 2 3"][0].as_py()
    for row in paid.table.to_pylist():
        error = math.hypot(3 * row["n noise"] / widest, row["rows cut off"])
        assert row["n expected error"] == pytest.approx(error)
    # groups that nobody named have no size that was paid for
    hidden = opened().suggest(QUERY, BUDGET)
    assert not [name for name in hidden.table.column_names if "expected" in name]


SHAPES: Final[dict[str, Any]] = {
    "few": lambda rng: rng.integers(1, 4, PEOPLE),
    "lognormal": lambda rng: np.maximum(1, rng.lognormal(1, 1, PEOPLE).astype(int)),
    "zipf": lambda rng: np.minimum(rng.zipf(1.7, PEOPLE), 300),
}
PEOPLE: Final = 4_000


def drawn(shape: str, seed: int) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    patients = np.repeat(np.arange(PEOPLE), SHAPES[shape](rng))
    chances = np.arange(1.0, 21) ** -0.8
    wards = rng.choice(20, patients.size, p=chances / chances.sum())
    days = np.minimum(rng.lognormal(2.5, 1.2, patients.size), 1000).astype(int)
    return {"patient": patients.tolist(), "ward": wards.tolist(), "days": days.tolist()}


def regret(found: Any, kept: Callable[..., dict[Any, tuple[float, float]]]) -> float:
    """How many times as far off the best row is as the best for rows, if more."""
    exact = kept(most=10**6)
    errors = []
    for row in found.table.to_pylist():
        both = row["groups per id"], row["rows per id and group"]
        told = kept(both, row["days to"])
        error = [
            np.sqrt(
                np.mean([
                    (row[f"{name} noise"] ** 2 + (told[ward][at] - each[at]) ** 2)
                    / each[at] ** 2
                    for ward, each in exact.items()
                ])
            )
            for at, name in enumerate(("n", "days"))
        ]
        errors.append(np.sqrt(math.prod(error)))
    return float(errors[found.best] / min(errors))


@pytest.mark.slow
@sampled(1, 2)
@for_each("shape", list(SHAPES))
def test_the_best_row_is_as_good_as_any(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the table, of which the sample is another draw; planted: noise alone."""
    keys: Any = sd.KeySet.from_dict({"ward": list(range(20))})
    days = sd.sum("days", 0, 200)
    query = sd.table("visits").group_by(keys).agg(n=sd.count(), days=days)
    limits = {"groups": [1, 2, 5], "rows": [1, 3], "days": [(0, 50), (0, 200)]}
    rows, sample = drawn(shape, 1), drawn(shape, 2)
    kept = cache(partial(figures, rows))
    regrets = {}
    for epsilon in ("0.1", "1"):
        found = opened(rows).suggest(query, sd.PureDP(epsilon), sample, limits)
        regrets[epsilon] = regret(found, kept)
        assert regrets[epsilon] <= 1.3
    monkeypatch.setattr(Suggestion, "is_by_error", False)
    worst = regret(opened(rows).suggest(query, sd.PureDP("0.1"), sample, limits), kept)
    assert worst > 1.3 or shape == "few"


@pytest.mark.slow
def test_it_shows_itself() -> None:
    found = opened().suggest(QUERY, BUDGET, sample=VISITS)
    assert "*" in repr(found)
    assert "<table>" in found._repr_html_()
    found.plot().savefig(io.BytesIO())


def test_refusals_read_and_charge_nothing() -> None:
    session = opened()
    bad: list[tuple[dict[str, Any], type[SordinoError], str]] = [
        ({"limits": {"rows": [0]}}, InvalidParameter, "rows"),
        ({"limits": {"groups": []}}, InvalidParameter, "groups"),
        ({"limits": {"rows": 3}}, InvalidParameter, "list to try"),
        ({"limits": {"rows": [True]}}, InvalidParameter, "integer"),
        ({"limits": {}}, InvalidParameter, "dict"),
        ({"limits": [3]}, InvalidParameter, "dict"),
        ({"limits": {"people": [3]}}, UnknownName, "people"),
        ({"limits": {"days": [3]}}, InvalidParameter, "pair"),
        ({"limits": {"days": [(3, 1)]}}, SordinoError, "low"),
        ({"limits": {"days": [(None, None)]}}, SordinoError, "None"),
        ({"limits": {"rows": range(1, 300)}}, InvalidParameter, "more choices"),
        ({"share": 0}, InvalidParameter, "share"),
        ({"share": 1}, InvalidParameter, "share"),
        ({"sample": {"visits": {"ward": ["A"]}}}, SordinoError, "patient"),
        ({"sample": 7}, SordinoError, "source"),
    ]
    for given, kind, words in bad:
        with pytest.raises(kind, match=words):
            session.suggest(QUERY, BUDGET, **given)
    with pytest.raises(InvalidParameter, match="budget"):
        session.suggest(QUERY, 1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="aggregation"):
        session.suggest(sd.table("visits"), BUDGET)  # type: ignore[arg-type]
    with pytest.raises(InvalidQuery, match="no bounds"):
        session.suggest(sd.table("visits").agg(d=sd.sum("days")), BUDGET)
    with pytest.raises(InvalidQuery, match="neither"):
        session.suggest(sd.table("visits").per_id().agg(n=sd.count()), BUDGET)
    with pytest.raises(BudgetExceeded):
        session.suggest(QUERY, sd.ApproxDP(300, "1e-6"))
    assert not session.history()


def test_refusals_say_how_to_choose() -> None:
    session = opened()
    for query in (
        sd.table("visits").agg(n=sd.count()),
        sd.table("visits").group_by("ward").agg(n=sd.count()),
        sd.table("visits").group_by("ward").agg(n=sd.count_ids()),
        sd.table("visits").agg(days=sd.sum("days")),
    ):
        with pytest.raises(InvalidQuery, match=r"session\.suggest"):
            session.price(query, sd.PureDP(1))
