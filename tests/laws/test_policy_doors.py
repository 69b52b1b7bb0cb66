"""Laws: every door by which something is charged is a door of the policy.

A verb of sessions that is not listed here fails; so does a charge without the digest of
the policy that allowed it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.engines.memory import MemoryEngine
from sordino.errors import LedgerUnavailable, PolicyRefusal
from sordino.ledger.record_kinds import Claim
from sordino.office.job.job import read_job
from sordino.office.job.running import open_to_release
from tests.batches import for_each, sampled, table_of, ways_of
from tests.jobs import fill_folder
from tests.policies import HALF, WARDS, clinic, ledger_under, policy_of, signed

NOBODY: Final = 'serial = 1\n[people]\nwho = ["nobody"]\n'
ANYBODY: Final = "serial = 1\n"
BOUNDED: Final = sd.table("visits").enforce(sd.MaxRowsPerID(1))
COUNT: Final = BOUNDED.agg(n=sd.count())
QUARTER: Final = sd.ApproxDP("0.25", "1e-8")


def part_of(session: sd.Session) -> Any:
    session.view("own", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    parts = session.partition("own", "ward", ["A", "B"], HALF)
    return parts["A"].release(
        sd.table("own").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count()), QUARTER
    )


def in_view(session: sd.Session) -> Any:
    session.view("grown", BOUNDED.filter(sd.col("age") >= 18))
    return session.release(sd.table("grown").agg(n=sd.count()), QUARTER)


def set_aside(session: sd.Session) -> Any:
    session.ledger.earmark("plan", QUARTER)
    return session.release(COUNT, QUARTER, earmark="plan")


DOORS: Final = ways_of(table_of("refused/doors"), globals())
"""Everything that charges, through a session."""
FAR: Final[dict[str, Callable[[sd.Session], Any]]] = {
    "release_files": lambda s: s.release_files(
        BOUNDED.group_by(WARDS).agg(n=sd.count()), QUARTER, "nowhere"
    ),
}
"""What charges where Spark answers: here it can only be refused."""
LOOKS: Final[dict[str, Callable[[sd.Session], Any]]] = {
    "price": lambda s: s.price(COUNT, QUARTER),
    "price of margins": lambda s: s.price(BOUNDED.marginals(WARDS, order=1), QUARTER),
    "price_all": lambda s: s.price_all({"a": COUNT}, QUARTER),
    "what_if": lambda s: s.what_if(COUNT, QUARTER),
}
"""Everything that tells beforehand what a charge would be."""
FREE: Final = {
    *("statement", "forget", "close", "ledger", "budget", "spent", "remaining"),
    "share",
    *("describe", "history", "answer", "answers", "in_blocks"),
}
"""What charges nothing and prices nothing."""


def asked(door: Callable[[sd.Session], Any], ledger: sd.Ledger) -> Any:
    session = clinic(ledger)
    session.view(
        "visits by people", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1))
    )
    return door(session)


def charges(ledger: sd.Ledger) -> list[Any]:
    return [record for record in ledger.records() if record.kind == "charged"]


@sampled(7)
@for_each("door", [*DOORS, *FAR, *LOOKS])
def test_a_forbidden_release_is_refused_at_every_door(
    door: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any verb: the rule is cited; nothing is charged, written or asked for."""
    monkeypatch.delattr(MemoryEngine, "prepare")
    ledger = ledger_under(NOBODY)
    before = list(ledger.records())
    with pytest.raises(PolicyRefusal, match=r'people\.who = \["nobody"\], and') as no:
        asked((DOORS | FAR | LOOKS)[door], ledger)
    assert no.value.rule == 'people.who = ["nobody"]'
    after = [one for one in ledger.records() if one.kind != "earmarked"]
    assert after == before


@sampled(5)
@for_each("door", list(DOORS))
def test_a_charge_names_the_policy_that_allowed_it(door: str) -> None:
    """For any verb: each charge has its digest and is counted; the ledger verifies."""
    ledger = ledger_under(ANYBODY)
    asked(DOORS[door], ledger)
    assert charges(ledger)
    for record in charges(ledger):
        assert record.fields["policy"]["sha256"] == policy_of(ANYBODY).sha256
    assert {entry.policy for entry in ledger.history()} == {policy_of(ANYBODY).sha256}
    ledger.verify()


