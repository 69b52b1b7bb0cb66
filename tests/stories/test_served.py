"""A server as it runs: TLS, tokens, many at once, slow ones, a kill amid a release."""

import contextlib
import http.client
import json
import re
import socket
import ssl
import sys
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

import sordino as sd
from sordino.errors import (
    BudgetExceeded,
    InvalidParameter,
    ServerUnavailable,
)
from sordino.office.cli.main import main
from sordino.office.service.connection import ServerLine
from sordino.office.service.tokens import make_token
from tests.serving import Server, start_serving

COUNT: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2)).agg(n=sd.count())
TENTH: Final = sd.PureDP("0.1")
SOME: Final = "a-token"
JOB: Final = """
[ledger]
path = "clinic.ledger"
limit = { epsilon = "100" }
[tables.visits]
source = "visits.csv"
protects = { id = "patient" }
columns = { patient = "i64" }
"""
HASTY: Final = """
import sys
from sordino.office.cli.main import main
from sordino.office.service.listening import HastyProtocol
HastyProtocol.patience = 4
main(sys.argv[1:])
"""
DYING: Final = """
import sys, time
from sordino.session import executor
from sordino.office.cli.main import main
def draw(*_):
    print("drawing", flush=True)
    time.sleep(600)
executor.noisy_answer = draw
main(sys.argv[1:])
"""


def make_certificate(folder: Path) -> None:
    """Write a certificate of this machine, signed by itself, and its key."""
    key, now = Ed25519PrivateKey.generate(), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "clinic")])
    here = [x509.IPAddress(ip_address("127.0.0.1"))]
    made = (
        x509
        .CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .sign(key, None)
    )
    (folder / "clinic.pem").write_bytes(made.public_bytes(Encoding.PEM))
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "clinic.key").write_bytes(key.private_bytes(*plain))


@final
@dataclass(frozen=True)
class Place:
    """A folder of a curator, and the tokens that were given."""

    folder: Path
    tokens: dict[str, str]

    @property
    def line(self) -> str:
        folder = self.folder
        return f"serve {folder}/clinic.toml --tokens {folder}/clinic.tokens"

    def serve(self, more: str = "", **how: Any) -> Server:
        command = self.line if how else f"sordino {self.line}"
        how.setdefault("errors", self.folder / "audit.log")
        return start_serving(f"{command} {more}", **how)

    def connect(self, address: str, name: str = "ana", **more: Any) -> Any:
        authority = str(self.folder / "clinic.pem")
        return sd.connect(address, token=self.tokens[name], authority=authority, **more)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("served")
    (folder / "clinic.toml").write_text(JOB)
    patients = "\n".join(str(n % 50) for n in range(100))
    (folder / "visits.csv").write_text(f"patient\n{patients}\n")
    make_certificate(folder)
    names = ["ana", "slow", *(f"analyst-{n}" for n in range(20))]
    path = folder / "clinic.tokens"
    limit = '{ epsilon = "4" }'
    return Place(folder, {name: make_token(path, name, limit, None) for name in names})


@pytest.fixture(scope="module")
def address(place: Place) -> Iterator[str]:
    """Start the one server of this file; at the end it stops, gracefully."""
    folder = place.folder
    credentials = f"--certificate {folder}/clinic.pem --private-key {folder}/clinic.key"
    server = place.serve(credentials, program=("-c", HASTY))
    yield server.address
    server.stop()
    log = (folder / "audit.log").read_text()
    assert '"verb": "release", "outcome": "answered"' in log
    assert not [name for name, token in place.tokens.items() if token in log]


def test_a_session_over_tls(place: Place, address: str) -> None:
    assert address.startswith("https://127.0.0.1:")
    with place.connect(address) as ana:
        price = ana.price(COUNT, TENTH)
        release = ana.release(COUNT, TENTH, key="first")
        assert release.table == ana.release(COUNT, TENTH, key="first").table
        assert repr(release.loss) == repr(price.loss)
        assert repr(ana.remaining) == "PureDP(epsilon=3.9)"
        with pytest.raises(BudgetExceeded, match="of the budget 'ana'"):
            ana.release(COUNT, sd.PureDP(4))
        release.report(place.folder / "report.html")
        assert "Record" in str(release.label())
    context = ssl._create_unverified_context()  # noqa: S323 whether it is there
    place_of_it = address.removeprefix("https://")
    health = http.client.HTTPSConnection(place_of_it, context=context)
    with contextlib.closing(health):
        health.request("GET", "/health")
        assert json.loads(health.getresponse().read()) == {"status": "ok"}


@contextlib.contextmanager
def hanging(address: str, text: bytes, count: int) -> Generator[list[ssl.SSLSocket]]:
    """Hold connections that begin to say something."""
    context = ssl._create_unverified_context()  # noqa: S323 nothing is said there
    host, port = address.removeprefix("https://").split(":")
    with contextlib.ExitStack() as stack:
        lines = []
        for _ in range(count):
            plain = socket.create_connection((host, int(port)), 30)
            line = stack.enter_context(context.wrap_socket(plain))
            line.sendall(text)
            lines.append(line)
        yield lines


