"""A budget that lasts: sessions that restart, race, fork, fail and die."""

import copy
import os
import pickle
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import (
    AnswerLost,
    BudgetExceeded,
    EngineFailure,
    InvalidParameter,
    InvalidQuery,
    SessionMoved,
    UnknownName,
)
from tests.batches import for_each, sampled
from tests.ledgers import FRESH, POINTS, UNKEYED, run
from tests.sessions import (
    KINDS,
    LIMIT,
    QUESTIONS,
    TENTH,
    Engine,
    answered,
    asking,
    dying,
    refusal,
    seen,
    session,
    spending,
    told,
)

COUNT = QUESTIONS["count"]


def unspent(folder: Path) -> Path:
    """Return a ledger of which nothing is spent."""
    made = folder / "clinic.ledger"
    session(made, LIMIT).ledger.close()
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a ledger of which nothing is spent."""
    return unspent(tmp_path)


@pytest.mark.slow
def test_a_restart_keeps_what_was_spent(path: Path) -> None:
    session(path, LIMIT).release(COUNT, sd.ApproxDP("0.75", "5e-7"))
    second = session(path)
    assert second.spent == sd.ApproxDP("0.75", "5e-7")
    assert second.remaining == sd.ApproxDP("0.25", "5e-7")
    with pytest.raises(BudgetExceeded, match=r"epsilon=0.25, .* is left"):
        second.release(COUNT, sd.ApproxDP("0.26", 0))
    second.release(COUNT, second.remaining)
    assert session(path).remaining == sd.ApproxDP(0, 0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", KINDS)
def test_a_key_has_one_answer(path: Path, kind: str) -> None:
    """A repeated request has the identical answer, of every kind, and costs nothing."""
    first = answered(session(path), kind, "monday")
    again = session(path)
    assert answered(again, kind, "monday") == first
    assert again.spent == TENTH
    assert len(again.history()) == 1


def test_a_key_has_one_answer_in_every_process(path: Path, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    for _ in range(2):
        assert run(asking, path, shown, "monday") == 0
    assert len(set(seen(shown))) == 1
    assert session(path).spent == TENTH


@pytest.mark.parametrize(
    "other",
    [
        lambda s: s.release(QUESTIONS["a choice"], TENTH, key="k"),
        lambda s: s.release(COUNT, sd.ApproxDP("0.1", 0), key="k"),
        lambda s: s.release_all({"n": COUNT}, TENTH, key="k"),
        lambda s: s.release(_of_text("y"), TENTH, key="k"),
    ],
    ids=["another question", "another budget", "several", "the end of a long text"],
)
def test_a_key_belongs_to_one_request(
    path: Path, other: Callable[[sd.Session], object]
) -> None:
    """Whatever differs is refused under a key that is taken, and costs nothing."""
    opened = session(path)
    opened.release(_of_text("x"), TENTH, key="k")
    with pytest.raises(InvalidQuery, match="belongs to another request"):
        other(opened)
    assert opened.spent == TENTH


def _of_text(end: str) -> Any:
    """Return a question about a long text, of which people are shown the beginning."""
    ward = sd.col("ward") == "long " * 100 + end
    rows = sd.table("visits").filter(ward).enforce(sd.MaxRowsPerID(2))
    return rows.agg(n=sd.count())


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "memory"])
def test_threads_never_overspend(path: Path, engine: Engine) -> None:
    """Of 8 threads that ask 20 times each, exactly a budget's worth is answered."""
    opened = session(path, engine=engine)
    hundredth = sd.ApproxDP("0.01", 0)

    def ask(_: int) -> Counter[str]:
        return Counter(
            refusal(lambda: opened.release(COUNT, hundredth)) for _ in range(20)
        )

    with ThreadPoolExecutor(8) as pool:
        ends = sum(pool.map(ask, range(8)), Counter())
    assert ends == {"": 100, "BudgetExceeded": 60}
    assert opened.remaining == sd.ApproxDP(0, "1e-6")
    assert opened.ledger.verify().answers == 100


def test_threads_with_one_key_see_one_answer(path: Path) -> None:
    """Who comes while the answer is computed gets it, or is told to ask later."""
    opened = session(path)
    shown: set[str] = set()

    def ask(_: int) -> str:
        return refusal(lambda: shown.add(answered(opened, "count", "monday")))

    with ThreadPoolExecutor(8) as pool:
        ends = set(pool.map(ask, range(8)))
    assert ends <= {"", "AnswerLost"}
    assert shown == {answered(opened, "count", "monday")}
    assert opened.spent == TENTH


