"""Whether a ledger is what was written, and each charge what its certificate proves.

Every charge is derived anew by the kernel, before it is written and when it is
verified; the kernel shares no code with what found the price
(docs/proofs/certificates.md).

Whether a charge is no less than what it says was asked and is known of its loss.

>>> from sordino.losses.budgets.filters import PureSum
>>> fields = {"asked": "PureDP(epsilon=1/4)", "known": {
...     "epsilon": "1/4", "delta": "0/1", "rho": "1/32", "mu": "sqrt(1/16)"}}
>>> [pays_what_it_says(fields, [(PureSum(Fraction(1)), Charge.read({"epsilon": paid}))])
...     for paid in ("1/4", "1/5")]
[True, False]

Kernel: charge.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from sordino import kernel
from sordino.errors import InvalidParameter, ProofRefused
from sordino.ledger.blocks import (
    BlockWalk,
    places_of,
    spent_at_most,
    spread_runs,
    sums_of_blocks,
)
from sordino.ledger.earmarks import is_below
from sordino.ledger.file_format import Record, hash_bytes
from sordino.ledger.log import Log
from sordino.ledger.policy_enforcement import PolicyWalk
from sordino.ledger.record_kinds import DATASET, certificates, proof_text
from sordino.losses.budgets.charge import Amount, Charge
from sordino.losses.budgets.filters import AbstractFilter
from sordino.losses.budgets.limits import Limit
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.guarantees import Guarantees
from sordino.losses.loss import Loss, PureDP
from sordino.numbers import INFINITE, Exact, Extended, sqrt
from sordino.numbers.canonical import matches_fingerprint

Rules: TypeAlias = Iterable[tuple[AbstractFilter, Charge]]
"""Filters, and what was charged by each."""
_LOSSES: Final[dict[str, Callable[..., Loss]]] = {
    kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, ApproxZCDP, GaussianDP)
}
"""Budgets that a filter may charge as they were asked for."""
_ROOT: Final = "sqrt("
_NUMBER: Final = re.compile(r"((?:sqrt\(){0,9})([0-9]+(?:/[1-9][0-9]*)?)(\){0,9})")
_ASKED: Final = re.compile(r"([A-Za-z]+)\((.*)\)")
_ROUNDED: Final = 1 - Fraction(1, 2**40)
"""Roots and what is implied were rounded up, by other versions a little differently."""


def pays_what_it_says(fields: dict[str, Any], rules: Rules) -> bool:
    """Say whether each amount is at least what the rule of its limit asks for.

    For any charge: what is recomputed is the charge of the guarantees that stand in
    the record. Whether the release really has these guarantees is not seen here. A
    budget that is no loss, or one put together, is taken for its guarantees alone.
    """
    try:
        numbers: Any = {name: _number(text) for name, text in fields["known"].items()}
        known = Guarantees(**numbers)
        budget = _budget(fields["asked"])
    except (ArithmeticError, InvalidParameter, TypeError, ValueError):
        return False
    return all(_is_enough(rule, paid, (budget, known)) for rule, paid in rules)


def _is_enough(
    rule: AbstractFilter, paid: Charge, stated: tuple[Loss | None, Guarantees]
) -> bool:
    """Say whether a charge is at least that of a budget and of guarantees."""
    budget, known = stated
    due = rule.charge_within(budget, known)
    if due is None:  # of a budget that cannot be read back
        return budget is None
    return all(map(_reaches, paid.amounts, due.amounts))


def _reaches(paid: Amount, due: Amount) -> bool:
    """Say whether an amount is another, but for what rounding may differ."""
    if paid is INFINITE or due is INFINITE:
        return paid is INFINITE  # an infinite price is met by an infinite charge alone
    return paid >= due * _ROUNDED


def _budget(text: str) -> Loss | None:
    """Return the loss that was asked for, None where it was something else."""
    match = _ASKED.fullmatch(text)
    if match is None or match[1] not in _LOSSES:
        return None
    pairs = (part.partition("=") for part in match[2].split(", "))
    return _LOSSES[match[1]](**{name: _number(number) for name, _, number in pairs})


def _number(text: str) -> Extended:
    """Return a number as it was written: a rational, roots of one, or infinity."""
    if text == "inf":
        return INFINITE
    match = _NUMBER.fullmatch(text)
    if match is None or len(match[1]) // len(_ROOT) != len(match[3]):
        raise ValueError("no number is written so")
    value: Exact = Fraction(match[2])
    for _ in match[3]:
        value = sqrt(value)
    return value


def refuse_unproved(
    log: Log, fields: Mapping[str, Any], blocks: tuple[str, ...]
) -> None:
    """Refuse a charge that is less than what the kernel derives, before it is written.

    What is written down of each sum is checked as well, by what stood there before.
    """
    for text in certificates(fields):
        try:
            kernel.check(text)
        except kernel.Refused as refusal:
            why = str(refusal)
        else:
            continue
        raise ProofRefused(why, text)
    try:
        for record in _sums(log, fields, blocks):
            kernel.check_sums(record)
    except kernel.Refused as refusal:
        why = str(refusal)
    else:
        return
    raise ProofRefused(why, proof_text(fields))


def _sums(
    log: Log, fields: Mapping[str, Any], blocks: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield each charge with the sums before it and after it."""
    for name, charge in fields["charges"].items():
        limit = log.chargeable(name)
        if name == DATASET and "limit" in fields:
            limit = Limit.read(fields["limit"])
        before = log.sum_of_charges(name, limit).texts()
        yield {
            "charge": charge,
            "before": {name: before},
            "after": {name: fields["spent"][name]},
            "runs": [],
        }
    if blocks:
        limit = log.chargeable(DATASET)
        places = places_of(log, blocks)
        sums = sums_of_blocks(log, limit, places)
        yield {
            "charge": fields["each"],
            "before": {str(place): charge.texts() for place, charge in sums.items()},
            "after": {},
            "runs": fields["blocks"],
        }


