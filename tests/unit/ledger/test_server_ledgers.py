"""A ledger on a server: connections that break, standbys, pools, rights, settings."""

import os
import pickle
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import sordino as sd
from sordino.errors import (
    InvalidParameter,
    LedgerDamaged,
    LedgerUnavailable,
    SordinoError,
)
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.places import refuse_password
from sordino.ledger.record_kinds import Claim
from sordino.losses.loss import PureDP
from tests.effort import PROFILE, by_night, often
from tests.ledgers import FRESH, LIMIT, claim, faults, lines, report, sharing
from tests.postgres_server import (
    MEMORY,
    Cluster,
    Line,
    children_of,
    fresh_base,
    ledger_server,
    pooled,
    start_cluster,
    start_standby,
)

SECRET = "hunter-2-secret"  # noqa: S105 the tests look for it
ROWS = sd.PrivateTable({"p": [1] * 90}, protects=sd.AddOneRow())
HOME = MEMORY if MEMORY.is_dir() else None


@pytest.fixture(name="address")
def address_of_a_ledger() -> str:
    address = fresh_base(ledger_server())
    Ledger.at(address, LIMIT, create=True, about="visits").close()
    return address


def ask(address: str, told: Path, key: str | None = "k", **given: Any) -> None:
    """Ask one question, and tell the answer if one comes."""
    with Ledger.at(address, LIMIT, **given) as ledger:
        ticket = ledger.reserve(claim(key))
        result = ticket.answer or ledger.store(ticket, str(time.time_ns()).encode())
        with told.open("a", encoding="ascii") as file:
            file.write(f'[{ticket.number}, "{result.decode()}"]\n')


@pytest.mark.slow
@pytest.mark.parametrize("how", ["before", "after"])
def test_a_connection_is_lost_at_any_step(tmp_path: Path, how: str) -> None:
    """The k-th thing said to the server, for every k: unheard, or its answer lost.

    So COMMIT is, too: what was charged then has its answer or none, and never two.
    """
    server = ledger_server()
    wrong: Counter[str] = Counter()
    lost = 0
    for tried, k in enumerate(range(1 + (PROFILE != "night"), 1000, often(3, 1))):
        if tried % 9 == 0:  # a limit of ten tenths has room for so many
            address, told = fresh_base(server), tmp_path / f"{k}.told"
            Ledger.at(address, LIMIT, create=True).close()
        line = Line(server, k, how)
        with suppress(SordinoError):
            ask(line.address(address), told, f"{k}")
        for _ in range(2):
            ask(address, told, f"{k}")
        wrong.update(faults(address, told))
        assert len(dict(lines(told))) == tried % 9 + 1
        line.close()
        lost += line.cut
        if not line.cut:
            break
    assert lost > 5
    report(f"lines cut ({how})", lost, wrong)


def test_a_live_handle_survives_its_connection(address: str) -> None:
    """One that was lost between two calls is made anew, and nobody hears of it."""
    server = ledger_server()
    with Ledger.at(address) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"1")
        server.run(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "  # noqa: S608 ours
            f"WHERE datname = '{base_of(address)}'"
        )
        ledger.store(ledger.reserve(claim("b")), b"2")
        assert ledger.reserve(claim("a")).answer == b"1"
        assert ledger.verify().answers == 2


@pytest.mark.slow
def test_a_server_that_is_started_again_between_charge_and_answer() -> None:
    """It forgets nothing: the same handle goes on, and so does the ticket."""
    server = start_cluster(HOME, fsync="on")
    address = fresh_base(server)
    with Ledger.at(address, LIMIT, create=True) as ledger:
        ticket = ledger.reserve(claim("a"))
        server.killed()
        with pytest.raises(LedgerUnavailable, match="a charge may have been made"):
            ledger.store(ticket, b"1")
        again = server.again()
        assert ledger.store(ticket, b"1") == b"1"
        assert ledger.spent() == PureDP("0.1")
        assert ledger.verify().answers == 1
    again.stop()
    server.stop()


