"""What was paid for can be read by its key alone: in any version, of any kind."""

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import (
    AnswerLost,
    InvalidParameter,
    InvalidQuery,
    UnknownName,
)
from sordino.ledger import charges
from sordino.numbers.canonical import digest
from sordino.release.release import Release
from tests.ledgers import claim

VECTORS: Final = Path(__file__).parents[2] / "vectors"
ROWS: Final[dict[str, list[Any]]] = {
    "patient": [*range(900)] * 2,
    "ward": ["A", "B", "B"] * 600,
    "days": [2, 5, 9] * 600,
}
EACH: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2))
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B", "C"]})
BY_WARD: Final = EACH.group_by(WARDS).agg(n=sd.count(), days=sd.mean("days", 0, 30))
QUARTER: Final = sd.ApproxDP("0.25", 0)
MANY: Final = {
    "all": EACH.agg(n=sd.count()),
    "long: stays": EACH.filter(sd.col("days") > 4).agg(n=sd.count()),
}


def session(ledger: Any, **more: Any) -> sd.Session:
    table = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("patient"))
    more.setdefault("engine", "memory")
    return sd.Session({"visits": table}, ledger=ledger, **more)


@pytest.fixture
def ledger(tmp_path: Path) -> sd.Ledger:
    path = tmp_path / "clinic.ledger"
    return sd.Ledger.at(path, sd.ApproxDP(9, "1e-5"), create=True)


@pytest.fixture
def old(tmp_path: Path) -> sd.Ledger:
    """Return a ledger that a session of version 0.1 wrote."""
    path = tmp_path / "old.ledger"
    shutil.copy(VECTORS / "ledger-format-1-answers.ledger", path)
    return sd.Ledger.at(path)


def told(release: Any) -> Any:
    if isinstance(release, Release):
        return [release.table.to_pydict(), release.errors.to_pydict()]
    return {name: told(one) for name, one in release.items()}


def test_a_release_comes_as_it_was_given(ledger: sd.Ledger) -> None:
    given = session(ledger).release(BY_WARD, QUARTER, key="by ward")
    found = ledger.answer("by ward")
    assert isinstance(found, Release)
    assert told(ledger.answers("by ward")) == {"": told(given)}
    assert told(found) == told(given)
    assert found.table.schema == given.table.schema
    for name in ("keys", "plan", "confidence", "names"):
        assert getattr(found, name) == getattr(given, name)
    assert found.loss == sd.PureDP("0.25")
    assert "±" in str(found)
    assert "bound" in found.notes[0]
    assert ledger.spent() == QUARTER


def test_what_was_left_out_comes_with_it(ledger: sd.Ledger) -> None:
    query = sd.table("visits").enforce(sd.MaxRowsPerID(1))
    given = session(ledger).release(
        query.agg(n=sd.count(), coverage=True), QUARTER, key="cut"
    )
    answer = ledger.answer("cut")
    assert isinstance(answer, Release)
    assert answer.coverage is not None
    assert answer.coverage == given.coverage
    assert told(answer) == told(given)


def test_what_is_done_to_noisy_numbers_is_not_kept(ledger: sd.Ledger) -> None:
    """The numbers come as they were drawn; the request with its key is the rest."""
    opened = session(ledger)
    request = opened.sql(
        "SELECT 2 * COUNT(*) AS n FROM visits", limits=sd.MaxRowsPerID(2)
    )
    given = opened.release(request, QUARTER, key="twice")
    answer = ledger.answer("twice")
    assert isinstance(answer, Release)
    assert given["n"].to_pylist() == [2 * answer.table.column(0)[0].as_py()]
    again = opened.release(request, QUARTER, key="twice")
    assert told(again) == told(given)


def test_several_come_by_their_names(ledger: sd.Ledger) -> None:
    budget = sd.ApproxDP("0.25", "1e-7")
    given = session(ledger).release_all(MANY, budget, key="many")
    found = ledger.answers("many")
    assert list(found) == list(MANY)
    assert told(found) == told(given)
    assert [one.plan for one in found.values()] == [one.plan for one in given.values()]
    with pytest.raises(InvalidQuery, match=r"by name: 'all', .* by answers\('many'\)"):
        ledger.answer("many")


def test_answers_of_version_0_1_are_read(old: sd.Ledger) -> None:
    """One alone, one with Gaussian noise, and several together."""
    known = json.loads((VECTORS / "ledger-format-1-answers.json").read_text("utf-8"))
    for key, stored in known["answers"].items():
        answers = told(old.answers(key))
        assert answers.get("", answers) == stored
    one = old.answer("gaussian")
    assert isinstance(one, Release)
    assert one.loss.epsilon_at("1e-7") <= 0.125


