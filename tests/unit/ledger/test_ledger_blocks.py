"""Blocks in a ledger: opened once, charged all or none, and found when they are not."""

import itertools
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino import errors
from sordino.auditing.dice import Dice
from sordino.ledger.blocks import runs_of
from sordino.ledger.file_format import World
from sordino.ledger.record_kinds import Claim
from sordino.losses.budgets.blocks import WHOLE
from sordino.losses.budgets.charge import Charge
from tests.batches import for_each
from tests.dice import rolled
from tests.ledgers import Standing

MONTHS = sd.Blocks(start="2026-01", every="month")
LIMIT = sd.PureDP("0.1")


def claim(*blocks: str, epsilon: str = "0.04", **more: Any) -> Claim:
    loss = sd.PureDP(epsilon)
    return Claim(request="n", asked=loss, loss=loss, blocks=blocks, **more)


def opened(
    limit: Any = LIMIT, *, day: Any = (2026, 5, 1), blocks: sd.Blocks = MONTHS
) -> tuple[sd.Ledger, Standing]:
    clock = Standing(*day)
    ledger = sd.Ledger.in_memory(limit, blocks=blocks, world=World(clock=clock))
    ledger.open_blocks(blocks.names)
    return ledger, clock


def left(ledger: sd.Ledger) -> dict[str, sd.Loss]:
    return {block.name: block.remaining for block in ledger.blocks()}


def test_a_month_opens_when_it_is_over() -> None:
    """In UTC, by the clock; a clock that is set back closes none."""
    ledger, clock = opened(day=(2026, 1, 31))
    assert ledger.blocks() == ()
    clock.now = clock.now.replace(hour=23, minute=59, second=59, microsecond=999_999)
    assert ledger.open_blocks() == ()
    clock.now = Standing(2026, 2, 1).now
    assert ledger.open_blocks() == ("2026-01",)
    clock.now = Standing(2025, 1, 1).now
    assert ledger.open_blocks() == ("2026-01",)
    clock.now = Standing(2026, 4, 30).now
    assert ledger.open_blocks() == ("2026-01", "2026-02", "2026-03")
    assert ledger.verify().records == 5


def test_a_clock_that_is_far_ahead_opens_blocks_early_or_none() -> None:
    """So many blocks at once are an error of the clock, and nothing is recorded."""
    ledger, clock = opened()
    clock.now = Standing(9999, 1, 1).now
    with pytest.raises(errors.InvalidParameter, match="would open more than"):
        ledger.open_blocks()
    assert len(ledger.blocks()) == 4
    clock.now = Standing(2030, 1, 1).now
    assert len(ledger.open_blocks()) == 48
    ledger.reserve(claim("2029-12"))
    assert left(ledger)["2029-12"] == sd.PureDP("0.06")
    ledger.verify()


def test_names_open_when_they_are_named() -> None:
    ledger, _ = opened(blocks=sd.Blocks(names=["pilot", 7]))
    assert ledger.open_blocks(("7", "new"), whole=True) == ("pilot", "7", WHOLE, "new")
    assert ledger.open_blocks() == ("pilot", "7", WHOLE, "new")
    ledger.verify()


@for_each("name", [WHOLE, "", 1.5, "a\nb", "x" * 201, "\ud800", None])
def test_what_is_no_name_opens_nothing(name: Any) -> None:
    ledger, _ = opened(blocks=sd.Blocks(names=["pilot"]))
    with pytest.raises(errors.InvalidParameter):
        ledger.open_blocks((name,))
    assert ledger.open_blocks() == ("pilot",)
    months, _ = opened()
    with pytest.raises(errors.InvalidParameter, match="opens when it is over"):
        months.open_blocks(("2026-05",))
    assert (ledger.verify().records, months.verify().records) == (4, 4)