@by_night
@pytest.mark.slow
def test_a_server_that_is_killed_under_load(tmp_path: Path) -> None:
    """Killed and started again, over and over, under four workers that share keys."""
    server = start_cluster(HOME, fsync="on")
    address, told = fresh_base(server), tmp_path / "told"
    Ledger.at(address, LIMIT, create=True).close()
    kills, wrong = 8, Counter[str]()
    serving = [server]
    for turn in range(kills):
        children = [
            FRESH.Process(target=sharing, args=(address, told, 10 * turn + n))
            for n in range(4)
        ]
        for child in children:
            child.start()
        time.sleep(3)
        serving[-1].killed()
        for child in children:
            child.join(60)
        serving.append(serving[-1].again())
    wrong.update(faults(address, told, "0.001"))
    report("kills of a server", kills, wrong)
    for one in reversed(serving):
        one.stop()


def walreceiver(standby: Cluster) -> list[int]:
    """Return the processes that read another server's log."""
    return [
        one
        for one in children_of(standby.number)
        if b"walreceiver" in Path(f"/proc/{one}/cmdline").read_bytes()
    ]


def until_it_says(server: Cluster, word: str, what: str) -> None:
    """Wait until a server says so of the standby that follows it."""
    told = f"SELECT ({what})::text FROM pg_stat_replication WHERE state = 'streaming'"  # noqa: S608 our own parts
    end = time.monotonic() + 30
    with server.asking() as connection:
        while connection.execute(told.encode()).fetchall() != [(word,)]:
            assert time.monotonic() < end, what
            time.sleep(0.02)


@contextmanager
def following(*, synchronous: bool) -> Generator[tuple[Cluster, Cluster]]:
    """Run a server and a standby that follows it."""
    server = start_cluster(HOME, fsync="on", wal_level="replica")
    standby = start_standby(server, "s1")
    if synchronous:
        server.run("ALTER SYSTEM SET synchronous_standby_names = 's1'")
        server.run("SELECT pg_reload_conf()")
    until_it_says(server, "sync" if synchronous else "async", "sync_state")
    try:
        yield server, standby
    finally:
        standby.stop()
        server.stop()


@pytest.mark.slow
def test_a_standby_that_may_forget_needs_a_witness(tmp_path: Path) -> None:
    """An asynchronous standby that takes over is refused by the witness, not before.

    The line to it hangs, so it does not know the newest charges.
    """
    with following(synchronous=False) as (server, standby):
        address, witness = fresh_base(server), tmp_path / "witness"
        with pytest.raises(InvalidParameter, match="has standbys, and none is sync"):
            Ledger.at(address, LIMIT, create=True)
        with Ledger.at(address, LIMIT, create=True, witness=witness) as ledger:
            ledger.store(ledger.reserve(claim("a")), b"1")
            until_it_says(server, "true", "replay_lsn = pg_current_wal_lsn()")
            for one in walreceiver(standby):
                stop(one)
            ledger.store(ledger.reserve(claim("b")), b"2")
        server.killed()
        for one in walreceiver(standby):
            stop(one, for_good=True)
        standby.promote()
        there = address.replace(str(server.folder), str(standby.folder))
        for _ in range(2):
            with pytest.raises(LedgerDamaged, match="put back: its witness saw record"):
                Ledger.at(there, witness=witness)
        with pytest.raises(InvalidParameter, match="witness must be given"):
            Ledger.at(there)


@pytest.mark.slow
def test_a_synchronous_standby_forgets_nothing() -> None:
    """A charge that a hung standby does not have is not told, even if COMMIT "worked".

    Waiting for it was cancelled, and the server says so by a warning alone.
    """
    with following(synchronous=True) as (server, standby):
        address = fresh_base(server)
        ledger = Ledger.at(address, LIMIT, create=True)
        ledger.store(ledger.reserve(claim("a")), b"1")
        for one in walreceiver(standby):
            stop(one)
        canceller = Thread(target=cancel_waits, args=(server,))
        canceller.start()
        with pytest.raises(LedgerUnavailable, match="did not make durable"):
            ledger.reserve(claim("b"))
        canceller.join()
        server.killed()
        for one in walreceiver(standby):
            stop(one, for_good=True)
        standby.promote()
        there = address.replace(str(server.folder), str(standby.folder))
        with Ledger.at(there) as after:
            assert [one.key for one in after.entries()] == ["a"]
            assert after.reserve(claim("a")).answer == b"1"


