"""A ledger charges once, answers once, and says what it did."""

import copy
import json
import os
import pickle
import threading
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino import errors
from sordino.ledger.file_format import World
from sordino.ledger.record_kinds import Claim, Ticket
from tests.batches import for_each
from tests.ledgers import LIMIT, TENTH, Backwards, Failing, claim


@pytest.fixture(name="ledger", params=["file", "memory"])
def ledger_of_each_kind(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[sd.Ledger]:
    """Return a fresh ledger in a file, and one in memory."""
    if request.param == "memory":
        with sd.Ledger.in_memory(LIMIT) as made:
            yield made
    else:
        with sd.Ledger.at(tmp_path / "a.ledger", LIMIT, create=True) as made:
            yield made


def test_ten_tenths_are_one(ledger: sd.Ledger) -> None:
    """Ten times "0.1" of 1 is exactly spent, and 1e-30 more is refused."""
    for _ in range(10):
        ledger.reserve(claim(None))
    assert ledger.remaining() == sd.PureDP(0)
    least = sd.PureDP("1e-30")
    with pytest.raises(errors.BudgetExceeded, match="nothing was charged"):
        ledger.reserve(Claim(request="n", asked=least, loss=least))
    assert ledger.spent() == LIMIT
    assert ledger.verify().releases == 10


def test_a_key_gives_the_same_answer_at_no_cost(ledger: sd.Ledger) -> None:
    ticket = ledger.reserve(claim())
    assert ticket.answer is None
    assert ledger.store(ticket, b"17") == b"17"
    for _ in range(20):
        assert ledger.reserve(claim()).answer == b"17"
    assert ledger.spent() == TENTH


def test_a_key_belongs_to_one_request(ledger: sd.Ledger) -> None:
    ledger.allot("ann", LIMIT)
    ledger.store(ledger.reserve(claim()), b"17")
    for other in (claim(request="sum"), claim(budget="ann")):
        with pytest.raises(errors.InvalidQuery, match="belongs to another request"):
            ledger.reserve(other)
    assert ledger.spent() == TENTH


def test_a_lost_answer_is_computed_once_more(ledger: sd.Ledger) -> None:
    """A charge without an answer gives one more ticket, at no cost, and no third."""
    first, second = ledger.reserve(claim()), ledger.reserve(claim())
    assert (first.fence, second.fence, second.answer) == (1, 2, None)
    with pytest.raises(errors.AnswerLost, match="started twice"):
        ledger.reserve(claim())
    assert ledger.spent() == TENTH
    assert ledger.store(second, b"two") == b"two"
    assert ledger.store(first, b"one") == b"two"
    assert ledger.reserve(claim()).answer == b"two"
    assert ledger.verify().answers == 1


def test_releases_without_a_key_are_all_charged(ledger: sd.Ledger) -> None:
    """Nothing is the same request as another without a key."""
    numbers = {ledger.reserve(claim(None)).number for _ in range(3)}
    assert len(numbers) == 3
    assert ledger.spent() == sd.PureDP("0.3")


def test_an_entry_says_who_when_why_and_what(ledger: sd.Ledger) -> None:
    """Each charge keeps its circumstances, and whether it was answered."""
    wanted = claim(who="ann", why="monthly report", plan="count of visits")
    ledger.store(ledger.reserve(wanted), b"1")
    ledger.reserve(claim(None))
    first, second = ledger.entries()
    assert (first.who, first.why, first.key) == ("ann", "monthly report", "k")
    assert (first.plan, first.budget) == ("count of visits", "dataset")
    assert first.asked == "PureDP(epsilon=1/10)"
    assert first.loss == repr(TENTH)
    assert first.when.tzinfo is not None
    assert (first.answered, second.answered) == (True, False)
    assert first.charges["dataset"].texts() == {"epsilon": "1/10"}


def test_named_budgets_lie_under_the_dataset(ledger: sd.Ledger) -> None:
    """A release counts against its name and the dataset; either may refuse."""
    ledger.allot("ann", sd.PureDP("0.2"))
    ledger.allot("bob", sd.PureDP(5))
    ledger.allot("ann", sd.PureDP("0.2"))
    ledger.reserve(claim(None, budget="ann"))
    ledger.reserve(claim(None, budget="ann"))
    with pytest.raises(errors.BudgetExceeded, match="'ann'"):
        ledger.reserve(claim(None, budget="ann"))
    for _ in range(8):
        ledger.reserve(claim(None, budget="bob"))
    with pytest.raises(errors.BudgetExceeded):
        ledger.reserve(claim(None, budget="bob"))
    assert ledger.spent("ann") == sd.PureDP("0.2")
    assert ledger.remaining("bob") == sd.PureDP("4.2")
    assert ledger.remaining() == sd.PureDP(0)
    assert list(ledger.limits()) == ["dataset", "ann", "bob"]
    assert ledger.verify().releases == 10


def test_names_are_known_and_keep_their_limit(ledger: sd.Ledger) -> None:
    ledger.allot("ann", sd.PureDP("0.2"))
    with pytest.raises(errors.UnknownName, match="'ann'"):
        ledger.reserve(claim(budget="anne"))
    for name, limit in (("ann", sd.PureDP("0.3")), ("dataset", sd.PureDP(2))):
        with pytest.raises(errors.InvalidParameter, match="limit"):
            ledger.allot(name, limit)
    assert ledger.spent() == sd.PureDP(0)


def test_budgets_of_several_kinds_count_together(tmp_path: Path) -> None:
    """Each budget counts a release in its own terms."""
    limit = sd.Limit.of(sd.ApproxDP(1, "1e-6"), "concentrated", reserve="5e-7")
    with sd.Ledger.at(tmp_path / "a", limit, create=True) as ledger:
        ledger.allot("ann", sd.Advantage("0.1"))
        small = sd.GaussianDP("0.02")
        ledger.reserve(Claim(request="n", asked=small, loss=small, budget="ann"))
        assert ledger.spent("ann") == small
        charges = ledger.entries()[0].charges
        assert charges["dataset"].texts()["epsilon"] == "inf"
        assert ledger.verify().releases == 1
    with sd.Ledger.at(tmp_path / "a", limit) as again:
        assert again.limit() == limit


def test_what_if_charges_nothing(ledger: sd.Ledger) -> None:
    """It says what would be left, and refuses as the charge would."""
    assert ledger.what_if(claim()) == sd.PureDP("0.9")
    big = sd.PureDP(2)
    with pytest.raises(errors.BudgetExceeded):
        ledger.what_if(Claim(request="n", asked=big, loss=big))
    assert ledger.spent() == sd.PureDP(0)


@for_each(
    "fields",
    [
        {"key": ""},
        {"key": "x" * 1025},
        {"key": "x" * 10**6},
        {"key": "é" * 513},
        {"key": 7},
        {"key": "a\ud800"},
        {"key": "a\0b"},
        {"key": "a\nb"},
        {"budget": ""},
        {"who": None},
        {"why": b"x"},
        {"plan": "\udfff"},
        {"request": 3},
        {"asked": 1},
        {"loss": None},
        {"loss": sd.PureDP(Fraction(1, 3**8000)) + sd.PureDP(Fraction(1, 7**4500))},
    ],
    ids=lambda fields: repr(fields)[:30],
)
def test_bad_claims_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(errors.InvalidParameter, match=next(iter(fields))):
        replace(claim(), **fields)


@given(
    key=st.text(min_size=1, max_size=40).filter(str.isprintable),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    answer=st.binary(max_size=100),
)
def test_any_text_and_any_answer_is_kept(key: str, text: str, answer: bytes) -> None:
    with sd.Ledger.in_memory(LIMIT) as ledger:
        wanted = claim(key, request=text, who=text, why=text, plan=text)
        ledger.store(ledger.reserve(wanted), answer)
        assert ledger.reserve(wanted).answer == answer
        (entry,) = ledger.entries()
        assert (entry.key, entry.who, entry.why, entry.plan) == (key, text, text, text)
        assert ledger.verify().answers == 1


def test_answers_are_bytes_and_tickets_are_ours(ledger: sd.Ledger) -> None:
    """Anything else is refused, and the charge still waits for its answer."""
    ticket = ledger.reserve(claim())
    wrong: Any = "17"
    with pytest.raises(errors.InvalidParameter, match="answer"):
        ledger.store(ticket, wrong)
    foreign = [
        Ticket("0" * 32, ticket.number, 1, keyed=True),
        Ticket(ledger.identity, 1, 1, keyed=True),
        Ticket(ledger.identity, 99, 1, keyed=True),
        Ticket(ledger.identity, ticket.number, 1, keyed=False),
    ]
    for one in foreign:
        with pytest.raises(errors.InvalidParameter, match="ticket"):
            ledger.store(one, b"17")
    assert ledger.store(ticket, b"17") == b"17"


@pytest.mark.parametrize(
    "move", [copy.copy, copy.deepcopy, pickle.dumps], ids=lambda one: one.__name__
)
def test_a_handle_is_not_copied(ledger: sd.Ledger, move: Any) -> None:
    with pytest.raises(errors.SessionMoved, match="a ledger cannot be copied"):
        move(ledger)


def test_a_claim_that_is_too_long_to_be_recorded(ledger: sd.Ledger) -> None:
    """Sixteen million letters are too many: nothing is charged, the ledger lives."""
    with pytest.raises(
        errors.InvalidParameter, match="claim must be written in at most"
    ):
        ledger.reserve(claim(plan="x" * (1 << 24)))
    assert ledger.spent() == sd.PureDP(0)
    ledger.reserve(claim(plan="x" * ((1 << 24) - 5000)))
    assert ledger.verify().releases == 1


def test_a_closed_handle_refuses(ledger: sd.Ledger) -> None:
    ledger.close()
    ledger.close()
    with pytest.raises(errors.LedgerUnavailable, match="is closed"):
        ledger.reserve(claim())


def test_threads_share_a_handle_and_never_overspend(ledger: sd.Ledger) -> None:
    granted: list[int] = []

    def ask() -> None:
        for _ in range(5):
            try:
                granted.append(ledger.reserve(claim(None)).number)
            except errors.BudgetExceeded:
                return

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(granted) == len(set(granted)) == 10
    assert ledger.remaining() == sd.PureDP(0)


def test_a_clock_that_goes_backwards_is_harmless(tmp_path: Path) -> None:
    """The order is that of the numbers, and no record is earlier than one before."""
    path = tmp_path / "a"
    world = World(clock=Backwards())
    with sd.Ledger.at(path, LIMIT, create=True, world=world) as ledger:
        for key in "abc":
            ledger.store(ledger.reserve(claim(key)), key.encode())
    with sd.Ledger.at(path) as ledger:
        entries = ledger.entries()
        assert [one.key for one in entries] == ["a", "b", "c"]
        assert entries[0].when == entries[1].when == entries[2].when
        assert ledger.verify().answers == 3
        assert ledger.reserve(claim("b")).answer == b"b"


def test_a_file_lasts_and_is_readable(tmp_path: Path) -> None:
    """A second handle sees what the first did; the bodies are JSON with exact texts."""
    path = tmp_path / "a"
    with sd.Ledger.at(path, LIMIT, create=True, about="visits") as ledger:
        assert ledger.durable
        ledger.reserve(claim())
    with sd.Ledger.at(path) as again:
        assert again.spent() == TENTH
        opened, budget, charged = (json.loads(one.body) for one in again.records())
    assert (opened["about"], opened["format"]) == ("visits", 2)
    assert budget["limit"]["limits"] == {"epsilon": "1/1"}
    assert charged["spent"] == {"dataset": {"epsilon": "1/10"}}


def test_memory_says_that_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    from sordino.ledger import opening  # noqa: PLC0415 to forget what was said

    opening._say_once.cache_clear()
    with caplog.at_level("INFO", "sordino"):
        for _ in range(3):
            with sd.Ledger.in_memory(LIMIT) as ledger:
                assert not ledger.durable
    assert [record.name for record in caplog.records] == ["sordino"]
    assert "ends with the process" in caplog.text


def test_a_fork_refuses(ledger: sd.Ledger) -> None:
    ticket = ledger.reserve(claim())
    child = os.fork()
    if child == 0:
        codes = []
        for act in (ledger.entries, lambda: ledger.store(ticket, b"child")):
            try:
                act()
                codes.append(1)
            except errors.SessionMoved:
                codes.append(0)
        os._exit(sum(codes))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ledger.store(ticket, b"parent") == b"parent"
    assert ledger.verify().answers == 1


@for_each("key", ["k", None])
@for_each("witnessed", [False, True])
def test_only_answers_that_can_be_asked_for_again_wait_for_the_disk(
    tmp_path: Path,
    key: str | None,
    witnessed: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    """All is durable before it leaves, but for answers without a key or a witness."""
    witness = tmp_path / "witness" if witnessed else None
    path = tmp_path / "a"
    sd.Ledger.at(path, LIMIT, create=True, witness=witness).close()
    counting = Failing(0, acts=frozenset({"sync"}))
    with sd.Ledger.at(path, witness=witness, world=counting.world) as ledger:
        ticket = ledger.reserve(claim(key))
        assert counting.count == 1 + witnessed
        ledger.store(ticket, b"17")
        waits = key is not None or witnessed
        assert counting.count == (1 + waits) * (1 + witnessed)
        assert ledger.verify().answers == 1
        assert counting.count == 2 * (1 + witnessed)


def test_a_name_may_be_of_any_letters(tmp_path: Path) -> None:
    """What is special to a shell, an address or a pattern is a letter of a name."""
    path = tmp_path / "a [1] *?#%é'&.ledger"
    with sd.Ledger.at(path, LIMIT, create=True) as ledger:
        ledger.reserve(claim())
    with sd.Ledger.at(path) as ledger:
        assert ledger.spent() == TENTH
    assert list(tmp_path.iterdir()) == [path]
