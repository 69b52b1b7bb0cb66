"""The door of a server: a token and a body in, an answer or a refusal out.

token ── turn ── body (size, depth) ── words read ── written again ── desk ── audit

It knows no HTTP. Whatever comes, what leaves is what the desk of a session told, within
the limit of the ledger, or a refusal that was decided from public facts; what is not
ours becomes the one text of a failed engine. Each request is a line of the log.
"""

import json
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from threading import Lock
from typing import Any, Final, NamedTuple, final

from sordino.errors import (
    EngineFailure,
    InvalidParameter,
    InvalidQuery,
    ServerUnavailable,
    SordinoError,
    show,
)
from sordino.ledger.file_format import parse_json
from sordino.ledger.record_kinds import check_name
from sordino.noise.sampling.bits import fresh_secret
from sordino.numbers import arguments
from sordino.office.service.tokens import Holder, TokenFile
from sordino.office.service.wire import (
    MOST_BYTES,
    body_refusal,
    catalog_fields,
    entry_fields,
    exposure_fields,
    headroom_fields,
    loss_fields,
    other_plan_refusal,
    plan_digest,
    read_keysets,
    refusal_fields,
    standing_words,
    write_json,
)
from sordino.plan.bundle import share_budget
from sordino.query.groups import Marginals
from sordino.query.request import CONFIDENCE, Request
from sordino.query.request_reader import ToldRequest, read_parts, read_told
from sordino.release.storage import join_answers
from sordino.session.charging import (
    Identity,
    batch_identity,
    guard_call,
    request_identity,
)
from sordino.session.executor import (
    Desk,
    Parts,
    buy_tables,
    charge_of_tables,
    pay_for_margins,
    price_margins,
)
from sordino.session.session import Session, narrow_desk
from sordino.session.sql import (
    IN_PYTHON,
    NOTHING,
    SqlGiven,
    read_marginals,
    read_request,
    read_requests,
    sql_request,
    word_needs,
)

_LOG: Final = logging.getLogger("sordino.service")
_MOST_CHOICES: Final = 10
"""Times that blocks are chosen of blocks: each makes a catalog anew."""
MOST_WORDS: Final = 2**16
"""Letters of a request, keys aside: what takes a minute to plan is not asked for."""
ASKED: Final = "that was asked"
"""What a server calls itself: it does not know by which name it was reached."""


@final
class ServerLimits(NamedTuple):
    """How much one may ask of a server; each has room for what is usual."""

    body: int = MOST_BYTES
    """Bytes of a request; keys are most of them."""
    at_once: int = 4
    """Requests of one token that are worked on together."""
    a_minute: int = 300
    """Requests of one token in any 60 seconds."""
    parts: int = 1000
    """Parts of tables that are kept for one name."""


@final
class Reply(NamedTuple):
    """What goes back."""

    status: int
    content: bytes