WARNING = """
CREATE FUNCTION public.warn() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE WARNING 'canceling wait'; RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON sordino_ledger.records
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION public.warn()"""


def test_a_warning_that_comes_with_commit_is_a_failure(address: str) -> None:
    """Nothing is told of what may be lost; asked again, it is charged once."""
    server, base = ledger_server(), base_of(address)
    with Ledger.at(address) as ledger:
        server.run(WARNING, base=base)
        with pytest.raises(LedgerUnavailable, match="did not make durable"):
            ledger.reserve(claim("a"))
        server.run("DROP TRIGGER warn ON sordino_ledger.records", base=base)
        assert ledger.store(ledger.reserve(claim("a")), b"1") == b"1"
        assert ledger.spent() == PureDP("0.1")


def stop(process: int, *, for_good: bool = False) -> None:
    os.kill(process, signal.SIGTERM if for_good else signal.SIGSTOP)
    if for_good:
        os.kill(process, signal.SIGCONT)


def cancel_waits(server: Cluster) -> None:
    """Cancel the first wait for a standby that comes."""
    waits = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    with server.asking() as connection:
        while not (found := connection.execute(waits.encode()).fetchall()):
            time.sleep(0.05)
        connection.execute("SELECT pg_cancel_backend(%s)", found[0])


