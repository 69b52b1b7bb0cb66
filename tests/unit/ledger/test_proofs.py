"""A ledger keeps a certificate with each charge, and charges nothing without it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino import kernel
from sordino.aggregations.measurement import LaplaceShare
from sordino.errors import ProofRefused
from sordino.ledger.ledger import Claim
from sordino.ledger.record_kinds import proof_text
from sordino.office.cli.main import main

ROWS: Final = {"person": [1, 1, 2, 3], "ward": ["A", "A", "B", "C"]}
QUERY: Final = sd.table("visits").enforce(sd.MaxRowsPerID(3)).agg(n=sd.count())
BUDGET: Final = sd.PureDP("0.5")


def opened(path: Path | None = None, **options: Any) -> sd.Session:
    """Open a session over a small table."""
    visits = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("person"))
    budget = options.pop("budget", sd.PureDP(2))
    return sd.Session({"visits": visits}, budget, ledger=path, **options)


def test_a_charge_has_its_proof(tmp_path: Path) -> None:
    """Price, release, record and the stored answer have one certificate."""
    session = opened(tmp_path / "a.ledger")
    price = session.price(QUERY, BUDGET)
    release = session.release(QUERY, BUDGET, key="first")
    assert price.proof == release.proof == session.answer("first").proof
    assert kernel.check(release.proof) == "sums of epsilons and deltas"
    (record,) = [each for each in session.ledger.records() if each.kind == "charged"]
    assert proof_text(record.fields) == release.proof
    assert "charge" not in record.fields["proof"]
    found = session.ledger.verify()
    assert (found.proved, found.unproved) == (1, 0)


def test_every_way_to_charge_has_one() -> None:
    """Batches, margins, parts and releases in parts."""
    session = opened()
    batch = session.price_all({"a": QUERY, "b": QUERY}, BUDGET)
    keys = sd.KeySet.from_dict({"ward": ["A", "B"]})
    rows = sd.table("visits").enforce(sd.MaxRowsPerID(2))
    by_mu = opened(budget=sd.GaussianDP(1))
    margins = by_mu.price(rows.marginals(keys, order=1), sd.GaussianDP("0.1"))
    for price in (batch, margins):
        assert kernel.check(price.proof)
    session.view("kept", sd.table("visits").enforce(sd.MaxGroupsPerID("ward", 1)))
    parts = session.partition("kept", "ward", ["A", "B"], sd.PureDP("0.1"))
    parts["A"].release(sd.table("kept").agg(n=sd.count_ids()), sd.PureDP("0.05"))
    assert session.ledger.verify().proved == 1
    assert parts["A"].ledger.verify().proved == 1


def test_what_the_kernel_refuses_is_not_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: a purchase of half the noise. It is our error, and says so."""
    session = opened()
    made = LaplaceShare.integers

    def integers(self: Any, change: Any) -> Any:
        return type(made(self, change))(made(self, change).scale / 2)

    monkeypatch.setattr(LaplaceShare, "integers", integers)
    with pytest.raises(
        ProofRefused, match=r"epsilon 1 is lost, and 0\.5 is charged"
    ) as e:
        session.release(QUERY, BUDGET)
    assert session.ledger.entries() == ()
    assert session.spent == sd.PureDP(0)
    assert json.loads(e.value.certificate)["charge"] == {"epsilon": "1/2"}
    with pytest.raises(kernel.Refused):
        kernel.check(e.value.certificate)


def test_the_command_derives_each_charge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`sordino verify LEDGER`, and `sordino ledger verify`, say how many are proved."""
    path = tmp_path / "a.ledger"
    with opened(path) as session:
        session.release(QUERY, BUDGET)
        session.ledger.close()
    for words in (["verify", str(path)], ["ledger", "verify", str(path)]):
        assert main(words) == 0
        assert (
            "1 of 1 charges are proved anew by the kernel." in capsys.readouterr().out
        )


def test_charges_of_other_code_are_counted_apart() -> None:
    """A claim that is made by hand has no proof, and the ledger says how many."""
    ledger = sd.Ledger.in_memory(sd.PureDP(2))
    ledger.reserve(Claim(request="3f5a", asked=BUDGET, loss=BUDGET))
    found = ledger.verify()
    assert (found.proved, found.unproved) == (0, 1)


def test_a_forged_proof_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verifying derives each charge anew, whatever was believed when it was made."""
    session = opened()
    true = kernel.check
    monkeypatch.setattr(kernel, "check", lambda _: "believed")
    made = LaplaceShare.integers

    def integers(self: Any, change: Any) -> Any:
        return type(made(self, change))(made(self, change).scale / 2)

    monkeypatch.setattr(LaplaceShare, "integers", integers)
    session.release(QUERY, BUDGET)
    monkeypatch.setattr(kernel, "check", true)
    with pytest.raises(sd.errors.LedgerDamaged, match="does not follow"):
        session.ledger.verify()