def test_a_key_of_version_0_1_is_refused_with_what_to_do(old: sd.Ledger) -> None:
    """It was recorded in no form that can be compared."""
    opened = session(old)
    before = opened.spent
    for ask in (
        lambda: opened.release(BY_WARD, QUARTER, key="by ward"),
        lambda: opened.release_all(MANY, QUARTER, key="by ward"),
    ):
        with pytest.raises(InvalidQuery, match=r"ledger\.answer\('by ward'\)"):
            ask()
    assert opened.spent == before
    assert isinstance(opened.release(BY_WARD, QUARTER, key="anew"), Release)


def test_what_is_charged_says_what_was_asked(ledger: sd.Ledger) -> None:
    """The words, and their hash; for parts and several requests as well."""
    opened = session(ledger)
    opened.release(BY_WARD, QUARTER, key="by ward")
    opened.release_all(MANY, QUARTER)
    opened.view("one ward", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    opened.partition("one ward", "ward", ["A", "B"], QUARTER)
    charged = [one.fields for one in ledger.records() if one.kind == "charged"]
    verbs = ["release", "release_all", "partition"]
    assert [one["words"][0] for one in charged] == verbs
    for one in charged:
        said = json.dumps(
            one["words"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        assert digest(said) == one["request"]


def test_very_many_words_are_kept_as_their_hash(
    ledger: sd.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charges, "_MOST_WORDS", 100)
    opened = session(ledger)
    given = opened.release(BY_WARD, QUARTER, key="long")
    assert ledger.records()[-2].fields["words"] is None
    assert told(opened.release(BY_WARD, QUARTER, key="long")) == told(given)
    assert told(ledger.answer("long")) == told(given)
    with pytest.raises(InvalidQuery, match="belongs to another request"):
        opened.release(MANY["all"], QUARTER, key="long")


def test_what_has_no_answer_is_refused(ledger: sd.Ledger) -> None:
    with pytest.raises(UnknownName, match="there is no key 'monday'"):
        ledger.answer("monday")
    waiting = claim("waiting")
    ledger.reserve(waiting)
    with pytest.raises(InvalidQuery, match="has not been stored yet"):
        ledger.answer("waiting")
    ledger.reserve(waiting)
    with pytest.raises(AnswerLost):
        ledger.answer("waiting")
    for key, stored in (("bytes", b"42"), ("none", b""), ("long", b"\xff" * 64)):
        ledger.store(ledger.reserve(claim(key)), stored)
        with pytest.raises(InvalidQuery, match="was not given by a session"):
            ledger.answer(key)


STRANGE: Final = (
    "x",
    "[]",
    "null",
    '["release",{}]',
    '["release",{"form":true}]',
    '["release", {"form":1}]',
    '["release",{"form":1,"x":NaN}]',
    "[" * 5000,
)


@pytest.mark.parametrize("words", STRANGE)
def test_words_that_are_none_are_refused(ledger: sd.Ledger, words: str) -> None:
    with pytest.raises(InvalidParameter, match="must be the words of the request"):
        claim("k", digest(words), words=words)
    with pytest.raises(InvalidParameter, match="must be the words of the request"):
        claim("k", "another", words='["release",{"form":1}]')
    right = '["release",{"form":1}]'
    ledger.reserve(claim("k", digest(right), words=right))
    assert ledger.verify().releases == 1


def test_what_version_0_1_never_answered_is_lost(tmp_path: Path) -> None:
    """No request can be compared with it, so nobody computes it once more."""
    path = tmp_path / "old.ledger"
    shutil.copy(VECTORS / "ledger-format-1.ledger", path)
    old = sd.Ledger.at(path)
    with pytest.raises(InvalidQuery, match="and never answered"):
        old.answer("waiting")


def test_an_answer_without_a_key_is_not_kept(ledger: sd.Ledger) -> None:
    """Nobody could ask for it: what is kept is its size and its hash."""
    session(ledger).release(BY_WARD, QUARTER)
    charged, answered = ledger.records()[-2:]
    assert (charged.kind, answered.kind) == ("charged", "answered")
    assert ledger._guarded.look(lambda log: log.store.answer(answered.number)) == b""
    assert answered.fields["size"] > 1000
    assert ledger.verify().answers == 1
    ticket = ledger.reserve(claim(None))
    assert ledger.store(ticket, b"42") == b"42"
    assert ledger.store(ticket, b"42") == b"42"
    with pytest.raises(ValueError, match="was already answered"):
        ledger.store(ticket, b"43")