def test_a_pool_that_gives_each_transaction_another_connection(
    address: str, tmp_path: Path
) -> None:
    server, told = ledger_server(), tmp_path / "told"
    with pooled(server) as folder:
        way = address.replace(str(server.folder), str(folder))
        threads = [Thread(target=ask, args=(way, told, f"k{n}")) for n in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert not +faults(address, told)
    with Ledger.at(address) as ledger:
        assert ledger.verify().answers == 8


@pytest.mark.parametrize("name", ["fsync", "full_page_writes"])
def test_a_server_that_forgets_is_refused(name: str) -> None:
    server = start_cluster(HOME, **{"fsync": "on", name: "off"})
    with pytest.raises(InvalidParameter, match="fsync or full_page_writes is off"):
        Ledger.at(fresh_base(server), LIMIT, create=True)
    server.stop()


def test_a_role_that_does_not_wait_for_the_disk_is_refused(address: str) -> None:
    """It is said of the role, and its setting does not count in our transactions."""
    server, base = ledger_server(), address.split("/")[3].split("?", maxsplit=1)[0]
    server.run(f"ALTER DATABASE {base} SET synchronous_commit TO off")
    with pytest.raises(InvalidParameter, match="synchronous_commit is off"):
        Ledger.at(address)
    server.run(f"ALTER DATABASE {base} RESET synchronous_commit")
    Ledger.at(address).close()


ROLES = """
CREATE ROLE {0}_charges LOGIN; CREATE ROLE {0}_reads LOGIN;
GRANT USAGE ON SCHEMA sordino_ledger TO {0}_charges, {0}_reads;
GRANT SELECT ON ALL TABLES IN SCHEMA sordino_ledger TO {0}_charges, {0}_reads;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sordino_ledger TO {0}_charges"""


def base_of(address: str) -> str:
    return address.split("/")[3].split("?", maxsplit=1)[0]


def test_rights_are_those_of_three_roles(address: str, tmp_path: Path) -> None:
    """One charges, one reads, and neither changes what is written, or even may try."""
    server, base = ledger_server(), base_of(address)
    server.run(ROLES.format(base), base=base)
    charging, reading = (
        address.replace("user=keeper", f"user={base}_{name}")
        for name in ("charges", "reads")
    )
    with Ledger.at(charging) as ledger:
        ledger.store(ledger.reserve(claim()), b"1")
    with Ledger.read(reading) as looked:
        assert looked.verify().answers == 1
        with pytest.raises(InvalidParameter, match="was opened to be read"):
            looked.close_budget("dataset")
    with pytest.raises(InvalidParameter, match="may not be used in this way by this"):
        Ledger.at(reading)
    with pytest.raises(InvalidParameter, match="may not be used in this way by this"):
        Ledger.move(charging, tmp_path / "new")
    tries = [
        "UPDATE sordino_ledger.records SET body = '{}'",
        "DELETE FROM sordino_ledger.records",
        "TRUNCATE sordino_ledger.pieces",
        "UPDATE sordino_ledger.head SET number = number - 1",
        "INSERT INTO sordino_ledger.subjects VALUES ('x', 1)",
        "INSERT INTO sordino_ledger.pieces VALUES (4, 9, 'x')",
        "SELECT sordino_ledger.keep(4, 9, 'x')",
        (
            "SELECT sordino_ledger.append(number + 1, 'x', hash, repeat('0', 64), '', "
            "'{}', '{}', NULL) FROM sordino_ledger.head"
        ),
        (
            "SELECT sordino_ledger.append(9, 'x', '', encode(sha256(convert_to("
            "concat_ws(E'\\n', '', '9', 'x', '{}'), 'UTF8')), 'hex'), '', '{}', '{}', "
            "NULL)"
        ),
        "ALTER TABLE sordino_ledger.records DISABLE TRIGGER ALL",
    ]
    for role in (f"{base}_charges", f"{base}_reads", "keeper"):
        for text in tries if role != "keeper" else tries[:4]:
            with (
                server.asking(role, base) as connection,
                pytest.raises(
                    Exception, match=r"denied|neither|own|forward|follows|come with"
                ),
            ):
                connection.execute(text.encode())
    with Ledger.at(address) as ledger:
        ledger.verify()


EDITS: dict[str, str] = {
    "a body": 'UPDATE records SET body = replace(body, \'"who":""\', \'"who":"x"\') '
    "WHERE number = 3",
    "a hash": "UPDATE records SET hash = repeat('0', 64) WHERE number = 3",
    "a resealed record": "UPDATE records SET body = '{{}}', hash = encode(sha256("
    "convert_to(concat_ws(E'\\n', previous, number::text, kind, '{{}}'), 'UTF8')), "
    "'hex') WHERE number = 4",
    "a record that is gone": "DELETE FROM records WHERE number = 4",
    "an end that is gone": "DELETE FROM records WHERE number > 4; UPDATE head SET "
    "number = 4, hash = (SELECT hash FROM records WHERE number = 4)",
    "a head behind": "UPDATE head SET number = 4, hash = (SELECT hash FROM records "
    "WHERE number = 4)",
    "a head beside": "UPDATE head SET hash = repeat('0', 64)",
    "an answer": "UPDATE pieces SET bytes = 'other' WHERE number = 4",
    "an answer that is gone": "DELETE FROM pieces",
    "an index that hides sums": "DELETE FROM subjects WHERE number = 5",
    "an index that leads elsewhere": "UPDATE subjects SET number = 1 WHERE number = 5",
    "a kind of a later version": "UPDATE records SET kind = 'forgiven' WHERE number=4",
    "another format": "UPDATE head SET format = 3",
    "another role": "UPDATE head SET role = 'witness'",
    "another application": "UPDATE head SET application = 'x'",
    "no head": "DELETE FROM head",
}


@pytest.mark.parametrize("edit", EDITS)
def test_rows_that_somebody_changed_are_found(address: str, edit: str) -> None:
    """By verify at the latest; and by a handle that lives, before its next charge.

    An end that is gone is found by who knew it: that handle, or a witness.
    """
    server = ledger_server()
    with Ledger.at(address, witness=None) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"1")
        ledger.reserve(claim("b"))
        statements = EDITS[edit].replace("{{", "{").replace("}}", "}").split("; ")
        for table in ("records", "head", "pieces", "subjects"):
            statements = [
                one.replace(f" {table} ", f" sordino_ledger.{table} ").replace(
                    f"FROM {table}", f"FROM sordino_ledger.{table}"
                )
                for one in statements
            ]
        # an owner may switch the triggers off; a signature or a witness sees more
        server.run(
            "SET session_replication_role = replica", *statements, base=base_of(address)
        )
        with pytest.raises(REFUSALS):
            charge_and_verify(ledger)
    if edit != "an end that is gone":
        with pytest.raises(REFUSALS), Ledger.at(address) as again:
            again.verify()


