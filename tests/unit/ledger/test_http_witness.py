"""A witness on another machine: what it keeps, whom it answers, what it refuses."""

import http.client
import json
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import repeat
from pathlib import Path

import pytest

from sordino.errors import InvalidParameter, LedgerDamaged, LedgerUnavailable
from sordino.ledger.file_format import Head, Record, World
from sordino.ledger.file_store import FileStore
from sordino.ledger.http_witness import HttpPlace, head_json
from sordino.ledger.ledger import Ledger
from sordino.ledger.log import Unreached
from tests.effort import often
from tests.ledgers import LIMIT, TENTH, claim
from tests.stores import (
    FIRST,
    TOKEN,
    add,
    known,
    leased,
    witness_address,
    witness_server,
)

RIGHT = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(name="both")
def ledger_and_witness(tmp_path: Path) -> tuple[Path, str]:
    path, witness = tmp_path / "a.ledger", witness_address()
    Ledger.at(path, LIMIT, create=True, witness=witness).close()
    return path, witness


def asked(
    method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, bytes]:
    """Ask the server something, and return the status and the body."""
    host, port = witness_server().server_address[:2]
    with closing(http.client.HTTPConnection(str(host), port, timeout=20)) as line:
        line.request(method, path, body, {**RIGHT, **headers})
        told = line.getresponse()
        return told.status, told.read()


def test_a_ledger_that_was_put_back_is_refused(both: tuple[Path, str]) -> None:
    path, witness = both
    shutil.copy(path, path.with_name("old"))
    with Ledger.at(path, witness=witness) as ledger:
        ledger.store(ledger.reserve(claim("a")), b"a")
        assert ledger.verify().answers == 1
    for _ in range(2):
        with pytest.raises(LedgerDamaged, match="its witness saw record 5"):
            Ledger.at(path.with_name("old"), witness=witness)
    # restored of the copy and of what the witness saw, every charge counts
    with Ledger.restore(
        path.with_name("old"), path.with_name("new"), witness=witness
    ) as ledger:
        assert ledger.spent() == TENTH


def test_two_copies_cannot_both_go_on(both: tuple[Path, str]) -> None:
    path, witness = both
    twin = path.with_name("twin")
    shutil.copy(path, twin)
    with (
        Ledger.at(path, witness=witness) as first,
        Ledger.at(twin, witness=witness) as second,
    ):
        first.reserve(claim("a"))
        with pytest.raises(LedgerDamaged, match="put back"):
            second.reserve(claim("b"))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://witness.example/clinic", "https://host/name"),
        ("https://witness.example/", "https://host/name"),
        ("https://witness.example/a/b", "https://host/name"),
        ("https://witness.example/..", "https://host/name"),
        ("https://witness.example/.hidden", "https://host/name"),
        ("https://witness.example/clinic?x=1", "https://host/name"),
        ("https://witness.example:99999/clinic", "https://host/name"),
        ("https:///clinic", "https://host/name"),
    ],
)
def test_an_address_that_cannot_be_used_is_not_quoted(
    tmp_path: Path, address: str, message: str
) -> None:
    secret = address.replace("://", "://:s3cr3t@")
    for given in (address, secret):
        with pytest.raises(InvalidParameter, match=message) as refused:
            Ledger.at(tmp_path / "a", LIMIT, create=True, witness=given)
        assert "s3cr3t" not in str(refused.value)
        assert refused.value.__context__ is None
    assert not (tmp_path / "a").exists()


def test_only_a_witness_may_be_there(tmp_path: Path, both: tuple[Path, str]) -> None:
    _, witness = both
    with pytest.raises(InvalidParameter, match="ledger must be that of a witness"):
        Ledger.at(witness)
    place = HttpPlace(witness, "witness", World())
    assert TOKEN not in place.shown
    assert not place.is_open_word
    for wrong in (witness_address("another"), witness_address("")):
        with pytest.raises(InvalidParameter, match="does not take this token"):
            Ledger.at(tmp_path / "b", LIMIT, create=True, witness=wrong)
    assert not (tmp_path / "b").exists()
    with pytest.raises(InvalidParameter, match="witness must exist"):
        Ledger.at(both[0], witness=witness_address())


