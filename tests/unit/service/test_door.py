"""What comes in at the door of a server: facts are the session's, refusals its own."""

import inspect
import json
import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import (
    BudgetExceeded,
    EngineFailure,
    InvalidJob,
    InvalidParameter,
    InvalidQuery,
    ServerUnavailable,
    SordinoError,
    UnknownName,
)
from sordino.office.service.connection import Connection, ServerLine
from sordino.office.service.door import ServerLimits, Turns
from sordino.office.service.tokens import make_token
from sordino.release.storage import split_answers
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often
from tests.served import (
    BY_WARD,
    COUNT,
    NAMED,
    Office,
    fields_of,
    open_session,
    with_ending,
)

HALF: Final = sd.PureDP("0.5")
APPROXIMATE: Final = sd.ApproxDP("0.5", "1e-6")
MARGINS: Final = (
    sd.table("visits").enforce(sd.MaxRowsPerID(3)).marginals(NAMED, order=1)
)
ASKED: Final[dict[str, tuple[Any, Any]]] = {
    "count": (COUNT, HALF),
    "named groups": (BY_WARD, HALF),
    "unknown groups": (
        sd
        .table("visits")
        .enforce(sd.MaxGroupsPerID("ward", 1), sd.MaxRowsPerGroupPerID("ward", 2))
        .group_by("ward")
        .agg(n=sd.count(), people=sd.count_ids()),
        APPROXIMATE,
    ),
    "public join": (
        sd
        .table("visits")
        .join_public("wards", on="ward")
        .enforce(sd.MaxRowsPerID(3))
        .agg(
            beds=sd.sum("beds", 0, 40),
            oldest=sd.min("born", date(1940, 1, 1), date(2020, 1, 1)),
        ),
        HALF,
    ),
    "computed of noise": (
        sd
        .table("visits")
        .enforce(sd.MaxRowsPerID(3))
        .group_by(NAMED)
        .agg(n=sd.count(), days=sd.sum("days", 0, 8))
        .with_columns(each=sd.col("days") / sd.col("n")),
        HALF,
    ),
    "fixed size": (sd.table("fixed").agg(m=sd.mean("x", 0, 5)), HALF),
    "margins": (MARGINS, sd.GaussianDP("0.2")),
}


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.open(tmp_path, "ana", "ben")


def test_the_verbs_are_those_of_a_session() -> None:
    """The same names, arguments and defaults: a notebook has another first line."""
    verbs = ("price", "price_all", "what_if", "release", "release_all", "sql")
    for verb in (*verbs, "describe", "history", "answer", "answers"):
        here = inspect.signature(getattr(Connection, verb))
        there = inspect.signature(getattr(sd.Session, verb))
        assert str(here).partition(" ->")[0] == str(there).partition(" ->")[0], verb


