"""A session whose data, engine and ledger are behind a server: `sd.connect`.

It plans here, by the public facts of the tables, and is charged and answered there.
"""

import http.client
import json
import ssl
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from typing import Any, Final, NamedTuple, NoReturn, Self, Unpack, final, overload
from urllib.parse import urlsplit

from sordino.data.keyset import KeySet
from sordino.errors import (
    InvalidParameter,
    InvalidQuery,
    ServerUnavailable,
    SessionMoved,
    SordinoError,
)
from sordino.ledger.answers import read_releases, single_release
from sordino.ledger.clocks import SaidDay
from sordino.ledger.file_format import Record, World
from sordino.ledger.http_witness import is_loopback
from sordino.ledger.ledger import Ledger
from sordino.ledger.opening import LedgerTerms, open_memory
from sordino.ledger.record_kinds import Entry, check_name, check_unicode, proof_text
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Headroom, Limit
from sordino.losses.budgets.risk import warn_of_weak
from sordino.losses.loss import Budget, Loss
from sordino.numbers import arguments
from sordino.numbers.views import office
from sordino.office.service.wire import (
    MOST_BYTES,
    body_refusal,
    keyset_columns,
    keysets_of,
    other_plan_refusal,
    plan_digest,
    read_catalog,
    read_entry,
    read_exposure_fields,
    read_headroom,
    read_loss_fields,
    read_refusal,
    standing_words,
    write_json,
)
from sordino.plan.bundle import Given
from sordino.plan.margins import MarginsPrice
from sordino.plan.price import SIZES, Batch, Price
from sordino.query.builder import Query
from sordino.query.groups import Marginals
from sordino.query.request import CONFIDENCE, Request
from sordino.query.request_reader import read_parts, read_told
from sordino.release.explanation import LedgerRecord, Provenance
from sordino.release.release import Release
from sordino.release.releases import Releases
from sordino.release.storage import read_table, split_answers
from sordino.session import sql as sql_questions
from sordino.session.charging import (
    Book,
    Identity,
    Paid,
    batch_identity,
    guard_call,
    request_identity,
)
from sordino.session.description import Description, print_unused
from sordino.session.executor import (
    Desk,
    Outlook,
    buy_tables,
    charge_of_tables,
    read_paid,
    read_paid_margins,
    read_paid_together,
)
from sordino.session.session import narrow_desk
from sordino.session.sql import (
    read_marginals,
    read_request,
    read_requests,
)
from sordino.session.tables import Catalog

Question = Request | Marginals | dict[str, Request]
_STRANGE: Final = "is no server of Sordino", "Look at the address."


def connect(
    address: str,
    *,
    token: str,
    authority: str | None = None,
    timeout: float = 600,
) -> "Connection":
    """Return a session whose data, engine and ledger are behind `sordino serve`.

    It has the verbs of a session, so a notebook is the same code with another first
    line. The `token` says who asks and what that name may spend. `authority` is a file
    with the certificate that the server's is held against, where the system's do not
    know it; `timeout` is in seconds. Only this machine is asked without TLS.
    """
    line = ServerLine.of(address, token, authority, timeout)
    try:
        content, *streams = split_answers(line.send("facts", {}))
        facts = dict(json.loads(bytes(content)))
    except (struct.error, TypeError, ValueError) as error:
        if isinstance(error, SordinoError):
            raise
        raise ServerUnavailable(line.place, *_STRANGE) from None
    if facts.get("version") is None:
        raise ServerUnavailable(line.place, *_STRANGE)
    if facts["version"] != version("sordino"):
        raise InvalidParameter(
            "address",
            line.place,
            f"is served by version {facts['version']}, and this is "
            f"{version('sordino')}: they may plan otherwise",
            "Install that version here.",
        )
    blocks = None
    if facts["blocks"] is not None:
        division = Blocks.read(facts["blocks"]["division"])
        blocks = division, tuple(facts["blocks"]["open"])
    rows = [read_table(each) for each in streams]
    catalog = read_catalog(facts["tables"], rows, blocks)
    limit, own = Limit.read(facts["limit"]), Limit.read(facts["own"])
    terms = LedgerTerms.of(limit, "", None, None, None, blocks and blocks[0])
    # a limit to plan within: nothing is ever charged here
    limits = Ledger(open_memory(terms), World().clock, SaidDay(catch_up=True))
    limits.allot(facts["analyst"], own)
    book = Book(limits, facts["analyst"], blocks=blocks and blocks[1])
    desk = Desk(catalog.engine, catalog, book)
    return Connection(line, desk, facts["ledger"] if facts["lasts"] else None, {})


