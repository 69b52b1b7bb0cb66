"""Keys that are shown before anything is told of them: the price, and what is told.

The true curve of the worst pairs has a closed form: one own key, and all that remains
of a unit in a single common one.
"""

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from scipy.special import log_ndtr

import sordino as sd
from sordino.errors import SordinoError
from sordino.plan.plan import Plan
from sordino.plan.purchase import Purchase
from sordino.query.request import Request
from tests.batches import for_each, sampled
from tests.events import gaussian_delta
from tests.planned import planned
from tests.statistics import is_at_least

GROUPS: Final = 4
WARDS: Final = 2
YEARS: Final = sd.KeySet.from_dict({"year": [2020, 2021, 2022, None]})
BUDGET: Final = sd.ApproxDP(1, "1e-3")
LOUD: Final = sd.ApproxDP(10**6, "0.4")
IDS: Final = 400
ROWS: Final = {
    "id": [*range(IDS), *range(IDS), IDS, IDS + 1],
    "ward": ["A"] * IDS + ["B"] * IDS + ["C", None],
    "year": [2020, 2021] * IDS + [2021, None],
    "days": [3.0, 5.0] * IDS + [1.0, 1.0],
}
FACTS: Final = {"days": sd.Column("f64", nullable=False, nan=False)}
BOUNDED: Final = sd.table("visits").enforce(
    sd.MaxGroupsPerID("ward", WARDS),
    sd.MaxGroupsPerID(("ward", "year"), GROUPS),
    sd.MaxRowsPerGroupPerID(("ward", "year"), 1),
)
ASKED: Final[dict[str, Any]] = {"n": sd.count(), "days": sd.mean("days", 0, 10)}
IN_PART: Final = BOUNDED.group_by("ward", YEARS)


def session(engine: Any = "memory") -> sd.Session:
    private = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("id"), columns=FACTS)
    return sd.Session({"visits": private}, sd.ApproxDP(10**8, "0.999"), engine=engine)


def bought(request: Request, budget: Any = BUDGET) -> Purchase:
    return session().price(request, budget)._purchase


def truth(purchase: Purchase, epsilon: float, own: int) -> float:
    """Return the delta of a unit with some own keys, all else in one common key.

    Of its groups one lies in each own key, and the others in one common one.
    """
    selection = purchase.selection
    sigma = math.sqrt(float(selection.variance))
    seen = -math.expm1(own * log_ndtr((float(selection.threshold) - 1) / sigma))
    left = GROUPS - own
    square = 1 / sigma**2
    noises: Any = purchase.noise
    for key, noise in noises.items():
        size = float(purchase.plan.measurements[key].change.linf)
        square += left * size**2 / float(noise.variance)
    mu, hidden = math.sqrt(square), math.log1p(-seen)
    added = seen + (1 - seen) * gaussian_delta(epsilon - hidden, mu)
    return max(added, gaussian_delta(epsilon + hidden, mu))


EPSILONS: Final = np.linspace(0, 2.5, 26)


def uncovered(purchase: Purchase) -> int:
    """Return at how many epsilons a true delta is above the one that is priced."""
    return sum(
        truth(purchase, float(epsilon), own)
        > float(purchase.additive_loss.delta_at(float(epsilon))) * (1 + 1e-9)
        for epsilon in EPSILONS
        for own in (0, 1)
    )


def test_no_pair_tells_more_than_is_priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """For own keys and common ones that hold all the rest of a unit.

    The mutant has at most the greatest number of one *group* in a key, and is caught.
    """
    request = IN_PART.agg(noise="gaussian", **ASKED)
    assert uncovered(bought(request)) == 0
    monkeypatch.setattr(
        Plan, "change_beside", lambda plan, key: plan.measurements[key].change
    )
    assert uncovered(bought(request)) > 0


WAYS: Final[dict[str, Request]] = {
    "in part": IN_PART.agg(**ASKED),
    "in part, Laplace": IN_PART.agg(noise="laplace", **ASKED),
    "in part, Gaussian": IN_PART.agg(noise="gaussian", **ASKED),
    "in part, by weights": IN_PART.agg(weights={"keys": 2}, **ASKED),
    "in part, and a choice": IN_PART.agg(middle=sd.median("days", 0, 10), n=sd.count()),
    "by weights": BOUNDED.group_by("ward", "year").agg(weights={"keys": 1}, **ASKED),
    "by weights, and a choice": BOUNDED.group_by("ward", "year").agg(
        weights={"keys": 1}, middle=sd.median("days", 0, 10), n=sd.count()
    ),
    "a weight of counts": BOUNDED.group_by("ward", "year").agg(
        noise="laplace", weights={"keys": 1}, **ASKED
    ),
}