def test_who_has_no_token_is_told_nothing() -> None:
    name = "/" + witness_address().rpartition("/")[2]
    body = FIRST.line + b"\n"
    for token in ("", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper(), "é"):
        header = {"Authorization": f"Bearer {token}".encode().decode("latin-1")}
        for method in ("GET", "PUT", "POST"):
            assert asked(method, name, body, **header) == (401, b"")
    assert asked("GET", name)[0] == 404


def mutated(draw: random.Random, line: bytes) -> Iterator[bytes]:
    """Yield what is no record that follows: changed, cut, doubled, none at all."""
    yield b""
    yield b"\n"
    yield line[: draw.randrange(1, len(line))]
    yield line + b"\n" + line
    place = draw.randrange(len(line))
    yield (
        line[:place] + bytes([line[place] ^ 1 << draw.randrange(7)]) + line[place + 1 :]
    )
    yield draw.randbytes(50)


def test_what_does_not_follow_is_never_kept() -> None:
    """Bodies, heads and names that are wrong leave every witness as it was."""
    name = "/" + witness_address().rpartition("/")[2]
    assert asked("PUT", name, FIRST.line)[0] == 201
    assert asked("PUT", name, FIRST.line)[0] == 409
    head, draw = FIRST.head, random.Random(281)
    following = leased(head, 1)
    place = f"{name}/{head.number}/{head.hash}"
    for _ in range(often(30, 2_000)):
        for body in mutated(draw, following.line):
            assert asked("POST", place, body)[0] == 400, body
    stranger = Record.successor(head, "later", {"when": ""})
    assert asked("POST", place, stranger.line)[0] == 400
    for wrong in (
        f"{name}/{head.number}/{'0' * 64}",
        f"{name}/2/{head.hash}",
        f"{name}/0/{head.hash}",
        f"{name}/1",
        f"{name}/1/x",
        f"{name}//",
        "/",
        "/../etc",
        "/.hidden",
        f"{name}.other/1/{head.hash}",
    ):
        assert asked("POST", wrong, following.line)[0] in {400, 404}, wrong
    for wrong in ("/.hidden", "/..", "/UPPER", "/%2e%2e", "/" + "x" * 65):
        assert asked("PUT", wrong, FIRST.line)[0] == 404, wrong
    for method, length in (("POST", str(1 << 40)), ("PUT", "-1"), ("POST", "x")):
        code, _ = asked(method, place, b"", **{"Content-Length": length})
        assert code in {400, 404, 413}
    assert asked("GET", f"{name}/0/1")[0] == asked("GET", f"{name}/1/0")[0] == 404
    assert asked("GET", f"{name}/2/5") == (200, b"")
    assert json.loads(asked("GET", name)[1]) == {"number": 1, "hash": head.hash}
    assert asked("POST", place, following.line)[0] == 200
    assert asked("POST", place, following.line)[0] == 409
    assert asked("GET", f"{name}/1/1000")[1].splitlines() == [
        FIRST.line,
        following.line,
    ]


def test_a_slow_client_holds_up_nobody() -> None:
    address = ("127.0.0.1", witness_server().server_port)
    with socket.create_connection(address) as slow:
        slow.sendall(b"POST /x HTTP/1.1\r\nAuthorization: Bearer ")
        name = "/" + witness_address().rpartition("/")[2]
        assert asked("PUT", name, FIRST.line)[0] == 201


