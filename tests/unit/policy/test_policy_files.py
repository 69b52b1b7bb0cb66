"""Attacks on the file of a policy, its signature, and the ledger that has it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidPolicy, PolicyRefusal
from sordino.ledger.file_format import hash_bytes
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_file import Policy, policy_text, read_rules
from sordino.office.html.page import language_codes, read_language
from sordino.office.report.policy import policy_sentences
from tests.batches import for_each
from tests.policies import (
    ALL_RULES,
    HALF,
    OFFICER,
    STRANGER,
    clinic,
    ledger_under,
    policy_of,
    signed,
)

STRICT: Final = 'serial = 2\n[release]\nepsilon = 0.2\ndelta = "1e-6"\n'
LENIENT: Final = STRICT.replace("0.2", "5").replace("serial = 2", "serial = 3")
COUNT: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())


WRONG: Final = {
    "": "the file has no serial",
    "serial = 0": "serial must be a whole number, got 0",
    "serial = 1.0": "serial must be a whole number, got '1.0'",
    "serial = true": "serial must be a whole number, got True",
    "serial = 1\nserial = 2": "is not TOML",
    "serial = 1\nschema = 2": "schema must be 1, got 2",
    "serial = 1\nrelaese = 1": "the file has no 'relaese'. Did you mean 'release'?",
    "serial = 1\nrelease = 1": "release must be a table",
    "serial = 1\n[release]": "release has no epsilon",
    "serial = 1\n[release]\nepsilon = 1": "release has no delta",
    "serial = 1\n[release]\nepsilon = -1\ndelta = 0": "release.epsilon is refused",
    "serial = 1\n[release]\nepsilon = inf\ndelta = 0": "release.epsilon",
    "serial = 1\n[release]\nepsilon = nan\ndelta = 0": "release.epsilon is refused",
    "serial = 1\n[year]\nepsilon = 'sqrt(2)'\ndelta = 0": "year.epsilon must be rat",
    "serial = 1\n[person]\nepsilon = 1\ndelta = 1": "person.delta must be below 1",
    "serial = 1\n[person]\nepsilon = 1\ndelta = 2": "person.delta is refused",
    "serial = 1\n[person]\nepsilon = '?'\ndelta = 2": "person.epsilon is still to be",
    "serial = 1\n[year]\nepsilon = 1\ndelta = 0\nrho = 1": "year has no 'rho'",
    "serial = 1\n[groups]\nleast = 2.5": "groups.least must be a whole number",
    "serial = 1\n[groups]\nleast = 99999999999999999999": "groups.least must be",
    "serial = 1\n[groups]\nmost = 5": "groups has no 'most'",
    "serial = 1\n[tables]\nvisits = 1": "tables.visits must be a table",
    "serial = 1\n[tables.visits]\nkey = []": "tables.visits has no 'key'. Did you mean",
    "serial = 1\n[tables.visits]\nkeys = [1]": "tables.visits.keys must be text",
    "serial = 1\n[functions]\naggregations = ['summ']": "functions.aggregations is ref",
    "serial = 1\n[functions]\npython = 'no'": "functions.python must be true or false",
    "serial = 1\n[people]\nwhom = ['a']": "people has no 'whom'. Did you mean 'who'?",
    "serial = " + "9" * 5000: "",
    "a = " + "[" * 5000: "",
}
"""What a policy cannot mean, and what is said."""


@for_each("text", list(WRONG), ids=[str(n) for n in range(len(WRONG))])
def test_what_cannot_be_meant_is_refused_at_its_place(text: str) -> None:
    with pytest.raises(InvalidPolicy) as no:
        read_rules(text)
    assert WRONG[text] in str(no.value)
    assert len(str(no.value)) < 500


@for_each("code", language_codes())
def test_every_rule_is_a_sentence(code: str) -> None:
    """In each language, with every name that a rule lists; nothing of others."""
    language = read_language(code)
    told = list(policy_sentences(language, read_rules(ALL_RULES)))
    assert len(told) == len(set(told)) == 12
    whole = " ".join(told)
    for listed in ("a b", "x", "<b>", "days", "count", "sum", "Ana", "20"):
        assert listed in whole, listed
    assert whole.count(language.plain("rules.nothing")) == 2
    assert not list(policy_sentences(language, read_rules("serial = 1")))


def test_a_file_that_changed_since_it_was_shown_is_not_signed(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(STRICT, encoding="utf-8")
    shown = policy_text(path)
    path.write_text(LENIENT, encoding="utf-8")
    with pytest.raises(InvalidPolicy, match="has changed since it was shown"):
        Policy.sign(path, OFFICER, shown=shown)
    assert not path.with_name("policy.toml.sig").exists()
    assert Policy.sign(path, OFFICER, shown=policy_text(path)).rules.serial == 3


def edit(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"0.2", b"2.0"))


def sign_anew(path: Path) -> None:
    """Sign by another key, and leave the name of the officer."""
    beside = path.with_name(path.name + ".sig")
    officer = json.loads(beside.read_text())["officer"]
    Policy.sign(path, STRANGER)
    written = json.loads(beside.read_text()) | {"officer": officer}
    beside.write_text(json.dumps(written))


def sign_of(change: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda path: change(path.with_name(path.name + ".sig"))


def pipe(path: Path) -> None:
    """Put a pipe in its place, which would be waited for."""
    path.unlink()
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


SPOILED: Final[dict[str, Callable[[Path], object]]] = {
    "edited": edit,
    "a space more": lambda path: path.write_text(path.read_text() + " "),
    "other line ends": lambda path: path.write_bytes(
        path.read_bytes().replace(b"\n", b"\r\n")
    ),
    "signed by another": sign_anew,
    "gone": Path.unlink,
    "not UTF-8": lambda path: path.write_bytes(b"serial = 1 # \xff"),
    "huge": lambda path: path.write_bytes(b"# " + b"x" * (1 << 20)),
    "a folder": folder,
    "a pipe": pipe,
    "without a signature": sign_of(Path.unlink),
    "signature of nothing": sign_of(lambda path: path.write_text("")),
    "signature of numbers": sign_of(
        lambda path: path.write_text('{"officer": 1, "signature": 2}')
    ),
    "signature of a list": sign_of(lambda path: path.write_text("[]")),
    "signature of no digits": sign_of(
        lambda path: path.write_text('{"officer": "x", "signature": "y"}')
    ),
    "signature with spaces": sign_of(
        lambda path: path.write_text(path.read_text().replace("0", "0 "))
    ),
    "signature of surrogates": sign_of(
        lambda path: path.write_text('{"officer": "\\ud800", "signature": "00"}')
    ),
    "nested signature": sign_of(lambda path: path.write_text("[" * 100_000)),
    "a pipe for a signature": sign_of(pipe),
}
"""What becomes of a signed file."""


@for_each("how", list(SPOILED))
def test_a_spoiled_file_is_refused(how: str, tmp_path: Path) -> None:
    """For any change of it; no ledger adopts it, and none is charged."""
    path = signed(tmp_path / "policy.toml", STRICT)
    SPOILED[how](path)
    with pytest.raises(InvalidPolicy) as no:
        clinic(None, sd.PureDP(1), policy=path)
    assert no.value.place


@for_each("path", [None, 7, b"\0", "\0", "", [], "\ud800"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(InvalidPolicy):
        Policy.read(path)


def test_a_link_leads_to_what_was_signed(tmp_path: Path) -> None:
    """What counts is the text; the signature lies beside the link."""
    real = signed(tmp_path / "real.toml", STRICT)
    link = tmp_path / "policy.toml"
    link.symlink_to(real)
    with pytest.raises(InvalidPolicy, match="has no signature"):
        Policy.read(link)
    (tmp_path / "policy.toml.sig").symlink_to(tmp_path / "real.toml.sig")
    assert Policy.read(link).sha256 == policy_of(STRICT).sha256


def test_a_file_that_is_replaced_later_changes_nothing(tmp_path: Path) -> None:
    path, book = signed(tmp_path / "policy.toml", STRICT), tmp_path / "a.ledger"
    session = clinic(book, sd.ApproxDP(1, "1e-6"), policy=path)
    session.price(COUNT, sd.PureDP("0.1"))
    path.write_text(LENIENT)
    for each in (session, clinic(book)):
        with pytest.raises(PolicyRefusal, match=r"release\.epsilon = 0\.2"):
            each.release(COUNT, HALF)
    with pytest.raises(InvalidPolicy, match="is not what was signed"):
        clinic(book, policy=path)
    assert session.ledger.entries() == ()


def test_policies_follow_each_other() -> None:
    """The same again is nothing new; newer ones of the officer alone are adopted."""
    ledger = ledger_under(STRICT)
    ledger.obey(policy_of(STRICT))
    for text, key, problem in (
        (LENIENT, STRANGER, "is signed by"),
        (LENIENT.replace("serial = 3", "serial = 1"), OFFICER, "has serial = 1, and"),
        (
            STRICT + "# edited",
            OFFICER,
            "has serial = 2, and this ledger obeys serial = 2",
        ),
    ):
        with pytest.raises(InvalidPolicy, match=problem):
            ledger.obey(policy_of(text, key))
    assert [one.kind for one in ledger.records()].count("adopted") == 1
    ledger.obey(policy_of(LENIENT))
    with pytest.raises(InvalidPolicy, match="never taken back"):
        ledger.obey(policy_of(STRICT))
    in_force = ledger.policy()
    assert in_force is not None
    assert in_force.sha256 == policy_of(LENIENT).sha256 == hash_bytes(LENIENT.encode())
    assert ledger.verify().records == 4


def test_a_policy_by_hand_must_be_signed() -> None:
    """No ledger adopts a text that nobody signed, wherever it comes from."""
    ledger, signed_one = Ledger.in_memory(sd.PureDP(1)), policy_of(STRICT)
    for text, officer, signature in (
        (STRICT + " ", signed_one.officer, signed_one.signature),
        (STRICT, signed_one.officer, ""),
        (STRICT, signed_one.officer.upper(), signed_one.signature),
    ):
        with pytest.raises(InvalidPolicy, match="is not signed"):
            ledger.obey(Policy(text, officer, signature))
    assert ledger.policy() is None


def test_two_handles_obey_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.ledger"
    first = clinic(path, sd.ApproxDP(1, "1e-6"))
    second = clinic(path)
    second.release(COUNT, HALF)
    first.ledger.obey(policy_of(STRICT))
    with pytest.raises(PolicyRefusal):
        second.release(COUNT, HALF)
    second.release(COUNT, sd.PureDP("0.1"), key="kept")
    first.ledger.obey(policy_of(LENIENT))
    second.release(COUNT, sd.PureDP("0.3"))
    digests = [entry.policy for entry in first.history()]
    assert digests == ["", policy_of(STRICT).sha256, policy_of(LENIENT).sha256]


def test_a_paid_answer_is_read_whatever_is_forbidden_now() -> None:
    ledger = Ledger.in_memory(sd.ApproxDP(2, "1e-6"))
    session = clinic(ledger)
    paid = session.release(COUNT, HALF, key="2026-11")
    ledger.obey(policy_of(STRICT))
    again = session.release(COUNT, HALF, key="2026-11")
    assert again.table == paid.table == ledger.answer("2026-11").table
    with pytest.raises(PolicyRefusal):
        session.release(COUNT, HALF, key="2026-12")


def test_requests_together_cost_what_they_cost_together() -> None:
    """Each is within the rule for a release, and their sum is not."""
    session = clinic(ledger_under(STRICT))
    fifth = sd.PureDP("0.2")
    session.price(COUNT, fifth)
    together = {"a": COUNT, "b": COUNT}
    for ask in (session.price_all, session.release_all):
        with pytest.raises(PolicyRefusal, match=r"this costs epsilon = 0\.4"):
            ask(together, sd.PureDP("0.4"))
        ask(together, fifth)


def test_a_ledger_without_a_policy_is_as_it_was(tmp_path: Path) -> None:
    """No record has a field that it has not without one."""
    session = clinic(tmp_path / "a.ledger", sd.ApproxDP(1, "1e-6"))
    session.release(COUNT, HALF)
    (charged,) = [one for one in session.ledger.records() if one.kind == "charged"]
    assert set(charged.fields) == {
        *("asked", "budget", "charges", "key", "known", "loss", "plan", "request"),
        *("spent", "when", "who", "why", "words", "proof"),
    }
    assert session.ledger.policy() is None
