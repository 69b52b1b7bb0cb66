"""Whatever a file says: a typed refusal at once, or exactly what it says. No more.

Who writes these files has made every hash anew. What a record must be is checked when
it is read, before anything is computed from it.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import sordino as sd
from sordino import errors
from sordino.ledger import file_format
from sordino.ledger.file_format import (
    BLOCK,
    Head,
    Header,
    Mark,
    Record,
    World,
    replace,
    seal,
)
from tests.batches import for_each, sampled
from tests.ledgers import claim

Body: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[int, Body], Any]
LIMIT = sd.ApproxDP(1, "1e-6")


@pytest.fixture(name="history")
def history_of_a_ledger(tmp_path: Path) -> list[tuple[Record, bytes]]:
    """Return the records of a ledger: its limits, a charge, an answer, a lease."""
    path = tmp_path / "model"
    with sd.Ledger.at(path, LIMIT, create=True) as ledger:
        ledger.store(ledger.reserve(claim("k")), b"x")
        ledger.reserve(claim("l"))
        ledger.reserve(claim("l"))
        return [(one, b"x" * (one.kind == "answered")) for one in ledger.records()]


def put(number: int, *where: str, value: Any) -> Change:
    """Return how to set one field of one record."""

    def change(own: int, body: Body) -> Body:
        inner = body
        if own == number:
            for name in where[:-1]:
                inner = inner[name]
            inner[where[-1]] = value
        return body

    return change


def instead(number: int, text: str) -> Change:
    return lambda own, body: text if own == number else body


def without(number: int, name: str) -> Change:

    def change(own: int, body: Body) -> Body:
        return {n: v for n, v in body.items() if own != number or n != name}

    return change


def forged(path: Path, history: list[tuple[Record, bytes]], change: Change) -> Path:
    """Write a ledger with a changed history and hashes that fit it."""
    contents, head = [], Head(0, "")
    for record, answer in history:
        said = change(record.number, json.loads(record.body))
        body = (
            said
            if isinstance(said, str)
            else json.dumps(said, sort_keys=True, separators=(",", ":"))
        )
        number, kind = record.number, record.kind
        own = seal(head.hash, number, kind, body)
        made = replace(record, body=body, previous=head.hash, hash=own)
        contents.append((made, answer))
        head = made.head
    assert file_format.create_file(path, World(), "ledger", contents)
    return path


SUM = (3, "spent", "dataset", "epsilon")
HOSTILE: dict[str, Change] = {
    "a negative sum": put(*SUM, value="-100/1"),
    "a sum over nothing": put(*SUM, value="1/0"),
    "no number": put(*SUM, value="nan"),
    "a sum of infinity": put(5, *SUM[1:], value="inf"),
    "an exponent": put(*SUM, value="1e9999999"),
    "a number that takes for ever": put(*SUM, value="1/" + "9" * 10**6),
    "a number that is no text": put(*SUM, value=0),
    "digits of another script": put(*SUM, value="\u0661/1"),
    "a number with a line": put(*SUM, value="1/10\n"),
    "no sums": put(3, "spent", value=None),
    "sums of nobody": put(3, "spent", value={}),
    "a coordinate less": put(5, "spent", "dataset", value={"epsilon": "1/10"}),
    "another coordinate": put(5, "spent", "dataset", value={"rho": "1/10"}),
    "sums of another budget": put(3, "spent", value={"x": {}, "dataset": {}}),
    "a list": instead(3, "[1]"),
    "null": instead(3, "null"),
    "a number": instead(3, "7"),
    "no JSON": instead(3, "{"),
    "a deep list": instead(3, '{"a":' + "[" * 99_999 + "]" * 99_999 + "}"),
    "a long number": instead(3, '{"a":' + "9" * 10**5 + "}"),
    "an unknown rule": put(2, "limit", "rule", value="free"),
    "a rule that is none": put(2, "limit", "rule", value=[]),
    "a limit over nothing": put(2, "limit", "limits", "epsilon", value="1/0"),
    "a limit of infinity": put(2, "limit", "limits", "epsilon", value="inf"),
    "a limit more": put(2, "limit", "limits", "foo", value="1/1"),
    "no limits": put(2, "limit", "limits", value={}),
    "a limit that is a list": put(2, "limit", value=[]),
    "a limit that says nothing": put(2, "limit", "stated", value=None),
    "a budget of another name": put(2, "budget", value="x"),
    "a budget that is a list": put(2, "budget", value=["dataset"]),
    "a day that is none": put(3, "when", value="yesterday"),
    "a day that is a number": put(3, "when", value=5),
    "a time of nowhere": put(3, "when", value="2026-11-22T00:00:00"),
    "a key that is a list": put(3, "key", value=["k"]),
    "a plan that is a number": put(3, "plan", value=5),
    "no plan": without(3, "plan"),
    "a loss that is unknown": put(3, "known", value=None),
    "tables that are a list": put(1, "about", value=[1]),
    "no identity": without(1, "identity"),
    "an identity that is none": put(1, "identity", value="clinic"),
    "a key that nobody has": put(1, "signed_by", value="ab" * 32),
    "a key that is none": put(1, "signed_by", value="x"),
    "another format": put(1, "format", value=99),
    "a format that is true": put(1, "format", value=True),
    "an answer of no charge": put(4, "charge", value="3"),
    "a hash that is a number": put(4, "sha256", value=5),
    "a size that is negative": put(4, "size", value=-1),
    "a lease of no charge": put(6, "charge", value=None),
}


@pytest.fixture(name="honest")
def time_of_honest_openings(tmp_path: Path, history: object) -> float:
    """Return what a hundred honest openings take."""
    assert history
    begun = time.process_time()
    for _ in range(100):
        sd.Ledger.at(tmp_path / "model").close()
    return time.process_time() - begun


@sampled(10)
@for_each("name", HOSTILE)
def test_a_hostile_record_is_refused_at_once(
    tmp_path: Path, history: list[tuple[Record, bytes]], honest: float, name: str
) -> None:
    """Opening refuses, in less time than a hundred honest openings take."""
    path = forged(tmp_path / "f", history, HOSTILE[name])
    begun = time.process_time()
    with pytest.raises(errors.LedgerDamaged):
        sd.Ledger.at(path)
    assert time.process_time() - begun < honest


ACTS: dict[str, Callable[[sd.Ledger], object]] = {
    "verify": sd.Ledger.verify,
    "entries": sd.Ledger.entries,
    "remaining": sd.Ledger.remaining,
    "spent": sd.Ledger.spent,
    "limits": sd.Ledger.limits,
    "charge": lambda ledger: ledger.reserve(claim(None)),
    "replay": lambda ledger: ledger.reserve(claim("k")),
}
WHOLE: dict[str, Change] = {
    "nothing": lambda _, body: body,
    "a lower charge": lambda number, body: put(
        3, "charges", "dataset", "epsilon", value="0/1"
    )(number, body),
    "another name of a charge": put(3, "budget", value="dataset"),
    "an older sum of infinity": put(*SUM, value="inf"),
    "an older sum of another limit": put(3, "spent", "dataset", value={"rho": "0/1"}),
    "an older charge of another limit": put(
        3, "charges", "dataset", value={"rho": "0/1"}
    ),
    "a later field": put(3, "mood", value="sunny"),
    "a charge that is an answer": put(4, "charge", value=1),
    "a lease of an answer": put(6, "charge", value=4),
    "a long-gone day": put(3, "when", value="0001-01-01T00:00:00+00:00"),
    "commands for terminals": put(3, "who", value="\x1b[2J\u202e"),
    "half a letter": put(3, "why", value="\ud800"),
}


@for_each("name", WHOLE)
@for_each("act", ACTS)
def test_what_has_its_form_does_no_harm(
    tmp_path: Path, history: list[tuple[Record, bytes]], name: str, act: str
) -> None:
    path = forged(tmp_path / "f", history, WHOLE[name])
    try:
        with sd.Ledger.at(path) as ledger:
            ACTS[act](ledger)
    except errors.SordinoError:
        assert name != "nothing"


@for_each("name", [name for name in WHOLE if "older" in name or "lower" in name])
def test_what_only_the_sums_show_is_found_by_verifying(
    tmp_path: Path, history: list[tuple[Record, bytes]], name: str
) -> None:
    """Charges and sums that do not fit each other, each of its right form."""
    path = forged(tmp_path / "f", history, WHOLE[name])
    with sd.Ledger.at(path) as ledger, pytest.raises(errors.LedgerDamaged):
        ledger.verify()


def test_a_line_without_end_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_format, "LONGEST", 2**21)
    path = tmp_path / "a"
    sd.Ledger.at(path, LIMIT, create=True).close()
    whole = path.read_bytes()
    size = len(whole) + 2 * file_format.LONGEST
    head = Record.read(whole.split(b"\n")[-2])
    assert head is not None
    with path.open("r+b") as file:
        file.truncate(size)  # zeros, which take no room on the disk
        file.seek(BLOCK)
        file.write(Mark(size, *head.head).block)
    with pytest.raises(errors.LedgerDamaged):
        sd.Ledger.at(path)


@for_each(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'{"application":"sordino"}',
        b'{"application":"sordino","role":"ledger","format":2,"begins":-4096}',
        b'{"application":"sordino","role":"ledger","format":2,"begins":"4096"}',
        b'{"application":"sordino","role":"ledger","format":2,"begins":4096.5}',
        b'{"application":"sordino","role":"ledger","format":true,"begins":4096}',
        b'{"application":"sordino","role":[],"format":2,"begins":4096}',
        b'{"application":"sordino","role":"ledger","format":2,"begins":4096,"x":1}',
        b'{"application":"other","role":"ledger","format":2,"begins":4096}',
        b"[" * 400,
        b"\xff\xfe",
    ],
)
def test_a_hostile_header_is_no_ledger(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "a"
    sd.Ledger.at(path, LIMIT, create=True).close()
    whole = path.read_bytes()
    path.write_bytes((header + b"\n").ljust(BLOCK) + whole[BLOCK:])
    before = path.read_bytes()
    with pytest.raises(errors.InvalidParameter, match="ledger must be a ledger"):
        sd.Ledger.at(path)
    assert path.read_bytes() == before


@for_each(
    "mark",
    [
        {"end": "x", "number": 2, "hash": ""},
        {"end": 10**30, "number": 2, "hash": ""},
        {"end": 12288, "number": -5, "hash": ""},
        {"end": 0, "number": 10**30, "hash": ""},
        {"end": True, "number": [], "hash": {}},
    ],
)
def test_a_hostile_mark_is_refused(tmp_path: Path, mark: dict[str, Any]) -> None:
    path = tmp_path / "a"
    sd.Ledger.at(path, LIMIT, create=True).close()
    whole = path.read_bytes()
    block = Mark(**mark).block
    path.write_bytes(whole[:BLOCK] + block + block + whole[3 * BLOCK :])
    with pytest.raises(errors.LedgerDamaged):
        sd.Ledger.at(path)


@for_each("begins", [8192, 10**12, 4097, 2**62])
def test_lines_that_begin_elsewhere_are_refused(tmp_path: Path, begins: int) -> None:
    path = tmp_path / "a"
    sd.Ledger.at(path, LIMIT, create=True).close()
    whole = path.read_bytes()
    path.write_bytes(Header("ledger", 2, begins).block + whole[BLOCK:])
    with pytest.raises((errors.LedgerDamaged, errors.LedgerUnavailable)):
        sd.Ledger.at(path)


def test_devices_and_other_things_are_no_ledgers(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("loop", "device", "."):
        for create in (False, True):
            with pytest.raises(errors.InvalidParameter, match="ledger"):
                sd.Ledger.at(tmp_path / name, LIMIT, create=create)
    with pytest.raises(errors.InvalidParameter, match="must exist"):
        sd.Ledger.at(tmp_path / "nowhere")
