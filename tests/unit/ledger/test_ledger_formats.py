"""Ledgers of every format there ever was open, for ever, with everything they hold.

The files in tests/vectors were written by the version that had the format. Format 1 by
0.1: six releases for three budgets, four answers, a key that was lost twice; `killed`
is the same, left by a SIGKILL with everything in its `-wal`. Format 2 by 0.2: signed
(by the key of the bytes 0 to 31), with a witness, restored from a backup on the way.
"""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sordino as sd
from sordino import errors
from sordino.ledger.file_format import World
from sordino.ledger.record_kinds import Claim
from tests.batches import for_each
from tests.ledgers import Failing

VECTORS = Path(__file__).parents[2] / "vectors"
LIMIT = sd.ApproxDP(1, "1e-6")
TENTH = sd.ApproxDP("0.1", 0)
HUNDREDTH = sd.PureDP("0.01")


def claimed(key: str, budget: str = "dataset", loss: sd.ApproxDP = TENTH) -> Claim:
    return Claim(
        request=f"request {key}", asked=loss, loss=loss, key=key, budget=budget
    )


def brought(folder: Path, *names: str) -> Path:
    for name in names:
        shutil.copy(VECTORS / name, folder)
    return folder / names[0]


@pytest.fixture(name="old", params=["whole", "killed"])
def ledger_of_format_1(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a ledger of format 1: closed, or left behind with its log."""
    if request.param == "whole":
        return brought(tmp_path, "ledger-format-1.ledger")
    killed = "ledger-format-1-killed.ledger"
    return brought(tmp_path, killed, f"{killed}-wal")


def check_format_1(path: Path) -> None:
    """Hold a ledger against what the golden files of format 1 hold."""
    with sd.Ledger.at(path, LIMIT, about="visits") as ledger:
        verified = ledger.verify()
        assert (verified.records, verified.releases, verified.answers) == (15, 6, 4)
        assert ledger.spent() == sd.ApproxDP("0.51", 0)
        assert ledger.spent("ana") == TENTH
        assert list(ledger.limits()) == ["dataset", "ana", "bob"]
        assert ledger.entries()[0].why == "monthly report"
        assert ledger.records()[0].fields["format"] == 1
        assert ledger.reserve(claimed("monday")).answer == b"42"
        of_ana = ledger.reserve(claimed("of ana", "ana"))
        assert of_ana.answer == bytes(range(256)) * 9
        with pytest.raises(errors.AnswerLost):
            ledger.reserve(claimed("lost"))


def test_format_1_opens_and_goes_on(old: Path) -> None:
    """Everything is there, the hashes too; what comes after it follows."""
    inode = old.stat().st_ino
    check_format_1(old)
    check_format_1(old)
    assert old.stat().st_ino == inode
    assert [one.name for one in old.parent.iterdir()] == [old.name]
    with sd.Ledger.at(old) as ledger:
        ledger.store(ledger.reserve(claimed("new")), b"new")
        ledger.backup(old.with_name("copy"))
    with sd.Ledger.read(old.with_name("copy")) as copy:
        assert copy.spent() == sd.ApproxDP("0.61", 0)
        assert copy.reserve(claimed("new")).answer == b"new"
        assert copy.verify().records == 17
    assert old.with_name("copy").read_bytes().isascii()


def test_the_hashes_of_format_1_stay(tmp_path: Path) -> None:
    """The head that was written down with version 0.1 is still the head."""
    path = brought(tmp_path, "ledger-format-1.ledger")
    with closing(sqlite3.connect(path)) as connection:
        (head,) = connection.execute("SELECT hash FROM head").fetchone()
    with sd.Ledger.at(path) as ledger:
        assert ledger.verify().head == head


@pytest.mark.parametrize("point", ["migrate: written", "migrate: durable"])
def test_a_kill_while_it_is_migrated(old: Path, point: str) -> None:
    """Before one sector is written it is of format 1, after it of format 2: whole."""

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child == 0:
        sd.Ledger.at(old, world=World(reached=die))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    assert old.read_bytes().startswith(b"SQLite") == (point == "migrate: written")
    check_format_1(old)


@pytest.mark.parametrize("how", ["before", "half", "after"])
@pytest.mark.sampled(2)
def test_every_act_of_the_disk_may_fail_on_the_way(old: Path, how: str) -> None:
    """A migration that fails anywhere leaves a ledger that opens, with everything."""
    whole = {one: one.read_bytes() for one in old.parent.iterdir()}
    for k in range(1, 1000):
        for one, data in whole.items():
            one.write_bytes(data)
        failing = Failing(k, how, sticky=True, acts=frozenset({"write", "sync"}))
        try:
            sd.Ledger.at(old, world=failing.world).close()
        except errors.LedgerUnavailable:
            assert failing.failed
        check_format_1(old)
        if not failing.failed:
            break
    assert k > 10


def test_one_that_version_0_1_has_open_is_refused_in_words(tmp_path: Path) -> None:
    """It is not migrated under the feet of an older program; later it is."""
    path = brought(tmp_path, "ledger-format-1.ledger")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.LedgerUnavailable, match="with version 0"):
            sd.Ledger.at(path, world=World(patience=0.1))
        other.execute("ROLLBACK")
    check_format_1(path)


def test_version_0_1_takes_a_migrated_one_for_no_database(tmp_path: Path) -> None:
    path = brought(tmp_path, "ledger-format-1.ledger")
    sd.Ledger.at(path).close()
    with (
        closing(sqlite3.connect(path)) as other,
        pytest.raises(sqlite3.DatabaseError),
    ):
        other.execute("SELECT * FROM records")


def altered(*statements: str) -> Callable[[Path], None]:
    """Return how to change a ledger of format 1 behind its back."""

    def alter(path: Path) -> None:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                connection.execute(statement)
            for _, sql in triggers:
                connection.execute(sql)

    return alter


def cut(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


BROKEN: dict[str, Callable[[Path], object]] = {
    "a smaller charge": altered("UPDATE records SET body = replace(body,'1/10','0/1')"),
    "a record gone": altered("DELETE FROM records WHERE number = 9"),
    "the newest gone": altered("DELETE FROM records WHERE number = 15"),
    "another head": altered("UPDATE head SET hash = 'x'"),
    "no head": altered("DELETE FROM head"),
    "no records": altered("DELETE FROM records"),
    "a line in a body": altered(
        "UPDATE records SET body = body || char(10) WHERE number = 3"
    ),
    "a table more": altered("CREATE TABLE more (x)"),
    "a guard less": altered("DROP INDEX one_lease_per_charge"),
    "pages gone": cut,
}


@for_each("how", BROKEN)
def test_a_broken_one_is_not_migrated(tmp_path: Path, how: str) -> None:
    """What was not written by version 0.1 is refused, and stays as it is."""
    path = brought(tmp_path, "ledger-format-1.ledger")
    BROKEN[how](path)
    for _ in range(2):
        with pytest.raises(errors.LedgerDamaged):
            sd.Ledger.at(path)
    assert path.read_bytes().startswith(b"SQLite")


def test_another_sqlite_file_is_no_ledger(tmp_path: Path) -> None:
    path = brought(tmp_path, "ledger-format-1.ledger")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 7")
    before = path.read_bytes()
    with pytest.raises(errors.InvalidParameter, match="must be a ledger of Sordino"):
        sd.Ledger.at(path)
    assert path.read_bytes() == before


def test_format_2_opens_and_goes_on(tmp_path: Path) -> None:
    path = brought(tmp_path, "ledger-format-2.ledger", "ledger-format-2.witness")
    witness = tmp_path / "ledger-format-2.witness"
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    with pytest.raises(errors.InvalidParameter, match="witness"):
        sd.Ledger.at(path)
    with sd.Ledger.at(path, LIMIT, witness=witness, signer=key) as ledger:
        verified = ledger.verify()
        assert (verified.records, verified.releases, verified.answers) == (17, 6, 4)
        assert verified.signed_by == key.public_key().public_bytes_raw().hex()
        assert ledger.spent() == sd.ApproxDP("0.51", 0)
        assert ledger.spent("ana") == TENTH
        assert ledger.reserve(claimed("monday")).answer == b"42"
        assert ledger.reserve(claimed("after")).answer == b""
        with pytest.raises(errors.AnswerLost):
            ledger.reserve(claimed("lost"))
        ledger.store(ledger.reserve(claimed("new")), b"new")
        assert ledger.spent() == sd.ApproxDP(Fraction(61, 100), 0)


def test_any_byte_of_format_1_may_rot(tmp_path: Path) -> None:
    """A refusal, or exactly what was written; nothing foreign."""
    name = "ledger-format-1.ledger"
    whole = (VECTORS / name).read_bytes()
    path = tmp_path / name
    refused = 0
    places = range(0, len(whole), 997)
    for place in places:
        rotten = bytearray(whole)
        rotten[place] ^= 0x41
        path.write_bytes(rotten)
        try:
            with sd.Ledger.at(path) as ledger:
                assert ledger.spent() == sd.ApproxDP("0.51", 0)
        except errors.SordinoError:
            refused += 1
    assert 0 < refused < len(places)