def test_twenty_at_once_beside_slow_ones(place: Place, address: str) -> None:
    """Each is answered while thirty hang; whose header never ends is hung up on."""
    body = (
        b"POST /v1/budget HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n"
        b"Authorization: Bearer " + place.tokens["slow"].encode() + b"\r\n\r\n{"
    )

    def ask(number: int) -> Any:
        session = place.connect(address, f"analyst-{number}")
        return session.release(COUNT, TENTH, key="mine").table["n"][0].as_py()

    began = time.monotonic()
    with (
        hanging(address, b"POST /v1/budget HTT", 15) as headers,
        hanging(address, body, 15),
    ):
        with ThreadPoolExecutor(20) as pool:
            numbers = [*pool.map(ask, range(20))]
        assert all(isinstance(number, int) for number in numbers)
        for line in headers:
            line.settimeout(30)
            with contextlib.suppress(OSError):
                assert line.recv(1) == b""
    assert time.monotonic() - began < 120
    with sd.Ledger.read(place.folder / "clinic.ledger") as ledger:
        keys = {entry.key for entry in ledger.entries()}
        assert {f"analyst-{number}: mine" for number in range(20)} <= keys
        assert ledger.verify().releases == len(ledger.entries())


def test_who_is_not_who_they_should_be(place: Place, address: str) -> None:
    with pytest.raises(ServerUnavailable, match="not trusted"):
        sd.connect(address, token=place.tokens["ana"])
    wrong = Place(place.folder, {"ana": place.tokens["ana"][:-2] + "xy"})
    with pytest.raises(InvalidParameter, match="is not known") as refusal:
        wrong.connect(address)
    assert place.tokens["ana"][:10] not in str(refusal.value)
    plain = address.replace("https:", "http:")
    with pytest.raises(ServerUnavailable, match="cannot be reached, or hung up"):
        place.connect(plain)
    for far in (
        "http://clinic.example",
        "ftp://127.0.0.1",
        "clinic.example",
        "https://",
        "https://[::1",
        "https://x:99999",
    ):
        with pytest.raises(InvalidParameter, match="must begin with https"):
            sd.connect(far, token=SOME)
    with pytest.raises(InvalidParameter, match="token"):
        sd.connect(address, token=f"{SOME}\n")
    with pytest.raises(InvalidParameter, match="authority"):
        sd.connect(address, token=SOME, authority=str(place.folder / "none.pem"))
    line = ServerLine.of(address, place.tokens["ana"], f"{place.folder}/clinic.pem", 30)
    for verb, fields in (("release", {"words": "x" * 9 * 2**20}), ("nothing", {})):
        with pytest.raises(InvalidParameter, match=r"(body|verb) must"):
            line.send(verb, fields)
    with contextlib.suppress(ConnectionError, http.client.HTTPException):
        assert line._exchange("release", b"x" * 9 * 2**20)[0] == 413


def test_a_server_of_another_version_is_refused(
    place: Place, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sordino.office.service import connection  # noqa: PLC0415 to be another

    monkeypatch.setattr(connection, "version", lambda _: "0.0.1")
    with pytest.raises(InvalidParameter, match="is served by version"):
        place.connect(address)


def test_a_kill_amid_a_release_loses_nothing(place: Place) -> None:
    """Killed after the charge: asked again by the key it is answered, for nothing."""
    dying = place.serve(program=("-c", DYING))
    line = place.connect(dying.address)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(line.release, COUNT, TENTH, key="killed")
        assert dying.output.readline() == "drawing\n"
        dying.kill()
        with pytest.raises(ServerUnavailable, match="cannot be reached, or hung up"):
            asked.result(60)
    server = place.serve()
    again = place.connect(server.address)
    spent = again.spent
    release = again.release(COUNT, TENTH, key="killed")
    assert (repr(again.spent), release.names) == (repr(spent), ("n",))
    assert again.answer("killed").table == release.table
    assert again.release(COUNT, TENTH, key="killed").table == release.table
    server.stop()
    with sd.Ledger.read(place.folder / "clinic.ledger") as ledger:
        kinds = [record.kind for record in ledger.records()]
        keys = [entry.key for entry in ledger.entries()]
    assert kinds.count("leased") == keys.count("ana: killed") == 1


def test_the_commands_refuse(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = place.folder / "new.tokens"
    made = ("token", str(tokens), "ana")
    assert main([*made, "--epsilon", "1", "--until", "2027-01-01"]) == 0
    assert re.fullmatch(r"[\w-]{86}", capsys.readouterr().out.split()[-1])
    for wrong in (
        made,
        (*made, "--epsilon", "2"),
        ("token", str(tokens), "dataset", "--rho", "1"),
    ):
        assert main([*wrong]) == 2
    assert tokens.read_text().count("[tokens.") == 1
    serve = (*place.line.split(), "--port", "0")
    assert main([*serve, "--host", "0.0.0.0"]) == 1  # noqa: S104 what is refused
    assert "in the open" in capsys.readouterr().err
    assert main([*serve, "--certificate", "x.pem"]) == 1
    monkeypatch.setitem(sys.modules, "sordino.office.service.listening", None)
    assert main([*serve]) == 1
    assert "[serve]" in capsys.readouterr().err
