"""What is done to noisy answers: by a request and by a release alike."""

import math
import operator
import random
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import SordinoError
from sordino.expressions.language import Expression
from sordino.query.sql.ranges import hold_within, range_of
from tests.batches import for_each
from tests.planned import planned

EXACT = sd.PureDP(10**9)
KEYS = sd.KeySet.from_dict({"w": ["a", "b", "c", None]})


@pytest.fixture
def session() -> sd.Session:
    rows = {"w": ["a"] * 3 + ["b"] * 5 + [None], "x": [1, 2, 3, 4, 5, 6, 7, 8, 9]}
    return sd.Session(
        tables={"v": sd.PrivateTable(rows, protects=sd.AddOneRow())},
        budget=sd.PureDP(10**12),
        engine="memory",
    )


def request_of() -> sd.Request:
    asked = sd.table("v").group_by(KEYS)
    return asked.agg(n=sd.count(), x=sd.sum("x", 0, 10))


def done(asked: Any) -> Any:
    """Return a question or its answer with all that can be done to it."""
    return (
        asked
        .with_columns(half=sd.col("n") / 2, mean=sd.col("x") / sd.col("n"))
        .filter(sd.col("n") > 0)
        .sort("n", descending=True)
        .limit(2, offset=1)
        .select("half", "n")
        .rename({"half": "h", "w": "ward"})
    )


def test_a_request_does_what_a_release_does(session: sd.Session) -> None:
    """The same verbs, before and after: the same table."""
    before = session.release(done(request_of()), EXACT)
    after = done(session.release(request_of(), EXACT))
    assert before.table.equals(after.table)
    assert before.errors.column_names == after.errors.column_names
    assert before.table.to_pydict() == {
        "ward": ["a", None],
        "h": [1.5, 0.5],
        "n": [3, 1],
    }
    assert any("chosen by their noisy numbers" in note for note in before.notes)
    assert repr(done(request_of())).endswith(
        ".filter(col('n') > 0).sort('n', descending=('n',)).limit(2, offset=1)"
        ".select('half', 'n').rename({'half': 'h', 'w': 'ward'})"
    )


def test_processing_is_not_of_the_identity(session: sd.Session) -> None:
    """A key finds the paid answer, whatever is done to it; and it costs nothing."""
    first = session.release(request_of(), EXACT, key="k")
    spent = session.spent
    again = session.release(request_of().sort("n"), EXACT, key="k")
    assert session.spent == spent
    assert sorted(again["n"].to_pylist()) == sorted(first["n"].to_pylist())
    prices = [session.price(one, EXACT) for one in (request_of(), done(request_of()))]
    assert prices[0].loss == prices[1].loss
    assert prices[0].plan == prices[1].plan


def test_release_all_processes_each(session: sd.Session) -> None:
    """Requests that are planned together keep what is done to each."""
    found = session.release_all({"a": request_of().limit(1), "b": request_of()}, EXACT)
    assert (len(found["a"]), len(found["b"])) == (1, 4)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda one: one.filter(sd.col("nn") > 0),
        lambda one: one.filter(sd.col("n") + 1),
        lambda one: one.filter("n"),
        lambda one: one.with_columns(w=sd.col("n")),
        lambda one: one.with_columns(),
        lambda one: one.with_columns(z=sd.col("w") + 1),
        lambda one: one.sort(),
        lambda one: one.sort("zz"),
        lambda one: one.sort("n", descending="x"),
        lambda one: one.sort("n", descending=5),
        lambda one: one.limit(-1),
        lambda one: one.limit("5"),
        lambda one: one.select("zz"),
        lambda one: one.rename({"n": "x"}),
        lambda one: one.rename({"zz": "x"}),
        lambda one: one.rename({}),
        lambda one: one.rename({"n": "x sd"}),
        lambda one: one.with_columns(**{"n sd": sd.col("n")}),
        lambda one: one.select("n", "n"),
        lambda one: one.with_columns(z=sd.col("w").split(",")),
        lambda one: one.rename({"n": "\ud800"}),
        lambda one: one.with_columns(**{"\ud800": sd.col("n")}),
    ],
)
def test_what_cannot_be_done_is_refused_before_it_is_charged(
    session: sd.Session, wrong: Any
) -> None:
    spent = session.spent
    with pytest.raises(SordinoError):
        session.release(wrong(request_of()), EXACT)
    assert session.spent == spent
    release = session.release(request_of(), EXACT)
    with pytest.raises(SordinoError):
        wrong(release)