@for_each("name", WAYS)
@for_each("budget", [BUDGET, sd.ApproxDP("0.1", "1e-9"), sd.ApproxZCDP("0.1", "1e-6")])
def test_the_loss_is_within_the_budget(name: str, budget: Any) -> None:
    """All that is asked first and second is within what may be spent, and uses it."""
    try:
        price = planned(session(), WAYS[name], budget)
    except SordinoError as refused:
        assert "Laplace" in name or "counts" in name, refused  # noqa: PT017 as it says
        return
    assert budget.admits(price.loss)


def test_what_is_told_is_paid_for() -> None:
    purchase = bought(WAYS["by weights"])
    assert purchase.rounds is not None
    loss = purchase.additive_loss
    assert float(loss.delta_at(1)) > 0.9 * float(BUDGET.delta)
    assert purchase.rounds.loss().guarantees.mu < loss.guarantees.mu
    noises: Any = purchase.noise
    changes = {key: one.change for key, one in purchase.plan.measurements.items()}
    told = sum(
        float(changes[key].l2) ** 2 / float(noise.variance)
        for key, noise in noises.items()
    )
    keys = sum(1 / float(one) for one in purchase.rounds.variances)
    assert float(loss.guarantees.mu) ** 2 == pytest.approx(told + keys, rel=1e-9)


def test_weights_of_keys_move_noise() -> None:
    rows = BOUNDED.group_by("ward", "year")
    light, heavy = (
        session().price(rows.agg(weights={"keys": one}, **ASKED), BUDGET)
        for one in ("1/4", 4)
    )
    assert heavy.thresholds[0] < light.thresholds[0]
    assert heavy.errors["n"].sd > light.errors["n"].sd


@sampled(1)
@for_each("engine", ["memory", "duckdb"])
@for_each("name", [name for name in WAYS if "in part" in name])
def test_each_key_that_shows_has_every_public_key(name: str, engine: str) -> None:
    """With hardly any noise: all years of both wards, sorted, and no small ward.

    A ward of one patient shows with a chance of at most 0.4, but never in part.
    """
    release = session(engine).release(WAYS[name], LOUD)
    table = release.table.to_pylist()
    shown = {row["ward"] for row in table}
    assert {"A", "B"} <= shown
    assert [(row["ward"], row["year"]) for row in table] == [
        (ward, year)
        for ward in sorted(shown, key=lambda one: (one is not None, one or ""))
        for year in (None, 2020, 2021, 2022)
    ]
    counts = {(row["ward"], row["year"]): row["n"] for row in table}
    half = IDS // 2
    assert [counts["A", year] for year in (None, 2020, 2021, 2022)] == [
        0,
        half,
        half,
        0,
    ]
    assert all(
        "every public key" not in note or "Each" in note for note in release.notes
    )


@for_each("name", WAYS)
def test_a_small_ward_stays_hidden(name: str) -> None:
    """At delta 1e-12 a key of one patient alone never shows."""
    budget = sd.ApproxDP(8, "1e-12")
    release = session().release(WAYS[name], budget)
    assert {row["ward"] for row in release.table.to_pylist()} <= {"A", "B"}


def test_keys_of_both_kinds_are_written_in_any_order() -> None:
    """Columns are in the order of the call; two sets are a product."""
    towns = sd.KeySet.from_dict({"town": [1]})
    query = BOUNDED.with_columns(town=sd.lit(1))
    request = query.group_by(YEARS, "ward", towns).agg(n=sd.count())
    assert request.by == ("year", "ward", "town")
    assert request.unknown == ("ward",)
    with pytest.raises(SordinoError):
        query.group_by(YEARS, YEARS)
    with pytest.raises(SordinoError):
        query.group_by(YEARS, "year")
    with pytest.raises(SordinoError):
        query.group_by(YEARS, 5)