def test_ten_tenths_are_one(path: Path) -> None:
    for _ in range(10):
        session(path).release(COUNT, sd.ApproxDP("0.1", "1e-7"))
    ended = session(path)
    assert ended.remaining == sd.ApproxDP(0, 0)
    with pytest.raises(BudgetExceeded):
        ended.release(COUNT, sd.PureDP("1e-30"))


@pytest.mark.slow
@pytest.mark.parametrize("racers", [2, 8])
def test_processes_never_overspend(path: Path, tmp_path: Path, racers: int) -> None:
    """Processes that race for the last budget get 20 answers together, not one more."""
    shown = tmp_path / "shown"
    children = [
        FRESH.Process(target=spending, args=(path, shown, f"r{racer} ", "0.05"))
        for racer in range(racers)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(120)
    assert [child.exitcode for child in children] == [0] * racers
    ended = session(path)
    assert len(seen(shown)) == len(ended.history()) == 20
    assert ended.remaining == sd.ApproxDP(0, "1e-6")
    assert ended.ledger.verify().answers == 20


@pytest.mark.slow
@sampled(1, 8)
@for_each(
    ("key", "point"),
    [("k", point) for point in POINTS] + [(None, point) for point in UNKEYED],
)
@for_each("kind", KINDS)
def test_a_process_may_die_anywhere(
    tmp_path: Path, kind: str, key: str | None, point: str
) -> None:
    """Killed at a point of the protocol, then asked again by another process.

    Every answer that was seen had been charged; a key is charged once and has one
    answer; without a key the retry is a new charge.
    """
    path, shown = unspent(tmp_path), tmp_path / "shown"
    assert run(dying, path, shown, kind, key, point) == -signal.SIGKILL
    charged = len(session(path).history())
    assert charged == int(POINTS.index(point) >= POINTS.index("charged: written"))
    assert len(seen(shown)) <= charged
    assert run(dying, path, shown, kind, key, "nowhere") == 0
    opened = session(path)
    charges = 1 if key else charged + 1
    assert len(opened.history()) == charges
    assert opened.spent == sd.ApproxDP(TENTH.epsilon * charges, TENTH.delta * charges)
    assert not key or len(set(seen(shown))) == 1
    assert opened.ledger.verify().answers >= 1


@pytest.mark.slow
def test_an_answer_is_computed_again_only_once(path: Path, tmp_path: Path) -> None:
    """After two deaths between charge and answer the key has none; another key does."""
    shown = tmp_path / "shown"
    for _ in range(2):
        assert run(dying, path, shown, "count", "k", "computed") == -signal.SIGKILL
    opened = session(path)
    with pytest.raises(AnswerLost, match="with another key, which is charged anew"):
        opened.release(COUNT, TENTH, key="k")
    assert (seen(shown), opened.spent) == ([], TENTH)
    opened.release(COUNT, TENTH, key="l")
    assert opened.spent == sd.ApproxDP("0.2", "2e-7")


def test_an_engine_that_fails_keeps_the_charge(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = session(path)

    def fail(_: object) -> None:
        raise EngineFailure

    with monkeypatch.context() as patch:
        patch.setattr(opened._desk.engine, "answer", fail)
        for refused in (EngineFailure, EngineFailure, AnswerLost):
            with pytest.raises(refused):
                opened.release(COUNT, TENTH, key="twice")
        with pytest.raises(EngineFailure):
            opened.release(COUNT, TENTH, key="once")
    assert opened.spent == sd.ApproxDP("0.2", "2e-7")
    release = opened.release(COUNT, TENTH, key="once")
    assert told(opened.release(COUNT, TENTH, key="once")) == told(release)
    assert opened.spent == sd.ApproxDP("0.2", "2e-7")
    assert [one.answered for one in opened.history()] == [False, True]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_refuses_and_the_parent_goes_on(path: Path) -> None:
    """In a child nothing that spends or tells works: session, ledger, parts."""
    opened = session(path)
    one_ward = sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1))
    opened.view("in one ward", one_ward)
    part = opened.partition("in one ward", "ward", ["A", "B"], TENTH)["A"]
    rows = sd.table("in one ward").enforce(sd.MaxRowsPerID(2)).agg(n=sd.count())
    acts: list[Callable[[], object]] = [
        lambda: opened.release(COUNT, TENTH),
        lambda: opened.release(COUNT, TENTH, key="k"),
        lambda: opened.release_all({"n": COUNT}, TENTH),
        lambda: opened.price(COUNT, TENTH),
        lambda: opened.what_if(COUNT, TENTH),
        lambda: opened.partition("in one ward", "ward", ["A"], TENTH),
        lambda: opened.view("other", one_ward),
        lambda: opened.remaining,
        opened.history,
        lambda: opened.ledger.allot("ana", sd.PureDP("0.1")),
        lambda: part.release(rows, TENTH),
        lambda: part.remaining,
    ]
    child = os.fork()
    if child == 0:
        os._exit(sum(refusal(act) != "SessionMoved" for act in acts))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    part.release(rows, TENTH)
    opened.release(COUNT, TENTH)
    assert opened.spent == sd.ApproxDP("0.2", "2e-7")
    assert opened.ledger.verify().releases == 2