@contextmanager
def liar(*told: bytes) -> Generator[HttpPlace]:
    """Answer what is asked by these bytes, one after another; the last one for ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            words = iter((*told, *repeat(told[-1], 100)))
            with suppress(OSError):
                for line, _ in iter(server.accept, None):
                    line.recv(65536)
                    line.sendall(next(words))
                    line.close()

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        yield HttpPlace(f"http://127.0.0.1:{port}/clinic", "witness", World())


def says(code: int, head: Head | None = None) -> bytes:
    body = b"" if head is None else head_json(head)
    lines = f"HTTP/1.1 {code} x\r\nConnection: close\r\nContent-Length: {len(body)}"
    return f"{lines}\r\n\r\n".encode() + body


def test_a_witness_is_not_believed_against_itself() -> None:
    """Once a head was told, an older one and another one are refused."""
    first = FIRST.head
    later = Head(first.number + 1, "0" * 64)
    for told, after in ((later, first), (first, Head(first.number, "0" * 64))):
        with liar(says(200, told), says(200, after)) as place:
            store = place.open("witness")
            assert known(store) == told
            with pytest.raises(LedgerDamaged, match="it was put back"):
                known(store)


def test_an_append_is_kept_where_its_head_is_told() -> None:
    """Any other answer is none; one that says "another head" has the act run anew."""
    first = FIRST.head
    following = leased(first, 1)
    for answer in (says(200, first), says(200), says(204), says(400), b"", b"x"):
        with liar(says(200, first), answer) as place:
            store = place.open("witness")
            with pytest.raises(Unreached):
                add(store, following)
    seen = []

    def act() -> None:
        seen.append(store.head)
        if store.head == first:
            store.append(following)

    told = (says(200, first), says(409), says(200, following.head))
    with liar(*told) as place:
        store = place.open("witness")
        store.transact(act)
    assert seen == [first, following.head]


@pytest.mark.parametrize(
    "told",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}",
        b'HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{"number":9,"hash":"abc"}',
        b"HTTP/1.1 302 Found\r\nLocation: http://[::1]/\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-x\r\n",
        b"",
    ],
)
def test_who_does_not_answer_as_a_witness_is_none(
    both: tuple[Path, str], told: bytes
) -> None:
    path, _ = both
    with liar(told) as place, pytest.raises((LedgerUnavailable, InvalidParameter)):
        Ledger.at(path, witness=place.shown)


def begin(folder: Path, port: str = "0") -> tuple["subprocess.Popen[str]", str]:
    """Begin the command in a folder, and return its port."""
    words = ["witness", "seen", "--token", "token", "--port", port]
    secure = ["--certificate", "cert.pem", "--key", "key.pem"]
    server = subprocess.Popen(
        [sys.executable, "-m", "sordino", *words, *secure],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    with server.stderr:
        told = server.stderr.readline()
    assert "https://127.0.0.1:" in told
    return server, told.strip().rpartition(":")[2]


def test_the_command_keeps_witnesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With TLS; while it is away nothing is charged, and then all goes on."""
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    (tmp_path / "seen").mkdir()
    words = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem "
        "-out cert.pem"
    )
    subprocess.run(words.split(), cwd=tmp_path, check=True, capture_output=True)
    server, port = begin(tmp_path)
    path, witness = tmp_path / "a", f"https://:{TOKEN}@localhost:{port}/clinic"
    with pytest.raises(LedgerUnavailable, match="cannot be reached"):
        Ledger.at(path, LIMIT, create=True, witness=witness)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with Ledger.at(path, LIMIT, create=True, witness=witness) as ledger:
        ledger.reserve(claim("a"))
        server.kill()
        server.wait()
        for _ in range(2):
            with pytest.raises(
                LedgerUnavailable, match="witness that cannot be reached"
            ):
                ledger.reserve(claim("b"))
        server, _ = begin(tmp_path, port)
        ledger.reserve(claim("b"))
        assert ledger.verify().releases == 2
    server.send_signal(signal.SIGINT)
    assert server.wait(20) == 0
    with closing(FileStore(tmp_path / "seen" / "clinic", World(), "witness")) as store:
        store.transact(store.verify)
        assert store.head.number == 5
