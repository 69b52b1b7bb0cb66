"""Requests planned together: within one budget, and never worse than one by one."""

import json
import math
import time
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import BudgetExceeded, InvalidParameter
from sordino.losses.loss import Budget
from sordino.plan import bundle
from sordino.plan.purchase import best_of
from sordino.session.usages import usages_of
from tests.batches import for_each

ROWS: Final = {"ward": ["A", "B"] * 40, "days": [2, 5] * 40, "cost": [1.5, 9.0] * 40}
KEYS: Final = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
WHOLE: Final = sd.ApproxDP(1, "1e-6")
VISITS: Final = sd.table("visits")
REQUESTS: Final[dict[str, Any]] = {
    "count": VISITS.agg(n=sd.count()),
    "sum": VISITS.group_by(KEYS).agg(days=sd.sum("days", 0, 30)),
    "means": VISITS.group_by(KEYS).agg(
        days=sd.mean("days", 0, 30), cost=sd.mean("cost", 0, 90)
    ),
    "filtered": VISITS.filter(sd.col("days") > 2).agg(n=sd.count()),
    "laplace": VISITS.group_by(KEYS).agg(noise="laplace", n=sd.count()),
    "gaussian": VISITS.group_by(KEYS).agg(noise="gaussian", n=sd.count()),
    "unknown keys": VISITS.group_by("ward").agg(n=sd.count()),
    "keys alone": VISITS.group_by("ward").keys(),
    "a choice": VISITS.group_by(KEYS).agg(days=sd.median("days", 0, 30)),
    "choices and sums": VISITS.agg(
        days=sd.median("days", 0, 30), cost=sd.sum("cost", 0, 90)
    ),
    "unknown keys and a choice": VISITS.group_by("ward").agg(
        days=sd.quantile("days", "0.9", 0, 30)
    ),
}
BUDGETS: Final[dict[str, Budget]] = {
    "pure": sd.PureDP(1),
    "approximate": WHOLE,
    "approximate without a delta": sd.ApproxDP(1, 0),
    "concentrated": sd.ZCDP("0.1"),
    "approximately concentrated": sd.ApproxZCDP("0.1", "1e-6"),
    "Gaussian": sd.GaussianDP("0.5"),
}


def session(budget: Any = WHOLE, **terms: Any) -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    return sd.Session({"visits": table}, budget, engine="memory", **terms)


def named(names: list[str]) -> dict[str, Any]:
    return {f"{place} {name}": REQUESTS[name] for place, name in enumerate(names)}


def one_by_one(names: list[str]) -> float:
    """Return the score of requests that each get their share and no more."""
    part = sd.ApproxDP(WHOLE.epsilon / len(names), WHOLE.delta / len(names))
    opened = session()
    return math.fsum(
        opened.price(REQUESTS[name], part)._purchase.score for name in names
    )


@given(st.lists(st.sampled_from(sorted(REQUESTS)), min_size=1, max_size=5))
@settings(max_examples=10)
def test_any_mixture_is_within_the_budget_and_errs_no_more(names: list[str]) -> None:
    """The composed curve is within (epsilon, delta), and planning is never a loss."""
    batch = session().price_all(named(names), WHOLE)
    assert WHOLE.admits(batch.loss)
    assert batch.gain >= 1
    assert batch._bundle.score <= one_by_one(names) + 1e-9


@for_each("budget", BUDGETS)
def test_every_budget_is_shared(budget: str) -> None:
    limit: Any = BUDGETS[budget]
    asked = named(["count", "sum", "a choice"])
    opened = session(limit)
    batch = opened.price_all(asked, limit)
    assert limit.admits(batch.loss)
    assert list(batch.prices) == list(asked)
    releases = opened.release_all(asked, limit)
    assert [one.loss for one in releases.values()] == [
        one.loss for one in batch.prices.values()
    ]
    assert opened.spent == limit
    with pytest.raises(BudgetExceeded):
        opened.release(REQUESTS["count"], limit)