def test_a_condition_may_leave_no_row(session: sd.Session) -> None:
    asked = sd.table("v").agg(n=sd.count())
    for least, rows in ((5, 1), (50, 0)):
        release = session.release(asked.filter(sd.col("n") > least), EXACT)
        assert len(release) == len(release.errors) == rows
    assert "no row" in release.explain()


@pytest.mark.parametrize("verb", ["sort", "limit"])
def test_one_row_is_not_chosen_from(session: sd.Session, verb: str) -> None:
    asked = sd.table("v").agg(n=sd.count())
    given: Any = {"sort": "n", "limit": 1}[verb]
    with pytest.raises(SordinoError, match="one row"):
        session.price(getattr(asked, verb)(given), EXACT)


def test_quantiles_and_unknown_keys_are_rehearsed(session: sd.Session) -> None:
    """Whatever is asked can be tried on nothing."""
    asked = (
        sd
        .table("v")
        .group_by("w")
        .agg(n=sd.count(), m=sd.median("x", 0, 9), v=sd.variance("x", 0, 9))
    )
    price = planned(
        session, asked.sort("m").filter(sd.col("v") > 0), sd.ApproxDP(1, "1e-6")
    )
    assert price.loss is not None
    with pytest.raises(SordinoError):
        session.price(asked.filter(sd.col("m") == "x"), sd.ApproxDP(1, "1e-6"))


def test_intervals_go_through_linear_functions(session: sd.Session) -> None:
    release = session.release(request_of(), sd.PureDP(1))
    made = release.with_columns(
        up=100 - sd.col("n") * 2,
        both=sd.col("n") + sd.col("x"),
        square=sd.col("n") * sd.col("n"),
    )
    rows = zip(made.errors.to_pylist(), made.table.to_pylist(), strict=True)
    for errors, row in rows:
        assert errors["up sd"] == pytest.approx(2 * errors["n sd"])
        assert errors["up low"] == 100 - 2 * errors["n high"]
        assert errors["up high"] == 100 - 2 * errors["n low"]
        assert row["up"] == 100 - 2 * row["n"]
        assert errors["both sd"] > errors["n sd"]
        assert errors["both low"] < row["both"] < errors["both high"]
        assert errors["square low"] is None


def drawn(dice: random.Random, depth: int) -> Expression:
    if depth <= 0 or dice.random() < 0.2:
        return dice.choice((
            sd.lit(dice.randint(-9, 9)),
            sd.col("x"),
            sd.col("y").clip(-3, 4),
        ))
    one, other = drawn(dice, depth - 1), drawn(dice, depth - 1)
    made: Expression = dice.choice(BUILD)(one, other)
    return made


BUILD: Final[tuple[Any, ...]] = (
    operator.add,
    operator.sub,
    operator.mul,
    lambda one, other: one.greatest(other),
    lambda one, other: one.least(other),
    lambda one, other: one.coalesce(other),
    lambda one, other: sd.when(one > other).then(one).otherwise(1),
    lambda one, _: -one,
    lambda one, _: one.abs(),
    lambda one, _: one.clip(-2, 5),
    lambda one, _: one.floor().remainder(7),
    lambda one, _: one.floor().quotient(-2),
    lambda one, _: one / 3,
    lambda one, _: one // -4,
    lambda one, _: one % -3,
    lambda one, _: one.round_down(5),
    lambda one, _: one.round(1),
    lambda one, _: one.ceil(),
    lambda one, _: one.sqrt(),
    lambda one, _: one.cast("f64").cast("i64"),
)


@for_each("seed", range(300))
def test_ranges_hold(seed: int) -> None:
    """For any expression and any row: within the range, also of bounded columns."""
    dice = random.Random(seed)
    made = drawn(dice, 3) if seed % 20 else drawn(dice, 0).clip(1, 60).log().exp()
    ends = {"x": (-60, 60), "y": (-60, 60)}
    held = Expression(hold_within(made.tree, ends, is_truth=lambda _: False))
    known, bounded = range_of(made.tree), range_of(held.tree)
    numbers = [None, *range(-50, 50, 7)]
    for _ in range(10):
        row = {"x": dice.choice(numbers), "y": dice.choice(numbers)}
        value = made.value(row)
        if known is not None and value is not None:
            assert known[0] <= value <= known[1]
        assert held.value(row) == value
        if bounded is not None and value is not None:
            assert bounded[0] <= value <= bounded[1]


