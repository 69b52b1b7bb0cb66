"""The kinds of records: what must be in them, and what they are looked up by.

What a file says is believed no further than this. To add a kind: one entry in `KINDS`,
and one in `verifying.py` that says what must have happened before it.

>>> KINDS["leased"].subjects({"charge": 3})
('lease 3',)
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final, TypeAlias, final

from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import MOST, Blocks, is_block_name
from sordino.errors import InvalidParameter
from sordino.ledger.entries import DATASET
from sordino.ledger.records import Record, hash_bytes
from sordino.policy.loss_rules import COORDINATES

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
    """Say whether a record of a known kind says what such a record must say.

    A `RecursionError` goes through: it tells of the caller's stack, not of the record.
    """
    kind = KINDS[record.kind]
    try:
        fields: Any = record.fields
        return (
            isinstance(fields, dict)
            and all(check(fields.get(name)) for name, check in kind.shape.items())
            and kind.sound(fields)
        )
    except (ValueError, OverflowError):  # of times that no calendar of UTC has
        return False


def subjects(record: Record) -> tuple[str, ...]:
    """Return what a sound record is looked up by."""
    return KINDS[record.kind].subjects(record.fields)


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


def is_hexadecimal(value: Any) -> bool:
    """Say whether these are hexadecimal digits, as of a hash."""
    return is_text(value) and _HEXADECIMAL.fullmatch(value) is not None


def optional(check: Check) -> Check:
    """Return the same check, which also lets None pass."""
    return lambda value: value is None or check(value)


def _amount(value: Any) -> bool:
    """Say whether this is an amount."""
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
    """Say whether blocks can be read."""
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
    "restored": Kind({"after": is_count, "when": is_time}),
}
"""Every kind, by name."""
