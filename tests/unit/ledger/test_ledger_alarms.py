"""A ledger is called damaged only if a fresh look at its file says so, too.

For any interruption, any error or lie of the disk that passes, and any depth of the
stack: whoever asks is answered or refused, and no whole ledger is not to be trusted.
"""

import contextlib
import itertools
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

import sordino as sd
from sordino import errors
from sordino.ledger.file_format import DEEPEST, NOTHING, Disk, Record, World, parse_json
from sordino.ledger.record_kinds import is_sound
from tests.batches import for_each
from tests.effort import often
from tests.ledgers import LIMIT, Failing, claim
from tests.stores import leased

QUERY = sd.table("visits").agg(n=sd.count())
HUNDREDTH = sd.PureDP("0.01")
MANY = sd.PureDP(10**6)


class Lying:
    """A disk that once tells another byte, or fewer bytes, than it has."""

    def __init__(self, at: int, lie: Callable[[bytes], bytes]) -> None:
        self.at, self.count, self._lie = at, 0, lie
        self.world = World(disk=Disk(read=self._read, sync=lambda _: None))

    def _read(self, handle: int, size: int, at: int) -> bytes:
        told = os.pread(handle, size, at)
        self.count += 1
        return self._lie(told) if self.count == self.at else told


LIES: dict[str, Callable[[bytes], bytes]] = {
    "a byte": lambda told: told[: len(told) // 2] + b"~" + told[len(told) // 2 + 1 :],
    "half": lambda told: told[: len(told) // 2],
    "nothing": lambda _: b"",
}


def of_session(path: Path, ledger: sd.Ledger | None = None) -> sd.Session:
    table = sd.PrivateTable({"patient": [*range(9)]}, protects=sd.AddOneRow())
    return sd.Session(tables={"visits": table}, ledger=ledger or path, engine="memory")


def service(path: Path, witness: Path | None, world: World) -> Counter[str]:
    """Ask several things, each until it is answered, and count what was answered."""
    told: Counter[str] = Counter()
    try:
        ledger = sd.Ledger.at(path, witness=witness, world=world)
    except errors.InvalidParameter:  # its header was not read as it is
        ledger = sd.Ledger.at(path, witness=witness, world=world)
    for key in ("a", None, "a", None):
        for _ in range(3):
            try:
                told["obeys"] += ledger.obeys
                ticket = ledger.reserve(claim(key))
                answer = ticket.answer or ledger.store(ticket, b"42")
            except errors.LedgerUnavailable:
                continue
            told[f"{key} {answer!r}"] += 1
            break
    ledger.close()
    return told


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize(
    "witnessed",
    [
        pytest.param(False, id="alone"),
        pytest.param(True, id="witnessed", marks=pytest.mark.slow),
    ],
)
def test_a_disk_that_lies_once_raises_no_alarm(
    folder: Path,
    witnessed: bool,  # noqa: FBT001 a parameter of the test
    lie: str,
) -> None:
    """Whatever it lies about: what it says afterwards is believed, from the first."""
    wrong: list[object] = []
    for k in itertools.count(1, often(6 if witnessed else 2, 1)):
        path = folder / f"{k}.ledger"
        witness = folder / f"{k}.witness" if witnessed else None
        sd.Ledger.at(path, LIMIT, create=True, witness=witness).close()
        lying = Lying(k, LIES[lie])
        try:
            told = service(path, witness, lying.world)
        except errors.SordinoError as error:
            wrong.append((k, str(error)))
            continue
        with sd.Ledger.at(path, witness=witness) as fresh:
            fresh.verify()
            charged = Counter(entry.key for entry in fresh.entries())
        if told["a b'42'"] != 2 or told["None b'42'"] != 2:
            wrong.append((k, dict(told)))
        if charged["a"] != 1 or not 2 <= charged[None] <= 3:
            wrong.append((k, dict(charged)))
        if lying.count < k:
            break
    assert wrong == []
    assert k > 40


def test_what_was_added_is_not_added_again(folder: Path) -> None:
    """A charge that was not read back as it is: refused, and charged once at most."""
    outcomes = Counter[tuple[bool, int]]()
    for k in itertools.count(1):
        path = folder / f"{k}"
        lying = Lying(0, LIES["a byte"])
        with sd.Ledger.at(path, LIMIT, create=True, world=lying.world) as ledger:
            lying.at = lying.count + k
            try:
                ledger.reserve(claim(None))
                given = True
            except errors.LedgerUnavailable:
                given = False
            outcomes[given, len(ledger.entries())] += 1
            if lying.count < lying.at:
                break
    assert set(outcomes) <= {(True, 1), (False, 0), (False, 1)}
    assert outcomes[False, 1] > 0


def test_what_is_damaged_is_called_so_by_both_looks(folder: Path) -> None:
    """A lie that the disk keeps to is damage: the handle ends, a fresh one agrees."""
    path = folder / "a"
    with sd.Ledger.at(path, LIMIT, create=True) as ledger:
        ledger.reserve(claim("a"))
        path.write_bytes(path.read_bytes().replace(b'"charged"', b'"charges"'))
        with pytest.raises(
            errors.LedgerDamaged, match="count the whole budget as spent"
        ):
            ledger.verify()
        with pytest.raises(errors.LedgerUnavailable, match="was found damaged before"):
            ledger.reserve(claim("b"))
    with pytest.raises(errors.LedgerDamaged):
        sd.Ledger.at(path)


def _nested(depth: int, ask: Callable[[], object]) -> object:
    return _nested(depth - 1, ask) if depth else ask()


@pytest.mark.parametrize(
    ("first", "step"),
    [(230, 9), pytest.param(400, often(11, 1), marks=pytest.mark.slow)],
)
def test_a_release_from_any_depth(tmp_path: Path, first: int, step: int) -> None:
    """What is charged is answered, and nothing is damaged; others append meanwhile."""
    path = tmp_path / "a"
    sd.Ledger.at(path, MANY, create=True, world=Lying(0, bytes).world).close()
    ledger = sd.Ledger.at(path, world=Lying(0, bytes).world)
    session, other = of_session(path, ledger), sd.Ledger.at(path)
    room = sys.getrecursionlimit() - len(list(_frames()))
    wrong, answered = [], 0
    for depth in range(room - first, room - 4, step):
        other.reserve(claim(None))
        before = len(other.entries())
        try:
            _nested(depth, lambda: session.release(QUERY, HUNDREDTH))
            given = True
        except sd.errors.InvalidQuery:
            given = False
        except RecursionError:
            given = False  # there is no room for the session's own door
        answered += given
        if len(other.entries()) - before != given or session.ledger.obeys:
            wrong.append((depth, given))
    assert wrong == []
    assert 0 < answered < (first - 180) / step  # room is tried before each charge
    other.verify()


def test_a_record_is_no_worse_for_the_stack_it_is_read_on() -> None:
    """From every depth that is left it is sound, or Python has no room to say so."""
    room = sys.getrecursionlimit() - len(list(_frames()))
    said = set()
    for depth in range(room - 60, room):
        record = leased(NOTHING, 1)  # anew: what it says is kept once it was read
        with contextlib.suppress(RecursionError):
            said.add(_nested(depth, lambda fresh=record: is_sound(fresh)))  # type: ignore[misc]
    assert said == {True}


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back


def test_what_nests_too_deeply_is_told_by_its_brackets() -> None:
    """A RecursionError is never of the text: it is of who calls, and goes through."""
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert parse_json(deep.replace("[]", "[1]"))
    assert parse_json('"' + "[" * 10**5 + '"') == "[" * 10**5
    assert parse_json("[" + ",".join(["[]"] * 10**4) + "]")
    for text in (f"[{deep}]", "[" * 10**6, '{"a":' * 10**5, '["\\"",' + deep + "]"):
        with pytest.raises(ValueError, match="nests too deeply"):
            parse_json(text)
    hostile = Record.successor(NOTHING, "leased", {})
    with pytest.raises(ValueError, match="nests too deeply"):
        _ = Record(1, "leased", '{"a":' + f"[{deep}]" + "}", "", hostile.hash).fields


@for_each("kind", ["file", "memory"])
def test_a_signal_handler_that_asks_is_refused(tmp_path: Path, kind: str) -> None:
    """It would wait for the very thread that it interrupts: it hears that at once."""
    in_file = kind == "file"
    heard: list[str] = []

    def reached(point: str) -> None:
        if point == "charged: written":
            os.kill(os.getpid(), signal.SIGUSR1)

    def ask(*_: object) -> None:
        for act in (ledger.remaining, ledger.close):
            try:
                act()
            except errors.LedgerUnavailable as refusal:
                heard.append(str(refusal))

    world = World(reached=reached)
    ledger = (
        sd.Ledger.at(tmp_path / "a", LIMIT, create=True, world=world)
        if in_file
        else sd.Ledger.in_memory(LIMIT, world=world)
    )
    before = signal.signal(signal.SIGUSR1, ask)
    try:
        ledger.store(ledger.reserve(claim("a")), b"42")
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(heard) == 2
    assert all("in use in this very thread" in refusal for refusal in heard)
    assert ledger.reserve(claim("a")).answer == b"42"
    assert ledger.remaining() == sd.PureDP("0.9")


def test_a_handle_goes_on_with_the_same_file_alone(folder: Path) -> None:
    """Meanwhile replaced, put back in place, or gone: the next call says so."""

    def failed(name: str) -> tuple[Path, sd.Ledger]:
        path = folder / name
        sd.Ledger.at(path, LIMIT, create=True).close()
        shutil.copy(path, folder / f"{name} before")
        failing = Failing(2, acts=frozenset({"sync"}))
        ledger = sd.Ledger.at(path, world=failing.world)
        ledger.reserve(claim("first"))
        with pytest.raises(errors.LedgerUnavailable):
            ledger.reserve(claim("second"))
        return path, ledger

    path, ledger = failed("replaced")
    path.with_name("replaced before").rename(path)
    with pytest.raises(errors.LedgerDamaged, match="moved or replaced"):
        ledger.spent()
    path, ledger = failed("put back")
    path.write_bytes(path.with_name("put back before").read_bytes())
    with pytest.raises(errors.LedgerDamaged, match="put back"):
        ledger.spent()
    path, ledger = failed("gone")
    path.unlink()
    with pytest.raises(errors.LedgerDamaged, match="moved or replaced"):
        ledger.spent()


@for_each("file", ["witness", "ledger"])
@for_each("point", ["filled", "named", "durable"])
def test_a_kill_while_both_are_made(tmp_path: Path, file: str, point: str) -> None:
    """At whatever point the first start ends, the next one opens the ledger."""

    def die(reached: str) -> None:
        if reached == f"create {file}: {point}":
            os.kill(os.getpid(), signal.SIGKILL)

    def start(world: World) -> sd.Ledger:
        path, witness = tmp_path / "a", tmp_path / "w"
        return sd.Ledger.at(path, LIMIT, create=True, witness=witness, world=world)

    child = os.fork()
    if child == 0:
        start(World(reached=die))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
    with start(World()) as ledger:
        assert ledger.spent() == sd.PureDP(0)
        assert ledger.verify().records == 3
