"""A signed ledger shows who wrote it, to whoever knows the public key."""

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.file_format import Head, Record, World, replace
from sordino.ledger.ledger import Ledger
from sordino.ledger.policy_file import Seals, public_of
from sordino.losses.loss import PureDP
from tests.batches import for_each
from tests.ledgers import LIMIT, TENTH, claim

KEY = Ed25519PrivateKey.from_private_bytes(b"\1" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"\2" * 32)


@pytest.fixture(name="path")
def path_of_a_signed_ledger(tmp_path: Path) -> Path:
    path = tmp_path / "a.ledger"
    with Ledger.at(path, LIMIT, create=True, signer=KEY) as ledger:
        ledger.store(ledger.reserve(claim()), b"17")
    return path


def test_every_record_is_signed(path: Path) -> None:
    """Reading and verifying need no key; the public one is told."""
    with Ledger.at(path) as ledger:
        assert ledger.verify().signed_by == public_of(KEY)
        assert ledger.spent() == TENTH
        seals = Seals(public_of(KEY))
        assert all(map(seals.hold, ledger.records()))
        assert ledger.reserve(claim()).answer == b"17"


def test_charging_needs_the_key(path: Path) -> None:
    with Ledger.at(path) as ledger:
        for act in (
            lambda: ledger.reserve(claim(None)),
            lambda: ledger.allot("ana", LIMIT),
        ):
            with pytest.raises(InvalidParameter, match="signer must be given"):
                act()
        assert ledger.spent() == TENTH
    with pytest.raises(InvalidParameter, match="is not the key of this ledger"):
        Ledger.at(path, signer=OTHER)
    plain = path.with_name("plain")
    Ledger.at(plain, LIMIT, create=True).close()
    with pytest.raises(InvalidParameter, match="which has none"):
        Ledger.at(plain, signer=KEY)
    with Ledger.at(path, signer=KEY) as ledger:
        ledger.reserve(claim(None))
        assert ledger.spent() == PureDP("0.2")


@for_each("wrong", ["key.pem", b"\1" * 32, 7, generate_private_key])
def test_what_is_no_key_is_refused(tmp_path: Path, wrong: Any) -> None:
    given = wrong(SECP256R1()) if callable(wrong) else wrong
    with pytest.raises(InvalidParameter, match="signer must be an Ed25519") as caught:
        Ledger.at(tmp_path / "a", LIMIT, create=True, signer=given)
    assert "key.pem" not in str(caught.value)
    assert not (tmp_path / "a").exists()


def rewritten(path: Path, signer: Ed25519PrivateKey | None, *, own: bool) -> None:
    """Let a release have cost a hundredth, with fresh hashes and signatures.

    `own` puts the public key of the forger in; without a signer the old signatures
    stay.
    """
    with Ledger.at(path) as ledger:
        history = ledger.records()
    contents, head = [], Head(0, "")
    for record in history:
        body = json.loads(record.body.replace("1/10", "1/100"))
        if own and signer is not None and record.kind == "opened":
            body["signed_by"] = public_of(signer)
        made = Record.successor(head, record.kind, body)
        signature = (
            record.signature
            if signer is None
            else signer.sign(made.hash.encode()).hex()
        )
        made = replace(made, signature=signature)
        contents.append((made, b"17" if record.kind == "answered" else b""))
        head = made.head
    path.unlink()
    assert file_format.create_file(path, World(), "ledger", contents)


def test_a_history_that_another_wrote_is_refused(path: Path) -> None:
    """Fresh hashes with old signatures, or with another's: refused when opened."""
    for signer in (None, OTHER):
        rewritten(path, signer, own=False)
        with pytest.raises(LedgerDamaged, match="no valid signature"):
            Ledger.at(path)
        path.unlink()
        with Ledger.at(path, LIMIT, create=True, signer=KEY) as ledger:
            ledger.store(ledger.reserve(claim()), b"17")


def test_a_ledger_of_another_key_is_another_ledger(path: Path) -> None:
    """A forger with a key of their own is whole; the public key tells them apart."""
    rewritten(path, OTHER, own=True)
    with pytest.raises(InvalidParameter, match="is not the key of this ledger"):
        Ledger.at(path, signer=KEY)
    with Ledger.at(path) as ledger:
        assert ledger.spent() == PureDP("0.01")
        assert ledger.limit().stated.startswith("PureDP")
        assert ledger.records()[0].fields["signed_by"] != public_of(KEY)


def test_an_unsigned_ledger_takes_no_signed_records(tmp_path: Path) -> None:
    """Signatures where there is no key are not what was written."""
    path = tmp_path / "a"
    Ledger.at(path, LIMIT, create=True).close()
    with Ledger.at(path) as ledger:
        history = ledger.records()
    path.unlink()
    signed = [(replace(one, signature="ab" * 64), b"") for one in history]
    assert file_format.create_file(path, World(), "ledger", signed)
    with pytest.raises(LedgerDamaged, match="no valid signature"):
        Ledger.at(path)


def test_a_restored_ledger_is_signed_throughout(tmp_path: Path) -> None:
    """What the witness saw is signed already; the record of it needs the key."""
    path, witness, copy = tmp_path / "a", tmp_path / "w", tmp_path / "copy"
    with Ledger.at(path, LIMIT, create=True, witness=witness, signer=KEY) as ledger:
        ledger.backup(copy)
        ledger.reserve(claim())
    for wrong, message in ((None, "signer must be given"), (OTHER, "not the key")):
        with pytest.raises(InvalidParameter, match=message):
            Ledger.restore(copy, tmp_path / "new", witness=witness, signer=wrong)
        assert not (tmp_path / "new").exists()
    new = Ledger.restore(copy, tmp_path / "new", witness=witness, signer=KEY)
    with new as ledger:
        assert ledger.verify().signed_by == public_of(KEY)
        assert ledger.spent() == TENTH