@final
@dataclass(frozen=True)
class ServerLine:
    """How a server is reached. Each request has a connection of its own."""

    host: str
    port: int
    token: str = field(repr=False)
    context: ssl.SSLContext | None = field(repr=False)
    """None on this machine, where nothing travels in the open."""
    timeout: float

    @classmethod
    def of(
        cls, address: str, token: str, authority: str | None, timeout: float
    ) -> "ServerLine":
        """Return the way to an address, refusing one that others could listen to."""
        scheme, host, port = _parts_of(arguments.text(address=address))
        seconds = float(arguments.positive(timeout=timeout))
        # by its class, too: the refusal of another value would show it
        secret: Any = token
        if not isinstance(secret, str) or not (
            secret.isascii() and secret.isprintable()
        ):
            raise InvalidParameter("token", "...", "must be a token", "Copy it again.")
        if scheme == "http" and is_loopback(host):
            return cls(host, port or 80, token, None, seconds)
        if scheme != "https" or not host:
            raise InvalidParameter(
                "address",
                f"{scheme}://{host}",
                "must begin with https:// (or be this machine)",
                'Try "https://clinic.example:8443".',
            )
        try:
            context = ssl.create_default_context(cafile=authority)
        except (OSError, TypeError, ValueError):
            raise InvalidParameter(
                *("authority", authority, "must be a file of certificates"),
                "Ask the curator for it.",
            ) from None
        return cls(host, port or 443, token, context, seconds)

    @property
    def place(self) -> str:
        """Where it leads, without the token."""
        return f"{self.host}:{self.port}"

    def send(self, verb: str, fields: Mapping[str, Any]) -> bytes:
        """Return the answer of a server, or raise its refusal."""
        problem, body = "", write_json(fields)
        if len(body) > MOST_BYTES:  # a server hangs up on it
            raise body_refusal(MOST_BYTES)
        try:
            status, content = self._exchange(verb, body)
        except ssl.SSLCertVerificationError as error:
            problem = f"has a certificate that is not trusted: {error.verify_message}"
        except TimeoutError:
            problem = f"has not answered within {self.timeout:g} seconds"
        except (OSError, ValueError, http.client.HTTPException):
            problem = "cannot be reached, or hung up"
        if problem:
            raise ServerUnavailable(self.place, problem)
        if status == http.client.OK:
            return content
        raise self._refusal(status, content)

    def _exchange(self, verb: str, body: bytes) -> tuple[int, bytes]:
        kind: Callable[..., http.client.HTTPConnection] = http.client.HTTPConnection
        if self.context is not None:
            kind = partial(http.client.HTTPSConnection, context=self.context)
        line = kind(self.host, self.port, timeout=self.timeout)
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            line.request("POST", f"/v1/{verb}", body, headers)
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def _refusal(self, status: int, content: bytes) -> SordinoError:
        try:
            refusal = read_refusal(json.loads(content)["refusal"])
        except (LookupError, RecursionError, TypeError, ValueError):
            refusal = None
        if refusal is not None:
            return refusal
        return ServerUnavailable(self.place, f"answers with code {status}")