@for_each("count", [4, 10, 50])
def test_many_gaussian_answers_gain(count: int) -> None:
    """Sums of squares grow slower: each gets more than 1, nearly the root of count."""
    batch = session().price_all(named(["gaussian"] * count), WHOLE)
    assert batch.gain > math.sqrt(count)
    assert WHOLE.admits(batch.loss)
    more = sd.ApproxDP(WHOLE.epsilon, WHOLE.delta / 2)
    assert not more.admits(batch.loss), "half of delta is not used"


def test_what_pure_answers_gain() -> None:
    """Three Laplace answers share epsilon; forty small ones are worth more together."""
    assert session().price_all(named(["laplace"] * 3), WHOLE).gain == 1
    assert session().price_all(named(["laplace"] * 40), WHOLE).gain > 1.5


def test_company_changes_the_family() -> None:
    """One count is best with Laplace noise; ten are best with Gaussian noise."""
    assert session().price(REQUESTS["count"], _TENTH).family == "laplace"
    batch = session().price_all(named(["count"] * 10), WHOLE)
    assert {found.family for found in batch.prices.values()} == {"gaussian"}


def test_what_only_chooses_keeps_what_it_is() -> None:
    """A request without additive noise takes part in every plan, whatever its family.

    Gaussian noise was once forced on it, and the batch was refused.
    """
    batch = session().price_all(named(["a choice", *["gaussian"] * 9]), WHOLE)
    assert batch.gain > 1
    assert WHOLE.admits(batch.loss)


def test_a_batch_is_charged_once_under_one_key() -> None:
    opened = session()
    half = sd.ApproxDP("0.5", "5e-7")
    asked = named(["count", "means", "unknown keys", "a choice"])
    first = opened.release_all(asked, half, key="monday", why="report")
    again = opened.release_all(asked, half, key="monday")
    for name, release in first.items():
        assert again[name].table.equals(release.table)
        assert again[name].errors.equals(release.errors)
        assert again[name].price == release.price
    (entry,) = opened.history()
    assert opened.spent == half
    assert (entry.why, entry.plan.count("└─ table visits")) == ("report", 4)
    with pytest.raises(sd.errors.InvalidQuery, match="belongs to another request"):
        opened.release(REQUESTS["count"], half, key="monday")
    other = {f"my {name}": one for name, one in asked.items()}
    with pytest.raises(sd.errors.InvalidQuery, match="belongs to another request"):
        opened.release_all(other, half, key="monday")


def test_a_batch_shows_what_it_saves() -> None:
    text = repr(session().price_all(named(["count"] * 10), WHOLE))
    assert text.count("price: epsilon = ") == 10
    assert text.splitlines()[-1].startswith("together: each has 3.")
    assert text.count("planned together: 3.") == 10
    alone = session().price(REQUESTS["count"], WHOLE)
    assert (alone.gain, "together" in repr(alone)) == (1, False)


