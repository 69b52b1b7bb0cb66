"""A secret sample: what the frame loses, enumerated in exact fractions.

A frame of three people, all samples, an analyst who chooses the second question by the
first answer, all answers. Nothing is drawn, so nothing fails by chance.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest

import sordino as sd
from sordino.errors import InvalidParameter
from sordino.losses.budgets.limits import Frame, Limit
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import PureDP
from sordino.numbers.rounding import ball, fraction, precision

RATES = ("1/2", "1/10", "1/100", "99/100")
BUDGETS = (PureDP("0.1"), ApproxDP(1, "1e-6"), ApproxDP(3, "1/1000"), PureDP(8))


def power(epsilon: Fraction, digits: int = 20) -> Fraction:
    """Return exp(epsilon), rounded down: what is within it is within epsilon."""
    with precision(256):
        scale = 10**digits
        return Fraction(
            math.floor(fraction(ball(epsilon).exp().lower()) * scale), scale
        )


@dataclass(frozen=True)
class Question:
    """Asks whether somebody is there; with chance `delta` it tells more than it may.

    It is (ln `odds`, `delta`)-DP, and reaches it.
    """

    odds: Fraction
    delta: Fraction

    def law(self, there: bool) -> dict[tuple[str, bool], Fraction]:  # noqa: FBT001 a fact
        right = (1 - self.delta) * self.odds / (1 + self.odds)
        wrong = (1 - self.delta) / (1 + self.odds)
        return {
            ("told", there): self.delta,
            ("said", there): right,
            ("said", not there): wrong,
        }


Law = dict[tuple[object, ...], Fraction]


def table_law(people: Sequence[str], halves: tuple[Question, Question]) -> Law:
    """Law of two questions, of which the second is about whom the first answer says."""
    first, second = halves
    law: Law = {}
    for seen, chance in first.law("anna" in people).items():
        # the analyst: after "she is there" once more, else about somebody else as well
        whom = {"anna"} if seen[1] else {"anna", "ben"}
        for then, likely in second.law(bool(whom & set(people))).items():
            law[seen, then] = law.get((seen, then), Fraction(0)) + chance * likely
    return law


def frame_law(
    frame: Sequence[str], rate: Fraction, halves: tuple[Question, Question]
) -> Law:
    """Law of the answers about a sample of a frame, over all samples."""
    law: Law = {}
    for coins in product((True, False), repeat=len(frame)):
        sample = [name for name, drawn in zip(frame, coins, strict=True) if drawn]
        chance = math.prod(rate if drawn else 1 - rate for drawn in coins)
        for answer, likely in table_law(sample, halves).items():
            law[answer] = law.get(answer, Fraction(0)) + chance * likely
    return law


def beyond(first: Law, second: Law, odds: Fraction) -> Fraction:
    """Greatest excess of a set of answers: the delta that belongs to these odds."""
    answers = {*first, *second}
    zero = Fraction(0)
    gaps = (first.get(a, zero) - odds * second.get(a, zero) for a in answers)
    return sum((gap for gap in gaps if gap > 0), zero)


def halves_within(limit: Any) -> tuple[Question, Question]:
    """Two questions that use up a limit, as a ledger adds them up."""
    rule = Limit.of(limit).rule
    delta = getattr(limit, "delta", Fraction(0))
    parts: list[Any] = [
        ApproxDP(limit.epsilon * share, delta * share)
        for share in (Fraction(1, 3), Fraction(2, 3))
    ]
    spent = rule.zero
    for part in parts:
        asked = part if delta else PureDP(part.epsilon)
        _, spent = rule.accept(spent, rule.charge_for(asked, asked))
    one, two = (Question(power(part.epsilon), part.delta) for part in parts)
    return one, two


def excess(promise: Any, inner: Any, rate: Fraction) -> Fraction:
    """How much more of the frame is lost than its delta, if `inner` is of the sample.

    Both directions: anna is in the frame, or she is not; two others are.
    """
    halves = halves_within(inner)
    others = ("ben", "cleo")
    without = frame_law(others, rate, halves)
    with_her = frame_law((*others, "anna"), rate, halves)
    assert sum(without.values()) == sum(with_her.values()) == 1
    odds = power(promise.epsilon, 40)
    lost = max(beyond(without, with_her, odds), beyond(with_her, without, odds))
    return lost - getattr(promise, "delta", Fraction(0))


CASES = list(product(BUDGETS, RATES))


@pytest.mark.parametrize(("promise", "text"), CASES, ids=str)
def test_the_frame_loses_what_it_was_promised(promise: Any, text: str) -> None:
    rate = Fraction(text)
    if getattr(promise, "delta", 0) >= rate:
        pytest.skip("refused: all of the sample could be told")
    frame = Frame.of(promise, text)
    assert excess(promise, frame.sample, rate) <= 0


MISTAKES: dict[str, Callable[[Any], Any]] = {
    "each coin makes epsilon smaller by itself": lambda frame: ApproxDP(
        frame.promise.epsilon / frame.rate, frame.sample.delta
    ),
    "the logarithm left out": lambda frame: ApproxDP(
        power(frame.promise.epsilon) / frame.rate, frame.sample.delta
    ),
    "delta as often again": lambda frame: ApproxDP(
        frame.sample.epsilon, frame.sample.delta / frame.rate
    ),
    "a thousandth more": lambda frame: ApproxDP(
        frame.sample.epsilon * Fraction(1001, 1000), frame.sample.delta
    ),
    "a smaller rate than was drawn with": lambda frame: (
        Frame.of(frame.promise, frame.rate / 2).sample
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_formula_is_caught(mistake: str) -> None:
    frame = Frame.of(ApproxDP(1, "1e-6"), "1/10")
    assert excess(frame.promise, MISTAKES[mistake](frame), frame.rate) > 0


def test_rows_drawn_one_by_one_are_caught() -> None:
    # anna has two rows with a coin each: likelier in the sample than its rate says
    frame = Frame.of(PureDP(1), "1/10")
    twice = 1 - (1 - frame.rate) ** 2
    assert excess(frame.promise, frame.sample, twice) > 0


@pytest.mark.parametrize(("promise", "text"), CASES, ids=str)
def test_the_limit_of_a_sample_is_the_largest_but_for_a_billionth(
    promise: Any, text: str
) -> None:
    rate = Fraction(text)
    if getattr(promise, "delta", 0) >= rate:
        with pytest.raises(InvalidParameter, match="all of a sample"):
            Frame.of(promise, text)
        return
    frame: Any = Frame.of(promise, text)

    def loses(epsilon: Fraction) -> tuple[Fraction, Fraction]:
        with precision(512):
            whole = 1 + ball(rate) * (ball(epsilon).exp() - 1)
            least = ball(promise.epsilon).exp() - whole
            return fraction(least.lower()), fraction(least.upper())

    assert loses(frame.sample.epsilon)[0] >= 0
    assert loses(frame.sample.epsilon + Fraction(1, 10**9))[1] < 0
    assert getattr(frame.sample, "delta", 0) * rate == getattr(promise, "delta", 0)


def recorded() -> Iterator[tuple[Limit, dict[str, Any]]]:
    countings: tuple[Any, ...] = ("asked", "gaussian", "concentrated")
    for counting in countings:
        limit = Limit.of(ApproxDP(1, "1e-6"), counting, sampled="0.1")
        yield limit, limit.fields


def test_a_recorded_limit_is_held_against_the_proof() -> None:
    for limit, fields in recorded():
        assert Limit.read(fields) == limit
        # whoever writes another rate, or another budget, into a record is found out
        for change in ({"rate": "1/9"}, {"epsilon": "99/100"}, {"delta": "1/2000000"}):
            forged = {**fields, "frame": {**fields["frame"], **change}}
            with pytest.raises(InvalidParameter, match="is more than"):
                Limit.read(forged)
        # a larger frame that loses less allows more: no promise is broken
        smaller = {**fields, "frame": {**fields["frame"], "rate": "1/11"}}
        assert Limit.read(smaller).rule == limit.rule


ROWS = {"id": [1, 1, 2, 3], "x": [1, 2, 3, 4]}
IDS = sd.AddRowsWithID("id")


def test_a_session_keeps_the_limit_of_the_sample() -> None:
    table = sd.PrivateTable(ROWS, protects=IDS, sampled="0.1")
    budget = sd.ApproxDP(1, "1e-6")
    session = sd.Session({"t": table}, budget)
    frame: Any = Frame.of(budget, "0.1")
    assert session.remaining == frame.sample
    query = sd.table("t").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    with pytest.raises(sd.errors.BudgetExceeded):
        session.release(query, sd.PureDP(frame.sample.epsilon + Fraction(1, 10**9)))
    release = session.release(query, frame.sample, key="all")
    assert session.remaining == sd.ApproxDP(0, 0)
    assert session.ledger.verify().proved == 1
    # the price is that of the table, whose neighbours the kernel derives it for
    assert release.loss.epsilon <= frame.sample.epsilon
    for words in (repr(session.describe()), session.ledger.about, str(release.label())):
        assert "secret" in words
        assert "1/10" in words
    # one file by itself tells of the frame what a sampled curve does
    odds = [
        sd.Session({"t": each}, frame.sample).release(query, frame.sample).label()
        for each in (table, sd.PrivateTable(ROWS, protects=IDS))
        if each.sampled is None
    ]
    found = [facts.found for facts in (release.label().facts, odds[0].facts)]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] < found[1]


def test_what_is_not_proved_is_refused() -> None:
    def table(protects: object = IDS, **facts: object) -> sd.PrivateTable:
        return sd.PrivateTable(ROWS, protects=protects, **facts)  # type: ignore[arg-type]

    drawn, whole = table(sampled="0.1"), table()
    sized = sd.Limit.of(sd.PureDP(1), sampled="0.1")
    month = sd.Blocks(start="2026-01", every="month")
    rates: list[Any] = [0, 1, -1, 2, True, math.nan, "x", []]
    refused: list[Callable[[], object]] = [
        *(partial(table, sampled=rate) for rate in rates),
        *(
            lambda unit=unit: table(unit, sampled="0.1")
            for unit in (
                sd.AddMaxRows(2),
                sd.AddMaxTotal("x", 3),
                sd.ChangeOneRow(),
                sd.AddMaxRowsInMaxGroups("id", 1, 2),
            )
        ),
        lambda: table(sampled="0.1", blocks="x"),
        lambda: sd.Session({"t": drawn, "u": whole}, sd.PureDP(1)),
        lambda: sd.Session({"t": drawn, "u": drawn}, sd.PureDP(1)),
        *(
            lambda budget=budget: sd.Session({"t": drawn}, budget)
            for budget in (
                sd.ZCDP(1),
                sd.GaussianDP(1),
                sd.Advantage("0.1"),
                sd.ApproxDP(1, "0.1"),
                sd.Limit.of(sd.PureDP(1)),
            )
        ),
        lambda: sd.Session({"t": whole}, sized),
        lambda: sd.Session({"t": table(sampled="0.2")}, sized),
        lambda: sd.Session({"t": drawn}, ledger=sd.Ledger.in_memory(sd.PureDP(1))),
        lambda: sd.Session({"t": whole}, ledger=sd.Ledger.in_memory(sized)),
        lambda: sd.Session({"t": drawn}, sd.PureDP(1), blocks=month),
        lambda: sd.Ledger.in_memory(sized, blocks=month),
    ]
    for act in refused:
        with pytest.raises(InvalidParameter):
            act()
    # a public table tells of nobody, and rows of one each are people
    public = sd.PublicTable({"id": [1]})
    sd.Session({"t": drawn, "p": public}, sd.PureDP(1))
    sd.Session({"t": table(sd.AddOneRow(), sampled="0.1")}, sd.PureDP(1))
