"""What goes into a ledger and what comes out: claims, tickets and entries."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, final

from sordino.budgets.budget_text import budget_text, exact_text
from sordino.budgets.charge import Charge
from sordino.budgets.table_blocks import is_block_name
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, Loss
from sordino.policy.usage import Usage
from sordino.words import matches_fingerprint

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
        """Return what is recorded of it."""
        return {"when": when, "who": self.who, "why": self.why}


@final
@dataclass(frozen=True)
class FilesRead:
    """How many files were read, and when the newest of them was written."""

    count: int
    newest: datetime

    @property
    def fields(self) -> dict[str, Any]:
        """Return what is recorded of it."""
        return {"count": self.count, "newest": self.newest.isoformat()}


@final
@dataclass(frozen=True, kw_only=True)
class Claim:
    """A release that somebody wants to make: all of it is public.

    >>> from sordino.losses.base import PureDP
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

    @property
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
    """Refuse blocks that are no names."""
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