@for_each("door", list(LOOKS))
def test_looking_is_allowed_where_asking_is(door: str) -> None:
    ledger = ledger_under(ANYBODY)
    asked(LOOKS[door], ledger)
    assert charges(ledger) == []


def test_every_verb_of_sessions_is_a_door_or_free() -> None:
    verbs = {name for name in dir(sd.Session) if not name.startswith("_")}
    listed = {name.split(maxsplit=1)[0] for name in (*DOORS, *FAR, *LOOKS)} - {"a"}
    assert verbs == listed | FREE


def test_a_claim_by_hand_meets_the_policy() -> None:
    ledger = ledger_under(ANYBODY)
    claim = Claim(request="r", asked=QUARTER, loss=QUARTER, who="nobody")
    for act in (ledger.reserve, ledger.what_if, ledger.refuse_unlawful):
        with pytest.raises(PolicyRefusal, match="says what it reads, and this claim"):
            act(claim)
    assert charges(ledger) == []


def test_the_parts_of_parts_obey() -> None:
    text = 'serial = 1\n[release]\nepsilon = 0.3\ndelta = "1e-6"\n'
    text += '[people]\nwho = ["Ana"]\nanalysts = ["ana"]\n'
    ledger = ledger_under(text)
    ledger.allot("ana", sd.ApproxDP(10, "1e-3"))
    session = clinic(ledger, analyst="ana", who="Ana")
    session.view(
        "own",
        sd.table("visits").enforce(
            sd.MaxGroupsPerID("ward", 1), sd.MaxGroupsPerID("age", 1)
        ),
    )
    part = session.partition("own", "ward", ["A"], sd.ApproxDP(2, "1e-5"))["A"]
    inner = part.partition("own", "age", [30], sd.ApproxDP(1, "1e-6"))[30]
    question = sd.table("own").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
    for each in (part, inner):
        each.release(question, QUARTER)
        with pytest.raises(PolicyRefusal, match=r"release\.epsilon = 0\.3"):
            each.release(question, HALF)


OWN: Final = sd.table("own").enforce(sd.MaxRowsPerID(1))
OWN_COUNT: Final = OWN.agg(n=sd.count())
AT_A_PART: Final[dict[str, Callable[[sd.Session], Any]]] = {
    "release": lambda s: s.release(OWN_COUNT, QUARTER),
    "release with a key": lambda s: s.release(OWN_COUNT, QUARTER, key="new"),
    "release of margins": lambda s: s.release(OWN.marginals(WARDS, order=1), QUARTER),
    "release_all": lambda s: s.release_all({"a": OWN_COUNT}, QUARTER),
    "release_files": lambda s: s.release_files(
        OWN.group_by(WARDS).agg(n=sd.count()), QUARTER, "nowhere"
    ),
    "sql": lambda s: s.sql(
        "SELECT COUNT(*) AS n FROM own", QUARTER, limits=sd.MaxRowsPerID(1)
    ),
    "suggest": lambda s: s.suggest(
        sd.table("own").agg(n=sd.count()), QUARTER, limits={"rows": [1, 2]}
    ),
    "partition": lambda s: s.partition("own", "age", [40], QUARTER),
    "price": lambda s: s.price(OWN_COUNT, QUARTER),
    "price of margins": lambda s: s.price(OWN.marginals(WARDS, order=1), QUARTER),
    "price_all": lambda s: s.price_all({"a": OWN_COUNT}, QUARTER),
    "what_if": lambda s: s.what_if(OWN_COUNT, QUARTER),
}
"""What may be asked of a part."""


def two_parts(ledger: sd.Ledger) -> tuple[sd.Session, sd.Session]:
    session = clinic(ledger)
    bounds = sd.MaxGroupsPerID("ward", 1), sd.MaxGroupsPerID("age", 1)
    session.view("own", sd.table("visits").enforce(*bounds))
    part = session.partition("own", "ward", ["A"], sd.ApproxDP(20, "1e-3"))["A"]
    return part, part.partition("own", "age", [30], sd.ApproxDP(2, "1e-5"))[30]