def test_a_release_is_charged_to_all_of_its_blocks_or_to_none() -> None:
    ledger, _ = opened()
    ledger.reserve(claim("2026-01", "2026-02", epsilon="0.07"))
    with pytest.raises(errors.BudgetExceeded, match=r"epsilon=0\.03\) of 2026-02"):
        ledger.reserve(claim("2026-02", "2026-03"))
    assert left(ledger) == {
        "2026-01": sd.PureDP("0.03"),
        "2026-02": sd.PureDP("0.03"),
        "2026-03": LIMIT,
        "2026-04": LIMIT,
    }
    ledger.reserve(claim("2026-03", "2026-01", epsilon="0.03"))
    assert left(ledger)["2026-01"] == sd.PureDP(0)
    assert (ledger.spent(), ledger.remaining()) == (LIMIT, sd.PureDP(0))
    (_, entry) = ledger.entries()
    assert (entry.blocks, entry.charges) == (("2026-01", "2026-03"), {})
    assert entry.each == Charge(("epsilon",), (Fraction("0.03"),))
    ledger.verify()


def test_blocks_apart_with_one_sum_are_two_runs() -> None:
    """What lies between two blocks that were charged alike was charged otherwise."""
    half, whole = (Charge((), (Fraction(one),)) for one in ("1/2", "9/10"))
    runs = [((0, 0), half), ((1, 1), whole), ((2, 3), half)]
    sums = {place: charge for (a, b), charge in runs for place in range(a, b + 1)}
    assert list(runs_of(sums)) == runs
    apart = {0: half, 2: half, 3: half, 9: half}
    assert [places for places, _ in runs_of(apart)] == [(0, 0), (2, 3), (9, 9)]


def test_a_block_between_others_stays_charged() -> None:
    """Charged to b alone, then to a and c at once: of b there is left what was left."""
    ledger, _ = opened(sd.PureDP(1))
    ledger.reserve(claim("2026-02", epsilon="0.9", key="b"))
    ledger.reserve(claim("2026-01", "2026-03", epsilon="0.5", key="ac"))
    with pytest.raises(errors.BudgetExceeded, match=r"0.1.* of 2026-02"):
        ledger.reserve(claim("2026-02", epsilon="0.2", key="again"))


def test_of_many_blocks_that_lack_some_are_named() -> None:
    """A refusal is a few lines, however many blocks there are."""
    ledger, _ = opened(day=(2030, 1, 1))
    names = tuple(block.name for block in ledger.blocks())
    ledger.reserve(claim(*names, epsilon="0.1"))
    with pytest.raises(errors.BudgetExceeded, match="of 38 more") as refusal:
        ledger.reserve(claim(*names))
    assert len(str(refusal.value)) < 700


@for_each(
    ("blocks", "refusal"),
    [
        (None, errors.InvalidParameter),
        ((), errors.InvalidParameter),
        (("2026-01", "2026-01"), errors.InvalidParameter),
        (["2026-01"], errors.InvalidParameter),
        (("",), errors.InvalidParameter),
        ((5,), errors.InvalidParameter),
        (("2026-05",), errors.UnknownName),
        (("x" * 200,), errors.UnknownName),
        (tuple(f"b{place}" for place in range(50)), errors.UnknownName),
    ],
)
def test_other_blocks_than_those_that_are_open_are_refused(
    blocks: Any, refusal: type[Exception]
) -> None:
    ledger, _ = opened()
    with pytest.raises(refusal):
        ledger.reserve(Claim(request="n", asked=LIMIT, loss=LIMIT, blocks=blocks))
    assert ledger.entries() == ()


def test_a_ledger_without_blocks_charges_none() -> None:
    ledger = sd.Ledger.in_memory(LIMIT)
    assert (ledger.division, ledger.blocks()) == (None, ())
    with pytest.raises(errors.InvalidParameter, match="has no blocks"):
        ledger.reserve(claim("2026-01"))
    with pytest.raises(errors.InvalidParameter, match="has none"):
        ledger.open_blocks(("a",))
    ledger.reserve(Claim(request="n", asked=LIMIT, loss=LIMIT))
    exposure = ledger.exposure(12)
    assert (exposure.blocks, exposure.charged, exposure.promise) == ((), LIMIT, LIMIT)