def is_proved(fields: Mapping[str, Any], names: tuple[str, ...]) -> bool:
    """Say whether a recorded charge is what its certificate bears out.

    `names` are the blocks of the ledger, in the order of opening: those that the
    certificate says are charged are those that the record charges.
    """
    try:
        for text in certificates(fields):
            kernel.check(text)
    except kernel.Refused:
        return False
    blocks = fields["proof"].get("blocks")
    runs = spread_runs(fields.get("blocks") or ())
    charged = {names[place] for place, _ in runs}
    return charged == (set() if blocks is None else set(blocks["charged"]))


FORMATS: Final = (1, 2)
"""Of the first record: a ledger that was migrated keeps it."""


@final
@dataclass(frozen=True)
class Verified:
    """What was found to be whole."""

    records: int
    releases: int
    answers: int
    proved: int
    """Charges whose certificate the kernel accepts."""
    unproved: int
    """Charges without one: of earlier versions, or of other libraries' code."""
    head: str
    """The hash of the newest record: written down elsewhere, it proves them all."""
    signed_by: str
    """The public key in hexadecimal digits, to be compared with one that is known."""


def refuse_overspent(log: Log) -> None:
    """Refuse a ledger without a limit, and one that was charged more than its limit."""
    if log.first_record().fields["format"] not in FORMATS:
        raise log.damage("its first record is of another format")
    if log.limit(DATASET) is None:
        raise log.damage("it records no limit")
    for name, limit in log.limits().items():
        # added up anew from every charge: the sums in the records are not believed
        if not limit.rule.holds(spent_at_most(log, name, limit)):
            raise log.damage(f"more than the limit of {name!r} was charged")


def verify(log: Log) -> Verified:
    """Hold every record and every answer against what it follows from."""
    refuse_overspent(log)
    log.store.verify()
    walk = _Walk(log)
    for record in log.records():
        # each, not only the newest: a forged one in between would carry a right hash
        log.refuse_unsigned(record)
        walk.check(record)
    return Verified(
        records=log.head.number,
        releases=len(walk.charged),
        answers=len(walk.answered),
        proved=walk.proved,
        unproved=len(walk.charged) - walk.proved,
        head=log.head.hash,
        signed_by=log.seals.public,
    )