@sampled(6)
@for_each("serial", [1, 2])
@for_each("door", list(AT_A_PART))
def test_parts_answer_no_more_under_a_newer_policy(
    door: str, serial: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For any verb, a part and a part of it: nothing is charged or asked for."""
    ledger = sd.Ledger.in_memory(sd.ApproxDP(1000, "0.1"))
    if serial == 2:
        ledger.obey(policy_of(ANYBODY))
    parts = two_parts(ledger)
    before = [(each.release(OWN_COUNT, QUARTER, key="k"), each) for each in parts]
    records = [each.ledger.records() for each in parts]
    newest = policy_of(f"serial = {serial}\n")
    ledger.obey(newest)
    monkeypatch.delattr(MemoryEngine, "prepare")
    for paid, each in before:
        with pytest.raises(PolicyRefusal, match="after these parts were made") as no:
            AT_A_PART[door](each)
        assert no.value.rule == f"serial = {serial}"
        again = each.release(OWN_COUNT, QUARTER, key="k")  # costs nothing
        assert again["n"] == paid["n"]
    assert [each.ledger.records() for each in parts] == records


def test_a_part_that_adopts_the_policy_itself_answers_no_more() -> None:
    """What marks it was not held against that policy, so to obey it is too little."""
    ledger = sd.Ledger.in_memory(sd.ApproxDP(1000, "0.1"))
    parts = two_parts(ledger)
    for each in (ledger, *(part.ledger for part in parts)):
        each.obey(policy_of(ANYBODY))
    for part in parts:
        with pytest.raises(PolicyRefusal, match="after these parts were made"):
            part.release(OWN_COUNT, QUARTER)


def test_a_policy_adopted_while_a_part_prepares_is_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = sd.Ledger.in_memory(sd.ApproxDP(1000, "0.1"))
    part, _ = two_parts(ledger)
    records, prepare = part.ledger.records(), MemoryEngine.prepare

    def prepare_slowly(engine: Any, question: Any) -> Any:
        ledger.obey(policy_of(ANYBODY))
        return prepare(engine, question)

    monkeypatch.setattr(MemoryEngine, "prepare", prepare_slowly)
    with pytest.raises(PolicyRefusal, match="after these parts were made"):
        part.release(OWN_COUNT, QUARTER)
    assert part.ledger.records() == records


def test_a_policy_adopted_while_parts_are_made_is_met(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ledger = sd.Ledger.in_memory(sd.ApproxDP(1000, "0.1"))
    session, make = clinic(ledger), sd.Ledger.in_memory

    def make_late(*terms: Any) -> sd.Ledger:
        ledger.obey(policy_of(ANYBODY))
        return make(*terms)

    session.view("own", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    monkeypatch.setattr(sd.Ledger, "in_memory", make_late)
    part = session.partition("own", "ward", ["A"], HALF)["A"]
    with pytest.raises(PolicyRefusal, match="after these parts were made"):
        part.release(OWN_COUNT, QUARTER)


def test_the_parts_of_a_closed_ledger_answer_nothing(tmp_path: Path) -> None:
    """Which policy it obeys by now cannot be told."""
    ledger = sd.Ledger.at(tmp_path / "a.ledger", sd.ApproxDP(100, "0.1"), create=True)
    parts = two_parts(ledger)
    ledger.close()
    for part in parts:
        with pytest.raises(LedgerUnavailable, match="is closed"):
            part.release(OWN_COUNT, QUARTER)


@pytest.mark.slow
def test_a_job_obeys(tmp_path: Path) -> None:
    folder = fill_folder(tmp_path)
    signed(folder / "policy.toml", NOBODY)
    job = (folder / "clinic.toml").read_text()
    job = job.replace("[ledger]", '[ledger]\npolicy = "policy.toml"')
    (folder / "clinic.toml").write_text(job)
    desk, _ = open_to_release(read_job(folder / "clinic.toml"))
    with pytest.raises(PolicyRefusal):
        desk.release(desk.job.releases["wards"], "2026-11", folder / "out")
    assert charges(desk.session.ledger) == []