@pytest.mark.parametrize(
    "edit",
    [
        (
            "UPDATE sordino_ledger.subjects SET number = 1 "
            "WHERE subject = sha256(convert_to('key a', 'UTF8'))"
        ),
        (
            'UPDATE sordino_ledger.records SET body = replace(body, \'"key":"a"\', '
            '\'"key":"b"\') WHERE number = 3'
        ),
        "UPDATE sordino_ledger.head SET hash = repeat('0', 64)",
    ],
)
def test_a_paid_answer_is_not_told_by_rows_that_were_changed(
    address: str, edit: str
) -> None:
    """What is read for one key is held by itself: nobody has to verify before."""
    with Ledger.at(address) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"1")
    ledger_server().run(
        "SET session_replication_role = replica", edit, base=base_of(address)
    )
    with pytest.raises(LedgerDamaged), Ledger.at(address) as again:
        again.reserve(claim("a"))


REFUSALS = (LedgerDamaged, InvalidParameter, LedgerUnavailable)


def charge_and_verify(ledger: Ledger) -> None:
    ledger.reserve(claim("c"))
    ledger.verify()


def test_an_older_copy_of_the_database_is_refused(address: str, tmp_path: Path) -> None:
    """By its witness, which another server keeps; both on one server are refused."""
    server, other = ledger_server(), ledger_server(1)
    witness, base = fresh_base(other), base_of(address)
    with pytest.raises(InvalidParameter, match="or on another server"):
        Ledger.at(address, create=True, witness=fresh_base(server))
    with Ledger.at(address, create=True, witness=witness) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"1")
    server.run(f"CREATE DATABASE {base}_old TEMPLATE {base}")
    with Ledger.at(address, witness=witness) as ledger:
        ledger.reserve(claim("b"))
    old = address.replace(base, f"{base}_old")
    with pytest.raises(LedgerDamaged, match="put back: its witness saw"):
        Ledger.at(old, witness=witness)
    with pytest.raises(InvalidParameter, match="must be a witness, and this is a led"):
        Ledger.at(tmp_path / "a", LIMIT, create=True, witness=address)


def test_tables_of_others_are_refused() -> None:
    server = ledger_server()
    address = fresh_base(server)
    with pytest.raises(InvalidParameter, match="ledger must exist"):
        Ledger.at(address)
    server.run(
        "CREATE SCHEMA sordino_ledger",
        "CREATE TABLE sordino_ledger.head (x int)",
        base=base_of(address),
    )
    for create in (False, True):
        with pytest.raises(InvalidParameter, match="the tables there are not"):
            Ledger.at(address, LIMIT, create=create)


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ada:{SECRET}@127.0.0.1:1/clinic",
        f"postgresql://ada:{SECRET}@/clinic?host=/nowhere",
        f"postgresql://ada:{SECRET}@h:port/clinic",
        f"postgres://ada:{SECRET}@127.0.0.1:1/clinic",
        f"mysql://ada:{SECRET}@127.0.0.1:1/clinic",
        f"https://ada:{SECRET}@127.0.0.1:1/clinic",
        f"host=127.0.0.1 port=1 password={SECRET}",
        f"postgresql:/ada:{SECRET}@127.0.0.1:1/clinic",
        f"postgresql://127.0.0.1:1/clinic?password={SECRET}&x=1",
    ],
)
def test_no_password_is_told(address: str, caplog: pytest.LogCaptureFixture) -> None:
    """Neither by the refusal nor by what led to it, nor in a log or a pickle."""
    tries: list[Callable[[], object]] = [
        lambda: Ledger.at(address),
        lambda: Ledger.at(address, LIMIT, create=True),
        lambda: Ledger.read(address),
        lambda: Ledger.at("a.ledger", LIMIT, create=True, witness=address),
        lambda: Ledger.move(address, "other.ledger"),
        lambda: Ledger.restore(address, "other.ledger", witness="w"),
        lambda: sd.Session({"t": ROWS}, LIMIT, ledger=address, engine="memory"),
        lambda: sd.Session({"t": ROWS}, ledger=address, engine="memory"),
        lambda: refuse_password(address, "ledger.path"),
    ]
    for act in tries:
        with pytest.raises((InvalidParameter, LedgerUnavailable)) as refused:
            act()
        told: BaseException | None = refused.value
        while told is not None:
            assert SECRET not in f"{told} {told!r} {told.args}"
            told = told.__cause__ or told.__context__
        assert SECRET.encode() not in pickle.dumps(refused.value)
    assert SECRET not in caplog.text
    refuse_password("postgresql://ada@127.0.0.1:1/clinic", "ledger.path")