@pytest.mark.slow
def test_what_is_alike_is_bought_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred questions of one kind cost hardly more than one, and the same.

    Each keeps its own rows; what differs in a bound is another kind.
    """
    grouped = [
        VISITS
        .filter(sd.col("cost") > place)
        .group_by("ward")
        .agg(n=sd.count(), m=sd.mean("days", 0, 30 + place % 2))
        for place in range(100)
    ]
    bought: list[object] = []

    def buy(ways: Any, budget: Any) -> Any:
        bought.append(budget)
        return best_of(ways, budget)

    monkeypatch.setattr(bundle, "best_of", buy)
    asked = {str(place): one for place, one in enumerate(grouped)}
    batch = session().price_all(asked, WHOLE)
    assert len(bought) < 2 * 40
    for place in (0, 1, 98, 99):
        one = batch.prices[str(place)]
        assert one.request.rows is grouped[place].rows
        assert f"> {place}" in one.plan
        assert str(30 + place % 2) in one.plan
    bought.clear()
    monkeypatch.setattr(bundle, "alike_names", lambda ways: [[name] for name in ways])
    some = {name: asked[name] for name in ("0", "1", "2", "3")}
    each = session().price_all(some, WHOLE)
    monkeypatch.undo()
    together = session().price_all(some, WHOLE)
    assert len(bought) > 8
    for name, price in each.prices.items():
        assert together.prices[name].noise == price.noise
        assert together.prices[name].sensitivity == price.sensitivity


def test_a_batch_is_priced_soon() -> None:
    """Ten grouped requests take a second or two where each try composes their curves.

    The bound is wide, for a machine that does other things.
    """
    asked = {
        f"{most}": VISITS.group_by(KEYS).agg(n=sd.count(), d=sd.sum("days", 0, most))
        for most in range(30, 40)
    }
    opened = session()
    before = time.process_time()
    opened.price_all(asked, WHOLE)
    assert time.process_time() - before < 5


@for_each(
    "wrong", [{}, [REQUESTS["count"]], {"n": VISITS}, {"n": 5}, {5: REQUESTS["count"]}]
)
def test_what_is_no_batch_is_refused(wrong: Any) -> None:
    opened = session()
    with pytest.raises(InvalidParameter):
        opened.release_all(wrong, WHOLE)
    with pytest.raises(InvalidParameter, match="cannot be shared"):
        opened.release_all({"n": REQUESTS["count"]}, sd.Advantage("0.1"))
    assert opened.spent == sd.ApproxDP(0, 0)


_TENTH: Final = sd.ApproxDP("0.1", "1e-7")


SURVEY: Final = {f"q{place}": [place % 3, 1, None, 0] * 25 for place in range(20)}
ANSWERS: Final = sd.table("answers")
MUCH: Final = sd.PureDP(10**6)


def survey_session(rows: Any = SURVEY, **options: Any) -> sd.Session:
    table = sd.PrivateTable(rows, protects=sd.AddOneRow())
    return sd.Session(
        {"answers": table}, options.pop("budget", WHOLE), engine="memory", **options
    )


def counts(rows: Any = ANSWERS) -> dict[str, sd.Request]:
    return {name: rows.filter(sd.col(name) == 1).agg(n=sd.count()) for name in SURVEY}


def test_filtered_counts_are_measured_as_one_survey() -> None:
    """They have the noise of so many yes/no columns, and are charged as these are."""
    known = survey_session()
    batch = known.price_all(counts(), WHOLE)
    told = float(batch.prices["q3"].errors["n"].sd)
    columns: Any = {name: sd.sum(when_one(name), 0, 1) for name in SURVEY}
    whole = known.price(ANSWERS.agg(**columns), WHOLE)
    assert told == float(whole.errors["q3"].sd) < 11.6
    words = "20 counts of the same rows, measured as one survey"
    assert words in repr(batch.prices["q3"])
    assert words in batch.prices["q3"].plan
    (release,) = json.loads(batch.proof)["releases"]
    assert len(release["measurements"]) == 21
    told_apart = known.release_all(counts(), WHOLE)
    assert known.remaining.epsilon == 0
    assert any(words in note for note in told_apart["q7"].notes)
    assert told_apart["q7"].proof == batch.proof


def when_one(name: str) -> Any:
    return sd.when(sd.col(name) == 1).then(1).otherwise(0)


WARDS: Final = sd.KeySet.from_dict({"q0": [0, 1, 2, 3]})
EXACT: Final[dict[str, Any]] = {
    "all rows": lambda rows: rows,
    "groups": lambda rows: rows.group_by(WARDS),
    "a filter before": lambda rows: rows.filter(sd.col("q1") > -9),
    "a column made": lambda rows: rows.with_columns(one=sd.col("q2") + 1),
}


@for_each("shape", EXACT)
def test_a_survey_answers_what_was_asked(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each request has the count of its own filters, rows without a value left out."""
    # with so little noise it would not be worth it
    monkeypatch.setattr(bundle, "_WORTH", -math.inf)
    known = survey_session(budget=sd.PureDP(10**9))
    names = [f"q{place}" for place in (1, 2, 3, 4, 5, 6, 7, 8)]
    asked: dict[str, Any] = {}
    for place, name in enumerate(names):
        rows = ANSWERS.filter(sd.col(name) >= place % 3)
        if shape == "groups":
            asked[name] = rows.group_by(WARDS).agg(many=sd.count())
            continue
        before = EXACT[shape](ANSWERS)
        made = sd.col("one" if shape == "a column made" else "q9")
        last = before.filter(sd.col(name) >= place % 3).filter(made < 2)
        asked[name] = last.agg(many=sd.count())
    asked["sum"] = ANSWERS.agg(s=sd.sum("q5", 0, 9))
    batch = known.price_all(asked, MUCH)
    assert batch.prices["q1"]._purchase.counted_with == 8
    together = known.release_all(asked, MUCH)
    for name, request in asked.items():
        alone = known.release(request, MUCH)
        assert together[name].table == alone.table, name
        assert together[name].errors.schema == alone.errors.schema


