"""A policy among processes: who is first is charged, and none of them passes it."""

import copy
import pickle
from pathlib import Path
from typing import Final

import pytest

from sordino.errors import InvalidPolicy, PolicyRefusal
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_rules import Usage
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP
from tests.batches import for_each
from tests.ledgers import FRESH
from tests.policies import policy_of

YEARLY: Final = 'serial = 1\n[year]\nepsilon = 2\ndelta = "1e-6"\n'
TRIES: Final = 6


def uses() -> tuple[Usage, ...]:
    return (Usage(tables=frozenset({"visits"})),)


def charge_all(path: Path, refusals: Path) -> None:
    """Charge a quarter as often as there is time for, and count what is refused."""
    quarter = PureDP("1/4")
    claim = Claim(request="r", asked=quarter, loss=quarter, usages=uses)
    ledger, refused = Ledger.at(path), 0
    for _ in range(TRIES):
        try:
            ledger.reserve(claim)
        except PolicyRefusal:
            refused += 1
    with refusals.open("a", encoding="ascii") as file:
        file.write("refused\n" * refused)


@pytest.mark.slow
def test_processes_share_a_year(tmp_path: Path) -> None:
    """For any order of three processes: as many are charged as the year allows."""
    path, refusals = tmp_path / "a.ledger", tmp_path / "refusals"
    with Ledger.at(path, PureDP(100), create=True) as ledger:
        ledger.obey(policy_of(YEARLY))
    several = [
        FRESH.Process(target=charge_all, args=(path, refusals)) for _ in range(3)
    ]
    for each in several:
        each.start()
    for each in several:
        each.join(120)
    assert [each.exitcode for each in several] == [0, 0, 0]
    with Ledger.at(path) as ledger:
        assert ledger.verify().releases == 8
    assert refusals.read_text().count("refused") == 3 * TRIES - 8


@for_each("twin", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_refusals_survive_being_pickled(twin: type) -> None:
    refusal = twin(PolicyRefusal("release.epsilon = 1", "it costs 2", "Ask for less."))
    assert refusal.rule == "release.epsilon = 1"
    assert str(refusal).endswith("Ask for less. Nothing was charged.")
    wrong = twin(InvalidPolicy("policy.toml", "is not signed", "Ask its officer."))
    assert wrong.place == "policy.toml"
    assert str(wrong) == "policy.toml is not signed. Ask its officer."
