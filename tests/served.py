"""A server of analysts without a wire: the door, and a line that leads to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Final, final

import sordino as sd
from sordino.office.service import connection
from sordino.office.service.connection import Connection, ServerLine
from sordino.office.service.door import Reply, ServerLimits, Service
from sordino.office.service.tokens import TokenFile, make_token
from sordino.office.service.wire import write_json

VISITS: Final[dict[str, list[Any]]] = {
    "patient": [n % 40 for n in range(120)],
    "ward": [("A", "B", None)[n % 3] for n in range(120)],
    "days": [n % 9 for n in range(120)],
    "born": [date(1950 + n % 50, 1, 1) for n in range(120)],
}
WARDS: Final = {"ward": ["A", "B"], "beds": [12, 30]}
BUDGET: Final = sd.ApproxDP(100, "1e-3")
COUNT: Final = sd.table("visits").enforce(sd.MaxRowsPerID(3)).agg(n=sd.count())
NAMED: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
BY_WARD: Final = (
    sd
    .table("visits")
    .enforce(sd.MaxRowsPerID(3))
    .group_by(NAMED)
    .agg(n=sd.count(), days=sd.mean("days", 0, 8))
)


def tables() -> dict[str, Any]:
    return {
        "visits": sd.PrivateTable(VISITS, protects=sd.AddRowsWithID("patient")),
        "wards": sd.PublicTable(WARDS),
        "fixed": sd.PrivateTable({"x": [1.5, 2.5, None]}, protects=sd.ChangeOneRow()),
    }


def open_session(folder: Path, **more: Any) -> sd.Session:
    """Return the curator's session over a ledger in a folder."""
    place = folder / "clinic.ledger"
    return sd.Session(tables(), BUDGET, ledger=place, engine="memory", **more)


@final
@dataclass(frozen=True)
class Office:
    """A session of the curator, a token file, and the door between both."""

    session: sd.Session
    path: Path
    service: Service
    tokens: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(
        cls, folder: Path, *names: str, session: Any = None, **limits: Any
    ) -> "Office":
        path = folder / "clinic.tokens"
        tokens = {name: make_token(path, name, LIMIT, None) for name in names}
        session = session or open_session(folder)
        bounds = ServerLimits(**{"a_minute": 10**6} | limits)
        return cls(session, path, Service(session, TokenFile(path), bounds), tokens)

    def ask(self, name: str, verb: str, fields: Any) -> Reply:
        """Return the reply to a body of somebody, or the refusal of the token."""
        body = fields if isinstance(fields, bytes) else write_json(fields)
        holder = self.service.admit(self.tokens.get(name, name))
        if isinstance(holder, Reply):
            return holder
        return self.service.reply(verb, holder, body)

    def connect(self, name: str, monkeypatch: Any) -> Connection:
        """Return the connection of somebody, whose line leads here."""

        def exchange(line: ServerLine, verb: str, body: bytes) -> tuple[int, bytes]:
            reply = self.ask(line.token, verb, body)
            return reply.status, reply.content

        monkeypatch.setattr(connection.ServerLine, "_exchange", exchange)
        token = self.tokens.get(name, name)
        return sd.connect("http://localhost", token=token)

    def change(self, old: str, new: str) -> None:
        """Write the token file anew, so that it is read again."""
        text = self.path.read_text("utf-8")
        assert old in text
        self.path.write_text(text.replace(old, new) + "\n", "utf-8")


LIMIT: Final = '{ epsilon = "50", delta = "1e-4" }'


def fields_of(session: Any, query: Any, budget: Any, **more: Any) -> Mapping[str, Any]:
    """Return the body of a release, as a connection writes it."""
    bought = session._buy(query, budget)
    return {**bought.fields, **more}


def with_ending(office: Office, day: date) -> Office:
    """Return the same office on another day."""
    tokens = TokenFile(office.path, day=lambda: day)
    return replace(office, service=Service(office.session, tokens))
