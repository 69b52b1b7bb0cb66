"""Laws: what a person may lose in a year holds for any window, clock and history.

Held against sums that are added up from the beginning, over drawn histories in which
clocks go forward and back, policies change, and releases cost different things.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.errors import PolicyRefusal
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_rules import Usage, next_day
from sordino.ledger.record_kinds import Claim
from tests.batches import for_each
from tests.policies import Clock, policy_of

USAGE: Final = Usage(tables=frozenset())
LIMIT: Final = sd.ApproxDP(10**6, "0.9")
YEAR: Final = Fraction(2)
EVER: Final = Fraction(5)
RULES: Final = {f'year.epsilon = "{YEAR}"', f'person.epsilon = "{EVER}"'}


def policy_text(serial: int, year: Any = YEAR, person: Any = EVER) -> str:
    return (
        f"serial = {serial}\n[release]\nepsilon = 100\ndelta = 1e-6\n"
        f'[year]\nepsilon = "{year}"\ndelta = 0.2\n'
        f'[person]\nepsilon = "{person}"\ndelta = 0.2\n'
    )


def claim_of(budget: Any, loss: Any = None) -> Claim:
    return Claim(
        request="r", asked=budget, loss=loss or budget, usages=lambda: (USAGE,)
    )


def is_charged(ledger: Ledger, claim: Claim) -> bool:
    try:
        ledger.reserve(claim)
    except PolicyRefusal as error:
        return error.rule not in RULES
    return True


def windows(days: list[tuple[date, Fraction]]) -> Iterator[Fraction]:
    """Yield what is charged in each window of 366 days that begins with a charge."""
    for start, _ in days:
        end = start + timedelta(366)
        yield sum((cost for day, cost in days if start <= day < end), Fraction(0))


STEPS: Final = st.lists(
    st.tuples(
        st.integers(-400, 400), st.fractions(0, 2, max_denominator=8), st.booleans()
    ),
    min_size=1,
    max_size=9,
)


@given(steps=STEPS, before=st.integers(0, 4))
def test_no_year_has_more_than_its_sum(
    steps: list[tuple[int, Fraction, bool]], before: int
) -> None:
    clock = Clock()
    ledger = Ledger.in_memory(LIMIT, world=World(clock=clock))
    quarter = sd.PureDP("1/4")
    for _ in range(before):
        ledger.reserve(claim_of(quarter))
    ledger.obey(policy_of(policy_text(1)))
    newest = clock().date()
    days = [(newest, Fraction(before, 4))]
    for serial, (turn, epsilon, renews) in enumerate(steps, 2):
        clock.turn(days=turn)
        today = max(newest, clock().date())
        if renews:
            ledger.obey(policy_of(policy_text(serial)))
        within = [cost for day, cost in days if day > today - timedelta(366)]
        ever = sum((cost for _, cost in days), epsilon)
        fits = sum(within, epsilon) <= YEAR and ever <= EVER
        assert is_charged(ledger, claim_of(sd.PureDP(epsilon))) == fits
        days += [(today, epsilon)] if fits else []
        newest = today if fits or renews else newest
    assert max(windows(days)) <= YEAR
    ledger.verify()


def test_a_new_year_is_no_new_allowance() -> None:
    """What was released in December counts in January, and no longer 366 days on."""
    clock = Clock()
    ledger = Ledger.in_memory(LIMIT, world=World(clock=clock))
    ledger.obey(policy_of(policy_text(1)))
    whole = claim_of(sd.PureDP(2))
    assert is_charged(ledger, whole)
    clock.turn(days=2)
    assert not is_charged(ledger, whole)
    clock.turn(days=363)
    assert not is_charged(ledger, whole)
    clock.turn(days=1)
    assert is_charged(ledger, whole)


def test_a_clock_that_is_set_back_is_not_believed() -> None:
    clock = Clock()
    ledger = Ledger.in_memory(LIMIT, world=World(clock=clock))
    ledger.obey(policy_of(policy_text(1)))
    assert is_charged(ledger, claim_of(sd.PureDP(2)))
    clock.turn(days=-800)
    assert not is_charged(ledger, claim_of(sd.PureDP("0.1")))
    clock.turn(days=1160)
    assert not is_charged(ledger, claim_of(sd.PureDP("0.1")))
    clock.turn(days=6)
    assert is_charged(ledger, claim_of(sd.PureDP("0.1")))
    ledger.verify()


def test_a_day_never_goes_back() -> None:
    """Whatever a ledger does about clocks, no charge is of a day before the last."""
    march, february = date(2026, 3, 1), date(2026, 2, 1)
    assert next_day(march, february) == next_day(february, march) == march
    assert next_day(None, february) == february


COUNTED: Final = {
    "asked in epsilon": (sd.PureDP("1/2"), sd.PureDP("1/4"), "1/2", "0/1"),
    "asked in both": (
        sd.ApproxDP("1/2", "1e-7"),
        sd.PureDP("1/4"),
        "1/2",
        "1/10000000",
    ),
    "a headline": (sd.ZCDP(1), sd.ApproxDP("1/4", "1e-9"), "1/4", "1/1000000000"),
}


@for_each("name", list(COUNTED))
def test_a_release_counts_as_it_was_asked_or_costs(name: str) -> None:
    """In epsilon and delta, whichever terms it was asked for in."""
    budget, loss, epsilon, delta = COUNTED[name]
    ledger = Ledger.in_memory(LIMIT)
    ledger.obey(policy_of(policy_text(1)))
    ledger.reserve(claim_of(budget, loss))
    part = ledger.records()[-1].fields["policy"]
    assert part["counted"] == part["sum"] == {"epsilon": epsilon, "delta": delta}


@for_each(
    ("loss", "limit"),
    [
        (sd.GaussianDP("1/4"), sd.GaussianDP(10)),
        (sd.ZCDP("1/100"), sd.ZCDP(10)),
        (sd.ApproxZCDP("1/100", "1e-9"), sd.ApproxZCDP(10, "0.1")),
    ],
)
def test_a_curve_counts_at_the_delta_of_a_release(loss: Any, limit: Any) -> None:
    """Its pair is one within which the release is, rounded up."""
    ledger = Ledger.in_memory(limit)
    ledger.obey(policy_of(policy_text(1)))
    ledger.reserve(claim_of(loss))
    part = ledger.records()[-1].fields["policy"]["counted"]
    epsilon, delta = Fraction(part["epsilon"]), Fraction(part["delta"])
    assert delta == Fraction(1, 10**6)
    assert 0 < loss.delta_at(epsilon) <= delta
    assert loss.delta_at(epsilon * Fraction(99, 100)) > delta
    ledger.verify()


def test_what_is_infinite_is_refused() -> None:
    """Without any rule about losses, too: it could never be counted."""
    ledger = Ledger.in_memory(LIMIT)
    ledger.obey(policy_of("serial = 1\n"))
    endless = sd.PureDP(float("inf"))
    with pytest.raises(PolicyRefusal, match="losses are finite, and this one is not"):
        ledger.reserve(claim_of(endless))


def test_what_was_charged_before_counts_at_adoption() -> None:
    """By what the ledger counted, and of what it counted otherwise by the headline."""
    clock = Clock()
    ledger = Ledger.in_memory(
        sd.GaussianDP(10),
        world=World(clock=clock),
    )
    ledger.reserve(claim_of(sd.PureDP(1)))
    ledger.reserve(claim_of(sd.GaussianDP("1/10")))
    clock.turn(days=1000)
    ledger.obey(policy_of(policy_text(1, person=50)))
    adopted = ledger.records()[-1].fields
    counted = sd.GaussianDP("1/10").epsilon_at("1e-6")
    assert Fraction(adopted["before"]["epsilon"]) == 1 + Fraction(counted)
    assert Fraction(adopted["before"]["delta"]) == Fraction(1, 10**6)
    left = 1 - Fraction(counted)
    with pytest.raises(PolicyRefusal, match=r"year\.epsilon"):
        ledger.reserve(claim_of(sd.PureDP(left + Fraction(1, 1000))))
    ledger.reserve(claim_of(sd.PureDP(left - Fraction(1, 1000))))
    ledger.verify()


def test_deltas_add_up_too() -> None:
    text = policy_text(1).replace("delta = 0.2\n[person]", "delta = 1e-6\n[person]")
    ledger = Ledger.in_memory(LIMIT)
    ledger.obey(policy_of(text))
    ledger.reserve(claim_of(sd.ApproxDP("0.1", "1e-6")))
    with pytest.raises(PolicyRefusal, match=r"year\.delta = 0\.000001") as no:
        ledger.reserve(claim_of(sd.ApproxDP("0.1", "1e-9")))
    assert no.value.rule == "year.delta = 0.000001"