APART: Final[dict[str, tuple[dict[str, Any], Any]]] = {
    "one alone": ({"q1": counts()["q1"], "s": ANSWERS.agg(s=sd.sum("q5", 0, 9))}, MUCH),
    "filters before a limit": (
        {
            name: ANSWERS
            .filter(sd.col(name) == 1)
            .with_columns(one=1)
            .agg(n=sd.count())
            for name in SURVEY
        },
        MUCH,
    ),
    "noise that was asked for": (
        {
            name: ANSWERS.filter(sd.col(name) == 1).agg(n=sd.count(), noise="gaussian")
            for name in SURVEY
        },
        WHOLE,
    ),
    "groups that are not known": (
        {
            name: ANSWERS.filter(sd.col(name) == 1).group_by("q0").agg(n=sd.count())
            for name in SURVEY
        },
        WHOLE,
    ),
    "two answers": (
        {
            name: ANSWERS.filter(sd.col(name) == 1).agg(
                n=sd.count(), m=sd.sum("q0", 0, 1)
            )
            for name in SURVEY
        },
        MUCH,
    ),
}


@for_each("case", APART)
def test_what_is_no_survey_is_planned_apart(case: str) -> None:
    asked, budget = APART[case]
    batch = survey_session(budget=sd.ApproxDP(10**9, "0.1")).price_all(asked, budget)
    assert batch._bundle.surveys == {}


def test_filters_that_tell_blocks_stay_filters() -> None:
    """A count of one month charges that month, however many are asked together."""
    rows = {"month": ["2026-01", "2026-02"] * 10, "yes": [1, 1, 0, 0] * 5}
    table = sd.PrivateTable(rows, sd.AddOneRow(), blocks="month")
    blocks = sd.Blocks(names=["2026-01", "2026-02"])
    known = sd.Session({"answers": table}, MUCH, blocks=blocks, engine="memory")
    january = sd.col("month") == "2026-01"
    asked = {
        f"less than {most}": ANSWERS.filter(january & (sd.col("yes") < most)).agg(
            n=sd.count()
        )
        for most in range(20)
    }
    batch = known.price_all(asked, sd.PureDP(1))
    assert (batch.blocks, batch._bundle.surveys) == (("2026-01",), {})


def test_a_policy_sees_a_filter_and_no_value() -> None:
    """What may be filtered by and not be added up can still be counted together."""
    known = survey_session()
    bundle_of = known._desk.buy_together(counts(), WHOLE, None)
    assert set(bundle_of.surveys) == {"q0"}
    for usage in usages_of(bundle_of, known._desk.catalog):
        assert not usage.values
        assert len(usage.filters) == 1


COUNTED: Final[dict[str, tuple[Any, sd.Loss]]] = {
    "as asked": (WHOLE, sd.ApproxDP("0.3", "1e-7")),
    "by mu": (sd.Limit.of(WHOLE, counting="gaussian"), sd.GaussianDP("0.1")),
    "other terms": (sd.ZCDP("0.1"), sd.PureDP("0.2")),
}


@for_each("name", COUNTED)
def test_a_price_tells_how_many_more_fit(name: str) -> None:
    """So many are answered, beside what is set aside for others, and then none."""
    limit, asked = COUNTED[name]
    known, request = session(limit), REQUESTS["count"]
    known.ledger.earmark("other", asked)
    told = known.price(request, asked).headroom
    assert told is not None
    assert told.more is not None
    assert told.more > 1
    assert f"answers {told.more:,} such" in repr(known.what_if(request, asked))
    for _ in range(told.more):
        known.release(request, asked)
    none = known.price(request, asked)
    assert none.headroom is not None
    assert none.headroom.more == 0
    assert "answers 0 such" in repr(none)
    with pytest.raises(BudgetExceeded):
        known.release(request, asked)