@final
class _Walk:
    """What was seen so far on the way through the records."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.limits: dict[str, Limit] = {}
        self.sums: dict[str, Charge] = {}
        self.charged: set[int] = set()
        self.keys: set[str] = set()
        self.keyed: set[int] = set()
        self.leased: set[int] = set()
        self.answered: set[int] = set()
        self.witnessed = 0
        self.closed: set[str] = set()
        self.marks: dict[str, tuple[str, dict[str, Charge]]] = {}
        """What is set aside: the budget it came from, and what is left of each part."""
        self.marked: set[str] = set()
        self.described: set[str] = set()
        self.proved = 0
        self.policy = PolicyWalk(log)
        self.blocks = BlockWalk(log)

    def move(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say that a move changes nothing of what holds."""
        del record, fields
        return True

    def check(self, record: Record) -> None:
        """Check one record by its kind."""
        if not _CHECKS[record.kind](self, record, record.fields):
            raise self.log.damage(
                f"record {record.number} does not follow from those before it"
            )

    def beginning(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether this is the first."""
        return record.number == 1 and fields["format"] in FORMATS

    def budget(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the name is new; the dataset's is the first one."""
        del record
        name = fields["budget"]
        fresh = name not in self.limits and (name == DATASET) == (not self.limits)
        self.limits[name] = Limit.read(fields["limit"])
        self.sums[name] = self.limits[name].rule.zero
        return fresh

    def charge(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the sums are those of the charges, and within the limits."""
        key = fields.get("key")
        if fields.get("limit") is not None and not self._recounts(fields):
            return False
        known = {DATASET, *fields["charges"]} <= set(self.limits)
        # a key charged twice would have two answers
        sound = known and key not in self.keys
        sound = sound and _says_what_it_was(fields)
        sound = sound and pays_what_it_says(fields, self._rules(fields))
        sound = sound and fields.get("job") in {None, *self.described}
        for name in fields["charges"] if sound else ():
            limit = self.limits[name]
            after = self.sums[name].plus(
                self.log.read_charge(limit, fields["charges"][name])
            )
            recorded = self.log.read_charge(limit, fields["spent"][name])
            # the next charge believes this sum: it has to be that of all before it
            sound = sound and recorded == after and limit.rule.holds(after)
            self.sums[name] = after
        sound = sound and self.closed.isdisjoint({DATASET, *fields["charges"]})
        sound = sound and self.blocks.charge(fields, self.limits[DATASET])
        sound = sound and self._spends(fields) and self.fits()
        sound = sound and self.policy.charge(fields)
        if sound and fields.get("proof") is not None:
            sound = is_proved(fields, tuple(self.blocks.places))
            self.proved += 1
        self.charged.add(record.number)
        self.keys |= {key} if key is not None else set()
        self.keyed |= {record.number} if key is not None else set()
        return sound

    def _recounts(self, fields: dict[str, Any]) -> bool:
        """Say whether nothing was charged or set aside before, and no more is allowed.

        Later, what was answered could choose the counting that serves it.
        """
        chosen, limit = Limit.read(fields["limit"]), self.limits.get(DATASET)
        divided = self.blocks.division is not None
        if limit is None or self.charged or self.marked or divided:
            return False
        self.limits[DATASET], self.sums[DATASET] = chosen, chosen.rule.zero
        return limit.becomes(chosen)

    def lower_limit(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a limit became lower, and no lower than what it has to hold."""
        del record
        name, lower = fields["budget"], Limit.read(fields["limit"])
        sound = name in self.limits and name not in self.closed
        # a limit that rises would allow what was never agreed to
        sound = sound and is_below(lower, self.limits[name])
        if sound:
            self.limits[name] = lower
        # of blocks `refuse_overspent` says it: their sums grow, and limits only fall
        return sound and self.fits()

    def division(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether blocks were made where they can be."""
        return self.blocks.divide(record, fields)

    def open_blocks(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether blocks were opened that follow from those before."""
        del record
        still = DATASET in self.limits and DATASET not in self.closed
        return still and self.blocks.open_blocks(fields, self.limits[DATASET])

    def closure(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a budget was closed for the first time."""
        del record
        name = fields["budget"]
        fresh = name in self.limits and name not in self.closed
        self.closed.add(name)
        return fresh

    def earmark(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a new part of open budgets was set aside, and fits."""
        del record
        name, rests = fields["earmark"], fields["rest"]
        open_ = set(rests) <= set(self.limits) and self.closed.isdisjoint(rests)
        open_ = open_ and self.blocks.division is None
        if not open_ or name in self.marked or fields["open"] != [*self.marks, name]:
            return False
        left = {
            budget_name: self._read_charge(budget_name, rests) for budget_name in rests
        }
        self.marks[name] = (fields["budget"], left)
        self.marked.add(name)
        return self.fits()

    def free(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether something that was set aside was given back."""
        del record
        was_open = self.marks.pop(fields["earmark"], None) is not None
        return was_open and fields["open"] == list(self.marks)

    def fits(self) -> bool:
        """Say whether each limit holds what was charged and what is set aside."""
        return all(
            limit.rule.holds(self._total(name)) for name, limit in self.limits.items()
        )

    def _total(self, name: str) -> "Charge":
        total = self.sums[name]
        for budget, left in self.marks.values():
            if budget not in self.closed and name in left:
                total = total.plus(left[name])
        return total

    def _spends(self, fields: dict[str, Any]) -> bool:
        """Say whether a charge spends no more than what was set aside for it."""
        name = fields.get("earmark")
        if name is None:
            return True
        budget, left = self.marks.get(name, ("", {}))
        if budget != fields["budget"]:
            return False
        for budget_name, texts in fields["charges"].items():
            rest = self._read_charge(budget_name, fields["rest"])
            spent = rest.plus(self.log.read_charge(self.limits[budget_name], texts))
            pairs = zip(spent.amounts, left[budget_name].amounts, strict=True)
            # what is left of an earmark never grows again
            if any(after > before for after, before in pairs):
                return False
            left[budget_name] = rest
        return True

    def _rules(self, fields: dict[str, Any]) -> Rules:
        """Return by what rule each amount of a charge was counted, and the amount."""
        charges = fields["charges"] | (
            {} if fields.get("each") is None else {DATASET: fields["each"]}
        )
        return [
            (self.limits[name].rule, self.log.read_charge(self.limits[name], texts))
            for name, texts in charges.items()
        ]

    def _read_charge(self, name: str, texts: dict[str, Any]) -> "Charge":
        return self.log.read_charge(self.limits[name], texts[name])

    def lease(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge without an answer is leased for the first time."""
        del record
        charge = fields["charge"]
        # a lease after the answer would be a second drawing
        waiting = charge in self.charged and charge not in self.answered
        fresh = charge not in self.leased
        self.leased.add(charge)
        return waiting and fresh

    def answer(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a charge is answered for the first time, with these bytes."""
        charge = fields["charge"]
        fresh = charge in self.charged and charge not in self.answered
        self.answered.add(charge)
        stored = self.log.store.answer(record.number)
        keyed = charge in self.keyed
        if not stored and (not keyed or self.log.is_left_behind(record.number)):
            return fresh
        # other bytes under a charge were never drawn for it
        whole = (len(stored), hash_bytes(stored)) == (fields["size"], fields["sha256"])
        return fresh and whole

    def description(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a new text has the hash that charges name it by."""
        del record
        sha256 = fields["sha256"]
        fresh = sha256 not in self.described
        self.described.add(sha256)
        return fresh and hash_bytes(fields["text"].encode()) == sha256

    def adoption(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a policy was adopted that may follow the one before it."""
        return self.policy.adoption(record, fields)

    def publication(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a file was made of an answer that was paid for."""
        del record
        return fields["charge"] in self.charged

    def witness(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether the ledger has a witness for the first time."""
        del record, fields
        self.witnessed += 1
        return self.witnessed == 1

    def restoration(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether a backup that was there before was restored, by a witness."""
        return fields["after"] < record.number and self.witnessed == 1


def _says_what_it_was(fields: dict[str, Any]) -> bool:
    """Say whether the words of a charge are those of its fingerprint, if it has any."""
    words = fields.get("words")
    written = json.dumps(
        words, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return words is None or matches_fingerprint(written, fields["request"])


_CHECKS: Final[dict[str, Callable[[_Walk, Record, dict[str, Any]], bool]]] = {
    "opened": _Walk.beginning,
    "budget": _Walk.budget,
    "charged": _Walk.charge,
    "divided": _Walk.division,
    "block": _Walk.open_blocks,
    "lowered": _Walk.lower_limit,
    "closed": _Walk.closure,
    "earmarked": _Walk.earmark,
    "freed": _Walk.free,
    "leased": _Walk.lease,
    "answered": _Walk.answer,
    "described": _Walk.description,
    "published": _Walk.publication,
    "adopted": _Walk.adoption,
    "witnessed": _Walk.witness,
    "moved": _Walk.move,
    "restored": _Walk.restoration,
}