@pytest.mark.parametrize("move", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_copy_refuses(path: Path, move: Callable[[object], object]) -> None:
    opened = session(path)
    opened.view("in one ward", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    part = opened.partition("in one ward", "ward", ["A"], TENTH)["A"]
    for one in (opened, opened.ledger, part):
        with pytest.raises(SessionMoved, match="would be spent twice"):
            move(one)


def test_another_limit_or_other_people_are_refused(path: Path) -> None:
    for ledger in (path, sd.Ledger.at(path)):
        with pytest.raises(
            InvalidParameter, match=r"differs from (that|the limit) of the ledger"
        ):
            session(ledger, sd.ApproxDP(2, "1e-6"))
        with pytest.raises(
            InvalidParameter, match=r"differs from (that|the limit) of the ledger"
        ):
            session(ledger, sd.Limit.of(LIMIT, "concentrated"))
        rows = sd.PrivateTable({"days": [1]}, protects=sd.AddOneRow())
        with pytest.raises(InvalidParameter, match=r"differ from those of the ledger"):
            sd.Session({"visits": rows}, LIMIT, ledger=ledger)
        assert session(ledger, LIMIT).remaining == LIMIT


def test_a_ledger_made_by_hand_is_for_what_its_maker_says(tmp_path: Path) -> None:
    """A session takes it as it is, by its path too; nothing else is compared."""
    made = tmp_path / "by hand"
    sd.Ledger.at(made, LIMIT, create=True, about="visits of 2026").close()
    assert session(made, LIMIT).remaining == LIMIT
    assert session(sd.Ledger.at(made)).ledger.about == "visits of 2026"


def test_what_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("hello" * 1000)
    with sqlite3.connect(tmp_path / "other") as other:
        other.execute("CREATE TABLE t (x)")
    other.close()
    bad: dict[Any, str] = {
        tmp_path: "must be a regular file",
        tmp_path / "gone" / "a": "must lie in a folder that exists",
        tmp_path / "text": "must be a ledger of Sordino",
        tmp_path / "other": "must be a ledger of Sordino",
        "a\0b": "must be a path",
        5: "must be a path, the address of a server, or an open",
    }
    for place, message in bad.items():
        with pytest.raises(InvalidParameter, match=message):
            session(place, LIMIT)
    with pytest.raises(InvalidParameter, match="must exist"):
        session(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_keys_and_names_that_are_none_are_refused(path: Path) -> None:
    opened = session(path)
    for bad in ("", "x" * 10**6, 5, "two\nlines", "\ud800"):
        given: Any = bad
        with pytest.raises(InvalidParameter, match="key"):
            opened.release(COUNT, TENTH, key=given)
        with pytest.raises(InvalidParameter, match="key"):
            opened.release_all({"n": COUNT}, TENTH, key=given)
    wrong: Any = 5
    with pytest.raises(InvalidParameter, match="why"):
        opened.release(COUNT, TENTH, why=wrong)
    with pytest.raises(UnknownName, match="no budget 'ana'"):
        session(path, analyst="ana").release(COUNT, TENTH)
    assert opened.spent == sd.ApproxDP(0, 0)


def test_analysts_share_the_limit_of_the_dataset(path: Path) -> None:
    session(path).ledger.allot("ana", sd.ApproxDP("0.2", "1e-6"))
    ana = session(path, analyst="ana", who="Ana")
    ana.release(COUNT, sd.ApproxDP("0.2", 0), why="monthly report")
    with pytest.raises(BudgetExceeded, match="of the budget 'ana'"):
        ana.release(COUNT, sd.ApproxDP("0.1", 0))
    rest = session(path)
    assert (ana.spent, rest.spent) == (sd.ApproxDP("0.2", 0), sd.ApproxDP("0.2", 0))
    rest.release(COUNT, sd.ApproxDP("0.8", 0))
    (first, second) = rest.history()
    assert (first.who, first.why, first.budget) == ("Ana", "monthly report", "ana")
    assert (second.who, second.budget) == ("", "dataset")