def suppressed(minimum: int, size: int, *, known: bool) -> tuple[Any, Any]:
    """Tell of groups of a size that are shown which intervals hold.

    Those of counts, and those of means.
    """
    count = 5000
    table = {"g": np.repeat(np.arange(count), size), "x": np.tile([2.0], count * size)}
    private = sd.PrivateTable(table, protects=sd.AddOneRow(), columns=_X)
    opened = sd.Session({"t": private}, sd.ApproxDP(10**6, "0.9"))
    keys: Any = sd.KeySet.from_dict({"g": list(range(count))}) if known else "g"
    asked: dict[str, Any] = {"n": sd.count(), "m": sd.mean("x", 0, 10)}
    request = sd.table("t").group_by(keys).agg(**asked).suppress_below(minimum)
    release = opened.release(request, sd.ApproxDP(1, "1e-6"))
    told = release["n"].to_numpy()
    assert (told >= minimum).all()
    low, high = (release.errors[f"n {end}"].to_numpy() for end in ("low", "high"))
    means = [release.errors[f"m {end}"].to_numpy() for end in ("low", "high")]
    held = (low <= size) & (size <= high)
    within = (means[0] <= 2.0) & (means[1] >= 2.0)
    return held, within


_X: Final = {"x": sd.Column("f64", nullable=False, nan=False)}


@for_each("known", [True, False])
@for_each("size", [27, 30, 36])
def test_intervals_hold_given_that_a_minimum_was_reached(
    size: int, *, known: bool
) -> None:
    """Of groups near a minimum of 30 that show, 95 % of the intervals hold.

    A false alarm once in 1e9 runs. Without the cut at the minimum, 26 of a sd of 2
    would hardly ever be held.
    """
    held = suppressed(30, size, known=known)
    assert held[0].size > 50
    assert all(is_at_least(hits, 0.95) for hits in held)


def test_intervals_that_know_no_minimum_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: groups are left out, and their intervals do not know of it.

    Three in five of some 270 hold where at least 84 % must: 8 deviations apart.
    """
    from sordino.release import answer  # noqa: PLC0415 to be changed

    cut = answer._large_groups

    def forget(*given: Any) -> Any:
        keys, noisy = cut(*given)
        return keys, {key: replace(one, cut=None) for key, one in noisy.items()}

    monkeypatch.setattr(answer, "_large_groups", forget)
    held, _ = suppressed(30, 27, known=True)
    assert not is_at_least(held, 0.95)


@for_each("wrong", [0, -1, 2.5, "many", True, 10**30])
def test_a_minimum_that_is_none_is_refused(wrong: Any) -> None:
    """Before any charge, by name; and where there are no groups to leave out."""
    with pytest.raises(SordinoError, match="minimum"):
        BOUNDED.group_by("ward").agg(n=sd.count()).suppress_below(wrong)
    for without in (BOUNDED.agg(n=sd.count()), BOUNDED.group_by("ward").keys()):
        with pytest.raises(SordinoError, match="no answers about groups"):
            without.suppress_below(3)


@for_each("minima", [(20, 3), (3, 20), (20,)])
def test_of_several_minima_the_greatest_holds(minima: tuple[int, ...]) -> None:
    strict = request = BOUNDED.group_by("ward").agg(n=sd.count())
    for minimum in minima:
        request = request.suppress_below(minimum)
    assert request == strict.suppress_below(20)


def test_a_minimum_has_no_price() -> None:
    """With a count that is told the loss and the noise are those without it."""
    rows = BOUNDED.group_by("ward", "year")
    asked: dict[str, Any] = {"n": sd.count_ids()}
    plain = session().price(rows.agg(**asked), BUDGET)
    least = session().price(rows.agg(**asked).suppress_below(10**6), BUDGET)
    assert (plain.loss, plain.noise) == (least.loss, least.noise)
    assert [int(one) for one in least.thresholds] == [10**6]
    release = session().release(rows.agg(**asked).suppress_below(10**6), BUDGET)
    assert len(release) == 0
    assert any("below 1000000 ids" in note for note in release.notes)


def test_a_choice_is_left_out_with_its_group() -> None:
    request = IN_PART.agg(middle=sd.median("days", 0, 10), n=sd.count()).suppress_below(
        100
    )
    table = session().release(request, LOUD).table.to_pylist()
    assert {(row["ward"], row["year"]) for row in table} == {
        (ward, year) for ward in ("A", "B") for year in (2020, 2021)
    }


def test_centred_counts_can_be_sorted() -> None:
    wards = sd.KeySet.from_dict({"ward": [*"ABCDEFGHIJ"], "year": [2020, 2021]})
    request = BOUNDED.group_by(wards).agg(n=sd.count()).sort("n", descending=True)
    price = session().price(request, BUDGET)
    assert "ids everywhere" in repr(price._purchase.plan.of_everything)
    table = session().release(request, LOUD).table
    assert sorted(table["n"].to_pylist(), reverse=True) == table["n"].to_pylist()