@final
@dataclass(frozen=True, eq=False)
class Turns:
    """Who asks how much: a token takes a turn for each request, or is refused."""

    bounds: ServerLimits
    clock: Callable[[], float] = time.monotonic
    working: Counter[str] = field(default_factory=Counter)
    times: dict[str, deque[float]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def turn(self, token: str) -> Generator[None]:
        """Take a turn, and give it back at the end."""
        self._take(token)
        try:
            yield
        finally:
            with self.lock:
                self.working[token] -= 1

    def _take(self, token: str) -> None:
        with self.lock:
            now, times = self.clock(), self.times.setdefault(token, deque())
            while times and times[0] <= now - 60:
                times.popleft()
            if len(times) >= self.bounds.a_minute:
                problem = f"takes {self.bounds.a_minute} requests a minute of a token"
                raise ServerUnavailable(ASKED, problem)
            if self.working[token] >= self.bounds.at_once:
                problem = f"takes {self.bounds.at_once} requests of a token at once"
                raise ServerUnavailable(ASKED, problem)
            times.append(now)
            self.working[token] += 1


@final
@dataclass(frozen=True, eq=False)
class PaidParts:
    """Parts of tables that were paid for, each a desk of whoever paid.

    What they have left is in memory, as it is in a session: who stops the server ends
    them.
    """

    most: int
    desks: dict[tuple[str, str], Desk] = field(default_factory=dict)
    """By the analyst, and by what the part is called on the wire."""
    lock: Lock = field(default_factory=Lock)

    def refuse_more(self, analyst: str, count: int) -> None:
        """Refuse parts that there is no room for, before they are paid for."""
        with self.lock:
            number = sum(name == analyst for name, _ in self.desks)
        if number + count > self.most:
            raise InvalidParameter(
                "values",
                f"{count} more",
                f"make more parts than the {self.most} that a server keeps for a name",
                "Ask the curator to start it anew, which ends the parts there are.",
            )

    def keep(self, analyst: str, desks: Iterable[Desk]) -> list[str]:
        """Keep desks of parts, and return what they are called."""
        named = {(analyst, fresh_secret().hex()): desk for desk in desks}
        with self.lock:
            self.desks.update(named)
        return [called for _, called in named]

    def desk(self, analyst: str, called: Any) -> Desk:
        """Return the desk of a part; those of others are as unknown as none."""
        with self.lock:
            desk = self.desks.get((analyst, called)) if type(called) is str else None
        if desk is None:
            raise InvalidParameter(
                "part",
                "...",
                "is not known to this server, which keeps parts until it stops",
                "Make the parts anew, by session.partition.",
            )
        return desk


@final
class Inquiry(NamedTuple):
    """A request of somebody: the desk where it is asked, and its fields."""

    desk: Desk
    fields: "Fields"

    @property
    def key(self) -> str | None:
        """Return the key under which the ledger has an answer, if one was given."""
        if self.fields.values.get("key") is None:
            return None
        return self.key_of(check_name(key=self.fields.values["key"]))

    def key_of(self, key: str) -> str:
        """Return a key of this analyst as the ledger has it.

        Each name has keys of its own: nobody finds out those of others, or takes one
        that a job of the curator will need.
        """
        return f"{self.desk.book.name}: {key}"

    @property
    def details(self) -> dict[str, Any]:
        """Return the key and the remarks of a charge."""
        return {"key": self.key, **self.fields.details}


@final
@dataclass(frozen=True)
class Fields:
    """The fields of a body, each read by name."""

    values: Mapping[str, Any]

    @classmethod
    def read(cls, body: bytes) -> "Fields":
        """Return the fields of a JSON object; another text is refused."""
        try:
            values = parse_json(body.decode()) if body else {}
        except (RecursionError, ValueError):
            values = None
        if not isinstance(values, dict):
            raise InvalidParameter(
                "body", f"{len(body)} bytes", "must be a JSON object", "Send {}."
            )
        return cls(values)

    def refuse_others(self, *names: str) -> None:
        """Refuse every name but these."""
        for name in self.values:
            if name not in names:
                raise InvalidParameter(
                    "body", name, "must have no other names", f"Send {list(names)}."
                )

    def text(self, name: str) -> str:
        """Return a text that must be there."""
        return arguments.text(**{name: self.values.get(name)})

    @property
    def words(self) -> tuple[str, Any]:
        """Return the words of a request as they were written, and as they are read."""
        written = self.text("words")
        if len(written) > MOST_WORDS:
            raise InvalidParameter(
                "words",
                f"{len(written)} letters",
                f"must have at most {MOST_WORDS}",
                "Ask for fewer columns at once.",
            )
        try:
            return written, parse_json(written)
        except (RecursionError, ValueError):
            return written, None

    @property
    def chosen_blocks(self) -> list[tuple[Any, ...]]:
        """Return the blocks that are chosen, and those that are chosen of these."""
        listed = self.values.get("blocks") or []
        is_read = isinstance(listed, list) and len(listed) <= _MOST_CHOICES
        if not is_read or not all(isinstance(names, list) for names in listed):
            raise InvalidParameter(
                "blocks",
                "...",
                f"must be at most {_MOST_CHOICES} lists of names",
                "Choose them of the whole session.",
            )
        return [*map(tuple, listed)]

    @property
    def details(self) -> dict[str, Any]:
        """Return the remarks that a charge is recorded with."""
        value = self.values.get
        return {"why": value("why", ""), "earmark": value("earmark")}


@final
class Service:
    """The requests of analysts, at a session of the curator."""

    def __init__(
        self, session: Session, tokens: TokenFile, bounds: ServerLimits | None = None
    ) -> None:
        """Open it: whoever holds a token has the limit that it says from now on."""
        self.bounds = bounds or ServerLimits()
        self._desk, self._tokens = session._desk, tokens  # noqa: SLF001 it stands for it
        self._turns, self._allotted = Turns(self.bounds), set[tuple[str, str]]()
        self._parts = PaidParts(self.bounds.parts)
        self._facts = catalog_fields(self._desk.catalog)
        for holder in tokens.holders():
            if not holder.revoked:
                self._allot(holder)

    def admit(self, token: str) -> Holder | Reply:
        """Return who holds a token, or the refusal of one that holds nothing."""
        try:
            return self._tokens.holder(token)
        except InvalidParameter as error:
            return self._refuse(401, error)
        except SordinoError as error:
            # what is wrong with the file is for the curator, not for a stranger
            _LOG.error("the token file cannot be read: %s", error)
        problem = "serves nobody until its curator has looked at it"
        return self._refuse(503, ServerUnavailable(ASKED, problem))

    def reply(self, verb: str, holder: Holder, body: bytes) -> Reply:
        """Return the answer to a request, or its refusal; nothing else leaves."""
        began, outcome = time.monotonic(), "answered"
        try:
            with self._turns.turn(holder.token):
                reply = Reply(200, self._answer(verb, holder, body))
        except SordinoError as error:
            outcome = type(error).__name__
            busy = isinstance(error, ServerUnavailable)
            reply = self._refuse(429 if busy else 400, error)
        except Exception as error:  # noqa: BLE001 what is not ours may quote anything
            _LOG.error("%s in %s", type(error).__name__, show(verb))
            outcome, reply = "EngineFailure", self._refuse(500, EngineFailure())
        _note(verb, holder, outcome, time.monotonic() - began)
        return reply

    @staticmethod
    def _refuse(status: int, error: SordinoError) -> Reply:
        return Reply(status, write_json({"refusal": refusal_fields(error)}))

    @guard_call
    def _answer(self, verb: str, holder: Holder, body: bytes) -> bytes:
        if verb not in _VERBS:
            raise InvalidParameter(
                "verb", verb, f"must be one of {', '.join(_VERBS)}", "Ask one of these."
            )
        if len(body) > self.bounds.body:
            raise body_refusal(self.bounds.body)
        fields = Fields.read(body)
        names, act = _VERBS[verb]
        fields.refuse_others(*names)
        self._allot(holder)
        return act(self, Inquiry(self._place(holder, fields), fields))

    def _allot(self, holder: Holder) -> None:
        """Give a name its limit, once; another one than it has is refused."""
        marked = holder.analyst, holder.limit.stated
        if marked not in self._allotted:
            self._desk.book.ledger.allot(holder.analyst, holder.limit)
            self._allotted.add(marked)

    def _place(self, holder: Holder, fields: "Fields") -> Desk:
        """Return the desk that is meant: of all rows, of some blocks, or of a part."""
        if fields.values.get("part") is not None:
            return self._parts.desk(holder.analyst, fields.values["part"])
        desk = self._desk_of(holder)
        for names in fields.chosen_blocks:
            desk = narrow_desk(desk, names)
        return desk

    def _desk_of(self, holder: Holder) -> Desk:
        """Return the desk at which a name asks: what it charges is its own, too."""
        # the job that serves did not ask this: its text is not of the charge
        book = replace(self._desk.book, name=holder.analyst, who=holder.analyst, job="")
        return replace(self._desk, book=book, keysets={})

    def _tell_facts(self, inquiry: Inquiry) -> bytes:
        """Public facts of the tables and of the limits."""
        ledger = inquiry.desk.book.ledger
        tables, rows = self._facts
        facts = {
            "version": version("sordino"),
            "analyst": inquiry.desk.book.name,
            "ledger": ledger.identity,
            "lasts": ledger.durable,
            "limit": ledger.first_limit().fields,
            "own": ledger.first_limit(inquiry.desk.book.name).fields,
            "blocks": _division_fields(inquiry.desk),
            "tables": tables,
        }
        return join_answers([write_json(facts), *rows])

    def _price(self, inquiry: Inquiry) -> bytes:
        request, desk = _read_words(inquiry), inquiry.desk
        question, budget = request.question, request.budget
        room = None
        if isinstance(question, Marginals):
            proof = price_margins(desk, question, budget).proof
        elif isinstance(question, dict):
            proof = desk.price_all(question, budget, request.weights).proof
        else:
            price = desk.price(question, budget)
            proof, room = price.proof, price.headroom
        return write_json({"proof": proof, "headroom": headroom_fields(room)})

    def _look_ahead(self, inquiry: Inquiry) -> bytes:
        """Price of a release, and what would be left after it."""
        request = _read_words(inquiry)
        if not isinstance(request.question, Request):
            raise InvalidQuery("what_if is about one request", "Ask for its price.")
        earmark = inquiry.fields.values.get("earmark")
        outlook = inquiry.desk.outlook(request.question, request.budget, earmark)
        return write_json({
            "proof": outlook.price.proof,
            "headroom": headroom_fields(outlook.price.headroom),
            "remaining": loss_fields(outlook.remaining),
        })

    def _release(self, inquiry: Inquiry) -> bytes:
        request, desk = _read_words(inquiry), inquiry.desk
        _refuse_other_plan(request, inquiry)
        return _pay(desk, request.question, request, inquiry.details)

    def _partition(self, inquiry: Inquiry) -> bytes:
        """Charge for the parts of a table; each is asked for by what it is called."""
        parts = _read_parts_words(inquiry)
        desk, analyst = inquiry.desk, inquiry.desk.book.name
        _hold_plan(desk.book.proof_of(parts.priced), inquiry)
        self._parts.refuse_more(analyst, len(parts.catalogs))
        desks = desk.pay_for_parts(parts).values()
        return write_json({"parts": self._parts.keep(analyst, desks)})

    def _release_sql(self, inquiry: Inquiry) -> bytes:
        """Release what a text of SQL asks for, with all that it says in its options."""
        dialect = inquiry.fields.values.get("dialect", "duckdb")
        options = SqlGiven((), NOTHING, NOTHING, dialect)
        catalog = inquiry.desk.catalog
        with word_needs(IN_PYTHON):
            question = sql_request(catalog, inquiry.fields.text("sql"), None, options)
            if question.budget is None:
                raise InvalidParameter(
                    "budget", None, "must stand in the text", "See docs/guides/sql.md."
                )
            request = ToldRequest(
                "sql", question.request, question.budget, None, CONFIDENCE
            )
            return _pay(inquiry.desk, question.request, request, inquiry.details)

    def _tell_history(self, inquiry: Inquiry) -> bytes:
        book = inquiry.desk.book
        before = inquiry.key_of("")
        entries = [
            replace(each, key=each.key and each.key.removeprefix(before))
            for each in book.ledger.history(book.name)
        ]
        return write_json({"entries": [entry_fields(each) for each in entries]})

    def _tell_answer(self, inquiry: Inquiry) -> bytes:
        """Tell a paid answer of the analyst's own: the record of its charge, and it."""
        book, key = inquiry.desk.book, inquiry.key_of(inquiry.fields.text("key"))
        charged, answer = book.ledger.paid_answer(key, book.name)
        return join_answers([charged.line, answer])

    def _tell_budget(self, inquiry: Inquiry) -> bytes:
        book = inquiry.desk.book
        spent, remaining = loss_fields(book.spent), loss_fields(book.remaining)
        return write_json({
            "spent": spent,
            "remaining": remaining,
            **exposure_fields(book),
        })


_PLACE: Final = ("blocks", "part")
_PARTS: Final = ("words", "table", "why", "plan")
_DETAILS: Final = ("key", "why", "earmark")
_WORDS: Final = ("words", "keys", *_PLACE)
_VERBS: Final[
    Mapping[str, tuple[tuple[str, ...], Callable[[Service, Inquiry], bytes]]]
] = {
    "facts": ((), Service._tell_facts),  # noqa: SLF001 its own table
    "price": (_WORDS, Service._price),  # noqa: SLF001 likewise
    "what_if": ((*_WORDS, "earmark"), Service._look_ahead),  # noqa: SLF001 likewise
    "release": ((*_WORDS, *_DETAILS, "plan"), Service._release),  # noqa: SLF001 likewise
    "partition": ((*_PARTS, *_PLACE), Service._partition),  # noqa: SLF001 likewise
    "sql": (("sql", "dialect", *_DETAILS, *_PLACE), Service._release_sql),  # noqa: SLF001 likewise
    "history": (_PLACE, Service._tell_history),  # noqa: SLF001 likewise
    "answer": (("key", *_PLACE), Service._tell_answer),  # noqa: SLF001 likewise
    "budget": (_PLACE, Service._tell_budget),  # noqa: SLF001 likewise
}
"""What may be asked, with the names of its fields."""


def _read_words(inquiry: Inquiry) -> ToldRequest:
    """Return a request of words, refused unless it writes these very words."""
    written, words = inquiry.fields.words
    catalog = inquiry.desk.catalog
    keysets = read_keysets(inquiry.fields.values.get("keys", []))
    request = read_told(words, keysets, standing_words(catalog))
    question = request.question
    several = question if isinstance(question, dict) else {"": question}
    with catalog.explain_refusals():
        for each in several.values():
            each.rows.resolve(catalog)  # refuses a name that is not there
    if isinstance(question, dict):
        question = read_requests(question, request.confidence)
        shares = share_budget(question, request.weights).words
        identity = batch_identity(question, catalog, request.budget, "", shares)
    else:
        margins = read_marginals(question, request.confidence)
        question = margins or read_request(question, request.confidence)
        identity = request_identity(question, catalog, request.budget, "")
    _refuse_other_words(identity, written, request.verb)
    return replace(request, question=question)


def _read_parts_words(inquiry: Inquiry) -> Parts:
    """Return the price of parts by their words, refused unless it has these words."""
    written, words = inquiry.fields.words
    desk, name = inquiry.desk, inquiry.fields.text("table")
    rows, by, values, budget = read_parts(words, standing_words(desk.catalog))
    if rows.steps or rows.table != name:  # a view of who asks
        with desk.catalog.explain_refusals():
            desk = replace(desk, catalog=desk.catalog.with_view(name, rows))
    why = inquiry.fields.details["why"]
    parts = desk.price_parts(name, by, values, budget, why)
    _refuse_other_words(parts.identity, written, "partition")
    return parts


def _refuse_other_words(identity: Identity, written: str, verb: str) -> None:
    """Refuse, letter by letter, unless what was read is what was asked."""
    if identity.words != written:
        raise InvalidParameter(
            "words",
            show(verb),
            "are not those that this server writes for the same request",
            "Its tables or its version may have changed: connect anew.",
        )


def _division_fields(desk: Desk) -> Any:
    """Return how the tables lie in blocks, and which are read; None without blocks."""
    division = desk.book.ledger.division
    if division is None:
        return None
    return {"division": division.fields, "open": list(desk.book.blocks or ())}


def _refuse_other_plan(request: ToldRequest, inquiry: Inquiry) -> None:
    """Refuse to charge another price than the client has seen, if it says which."""
    key, desk = inquiry.key, inquiry.desk
    is_paid = key is not None and desk.book.ledger.entry(key) is not None
    if inquiry.fields.values.get("plan") is None or is_paid:
        return
    question, budget = request.question, request.budget
    if isinstance(question, Marginals):
        priced = charge_of_tables(desk, buy_tables(desk, question, budget))
    elif isinstance(question, dict):
        bundle = desk.buy_together(question, budget, request.weights)
        priced = desk.charge_together(bundle)
    else:
        priced = desk.charge_of(desk.buy(question, budget))
    _hold_plan(desk.book.proof_of(priced), inquiry)


def _hold_plan(proof: str, inquiry: Inquiry) -> None:
    expected = inquiry.fields.values.get("plan")
    if expected is not None and expected != plan_digest(proof):
        raise other_plan_refusal()


def _pay(
    desk: Desk, question: Any, request: ToldRequest, details: dict[str, Any]
) -> bytes:
    """Charge for a request, and return the record of the charge with the answer."""
    if isinstance(question, Marginals):
        _, paid = pay_for_margins(desk, question, request.budget, details)
    elif isinstance(question, dict):
        _, paid = desk.pay_together(question, request.budget, details, request.weights)
    else:
        _, paid = desk.pay(question, request.budget, details)
    return join_answers([desk.book.ledger.charge(paid.number).line, paid.answer])


def _note(verb: str, holder: Holder, outcome: str, seconds: float) -> None:
    """Write a line of the audit: who asked for what, and what became of it.

    What was charged, and for which words, stands in the ledger.
    """
    line = {
        "analyst": holder.analyst,
        "token": holder.token,
        "verb": verb if verb in _VERBS else "unknown",
        "outcome": outcome,
        "seconds": round(seconds, 3),
    }
    _LOG.info("%s", json.dumps(line))