def test_a_session_shows_where_its_ledger_is_without_the_password(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    named = address.replace("&user", f"&password={SECRET}&user")
    fresh = fresh_base(ledger_server()).replace("&user", f"&password={SECRET}&user")
    with Ledger.at(named) as ledger:
        assert SECRET not in repr(ledger) + ledger.place + repr(ledger._guarded)
    session = sd.Session({"t": ROWS}, LIMIT, ledger=fresh, engine="memory")
    release = session.release(sd.table("t").agg(n=sd.count()), PureDP(1), key="k")
    shown = [
        repr(session),
        repr(release),
        str(release.label()),
        str(session.describe()),
    ]
    assert "was made at postgresql://keeper@" in caplog.text
    assert SECRET not in caplog.text + "".join(shown)
    with Ledger.read(fresh) as looked:
        assert looked.remaining() == PureDP(0)
        assert looked.answer("k").table == release.table
        assert SECRET not in "".join(record.body for record in looked.records())


@pytest.mark.parametrize("home", ["file to server", "server to file"])
def test_a_ledger_moves_whole(tmp_path: Path, home: str) -> None:
    """All of it, large answers too; the old place is read, and never charged again."""
    places: list[Any] = [tmp_path / "a", fresh_base(ledger_server())]
    old, new = places if home == "file to server" else reversed(places)
    witness, large = tmp_path / "w", bytes(range(256)) * 10_000
    with Ledger.at(old, LIMIT, create=True, witness=witness) as ledger:
        ledger.store(ledger.reserve(claim("a")), large)
        ledger.backup(tmp_path / "copy")
        identity = ledger.identity
    with Ledger.move(old, new, witness=witness) as moved:
        assert moved.identity == identity
        assert moved.reserve(claim("a")).answer == large
        moved.store(moved.reserve(claim("b")), b"2")
        assert moved.verify().answers == 2
    for open_old in (Ledger.at, lambda path, **_: Ledger.at(path)):
        with pytest.raises(InvalidParameter, match="a ledger that was moved"):
            open_old(old, witness=witness)
    with Ledger.read(old) as looked:
        assert [one.key for one in looked.entries()] == ["a"]
        assert looked.answer is not None
    for source, target in ((old, tmp_path / "c"), (tmp_path / "copy", tmp_path / "d")):
        with pytest.raises(InvalidParameter, match="is not where this ledger went"):
            Ledger.move(source, target)
    with Ledger.move(old, new, witness=witness) as again:  # as if it had been cut short
        assert again.verify().answers == 2


@pytest.mark.parametrize("point", ["moved: told", "create ledger: filled"])
def test_a_move_that_was_cut_short_is_finished(tmp_path: Path, point: str) -> None:
    """Neither place can be charged until it is done again; then the new one can."""
    old, new = tmp_path / "a", fresh_base(ledger_server())
    with Ledger.at(old, LIMIT, create=True) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"1")

    def reached(now: str) -> None:
        if now == point:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Ledger.move(old, new, world=World(reached=reached))
    if point == "moved: told":  # before its role was written it is still the ledger
        Ledger.at(old).close()
    else:
        for place in (old, new):
            with pytest.raises(InvalidParameter):
                Ledger.at(place)
    with Ledger.move(old, new) as moved:
        assert moved.reserve(claim("a")).answer == b"1"


def small(key: str) -> Claim:
    """Return a claim of which many fit."""
    least = PureDP("0.001")
    return replace(claim(key), asked=least, loss=least)


def test_the_index_is_enough_to_open(address: str) -> None:
    """Who opens a ledger reads its newest record, not all of them."""
    with Ledger.at(address) as ledger:
        for n in range(30):
            ledger.store(ledger.reserve(small(f"k{n}")), b"1")
    with Ledger.at(address) as again:
        store: Any = again._guarded._store
        assert len(store._seen.records) < 10
        assert again.reserve(small("k7")).answer == b"1"
        assert again.spent() == PureDP("0.03")
        assert again.verify().releases == 30
