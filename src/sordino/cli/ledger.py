"""What `sordino ledger` shows: a ledger, its wholeness, its lines. Nothing changes."""

import argparse
import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from sordino.budgets.touched import blocks_text
from sordino.cli.ledger_blocks import block_facts, show_blocks
from sordino.cli.terminal import say, text_table, write, write_object
from sordino.errors import InvalidParameter
from sordino.ledger.entries import DATASET, Entry
from sordino.ledger.export import json_lines
from sordino.ledger.ledger import Ledger
from sordino.ledger.registry import registry_yaml
from sordino.losses.headline import headline

_OF_BLOCKS: Final = (", of each block", ", at most", ", in every block")
"""What limit, spent and left are of, where blocks are charged."""
_CHECKED: Final = """\
Checked: every record's hash and what it follows; every sum of charges, added
up anew, against its limit; that keys and answers are used once; every answer
that is kept against its hash."""


def show_ledger(arguments: argparse.Namespace) -> None:
    """Show the budgets of a ledger and its last releases."""
    if arguments.json:
        _write_facts(arguments)
        return
    with read_ledger(arguments) as ledger:
        facts = [("ledger", str(arguments.path)), ("for", ledger.about)]
        policy = ledger.policy()
        if policy is not None:
            facts.append(("obeys", f"serial {policy.rules.serial}, {policy.sha256}"))
        text_table(facts)
        for name, limit in ledger.limits().items():
            write()
            by_block = ledger.division is not None and name == DATASET
            notes = _OF_BLOCKS if by_block else ("", "", "")
            rows = [
                (name, "limit", limit.stated + notes[0]),
                ("", "spent", repr(ledger.spent(name)) + notes[1]),
                ("", "left", repr(ledger.remaining(name)) + notes[2]),
            ]
            text_table(rows)
        if ledger.division is not None:
            show_blocks(ledger)
        entries, aside = ledger.entries(), ledger.earmarks()
    if aside:
        write()
        rows = [
            (earmark.name, earmark.budget, f"{earmark.left!r} of {earmark.asked}")
            for earmark in aside
        ]
        text_table([("set aside", "of", "left"), *rows])
    last = entries[max(len(entries) - arguments.last, 0) :]
    write()
    write(f"{_count_text(len(entries), 'release')}, {len(last)} shown")
    for entry in last:
        text_table(_release(entry))


def _write_facts(arguments: argparse.Namespace) -> None:
    """Write the same as JSON."""
    with read_ledger(arguments) as ledger:
        budgets = {
            name: {
                "limit": limit.stated,
                "spent": headline(ledger.spent(name)),
                "left": headline(ledger.remaining(name)),
            }
            for name, limit in ledger.limits().items()
        }
        facts = {"for": ledger.about, "budgets": budgets} | block_facts(ledger)
        entries = ledger.entries()
    last = entries[max(len(entries) - arguments.last, 0) :]
    write_object("ledger", facts | {"releases": _facts_of(last)})


def show_history(arguments: argparse.Namespace) -> None:
    """Show all releases, or as much of them as an analyst may see."""
    with read_ledger(arguments) as ledger:
        entries = ledger.history(arguments.analyst)
    if arguments.json:
        facts = {"analyst": arguments.analyst, "releases": _facts_of(entries)}
        write_object("history", facts)
        return
    write(_count_text(len(entries), "release"))
    for entry in entries:
        text_table(_release(entry))


def _facts_of(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return what is said of releases as JSON."""
    return [
        {
            "record": entry.number,
            "when": entry.when.isoformat(),
            "key": entry.key,
            "budget": entry.budget,
            "blocks": list(entry.blocks),
            "asked": entry.asked,
            "answered": entry.answered,
        }
        for entry in entries
    ]


def verify_ledger(arguments: argparse.Namespace) -> None:
    """Hold every record and every answer of a ledger against what it follows from."""
    with read_ledger(arguments) as ledger:
        verdict = ledger.verify()
    if arguments.json:
        write_object("verified", asdict(verdict))
        return
    counts = ", ".join([
        _count_text(verdict.records, "record"),
        _count_text(verdict.releases, "release"),
        _count_text(verdict.answers, "answer"),
    ])
    say(f"{arguments.path} is what was written: {counts}.")
    write(_CHECKED)
    write("Newest record, to be written down elsewhere:")
    write(verdict.head)


def export_ledger(arguments: argparse.Namespace) -> None:
    """Write a ledger as lines of JSON, or as an entry of the public registry."""
    answers = {} if arguments.answers is None else _answers(arguments.answers)
    with read_ledger(arguments) as ledger:
        if arguments.format == "jsonl":
            lines = list(json_lines(ledger))
        else:
            lines = registry_yaml(ledger, answers, draft=arguments.draft).splitlines()
    for line in lines:
        write(line)


def _answers(path: Path) -> dict[str, Any]:
    """Return what a person answered: `[basic] name = ...` is the field basic/name."""
    try:
        read = tomllib.loads(path.read_text("utf-8"))
        return {
            f"{section}/{name}": value
            for section, fields in read.items()
            for name, value in fields.items()
        }
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError):
        raise InvalidParameter(
            "answers",
            str(path),
            "must be a TOML file with sections",
            'Try [basic] and, below it, name = "Ward activity".',
        ) from None


def _release(entry: Entry) -> list[tuple[str, ...]]:
    """Return the lines of one release."""
    facts = [
        f"{entry.when:%Y-%m-%d %H:%M %Z}",
        f"by {entry.who}" if entry.who else "",
        "" if entry.key is None else f"key {entry.key}",
        "" if entry.budget == DATASET else f"budget {entry.budget}",
        f"of {blocks_text(entry.blocks)}" if entry.blocks else "",
        "answered" if entry.answered else "not answered",
    ]
    lines: list[tuple[str, ...]] = [
        (str(entry.number), "when", ", ".join(fact for fact in facts if fact)),
        ("", "asked", entry.asked),
        ("", "loss", entry.loss),
    ]
    lines += [("", "policy", entry.policy)] if entry.policy else []
    return lines + ([("", "why", entry.why)] if entry.why else [])


def open_ledger(arguments: argparse.Namespace, signer: Any = None) -> Ledger:
    """Return the ledger at a path, to be changed."""
    _refuse_missing(arguments.path)
    return Ledger.at(
        arguments.path,
        witness=arguments.witness,
        signer=signer,
        only_writer=vars(arguments).get("only_writer", False),
    )


def read_ledger(arguments: argparse.Namespace) -> Ledger:
    """Return the ledger at a path, or a backup, to be looked at."""
    _refuse_missing(arguments.path)
    return Ledger.read(arguments.path, witness=arguments.witness)


def _refuse_missing(path: Path) -> None:
    """Refuse a path at which there is no file."""
    if not path.is_file():
        raise InvalidParameter(
            "PATH", str(path), "must be a file", "Name the file of a ledger."
        )


def _count_text(count: int, what: str) -> str:
    """Return how many there are.

    >>> _count_text(1, "release"), _count_text(0, "release")
    ('1 release', '0 releases')
    """
    return f"{count:,} {what}" + ("" if count == 1 else "s")