COUNTS: Final = {name: REQUESTS[name] for name in ("count", "filtered")}
OTHER_TERMS: Final[dict[str, Callable[[sd.Session, sd.Loss], Any]]] = {
    "price": lambda s, b: s.price(REQUESTS["count"], b),
    "price_all": lambda s, b: s.price_all(COUNTS, b),
    "what_if": lambda s, b: s.what_if(REQUESTS["count"], b),
    "release": lambda s, b: s.release(REQUESTS["count"], b),
    "release_all": lambda s, b: s.release_all(COUNTS, b),
    "price of margins": lambda s, b: s.price(VISITS.marginals(KEYS, order=1), b),
    "margins": lambda s, b: s.release(VISITS.marginals(KEYS, order=1), b),
}


@for_each("verb", OTHER_TERMS)
def test_what_cannot_be_counted_has_no_price(verb: str) -> None:
    """A price is told or refused as the release is, and the first charge may choose."""
    known, other, act = session(), sd.ZCDP("0.001"), OTHER_TERMS[verb]
    act(known, other)
    if known.history():
        assert known.spent.sums.keys() == {"mu_squared"}
    known = session()
    known.release(REQUESTS["count"], sd.PureDP("0.1"))
    for refused in (other, sd.GaussianDP("0.1"), sd.ApproxZCDP("0.001", "1e-8")):
        with pytest.raises(InvalidParameter, match="cannot be counted"):
            act(known, refused)
    assert known.spent == sd.ApproxDP("0.1", 0)
    # what the limit of a name cannot count is refused as well
    ledger = sd.Ledger.in_memory(sd.GaussianDP(1))
    ledger.allot("ana", sd.PureDP(1))
    named = session(None, ledger=ledger, analyst="ana")
    with pytest.raises(InvalidParameter, match="cannot be counted"):
        act(named, sd.GaussianDP("0.1"))


def test_a_hundred_adaptive_counts_are_shares() -> None:
    """By mu each errs by 42, added up as asked by 141; a hundred fit, and no more."""
    known, request = session(sd.ApproxDP(1, "1e-6")), REQUESTS["count"]
    asked = known.price(request, sd.ApproxDP("0.01", "1e-8")).errors["n"].sd
    assert asked == pytest.approx(141, abs=1)
    hundredth = known.share("1/100")
    for _ in range(100):
        assert known.share("1/100") == hundredth
        price = known.price(request, hundredth)
        assert price.errors["n"].sd <= 42.6
        known.release(request, hundredth)
    with pytest.raises(BudgetExceeded):
        known.release(request, sd.GaussianDP("1e-9"))
    assert known.ledger.verify().proved == 100
    # a tenth of delta is there for groups that are not known
    assert known.remaining == sd.ApproxDP(0, "1e-7")
    # of a budget that was counted as asked a share is of that
    halved = session(sd.ApproxDP(1, "1e-6"))
    halved.release(request, sd.ApproxDP("0.5", "5e-7"))
    assert halved.share("1/2") == sd.ApproxDP("0.5", "5e-7")
    halved.release(request, halved.share("1/2"))
    assert halved.remaining == sd.ApproxDP(0, 0)
    for part in (0, 2, -1, "x", True):
        with pytest.raises(InvalidParameter):
            halved.share(part)


def test_a_refusal_names_the_counting_that_answers_more() -> None:
    known, fiftieth = session(), sd.PureDP("0.02")
    known.release(REQUESTS["count"], sd.PureDP("0.99"))
    with pytest.raises(BudgetExceeded, match=r"'concentrated' .* 121 such fit"):
        known.release(REQUESTS["count"], fiftieth)
    with pytest.raises(BudgetExceeded, match=r"nothing was charged\.$"):
        known.release(REQUESTS["count"], sd.PureDP("0.9"))
