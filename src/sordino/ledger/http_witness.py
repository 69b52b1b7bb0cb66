"""A witness on another machine, asked over HTTP (docs/ledger-format.md).

GET its head ── compare ── POST what follows, if the head is still that one

No lock is held between two requests: where somebody else appended meanwhile, an act is
run anew. What a server says is not passed on, and checked as the lines of a file are.

Kernel: charge.
"""

import http.client
import ipaddress
import json
import os
import re
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import Any, Final, NamedTuple, final
from urllib.parse import unquote, urlsplit

from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.ledger import file_format
from sordino.ledger.file_format import NOTHING, Contents, Head, Record, Role, World
from sordino.ledger.log import AbstractPlace, AbstractStore, Index, Result, Unreached

TOKEN: Final = "SORDINO_WITNESS_TOKEN"  # noqa: S105 the name of a variable
NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
"""Names of witnesses, in an address and in a folder: none is hidden or elsewhere."""
PAGE: Final = 1 << 26
"""Bytes of a request or an answer: more than one record has."""
MOST: Final = 1000
"""Records of one answer."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_TRIES: Final = 100
_LONGEST: Final = 30.0


@final
class WitnessAddress(NamedTuple):
    """Where a witness answers, and the token that it asks for."""

    secure: bool
    host: str
    port: int | None
    name: str
    token: str

    @property
    def title(self) -> str:
        """Address without its token."""
        scheme = "https" if self.secure else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{scheme}://{host}{port}/{self.name}"


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, by a way that leads through no network."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def read_witness_address(address: str) -> WitnessAddress:
    """Parts of an address; one that cannot be used is a `ValueError`."""
    parts = urlsplit(address)
    name, host = parts.path.removeprefix("/"), parts.hostname or ""
    secure = parts.scheme == "https"
    token = unquote(parts.password or parts.username or "") or os.environ.get(TOKEN, "")
    whole = not (parts.query or parts.fragment) and NAME.fullmatch(name) and host
    # a token in plain text would be everybody's on the way
    if not whole or not (secure or is_loopback(host)) or not token.isascii():
        raise ValueError
    return WitnessAddress(secure, host, parts.port, name, token)


@final
class HttpStore(AbstractStore):
    """The records that a witness on another machine has."""

    def __init__(
        self, address: WitnessAddress, world: World, *, reading: bool = False
    ) -> None:
        """Connect when something is asked; who only reads appends nothing."""
        self._address = address
        self._world = world
        self._reading = reading
        self._connection: http.client.HTTPConnection | None = None
        self._process = os.getpid()
        self._known = NOTHING
        """The newest head that it told."""
        self._head: Head | None = None
        self._added: list[Record] = []

    @property
    def title(self) -> str:
        return self._address.title

    @property
    def durable(self) -> bool:
        return True

    @property
    def head(self) -> Head:
        if self._head is None:
            raise Unreached("has a witness that was not asked to its end")
        return self._head

    def transact(self, act: Callable[[], Result]) -> Result:
        """Run an act on what the witness has; anew, if it has more when told."""
        for _ in range(_TRIES):
            self._added, self._head = [], None
            self._head = self._newest()
            try:
                result = act()
            except BaseException:
                self._head = None if self._added else self._head
                raise
            if not self._added or self._send():
                return result
        raise Unreached("has a witness that others tell without a pause")

    def append(
        self, record: Record, answer: bytes = b"", *, lasting: bool = True
    ) -> None:
        """Keep a record to be sent when the act has ended."""
        del answer, lasting
        if self._reading:
            raise InvalidParameter(
                "witness",
                self.title,
                "was opened to be read, and this would write to it",
                "Open the ledger with sd.Ledger.at(path, witness=...).",
            )
        Index(self.title, self.head).refuse_strays(record)
        self._world.reached(f"witness {record.kind}: begun")
        self._added.append(record)
        self._head = record.head
        self._world.reached(f"witness {record.kind}: written")

    def read(self, first: int) -> Iterator[Record]:
        """Yield the records from a number on, in order, a few of them at once."""
        number, count = first, 1  # mostly one alone is asked for
        stop = self.head.number - len(self._added)
        while number <= stop:
            for record in self._fetch(number, min(count, stop - number + 1)):
                yield record
                number += 1
            count = min(2 * count, MOST)
        yield from (record for record in self._added if record.number >= number)

    def newest(self, subject: str) -> int:
        """Return the number of the newest record about a subject, or 0."""
        return self._index().newest(subject)

    def numbers(self, kind: str) -> Sequence[int]:
        """Return the numbers of all records of a kind, in order."""
        return self._index().numbers(kind)

    def answer(self, number: int) -> bytes:
        del number  # a witness keeps no answers
        return b""

    def retire(self) -> None:
        """Refuse: the witness stays that of the ledger at its new place."""
        raise InvalidParameter(
            "ledger", self.title, "cannot be moved", "Move the ledger itself."
        )

    def verify(self) -> None:
        """Read all records anew, each held against the one before it."""
        if self._index().head != self.head:
            raise self._damage("its newest record is not the one that it told")

    def reopen(self) -> "HttpStore":
        self.close()
        fresh = HttpStore(self._address, self._world, reading=self._reading)
        fresh._known = self._known
        return fresh

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def is_there(self) -> bool:
        """Say whether there is a witness of this name."""
        status, _ = self._ask("GET")
        return status == http.client.OK

    def fill(self, contents: Contents) -> bool:
        """Make the witness with records; False where there is one."""
        lines = b"".join(record.line + b"\n" for record, _ in contents)
        self._world.reached("create witness: filled")
        status, _ = self._ask("PUT", body=lines)
        if status == http.client.CREATED:
            self._world.reached("create witness: durable")
        return status == http.client.CREATED

    def _newest(self) -> Head:
        """Ask for the head, refusing one that is older than what was told before."""
        status, reply = self._ask("GET")
        if status != http.client.OK:
            raise Unreached("has a witness that is not there")
        head = _read_head(reply)
        if head is None:
            raise Unreached("has a witness that does not answer as one")
        known = self._known
        if head.number < known.number or (
            head.number == known.number and head != known
        ):
            raise self._damage(f"it was put back: record {known.number} is gone")
        self._known = head
        return head

    def _send(self) -> bool:
        """Append what the act has added; False if the head was another by then."""
        before = Head(self._added[0].number - 1, self._added[0].previous)
        lines = b"".join(record.line + b"\n" for record in self._added)
        status, reply = self._ask("POST", f"/{before.number}/{before.hash}", lines)
        if status == http.client.CONFLICT:
            return False
        # whatever is not this very head is no promise that it is kept
        if status != http.client.OK or _read_head(reply) != self.head:
            raise Unreached("has a witness that did not keep what it was told")
        self._known = self.head
        added, self._added = self._added, []
        for point in ("durable", "told"):
            for record in added:
                self._world.reached(f"witness {record.kind}: {point}")
        return True

    def _fetch(self, first: int, count: int) -> Iterator[Record]:
        status, reply = self._ask("GET", f"/{first}/{count}")
        lines = reply.splitlines() if status == http.client.OK else []
        if not lines or len(lines) > count:
            raise self._damage(f"record {first} is gone")
        for number, line in enumerate(lines, first):
            record = Record.read(line)
            if record is None or record.number != number or not record.is_sealed:
                raise self._damage(f"record {number} is not what was written")
            yield record

    def _index(self) -> Index:
        index = Index(self.title)
        for record in self.read(1):
            index.add(record)
        return index

    def _ask(self, method: str, rest: str = "", body: bytes = b"") -> tuple[int, bytes]:
        """Status and body of an answer; who does not answer is `Unreached`.

        A connection that waited may be gone: then what changes nothing is asked again.
        """
        again = self._connection is not None and method == "GET"
        reply = self._answer(method, rest, body)
        if reply is None and again:
            reply = self._answer(method, rest, body)
        if reply is None:
            raise Unreached("has a witness that cannot be reached")
        status, _ = reply
        if status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            raise InvalidParameter(
                "witness",
                self.title,
                "does not take this token",
                f"Give it in the address, or as {TOKEN}.",
            )
        if status >= http.client.INTERNAL_SERVER_ERROR:
            raise Unreached("has a witness that cannot answer at present")
        return reply

    def _answer(self, method: str, rest: str, body: bytes) -> tuple[int, bytes] | None:
        address = self._address
        headers = {"Content-Length": str(len(body))} if method != "GET" else {}
        if address.token:
            headers["Authorization"] = f"Bearer {address.token}"
        if os.getpid() != self._process:  # a fork: its parent goes on with the other
            self._connection, self._process = None, os.getpid()
        # kept only while nothing is under way: what is cut short is never read on
        connection, self._connection = self._connection or self._connect(), None
        try:
            connection.request(method, f"/{address.name}{rest}", body or None, headers)
            answer = connection.getresponse()
            content = answer.read(PAGE + 1)
        except (OSError, http.client.HTTPException, ValueError):
            connection.close()
            return None
        if len(content) > PAGE:
            connection.close()
            return None
        self._connection = connection
        return answer.status, content

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._address.host, self._address.port
        patience = min(_LONGEST, max(1.0, self._world.patience))
        if not self._address.secure:
            return http.client.HTTPConnection(host, port, timeout=patience)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            host, port, timeout=patience, context=context
        )

    def _damage(self, problem: str) -> LedgerDamaged:
        return LedgerDamaged(self.title, problem)


def _read_head(reply: bytes) -> Head | None:
    try:
        fields: Any = file_format.parse_json(reply.decode())
        number, own = fields["number"], fields["hash"]
    except (LookupError, TypeError, ValueError):
        return None
    if type(number) is not int or number < 1 or not isinstance(own, str):
        return None
    return Head(number, own) if _HASH.fullmatch(own) else None


def head_json(head: Head) -> bytes:
    """Answer that tells a head."""
    return json.dumps({"number": head.number, "hash": head.hash}).encode()


@final
class HttpPlace(AbstractPlace):
    """A witness that somebody names by its address."""

    def __init__(self, address: str, name: str, world: World) -> None:
        """Read an address, which may hold a token: it is never shown."""
        parts: WitnessAddress | None = None
        # outside of a handler: inside, the address would be the refusal's context
        with suppress(ValueError):
            parts = read_witness_address(address)
        if parts is None or name != "witness":
            raise InvalidParameter(
                name,
                "an address",
                "must be that of a witness, https://host/name, or http:// on this very "
                "machine (it is not shown, for it may hold a token)",
                'Try witness="https://witness.example:8443/clinic".',
            )
        self._address = parts
        self._world = world
        self.shown = parts.title
        self.is_open_word = "@" not in address

    def exists(self) -> bool:
        with closing(self.open("witness", reading=True)) as store:
            return store.is_there()

    def open(self, role: Role, *, reading: bool = False) -> HttpStore:
        del role
        return HttpStore(self._address, self._world, reading=reading)

    def create(self, role: Role, contents: Contents) -> bool:
        with closing(self.open(role)) as store:
            return store.fill(contents)

    def is_same(self, other: AbstractPlace) -> bool:
        return self.shown == other.shown

    def refuse_unfit(self, *, witnessed: bool, reading: bool) -> None:
        """Refuse nothing: what it says that it keeps is its own promise."""