def _parts_of(address: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address, nothing of what is none."""
    try:
        parts = urlsplit(address)
        port = parts.port or 0
    except ValueError:
        return "", "", 0
    return parts.scheme, parts.hostname or "", port


@final
class Bought(NamedTuple):
    """A request as it was planned here, and as it is sent."""

    purchase: Any
    blocks: tuple[str, ...]
    proof: str
    identity: Identity
    fields: dict[str, Any]


@final  # noqa: PLR0904 all that users ask of a session
class Connection:
    """A session over the wire: `sd.connect`. It holds no row and no ledger.

    What it shows of noise and errors is planned here, by public facts, and held
    against the server's certificate. Python functions do not travel.
    """

    def __init__(
        self, line: ServerLine, desk: Desk, ledger: str | None, place: dict[str, Any]
    ) -> None:
        """Sit at a desk without rows; `ledger` is the identity of one that lasts.

        `place` says to the server of which blocks the rows are, or which part they are.
        """
        self._line, self._desk = line, desk
        self._ledger, self._place = ledger, place

    @overload
    def price(
        self, query: Marginals, budget: Budget, *, confidence: Any = CONFIDENCE
    ) -> MarginsPrice: ...
    @overload
    def price(
        self,
        query: Request,
        budget: Budget,
        *,
        confidence: Any = CONFIDENCE,
        sizes: int | Sequence[int] = SIZES,
    ) -> Price: ...

    @guard_call
    def price(
        self,
        query: Request | Marginals,
        budget: Budget,
        *,
        confidence: Any = CONFIDENCE,
        sizes: int | Sequence[int] = SIZES,
    ) -> Price | MarginsPrice:
        """Price of an answer, and how far it would be off (`Session.price`)."""
        question = _read_question(query, confidence, False)
        bought = self._buy(question, budget)
        room = self._ask_price(bought)
        if isinstance(question, Marginals):
            return MarginsPrice(bought.purchase, bought.blocks, lambda: bought.proof)
        price = Price(bought.purchase, bought.blocks, lambda: bought.proof, room)
        return price.with_sizes(sizes)

    @guard_call
    def price_all(
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        weights: Given = None,
        confidence: Any = CONFIDENCE,
    ) -> Batch:
        """Price of requests that are planned together (`Session.price_all`)."""
        requests = read_requests(queries, confidence)
        bought = self._buy(requests, budget, weights)
        self._ask_price(bought)
        return Batch(bought.purchase, bought.blocks, lambda: bought.proof)

    @guard_call
    def what_if(
        self, query: Request, budget: Budget, *, earmark: str | None = None
    ) -> Outlook:
        """Price of a release, and the budget after it (`Session.what_if`)."""
        bought = self._buy(read_request(query, CONFIDENCE), budget)
        aside = {"earmark": _check_earmark(earmark)}
        reply = self._ask("what_if", bought.fields | aside)
        room = self._hold_price(bought, reply)
        price = Price(bought.purchase, bought.blocks, lambda: bought.proof, room)
        return Outlook(price, read_loss_fields(reply["remaining"]))

    @guard_call
    def release(  # noqa: PLR0913 by keyword, and most are left out
        self,
        query: Request | Marginals,
        budget: Budget,
        *,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
        population: bool = False,
    ) -> Release:
        """Charge the budget and return the noisy answer (`Session.release`).

        Where the line breaks, an answer without a key is lost.
        """
        warn_of_weak(budget, 3)
        question = _read_question(query, confidence, population)
        bought = self._buy(question, budget)
        paid = self._pay(bought, key, why, earmark)
        if isinstance(question, Marginals):
            return read_paid_margins(bought.purchase, paid)
        return read_paid(bought.purchase, paid)

    @guard_call
    def release_all(  # noqa: PLR0913 by keyword, and most are left out
        self,
        queries: Mapping[str, Request],
        budget: Budget,
        *,
        weights: Given = None,
        key: str | None = None,
        why: str = "",
        earmark: str | None = None,
        confidence: Any = CONFIDENCE,
    ) -> Releases:
        """Charge one budget for several answers (`Session.release_all`)."""
        warn_of_weak(budget, 3)
        requests = read_requests(queries, confidence)
        bought = self._buy(requests, budget, weights)
        paid = self._pay(bought, key, why, earmark)
        return read_paid_together(requests, bought.purchase, paid)

    @overload
    def sql(
        self, text: str, budget: Budget, **options: Unpack[sql_questions.SqlOptions]
    ) -> Release: ...
    @overload
    def sql(
        self,
        text: str,
        budget: None = None,
        **options: Unpack[sql_questions.SqlOptions],
    ) -> Any: ...

    @guard_call
    def sql(  # noqa: PLR0913 by keyword, and most are left out
        self,
        text: str,
        budget: Budget | None = None,
        *,
        limits: sql_questions.Limits = (),
        bounds: Mapping[str, tuple[Any, Any]] = sql_questions.NOTHING,
        keys: KeySet | Mapping[str, Any] = sql_questions.NOTHING,
        dialect: sql_questions.SqlName = "duckdb",
        confidence: Any = CONFIDENCE,
        coverage: bool = False,
    ) -> Request | dict[str, Request] | Release:
        """Return the request of a text of SQL, or its release (`Session.sql`)."""
        self._desk.refuse_strangers()
        options = (limits, bounds, keys, dialect)
        beside = sql_questions.SqlGiven(*options, coverage=coverage)
        catalog = self._desk.catalog
        question = sql_questions.sql_request(catalog, text, budget, beside)
        return sql_questions.sql_answer(self, question, confidence)

    @guard_call
    def partition(
        self, table: str, by: str, values: Any, budget: Budget, *, why: str = ""
    ) -> "dict[Any, Connection]":
        """Return a session for each part of a table (`Session.partition`).

        The parts end with the process that serves: what was charged for them stays.
        """
        desk = self._desk
        parts = desk.price_parts(table, by, values, budget, check_unicode("why", why))
        # what a server would not read is told here
        read_parts(json.loads(parts.identity.words), standing_words(desk.catalog))
        plan = plan_digest(desk.book.proof_of(parts.priced))
        fields = {"words": parts.identity.words, "table": table, "why": why}
        called = self._ask("partition", {**fields, "plan": plan})["parts"]
        desks = desk.sit_at_parts(parts, desk.book.as_whole())
        return {
            value: Connection(self._line, desk, None, {"part": name})
            for (value, desk), name in zip(desks.items(), called, strict=True)
        }

    @guard_call
    def in_blocks(self, *names: str) -> "Connection":
        """Return a session over the rows of some open blocks (`Session.in_blocks`)."""
        desk = narrow_desk(self._desk, names)
        chosen = [*self._place.get("blocks", []), [*names]]
        return Connection(self._line, desk, self._ledger, {"blocks": chosen})

    @guard_call
    def view(self, name: str, query: Query) -> None:
        """Name what a query makes of a table (`Session.view`); it is known here."""
        self._desk.name_view(name, query)

    @property
    def budget(self) -> Loss:
        """Promise of all releases of this analyst together."""
        return self._desk.book.promise

    @property
    def spent(self) -> Loss:
        """Sum of charges so far."""
        return read_loss_fields(self._ask("budget", {})["spent"])

    @property
    def remaining(self) -> Loss:
        """Budget that is left."""
        return read_loss_fields(self._ask("budget", {})["remaining"])

    def describe(self) -> Description:
        """Public facts of the tables, what is left, and the releases so far."""
        sums = self._ask("budget", {})
        described = Description(
            self._desk.catalog.holdings(),
            (),
            read_loss_fields(sums["remaining"]),
            self.budget,
            self.history(),
            *read_exposure_fields(sums),
            self._desk.book.frame,
        )
        print_unused(described, sys._getframe(1))  # noqa: SLF001 the line that asks
        return described

    def history(self) -> tuple[Entry, ...]:
        """Return the releases so far; of others, what cannot be hidden."""
        reply = self._ask("history", {})["entries"]
        shown: tuple[Entry, ...] = office.History(tuple(map(read_entry, reply)))
        return shown

    def answer(self, key: str) -> Release:
        """Return the answer of a key without asking again (`Ledger.answer`)."""
        return single_release(key, self.answers(key))

    def answers(self, key: str) -> dict[str, Release]:
        """Return the answers by name that a key holds (`Ledger.answers`)."""
        content = self._send("answer", {"key": check_name(key=key)})
        charged, answer = self._read(content)
        book = None if self._ledger is None else (self._ledger, self._promise)
        return read_releases(charged, answer, book)

    def close(self) -> None:
        """Let go of the public tables; the server stays as it is."""
        self._desk.engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Show where it leads and who asks; nothing is asked."""
        tables = ", ".join([*self._desk.catalog.relations, *self._desk.catalog.publics])
        return f"Connection({tables}; {self._desk.book.name!r} at {self._line.place})"

    def __reduce__(self) -> NoReturn:
        raise SessionMoved("copied or pickled")

    @property
    def _promise(self) -> Loss | None:
        """Promise of the whole ledger; None with blocks, as in a session."""
        ledger = self._desk.book.ledger
        return None if ledger.division else ledger.first_limit().promise

    def _send(self, verb: str, fields: Mapping[str, Any]) -> bytes:
        return self._line.send(verb, {**fields, **self._place})

    def _ask(self, verb: str, fields: Mapping[str, Any]) -> Any:
        self._desk.refuse_strangers()
        content = self._send(verb, fields)
        try:
            return json.loads(content)
        except ValueError:
            raise ServerUnavailable(self._line.place, *_STRANGE) from None

    def _buy(self, question: Question, budget: Budget, weights: Given = None) -> Bought:
        """Plan a question here, and write down what is sent."""
        desk, catalog = self._desk, self._desk.catalog
        question = _without_views(question, catalog)
        purchase: Any
        if isinstance(question, dict):
            purchase = desk.buy_together(question, budget, weights)
            priced, shares = desk.charge_together(purchase), purchase.weights.words
            identity = batch_identity(question, catalog, budget, "", shares)
        elif isinstance(question, Marginals):
            purchase = buy_tables(desk, question, budget)
            priced = charge_of_tables(desk, purchase)
            identity = request_identity(question, catalog, budget, "")
        else:
            purchase = desk.buy(question, budget)
            priced = desk.charge_of(purchase)
            identity = request_identity(question, catalog, budget, "")
        sets = {keys.fingerprint: keys for keys in keysets_of(question)}
        # what a server would not read, such as a Python function, is told here
        read_told(json.loads(identity.words), sets, standing_words(catalog))
        listed = [keyset_columns(keys) for keys in sets.values()]
        fields = {"words": identity.words, "keys": listed}
        proof = desk.book.proof_of(priced)
        return Bought(purchase, priced.blocks or (), proof, identity, fields)

    def _ask_price(self, bought: Bought) -> Headroom | None:
        """Ask what is refused there alone, such as by a policy, and what still fits."""
        return self._hold_price(bought, self._ask("price", bought.fields))

    @staticmethod
    def _hold_price(bought: Bought, reply: Any) -> Headroom | None:
        """Refuse a price that is not the one which was planned here."""
        if reply["proof"] != bought.proof:
            raise other_plan_refusal()
        return read_headroom(reply["headroom"])

    def _pay(
        self, bought: Bought, key: str | None, why: str, earmark: str | None
    ) -> Paid:
        self._desk.refuse_strangers()
        details = {
            "key": None if key is None else check_name(key=key),
            "why": check_unicode("why", why),
            "earmark": _check_earmark(earmark),
        }
        seen = {"plan": plan_digest(bought.proof)}
        content = self._send("release", {**bought.fields, **details, **seen})
        charged, answer = self._read(content)
        if charged.fields["request"] != bought.identity.fingerprint:
            raise ServerUnavailable(self._line.place, "answered another request")
        place = (charged.number, charged.hash, charged.fields["when"])
        record = None
        if self._ledger is not None:
            record = LedgerRecord(self._ledger, *place, self._promise)
        provenance = Provenance(
            bought.identity.words,
            record=record,
            proof=proof_text(charged.fields),
            charge=(self._ledger or "", charged.number, charged.hash),
        )
        return Paid(answer, provenance, charged.number)

    def _read(self, content: bytes) -> tuple[Record, bytes]:
        """Return the record of a charge and its answer; what is none is refused."""
        try:
            line, answer = split_answers(content)
            charged = Record.read(bytes(line))
        except (struct.error, ValueError):
            charged = None
        if charged is None or not charged.is_sealed:
            raise ServerUnavailable(self._line.place, "answered with no record")
        return charged, bytes(answer)


def _without_views(question: Question, catalog: Catalog) -> Any:
    """Return a question with the steps of its views written out, as a server reads it.

    Where filters stand last, requests that are released together share a measurement:
    of a view nobody there knows where it ends.
    """
    if isinstance(question, dict):
        return {name: _without_views(each, catalog) for name, each in question.items()}
    return replace(question, rows=catalog.without_views(question.rows))


def _check_earmark(name: str | None) -> str | None:
    return None if name is None else check_name(earmark=name)


def _read_question(
    query: Request | Marginals, confidence: Any, population: Any
) -> Request | Marginals:
    if not isinstance(population, bool):
        raise InvalidParameter(
            "population", population, "must be True or False", "Leave it out."
        )
    margins = read_marginals(query, confidence)
    if margins is None:
        return replace(read_request(query, confidence), population=population)
    if population:
        raise InvalidQuery(
            "population=True is about means and shares, not tables of counts",
            "Leave it out.",
        )
    return margins
