"""Claims, tickets, entries; what must be in each kind of record.

What a file says is believed no further than this. To add a kind: one entry in `KINDS`,
and one in `verification.py` that says what must have happened before it.

>>> KINDS["leased"].subjects({"charge": 3})
('lease 3',)

Kernel: charge.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cached_property
from operator import call
from typing import Any, Final, TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.ledger.file_format import Record, hash_bytes
from sordino.ledger.policy_rules import COORDINATES, Usage
from sordino.losses.budgets.blocks import MOST, Blocks, is_block_name
from sordino.losses.budgets.charge import Charge
from sordino.losses.budgets.limits import Limit, budget_text, exact_text
from sordino.losses.loss import Budget, Loss
from sordino.numbers.canonical import Words, canonical_text, matches_fingerprint

DATASET: Final = "dataset"
"""The name of the budget that every release counts against."""
LONGEST_KEY: Final = 1024
"""Bytes of UTF-8 that a key, or the name of a budget, may have."""


@final
@dataclass(frozen=True)
class Remark:
    """Who does something to a ledger, and why."""

    who: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse anything that is not text."""
        check_unicode("who", self.who)
        check_unicode("why", self.why)

    def fields(self, when: str) -> dict[str, Any]:
        """Fields that a ledger records."""
        return {"when": when, "who": self.who, "why": self.why}


@final
@dataclass(frozen=True)
class FilesRead:
    """How many files were read, and when the newest of them was written."""

    count: int
    newest: datetime

    @property
    def fields(self) -> dict[str, Any]:
        """Fields that a ledger records."""
        return {"count": self.count, "newest": self.newest.isoformat()}