def test_a_divisor_that_may_be_zero_is_told(
    session: sd.Session, tmp_path: Path
) -> None:
    """Then the interval has no ends, and says so; where it is surely not, it has."""
    release = session.release(request_of(), EXACT)
    made = release.with_columns(mean=sd.col("x") / sd.col("n"))
    rows = dict(zip(made["w"].to_pylist(), made.errors.to_pylist(), strict=True))
    # the count of five rows lies on a lattice, and may be off by its step
    assert 4 < rows["b"]["mean low"] < 6 < rows["b"]["mean high"] < 8
    assert (rows["c"]["mean low"], rows["c"]["mean high"]) == (-math.inf, math.inf)
    assert rows["c"]["mean sd"] is None
    assert "any number" in str(made.filter(sd.col("n") == 0))
    exactness = made.exactness
    (reach,) = (each for each in exactness.reaches if each.name == "mean")
    # a bound on the others is not one on all, and what has none is rough
    assert reach.least is not None
    assert reach.most is None
    assert exactness.rough > release.exactness.rough
    assert "or more, some without end" in str(made.label())
    assert "any number" in written_report(made, tmp_path)


def written_report(release: sd.Release, folder: Path) -> str:
    release.report(folder / "r.html")
    return (folder / "r.html").read_text("utf-8")


def test_a_release_is_suppressed_by_its_own_error(session: sd.Session) -> None:
    """By deviations that are alike nothing is chosen; by intervals something is."""
    for budget in (sd.PureDP(1), sd.PureDP("0.01")):
        release = session.release(request_of().filter(sd.col("n sd") < 20), budget)
        assert len(release) == (4 if budget == sd.PureDP(1) else 0)
        assert not any("chosen by" in note for note in release.notes)
    sure = session.release(request_of(), sd.PureDP(1)).filter(sd.col("n low") > 2)
    assert any("chosen by" in note for note in sure.notes)
    with pytest.raises(SordinoError, match="mm sd"):
        sure.filter(sd.col("mm sd") < 3)


def test_what_was_computed_is_computed_with(session: sd.Session) -> None:
    """Laws go on: through other columns, other names, and rows that are left out."""
    share = sd.col("n") / (sd.col("n") + sd.col("x"))
    release = session.release(request_of(), sd.PureDP(100))
    once = release.with_columns(percent=100 * share)
    twice = (
        release
        .with_columns(s=share)
        .rename({"s": "part"})
        .sort("n")
        .select("part")
        .with_columns(percent=100 * sd.col("part"))
        .sort("w", nulls_first=True)
    )
    for end in ("percent sd", "percent low", "percent high"):
        one, other = (
            each.sort("w", nulls_first=True).errors[end].to_pylist()
            for each in (once, twice)
        )
        assert other == pytest.approx(one, nan_ok=True)


def test_an_answer_less_itself_has_no_noise(session: sd.Session) -> None:
    """Equal noise is added up before it is bounded."""
    release = session.release(request_of(), sd.PureDP(1))
    made = release.with_columns(
        zero=sd.col("n") - sd.col("n"), one=(sd.col("n") + sd.col("n")) / sd.col("n")
    )
    assert made.errors["zero low"].to_pylist() == [0.0] * 4
    assert made.errors["zero high"].to_pylist() == [0.0] * 4


def test_a_paid_answer_has_the_same_errors(tmp_path: Path) -> None:
    """Laws follow from the request and its price: a ledger keeps the numbers alone."""
    asked = request_of().with_columns(mean=sd.col("x") / sd.col("n"))
    table = sd.PrivateTable({"w": ["a"] * 300, "x": [5] * 300}, sd.AddOneRow())
    errors = []
    for _ in range(2):
        with sd.Session({"v": table}, sd.PureDP(1), ledger=tmp_path / "l") as again:
            errors.append(again.release(asked, sd.PureDP(1), key="k").errors)
    assert errors[0].equals(errors[1])
    assert errors[0]["mean high"][0].as_py() is not None