@for_each("name", ASKED)
def test_facts_are_those_of_the_session(
    name: str, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Price, proof, noise and plan are equal; the release lands in the same ledger."""
    query, budget = ASKED[name]
    if name == "margins":
        budget = sd.ApproxDP("0.5", "1e-6")
    ana = office.connect("ana", monkeypatch)
    own = open_session(office.path.parent, analyst="ana")
    here, there = own.price(query, budget), ana.price(query, budget)
    assert (here.proof, repr(here), here.plan) == (there.proof, repr(there), there.plan)
    assert repr(here.sensitivity) == repr(there.sensitivity)
    spent = own.spent
    release = ana.release(query, budget, key=name)
    again = ana.release(query, budget, key=name)
    kept = own.ledger.answer(f"ana: {name}")
    assert release.table == again.table
    assert (repr(release), release.explain()) == (repr(again), again.explain())
    # what a request does with noisy answers is done where the session is
    if not release.provenance.is_processed and name != "margins":
        assert (release.table, release.errors) == (kept.table, kept.errors)
    assert own.spent != spent
    *before, entry = own.ledger.entries()
    assert (entry.who, entry.budget, entry.key) == ("ana", "ana", f"ana: {name}")
    assert release.provenance.record is not None
    assert release.provenance.record.number == entry.number
    assert release.proof == here.proof
    assert own.ledger.verify().releases == len(before) + 1


def test_everything_else_a_session_says(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = office.connect("ana", monkeypatch)
    own = open_session(office.path.parent, analyst="ana")
    assert repr(ana.budget) == repr(own.budget)
    outlook = ana.what_if(COUNT, HALF)
    assert repr(outlook) == repr(own.what_if(COUNT, HALF))
    together = {"one": COUNT, "two": BY_WARD}
    assert (
        ana.price_all(together, HALF, weights="cells").proof
        == own.price_all(together, HALF, weights="cells").proof
    )
    releases = ana.release_all(together, HALF, weights={"one": 2}, key="both")
    assert [*releases] == ["one", "two"] == [*ana.answers("both")]
    assert releases["two"].table == ana.answers("both")["two"].table
    text = "SELECT COUNT(*) AS n FROM visits"
    asked = ana.sql(text, HALF, limits=[sd.MaxRowsPerID(3)])
    assert asked.names == ("n",)
    (first, second) = ana.history()
    assert (first.key, first.who, second.key) == ("both", "ana", None)
    assert repr(ana.remaining) == repr(own.remaining)
    assert repr(ana.spent) == repr(own.spent) == "ApproxDP(epsilon=1, delta=0)"
    shown = repr(ana.describe())
    assert shown == repr(own.describe())
    assert "patient" in shown
    for text in (repr(ana), repr(ana._line)):
        assert office.tokens["ana"] not in text
    # of ben's own: nothing but that something was charged
    ben = office.connect("ben", monkeypatch)
    assert {entry.plan for entry in ben.history()} == {""}
    with pytest.raises(UnknownName):
        ben.answer("both")


def test_a_text_of_sql_alone_is_a_request(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no Python sends the text, in which everything stands."""
    text = """SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 1e-6,
        max_groups_contributed = 1, privacy_unit_column = patient) ward,
        COUNT(*, contribution_bounds_per_group => (0, 2)) AS n
        FROM visits GROUP BY ward"""
    fields = {"sql": text, "dialect": "bigquery", "key": "text"}
    assert office.ask("ana", "sql", fields).status == 200
    assert office.connect("ana", monkeypatch).answer("text").names == ("n",)
    for wrong in (
        "SELECT COUNT(*) FROM visits",
        "DROP TABLE visits",
        text + "; SELECT 1",
    ):
        assert office.ask("ana", "sql", {**fields, "sql": wrong}).status == 400
    assert len(office.session.ledger.entries()) == 1


REFUSED: Final[dict[str, tuple[type[SordinoError], Any, Any]]] = {
    "no such table": (UnknownName, sd.table("vists").agg(n=sd.count()), HALF),
    "no such column": (
        UnknownName,
        sd.table("visits").enforce(sd.MaxRowsPerID(3)).agg(s=sd.sum("dys", 0, 1)),
        HALF,
    ),
    "nothing bounds": (InvalidQuery, sd.table("visits").agg(n=sd.count()), HALF),
    "too much": (BudgetExceeded, COUNT, sd.PureDP(51)),
    "no delta": (
        InvalidQuery,
        sd.table("visits").enforce(sd.MaxRowsPerID(3)).group_by("ward").keys(),
        HALF,
    ),
    "no budget": (InvalidParameter, COUNT, 3),
}


@for_each("name", REFUSED)
def test_a_refusal_is_the_same_on_the_other_side(
    name: str, office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each: the class, the sentence, the argument; and nothing is charged."""
    kind, query, budget = REFUSED[name]
    ana = office.connect("ana", monkeypatch)
    own = open_session(office.path.parent, analyst="ana")
    with pytest.raises(kind) as here:
        own.release(query, budget)
    with pytest.raises(kind) as there:
        ana.release(query, budget)
    assert str(here.value) == str(there.value)
    assert getattr(here.value, "name", None) == getattr(there.value, "name", None)
    assert own.ledger.entries() == ()


def test_a_server_refuses_what_a_client_would(office: Office) -> None:
    """Words that nobody here would send: refused there, too, and nothing charged."""
    function = ["code", {"sha256": "0" * 64}]
    words = json.loads(fields_of(office_line(office), COUNT, HALF)["words"])
    words[1]["request"][1]["rows"].append([
        "with_columns",
        {"function": function, "returns": [["k", "i64"]]},
    ])
    text = json.dumps(words, sort_keys=True, separators=(",", ":"))
    refusal = json.loads(office.ask("ana", "release", {"words": text}).content)
    assert "does not travel" in refusal["refusal"]["text"]
    words[1]["request"][1]["rows"].pop()
    for change in ({"form": 2}, {"more": None}, {"confidence": "38/40"}):
        other = [words[0], words[1] | change]
        text = json.dumps(other, sort_keys=True, separators=(",", ":"))
        reply = office.ask("ana", "release", {"words": text})
        assert reply.status == 400
    spaced = json.dumps(words, sort_keys=True)
    assert office.ask("ana", "release", {"words": spaced}).status == 400
    assert office.session.ledger.entries() == ()


def office_line(office: Office) -> Any:
    """Return a connection that is never asked, to write bodies with."""
    with pytest.MonkeyPatch.context() as patch:
        return office.connect("ana", patch)


def test_bad_arguments_are_refused_here(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is sent; and no refusal shows a token."""
    ana: Any = office.connect("ana", monkeypatch)
    connect: Any = sd.connect
    some = "some-token"
    wrong: dict[str, Any] = {"key": object(), "why": b"x", "earmark": 3}
    for name, value in wrong.items():
        with pytest.raises(InvalidParameter, match=name):
            ana.release(COUNT, HALF, **{name: value})
    with pytest.raises(InvalidParameter, match="earmark"):
        ana.what_if(COUNT, HALF, earmark=b"x")
    with pytest.raises(InvalidParameter, match="population"):
        ana.release(COUNT, HALF, population=1)
    for token in (b"hidden", 7, "", "hidden\n", "hiddén"):
        with pytest.raises(InvalidParameter) as refusal:
            connect("http://localhost", token=token)
        assert "hidd" not in str(refusal.value)
    for timeout in (0, -1, "x", None):
        with pytest.raises(InvalidParameter, match="timeout"):
            connect("http://localhost", token=some, timeout=timeout)
    monkeypatch.setattr(ServerLine, "_exchange", lambda *_: (200, b"<html>"))
    for strange in (ana.describe, lambda: ana.answer("x"), lambda: ana.spent):
        with pytest.raises(ServerUnavailable):
            strange()
    with pytest.raises(ServerUnavailable, match="no server of Sordino"):
        connect("http://localhost", token=some)
    assert office.session.ledger.entries() == ()


def test_another_price_than_was_seen_is_not_charged(office: Office) -> None:
    fields = fields_of(office_line(office), COUNT, HALF)
    reply = office.ask("ana", "release", {**fields, "plan": "0" * 64})
    assert b"plans this request otherwise" in reply.content
    assert office.session.ledger.entries() == ()


def test_tokens(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown, swapped, revoked, ended, and one with another limit."""
    ana, ben = (office.connect(name, monkeypatch) for name in ("ana", "ben"))
    ana.release(COUNT, HALF, key="mine")
    ben.release(COUNT, HALF, key="mine")  # each name has keys of its own
    assert [entry.who for entry in office.session.ledger.entries()] == ["ana", "ben"]
    for wrong in ("", "x", office.tokens["ana"][:-1], office.tokens["ana"] + "A"):
        assert office.ask(wrong, "budget", {}).status == 401
    with pytest.raises(InvalidParameter, match="is not known") as refusal:
        office.connect("guess-a-token", monkeypatch)
    assert "guess" not in str(refusal.value)

    end = with_ending(office, date(2027, 1, 1))
    office.change('analyst = "ben"', 'until = 2026-12-31\nanalyst = "ben"')
    assert end.ask("ben", "budget", {}).status == 401
    assert end.ask("ana", "budget", {}).status == 200
    with pytest.raises(InvalidJob, match="one limit"):
        make_token(office.path, "ana", '{ epsilon = "60" }', None)
    with pytest.raises(InvalidJob, match="must have no colon"):
        make_token(office.path, "ana: monday", '{ epsilon = "1" }', None)
    office.change('analyst = "ana"', 'revoked = true\nanalyst = "ana"')
    with pytest.raises(InvalidParameter, match="was revoked"):
        ana.release(COUNT, HALF, key="mine")
    other = make_token(office.path, "ana", '{ epsilon = "50", delta = "1e-4" }', None)
    assert office.ask(other, "answer", {"key": "mine"}).status == 200


def test_a_token_file_that_cannot_be_read_serves_nobody(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    office.change('analyst = "ben"', 'analyst = "ben"\nsecret = "x"')
    reply = office.ask("ana", "budget", {})
    assert (reply.status, b"secret" in reply.content) == (503, False)
    assert "has no 'secret'" in caplog.text
    office.path.unlink()
    assert office.ask("ana", "budget", {}).status == 503


def test_a_limit_is_kept_beside_that_of_the_ledger(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty of a hundred are ana's: then nothing more is, and ben has his."""
    ana, ben = (office.connect(name, monkeypatch) for name in ("ana", "ben"))
    ana.release(COUNT, sd.PureDP(50))
    with pytest.raises(BudgetExceeded, match="of the budget 'ana'"):
        ana.release(COUNT, sd.PureDP("1/1000"))
    ben.release(COUNT, sd.PureDP(50))
    assert repr(office.session.remaining) == "ApproxDP(epsilon=0, delta=0.001)"
    office.change('epsilon = "50"', 'epsilon = "60"')
    assert b"differs from the recorded limit" in office.ask("ana", "budget", {}).content


def test_who_asks_too_much_waits() -> None:
    times = iter(range(1000))
    turns = Turns(ServerLimits(a_minute=3), clock=lambda: float(next(times)))
    for _ in range(3):
        with turns.turn("ana"):
            pass
    with (
        pytest.raises(ServerUnavailable, match="3 requests a minute"),
        turns.turn("ana"),
    ):
        pass
    with turns.turn("ben"):
        pass
    for _ in range(70):  # each look takes a second
        next(times)
    with turns.turn("ana"), turns.turn("ana"), turns.turn("ana"):
        pass
    turns = Turns(ServerLimits(at_once=1))
    with (
        turns.turn("ana"),
        pytest.raises(ServerUnavailable, match="at once"),
        turns.turn("ana"),
    ):
        pass
    with turns.turn("ana"):
        pass


def test_what_is_not_ours_is_one_text(
    office: Office, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ana = office.connect("ana", monkeypatch)

    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a private cell")

    monkeypatch.setattr(type(office.session._desk), "pay", fail)
    with caplog.at_level(logging.INFO), pytest.raises(EngineFailure):
        ana.release(COUNT, HALF)
    assert "private cell" not in caplog.text
    assert '"outcome": "EngineFailure"' in caplog.text
    assert '"analyst": "ana"' in caplog.text


def changed(dice: Any, body: bytes) -> bytes:
    """Return a body with something else in it: a byte, a stretch, a value of JSON."""
    way = dice.between(0, 3)
    place = dice.between(0, len(body) - 1)
    if way == 0:
        return body[:place] + bytes([dice.between(0, 255)]) + body[place + 1 :]
    if way == 1:
        end = min(len(body), place + dice.between(1, 40))
        return body[:place] + body[end:]
    if way == 2:
        end = min(len(body), place + dice.between(1, 40))
        return body[:place] + body[place:end] * 2 + body[end:]
    fields = json.loads(body)
    words = json.loads(fields["words"])
    _graft(dice, words)
    text = json.dumps(words, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return json.dumps(fields | {"words": text}).encode()


STRANGE: Final[tuple[Any, ...]] = (
    *(None, True, -1, 2**70, 0.5, "", "inf", "1/0", "9" * 5000 + "/1", "\ud800"),
    *(
        [],
        {},
        [[]],
        ["col", {"name": "patient"}],
        ["lit", {"type": "f64", "value": "nan"}],
    ),
    *(["read", {"of": []}], ["table", {"name": "wards"}], ["count", {"x": 1}]),
    *("__class__", "2**9", "../../etc/passwd", ["PureDP", {"epsilon": "-1/1"}]),
)


def _graft(dice: Any, tree: Any) -> None:
    """Put something else at a place of a tree."""
    while True:
        names = [*tree] if isinstance(tree, dict) else [*range(len(tree))]
        name = dice.one(names)
        inner = tree[name]
        if not isinstance(inner, (list, dict)) or not inner or dice.between(0, 9) == 0:
            tree[name] = dice.one(STRANGE)
            return
        tree = inner


def true_bodies(line: Any) -> list[bytes]:
    """Return bodies as a connection writes them: of releases, and of parts."""
    line.view("few", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    parts = line._desk.price_parts("few", "ward", ["A", None], HALF, "")
    apart: Mapping[str, Any] = {"words": parts.identity.words, "table": "few"}
    fields = [apart]
    fields += [
        fields_of(line, query, budget)
        for name, (query, budget) in ASKED.items()
        if name != "margins"
    ]
    return [json.dumps(each).encode() for each in fields]


def test_hostile_bodies(office: Office) -> None:
    """For any body: an answer to the very words that it has, or a typed refusal.

    Never a failure that is not ours; and as many charges as there were answers.
    """
    bodies = true_bodies(office_line(office))
    dice, charging = rolled(7), {"release", "partition"}
    verbs = ("price", "price", "release", "what_if", "partition")
    outcomes: dict[int, int] = {}
    charges = 0
    for _ in range(often(2_000, 20_000)):
        verb = dice.one(verbs)
        body = changed(dice, dice.one(bodies))
        reply = office.ask("ana", verb, body)
        outcomes[reply.status] = outcomes.get(reply.status, 0) + 1
        assert reply.status in {200, 400}, body
        if reply.status == 200:
            charges += verb in charging
        else:
            json.loads(reply.content)["refusal"]["kind"]
    assert outcomes[400] > 100
    assert len(office.session.ledger.entries()) == charges
    assert office.session.ledger.verify().releases == charges
    strange = (b"", b"[]", b"\xff", b"{" * 10**5, b'{"words":1}', b'{"words":NaN}')
    for body in strange:
        assert office.ask("ana", "release", body).status == 400
    for verb in ("__init__", "Release", "release/x", "\ud800"):
        assert office.ask("ana", verb, {}).status == 400


def test_many_at_once_make_one_charge_each(tmp_path: Path) -> None:
    """Twenty threads, ten keys: ten charges, and each key has one answer."""
    office = Office.open(tmp_path, "ana", at_once=20)
    body = fields_of(office_line(office), COUNT, sd.PureDP("0.1"))

    def ask(place: int) -> tuple[int, bytes]:
        reply = office.ask("ana", "release", {**body, "key": f"k{place % 10}"})
        content = reply.content
        # a key whose answer is on its way is refused, and asked for later
        return place % 10, bytes(
            split_answers(content)[1]
        ) if reply.status == 200 else b""

    with ThreadPoolExecutor(20) as pool:
        answers = [*pool.map(ask, range(20))]
    answers += [ask(place) for place in range(10)]
    for key in range(10):
        assert (
            len({answer for place, answer in answers if place == key and answer}) == 1
        )
    assert len(office.session.ledger.entries()) == 10


def released(folder: Path, rows: int) -> Any:
    """Return counts of groups that have so many rows each, as they came over."""
    folder.mkdir()
    trials = [*range(10_000)]
    table = sd.PrivateTable({"trial": trials * rows}, protects=sd.AddOneRow())
    session = sd.Session({"trials": table}, sd.ApproxDP(100, "1e-3"))
    office = Office.open(folder, "ana", session=session)
    with pytest.MonkeyPatch.context() as patch:
        keys = sd.KeySet.from_dict({"trial": trials})
        query = sd.table("trials").group_by(keys).agg(n=sd.count())
        return office.connect("ana", patch).release(query, sd.PureDP(1)).table


def test_what_comes_over_is_within_the_loss(tmp_path: Path) -> None:
    """Neighbours of one row in each group: a true claim fails once in 1e9 runs.

    A claim of half of it is seen to be false, but for a deviation of 12 sigma.
    """
    few, more = (released(tmp_path / str(rows), rows) for rows in (3, 4))
    sure: dict[str, Any] = {"by": "trial", "confidence": "0.999999999"}
    assert not sd.audit(few, more, sd.PureDP(1), **sure).is_broken
    assert sd.audit(few, more, sd.PureDP("0.5"), **sure).is_broken