def test_the_blocks_of_a_ledger_never_change(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    sd.Ledger.at(path, LIMIT, create=True, blocks=MONTHS).close()
    for blocks in (MONTHS, None):
        with sd.Ledger.at(path, blocks=blocks) as ledger:
            assert ledger.division == MONTHS
    for other in (
        sd.Blocks(start="2026-02", every="month"),
        sd.Blocks(start="2026", every="year"),
        sd.Blocks(names=["2026-01"]),
    ):
        with pytest.raises(errors.InvalidParameter, match="never change"):
            sd.Ledger.at(path, blocks=other)
    plain = tmp_path / "b.ledger"
    sd.Ledger.at(plain, LIMIT, create=True).close()
    with pytest.raises(errors.InvalidParameter, match="which has none"):
        sd.Ledger.at(plain, blocks=MONTHS)


def test_what_does_not_add_up_is_no_limit_of_blocks() -> None:
    """An "or" of two sums holds of each block, and of several together it need not."""
    limit = sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated")
    with pytest.raises(errors.InvalidParameter, match="does not add up"):
        sd.Ledger.in_memory(limit, blocks=MONTHS)
    other: Any = "month"
    with pytest.raises(errors.InvalidParameter, match="must be blocks"):
        sd.Ledger.in_memory(LIMIT, blocks=other)


def test_nothing_is_set_aside_in_a_ledger_of_blocks() -> None:
    """It would have to be of some of them."""
    ledger, _ = opened()
    with pytest.raises(errors.InvalidParameter, match="has blocks"):
        ledger.earmark("year", sd.PureDP("0.01"))
    with pytest.raises(errors.UnknownName):
        ledger.reserve(claim("2026-01", earmark="year"))


def test_budgets_of_names_add_up_over_blocks() -> None:
    """An analyst's budget never renews; both have to allow a release."""
    ledger, _ = opened()
    ledger.allot("anna", sd.PureDP("0.1"))
    ledger.allot("2026-01", sd.PureDP("0.1"))
    ledger.reserve(claim("2026-01", epsilon="0.06", budget="anna"))
    with pytest.raises(errors.BudgetExceeded, match="anna"):
        ledger.reserve(claim("2026-02", epsilon="0.06", budget="anna"))
    ledger.reserve(claim("2026-02", epsilon="0.06", budget="2026-01"))
    with pytest.raises(errors.BudgetExceeded, match="of 2026-02"):
        ledger.reserve(claim("2026-02", epsilon="0.05"))
    assert ledger.remaining("anna") == sd.PureDP("0.04")
    assert left(ledger)["2026-02"] == sd.PureDP("0.04")
    assert [entry.blocks for entry in ledger.history("anna")] == [
        ("2026-01",),
        ("2026-02",),
    ]
    assert ledger.what_if(claim("2026-03", epsilon="0.01", budget="anna")) == sd.PureDP(
        "0.03"
    )
    assert ledger.what_if(claim("2026-02", "2026-03")) == sd.PureDP(0)
    ledger.verify()


def test_a_limit_that_is_lowered_is_that_of_each_block() -> None:
    """It holds what each was charged; blocks that open later have it, too."""
    ledger, clock = opened()
    ledger.reserve(claim("2026-01", epsilon="0.06"))
    with pytest.raises(errors.InvalidParameter, match="is below"):
        ledger.lower("dataset", sd.PureDP("0.05"))
    ledger.lower("dataset", sd.PureDP("0.07"))
    clock.now = Standing(2026, 6, 1).now
    ledger.open_blocks()
    assert [block.limit for block in ledger.blocks()] == [LIMIT] * 4 + [
        sd.PureDP("0.07")
    ]
    with pytest.raises(errors.BudgetExceeded):
        ledger.reserve(claim("2026-01", epsilon="0.02"))
    ledger.reserve(claim("2026-05", epsilon="0.07"))
    ledger.verify()
    ledger.close_budget("dataset")
    clock.now = Standing(2026, 7, 1).now
    assert len(ledger.open_blocks()) == 5
    with pytest.raises(errors.BudgetExceeded, match="closed"):
        ledger.reserve(claim("2026-02", epsilon="0.01"))
    assert set(left(ledger).values()) == {sd.PureDP(0)}
    ledger.verify()


def test_a_lost_answer_is_not_computed_of_other_blocks() -> None:
    """A block that opened since was not charged; of the same blocks it is leased."""
    ledger, clock = opened()
    lost = claim("2026-03", "2026-04", key="k")
    ledger.reserve(lost)
    clock.now = Standing(2026, 6, 1).now
    ledger.open_blocks()
    with pytest.raises(errors.InvalidQuery, match="other blocks"):
        ledger.reserve(claim("2026-03", "2026-04", "2026-05", key="k"))
    with pytest.raises(errors.InvalidQuery, match="other blocks"):
        ledger.reserve(claim("2026-04", key="k"))
    ticket = ledger.reserve(lost)
    assert ticket.fence == 2
    ledger.store(ticket, b"42")
    again = ledger.reserve(claim("2026-05", key="k"))
    assert again.answer == b"42"
    ledger.verify()


def drawn_history(dice: Dice, limit: Any, whole: bool) -> sd.Ledger:  # noqa: FBT001 drawn
    ledger, _ = opened(limit, day=(2026, dice.between(2, 8), 1))
    names = list(ledger.open_blocks(whole=whole))
    for turn in range(dice.below(7)):
        blocks = dice.several(names, 1, len(names))
        loss = dice.one((sd.PureDP("0.01"), sd.PureDP("0.02"), sd.GaussianDP("0.05")))
        wanted = Claim(request=f"{turn}", asked=loss, loss=loss, blocks=tuple(blocks))
        try:
            ledger.reserve(wanted)
        except (errors.BudgetExceeded, errors.InvalidParameter):
            continue
    return ledger


def total_of(ledger: sd.Ledger, person: frozenset[str]) -> Charge:
    """Return the sum of the charges of which somebody's blocks were a part."""
    total = ledger.limit().rule.zero
    for entry in ledger.entries():
        if person & set(entry.blocks) and entry.each is not None:
            total = total.plus(entry.each)
    return total


def greatest(zero: Charge, totals: list[Charge]) -> Charge:
    amounts = zip(*(total.amounts for total in (zero, *totals)), strict=True)
    return Charge(zero.coordinates, tuple(max(each) for each in amounts))


@for_each("seed", range(12))
def test_what_people_lose_is_what_all_people_lose(seed: int) -> None:
    """The worst of all sets of blocks, each release that met one of them once.

    For sums of one number; where there are several, each of them is at most that.
    """
    dice = rolled(seed)
    limit = dice.one((LIMIT, sd.GaussianDP("0.4"), sd.ApproxDP("0.2", "1e-3")))
    ledger = drawn_history(dice, limit, dice.chance(1, 2))
    names = [block.name for block in ledger.blocks()]
    months = [name for name in names if name != WHOLE]
    beside = {WHOLE} & set(names)
    for window, few in itertools.product((1, 2, 3, 12), (1, 2, 12)):
        exposure = ledger.exposure(window, few)
        runs = [months[at : at + window] for at in range(len(months) - window + 1)]
        people = {
            frozenset(some) | beside
            for run_of_blocks in runs or [months]
            for size in range(min(few, len(run_of_blocks)) + 1)
            for some in itertools.combinations(run_of_blocks, size)
        }
        rule = ledger.limit().rule
        worst = greatest(rule.zero, [total_of(ledger, person) for person in people])
        charged = rule.charge_for(exposure.charged, exposure.charged)
        pairs = zip(charged.amounts, worst.amounts, strict=True)
        assert all(upper >= lower for upper, lower in pairs)
        if few >= window:
            assert charged == worst
        count = min(window, few) + len(beside)
        assert exposure.promise == rule.times(count).promise


def test_exposure_refuses_what_is_no_window() -> None:
    ledger, _ = opened()
    with pytest.raises(errors.InvalidParameter, match="window"):
        ledger.exposure(0)
    with pytest.raises(errors.InvalidParameter, match="blocks"):
        ledger.exposure(3, 0)
    assert ledger.exposure(12).charged == sd.PureDP(0)