@final
@dataclass(frozen=True, kw_only=True)
class Claim:
    """A release that somebody wants to make: all of it is public.

    >>> from sordino.losses.loss import PureDP
    >>> claim = Claim(request="3f5a", asked=PureDP(1), loss=PureDP(1), key="monday")
    """

    request: str
    """What makes two requests the same, such as the SHA-256 of query and prices."""
    asked: Budget
    """The budget that was asked for; it admits the loss."""
    loss: Loss
    key: str | None = None
    """The name under which the answer can be asked for again."""
    budget: str = DATASET
    """The named budget that is charged, besides the dataset's."""
    who: str = ""
    why: str = ""
    plan: str = ""
    earmark: str | None = None
    """What was set aside for it, if anything."""
    words: str = ""
    """The request in words that last, as canonical JSON (docs/ledger-format.md)."""
    job: str = ""
    """The SHA-256 of the text that it is made by, which the ledger has (`describe`)."""
    files: FilesRead | None = None
    """What is read, None where that is not files."""
    usages: Callable[[], tuple[Usage, ...]] = field(
        default=tuple, repr=False, compare=False
    )
    """Says what it uses; a ledger that obeys a policy asks, and refuses no answer."""
    blocks: tuple[str, ...] | None = None
    """The blocks that its rows can be of, None where a ledger has no blocks."""
    proof: Callable[[], Mapping[str, Words]] | None = field(
        default=None, repr=False, compare=False
    )
    """Gives its certificate, but for the charge; None for code of other libraries."""

    def __post_init__(self) -> None:
        """Refuse what a ledger cannot hold, before anything is charged."""
        if self.key is not None:
            check_name(key=self.key)
        check_name(budget=self.budget)
        if self.earmark is not None:
            check_name(earmark=self.earmark)
        if self.words and not matches_fingerprint(self.words, self.request):
            raise InvalidParameter(
                "words",
                self.words,
                "must be the words of the request",
                "Leave them out.",
            )
        _refuse_unnamed(self.blocks)
        for name in ("request", "who", "why", "plan", "words", "job"):
            check_unicode(name, getattr(self, name))
        for name, kind, expected in (
            ("asked", Budget, "must be a loss or a risk"),
            ("loss", Loss, "must be a loss"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise InvalidParameter(
                    name, getattr(self, name), expected, "Try sd.PureDP(1)."
                )
        try:
            budget_text(self.asked), self.loss_texts
        except ValueError as error:  # Python writes no more than 4300 digits
            raise InvalidParameter(
                "loss",
                self.loss,
                "has numbers of more than 4300 digits",
                "Round its parameters.",
            ) from error

    @cached_property
    def loss_texts(self) -> dict[str, str]:
        """Return the exact headline of the loss, by name."""
        guarantees = asdict(self.loss.guarantees)
        return {name: exact_text(value) for name, value in guarantees.items()}


@final
@dataclass(frozen=True)
class Ticket:
    """A charge, and the right to store one answer for it.

    Where `answer` is there, it is the answer that the key has, and nothing was charged.
    """

    ledger: str
    """The identity of the ledger."""
    number: int
    """The number of the charge."""
    fence: int
    """1 for who was charged, 2 for who computes a lost answer again."""
    keyed: bool
    """Whether the answer can be asked for again."""
    answer: bytes | None = field(default=None, repr=False)
    hash: str = field(default="", repr=False, compare=False)
    """Of the record of the charge: it stands for all records up to it."""
    when: str = field(default="", repr=False, compare=False)
    """When it was charged, as recorded."""
    proof: str = field(default="", repr=False, compare=False)
    """The certificate of the charge; none where the record has none."""


@final
@dataclass(frozen=True, repr=False)
class Entry:
    """One charged release, as the ledger recorded it."""

    number: int
    when: datetime
    """By the clock of whoever charged it; the order is that of the numbers."""
    who: str
    why: str
    key: str | None
    budget: str
    asked: str
    loss: str
    plan: str
    charges: dict[str, Charge]
    """What was charged, by budget."""
    answered: bool
    """Whether an answer was stored; True of what somebody else asked (`seen_by`)."""
    job: str = ""
    """The SHA-256 of the text that it was made by (`Ledger.description`)."""
    policy: str = ""
    """The SHA-256 of the policy that allowed it, "" if there was none."""
    blocks: tuple[str, ...] = ()
    """The blocks that were charged, where the ledger has blocks."""
    each: Charge | None = None
    """What each of these was charged."""

    def __repr__(self) -> str:
        """Show it on one line: the rest are its fields."""
        facts = [
            f"{self.when:%Y-%m-%d %H:%M %Z}",
            f"who {self.who!r}" if self.who else "",
            "" if self.key is None else f"key {self.key!r}",
            f"asked {self.asked}" if self.asked else "of another budget",
            listed_blocks(self.blocks),
            "" if not self.asked else "answered" if self.answered else "not answered",
        ]
        return f"Entry({self.number}: {', '.join(fact for fact in facts if fact)})"


def entry_for_analyst(analyst: str, entry: Entry) -> Entry:
    """Return an entry as an analyst may see it.

    What is charged to the dataset shows in what is left of it, whoever looks.
    """
    if entry.budget == analyst:
        return entry
    hidden = ("who", "why", "asked", "loss", "plan", "job")
    nothing: dict[str, Any] = dict.fromkeys(hidden, "")
    charges = {
        name: charge for name, charge in entry.charges.items() if name == DATASET
    }
    return replace(
        entry, **nothing, key=None, budget="", charges=charges, answered=True
    )


def check_name(**argument: Any) -> str:
    """Return a key or a name: text of 1 to 1024 bytes.

    >>> check_name(key="monday")
    'monday'
    """
    ((name, value),) = argument.items()
    text = check_unicode(name, value)
    if not 1 <= len(text.encode()) <= LONGEST_KEY:
        raise InvalidParameter(
            name, value, f"must have 1 to {LONGEST_KEY} bytes", f'Try {name}="monday".'
        )
    if not text.isprintable():
        raise InvalidParameter(
            name, value, "must be printable", f'Try {name}="monday".'
        )
    return text


def listed_blocks(names: tuple[str, ...]) -> str:
    """Return some blocks in words: the first and the last of many.

    >>> listed_blocks(("2026-01", "2026-02")), listed_blocks(("a", "b", "c", "d"))
    ('blocks 2026-01, 2026-02', '4 blocks, a to d')
    """
    if len(names) > 3:
        return f"{len(names):,} blocks, {names[0]} to {names[-1]}"
    noun = "block" if len(names) == 1 else "blocks"
    return f"{noun} {', '.join(names)}" if names else ""


def _refuse_unnamed(blocks: Any) -> None:
    if blocks is None:
        return
    named = isinstance(blocks, tuple) and all(map(is_block_name, blocks))
    if not named or not blocks or len(set(blocks)) < len(blocks):
        raise InvalidParameter(
            "blocks",
            blocks,
            "must be names of blocks, at least one",
            'Try blocks=("2026-01",).',
        )


def check_unicode(name: str, value: Any) -> str:
    """Return text that can be written as UTF-8."""
    try:
        value.encode()
    except (AttributeError, UnicodeEncodeError) as error:
        raise InvalidParameter(
            name, value, "must be text", f'Try {name}="monthly report".'
        ) from error
    text: str = value
    return text


Check: TypeAlias = Callable[[Any], bool]
Fields: TypeAlias = Mapping[str, Any]

_LONGEST: Final = 2**14
"""Letters of an amount: Python refuses integers of more digits than about 4300."""
_AMOUNT: Final = re.compile(r"inf|(0|[1-9][0-9]{0,4299})/[1-9][0-9]{0,4299}")
_HEXADECIMAL: Final = re.compile(r"[0-9a-f]+")


@final
@dataclass(frozen=True)
class Kind:
    """What a record of one kind holds, and the names under which it is looked up.

    A lookup finds the newest record of a subject.
    """

    shape: Mapping[str, Check]
    """What each field must be; a field that is not there is None. More are allowed."""
    subjects: Callable[[Fields], tuple[str, ...]] = lambda _: ()
    sound: Check = lambda _: True
    """Whether the fields fit each other, once each has its shape."""


def is_sound(record: Record) -> bool:
    """Tell whether a record has every field that its kind requires.

    A `RecursionError` goes through: it tells of the caller's stack, not of the record.
    """
    kind = KINDS[record.kind]
    try:
        fields: Any = record.fields
        return (
            isinstance(fields, dict)
            and all(map(call, kind.shape.values(), map(fields.get, kind.shape)))
            and kind.sound(fields)
        )
    except (ValueError, OverflowError):  # of times that no calendar of UTC has
        return False


def subjects(record: Record) -> tuple[str, ...]:
    """Subjects under which a sound record is found."""
    return KINDS[record.kind].subjects(record.fields)


def earliest(subject: str) -> int:
    """Least number of a record about a subject: none is older than what it is about.

    >>> earliest("answer 7"), earliest("key 7")
    (7, 0)
    """
    what, _, number = subject.partition(" ")
    return int(number) if what in ("answer", "lease") and number.isdecimal() else 0


def is_text(value: Any) -> bool:
    """Say whether this is text."""
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    """Say whether this is a number of a record, a size, or zero."""
    return type(value) is int and value >= 0


def are_amounts(value: Any) -> bool:
    """Say whether these are amounts by coordinate: rationals, or "inf"."""
    return isinstance(value, dict) and all(map(_amount, value.values()))


def are_texts(value: Any) -> bool:
    """Say whether these are texts by name."""
    return isinstance(value, dict) and all(map(is_text, value.values()))


def are_names(value: Any) -> bool:
    """Say whether these are different texts in a list."""
    return (
        isinstance(value, list)
        and all(map(is_text, value))
        and len(set(value)) == len(value)
    )


def are_amounts_by_budget(value: Any) -> bool:
    """Say whether these are amounts for each of some budgets."""
    return isinstance(value, dict) and all(map(are_amounts, value.values()))


def are_runs(value: Any) -> bool:
    """Say whether these are runs of blocks, in order, with amounts."""
    if not isinstance(value, list) or not value:
        return False
    behind = 0
    for run in value:
        if not isinstance(run, list) or len(run) != 3 or not are_amounts(run[2]):
            return False
        first, last = run[:2]
        if not is_count(first) or not is_count(last):
            return False
        if not behind <= first <= last < MOST:
            return False
        behind = last + 1
    return True


def are_block_names(value: Any) -> bool:
    """Say whether these are different names of blocks, at least one."""
    return (
        are_names(value) and 1 <= len(value) <= MOST and all(map(is_block_name, value))
    )


def is_time(value: Any) -> bool:
    """Say whether this is a time of a known zone."""
    if not is_text(value):
        return False
    when = datetime.fromisoformat(value)
    return when.tzinfo is not None and when.astimezone(UTC) is not None


def are_files(value: Any) -> bool:
    """Say whether this is how many files were read, and the newest time of them."""
    return (
        isinstance(value, dict)
        and is_count(value.get("count"))
        and is_time(value.get("newest"))
    )


def is_day(value: Any) -> bool:
    """Say whether this is a day."""
    return is_text(value) and date.fromisoformat(value).isoformat() == value


def is_pair(value: Any) -> bool:
    """Say whether these are an epsilon and a delta."""
    return are_amounts(value) and set(value) == set(COORDINATES)


def is_counted(value: Any) -> bool:
    """Say whether this is what a charge counts under a policy: finite, with its sum."""
    return (
        isinstance(value, dict)
        and is_hexadecimal(value.get("sha256"))
        and is_day(value.get("day"))
        and all(is_pair(value.get(name)) for name in ("counted", "sum"))
        and "inf" not in {*value["counted"].values(), *value["sum"].values()}
    )


def is_limit(value: Any) -> bool:
    """Say whether this is a limit that can be kept."""
    stated = isinstance(value, dict) and is_text(value.get("stated"))
    if not stated or not are_amounts(value.get("limits")) or not value["limits"]:
        return False
    try:
        Limit.read(value)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return False
    return True


def is_verb(value: Any) -> bool:
    """Say whether this is a verb with its arguments (words.py)."""
    named = isinstance(value, list) and len(value) == 2 and is_text(value[0])
    return named and isinstance(value[1], dict) and type(value[1].get("form")) is int


def certificate_text(body: Mapping[str, Any], charge: Mapping[str, str]) -> str:
    """Return a certificate as canonical JSON, with what a ledger adds up for it."""
    return canonical_text({**body, "charge": dict(charge)})


def proof_text(fields: Mapping[str, Any]) -> str:
    """Return the certificate of a recorded charge, "" where the record has none."""
    return next(certificates(fields), "")


def certificates(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the certificate of what each limit adds up, the dataset's first."""
    body = fields.get("proof")
    if body is None:
        return
    charges = [*fields["charges"].values()]
    if fields.get("each") is not None:
        charges = [fields["each"], *charges]
    yield from dict.fromkeys(certificate_text(body, charge) for charge in charges)


def is_proof(value: Any) -> bool:
    """Say whether this may be a certificate; whether it holds, the kernel says."""
    return isinstance(value, dict) and type(value.get("certificate")) is int


def is_hexadecimal(value: Any) -> bool:
    """Say whether these are hexadecimal digits, as of a hash."""
    return is_text(value) and _HEXADECIMAL.fullmatch(value) is not None


def optional(check: Check) -> Check:
    """Return the same check, which also lets None pass."""
    return lambda value: value is None or check(value)


def _amount(value: Any) -> bool:
    return (
        is_text(value)
        and len(value) < _LONGEST
        and _AMOUNT.fullmatch(value) is not None
    )


def _of_file(fields: Fields) -> tuple[str, ...]:
    """Return the subjects of a file: what is in it."""
    return (f"file {fields['sha256']}",)


def _of_charge(fields: Fields) -> tuple[str, ...]:
    """Return the subjects of a charge: its key, its earmark, the sums it makes."""
    key, earmark = fields.get("key"), fields.get("earmark")
    subjects = [f"spent {name}" for name in fields["spent"]]
    for first, last, _ in fields.get("blocks") or ():
        subjects += [f"sum {place}" for place in range(first, last + 1)]
    subjects += [] if key is None else [f"key {key}"]
    subjects += [] if earmark is None else [f"earmark {earmark}"]
    subjects += [] if fields.get("policy") is None else ["counted"]
    subjects += [] if fields.get("limit") is None else [f"budget {DATASET}"]
    return tuple(subjects)


def _is_whole_charge(fields: Fields) -> bool:
    """Say whether a charge says what each of its budgets, or blocks, is charged."""
    blocks = fields.get("blocks")
    counted = {DATASET, fields["budget"]}
    if blocks is not None:
        counted.discard(DATASET)
    return (
        set(fields["spent"])
        == set(fields["charges"])
        == set(fields["charges"] if fields.get("rest") is None else fields["rest"])
        == counted
        and (fields.get("earmark") is None) == (fields.get("rest") is None)
        and (fields.get("each") is None if blocks is None else _is_divided(fields))
    )


def _is_divided(fields: Fields) -> bool:
    """Say whether a charge of blocks has an amount for each of them, and sums."""
    paid = are_runs(fields["blocks"]) and are_amounts(fields.get("each"))
    return paid and fields.get("earmark") is None


def _is_division(fields: Fields) -> bool:
    try:
        return Blocks.read(fields).fields == {
            "every": fields["every"],
            "start": fields["start"],
        }
    except (InvalidParameter, LookupError):
        return False


KINDS: Final[Mapping[str, Kind]] = {
    "opened": Kind({
        "about": is_text,
        "format": is_count,
        "identity": is_hexadecimal,
        "library": is_text,
        "signed_by": optional(is_hexadecimal),
        "when": is_time,
    }),
    "budget": Kind(
        {"budget": is_text, "limit": is_limit, "when": is_time},
        lambda fields: (f"budget {fields['budget']}",),
    ),
    "charged": Kind(
        {
            "asked": is_text,
            "budget": is_text,
            "charges": are_amounts_by_budget,
            "key": optional(is_text),
            "known": are_texts,
            "loss": is_text,
            "plan": is_text,
            "request": is_text,
            "spent": are_amounts_by_budget,
            "when": is_time,
            "who": is_text,
            "why": is_text,
            "words": optional(is_verb),
            "earmark": optional(is_text),
            "job": optional(is_hexadecimal),
            "files": optional(are_files),
            "rest": optional(are_amounts_by_budget),
            "policy": optional(is_counted),
            "proof": optional(is_proof),
            "limit": optional(is_limit),
        },
        _of_charge,
        _is_whole_charge,
    ),
    "divided": Kind(
        {"every": is_text, "start": optional(is_text), "when": is_time},
        lambda _: ("divided",),
        _is_division,
    ),
    "block": Kind(
        {
            "blocks": are_block_names,
            "first": is_count,
            "limit": is_limit,
            "when": is_time,
        },
        lambda fields: tuple(f"block {name}" for name in fields["blocks"]),
    ),
    "lowered": Kind(
        {
            "budget": is_text,
            "limit": is_limit,
            "when": is_time,
            "who": is_text,
            "why": is_text,
        },
        lambda fields: (f"budget {fields['budget']}",),
    ),
    "closed": Kind(
        {"budget": is_text, "when": is_time, "who": is_text, "why": is_text},
        lambda fields: (f"closed {fields['budget']}",),
    ),
    "earmarked": Kind(
        {
            "asked": is_text,
            "budget": is_text,
            "earmark": is_text,
            "open": are_names,
            "rest": are_amounts_by_budget,
            "when": is_time,
            "who": is_text,
            "why": is_text,
        },
        lambda fields: (f"earmark {fields['earmark']}", "earmarks"),
        lambda fields: set(fields["rest"]) == {DATASET, fields["budget"]},
    ),
    "freed": Kind(
        {
            "earmark": is_text,
            "open": are_names,
            "when": is_time,
            "who": is_text,
            "why": is_text,
        },
        lambda _: ("earmarks",),
    ),
    "leased": Kind(
        {"charge": is_count, "fence": is_count, "who": is_text, "when": is_time},
        lambda fields: (f"lease {fields['charge']}",),
    ),
    "answered": Kind(
        {
            "charge": is_count,
            "fence": is_count,
            "sha256": is_hexadecimal,
            "size": is_count,
            "when": is_time,
        },
        lambda fields: (f"answer {fields['charge']}",),
    ),
    "described": Kind(
        {"sha256": is_hexadecimal, "text": is_text, "when": is_time, "who": is_text},
        lambda fields: (f"job {fields['sha256']}",),
        lambda fields: hash_bytes(fields["text"].encode()) == fields["sha256"],
    ),
    "published": Kind(
        {
            "charge": is_count,
            "name": is_text,
            "sha256": is_hexadecimal,
            "size": is_count,
            "when": is_time,
            "who": is_text,
        },
        _of_file,
    ),
    "adopted": Kind(
        {
            "before": is_pair,
            "day": is_day,
            "officer": is_hexadecimal,
            "serial": is_count,
            "sha256": is_hexadecimal,
            "signature": is_hexadecimal,
            "text": is_text,
            "when": is_time,
            "who": is_text,
        },
        lambda _: ("policy",),
        lambda fields: hash_bytes(fields["text"].encode()) == fields["sha256"],
    ),
    "witnessed": Kind({"when": is_time}, lambda _: ("witness",)),
    "moved": Kind({"to": is_text, "when": is_time}, lambda _: ("moved",)),
    "restored": Kind({"after": is_count, "when": is_time}),
}
"""Every kind, by name."""
