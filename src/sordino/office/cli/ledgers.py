"""Commands on a ledger, and what they print of it.

Nothing is charged, no limit is raised, and a budget that was closed stays closed.

>>> [command.name for command in LEDGER_COMMANDS][:6]
['show', 'history', 'verify', 'head', 'heads', 'answer']
"""

import json
import tomllib
from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise, starmap
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sordino.errors import InvalidJob, InvalidParameter
from sordino.expressions.schema import unknown
from sordino.ledger.blocks import (
    BLOCK_HEADING,
    PERSON_HEADING,
    Exposure,
    block_rows,
    exposure_rows,
    in_a_row,
    sum_text,
    worst_exposures,
)
from sordino.ledger.copies import json_lines, registry_yaml
from sordino.ledger.heads import (
    PublishedHead,
    gap_between,
    make_head,
    read_json_file,
)
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import DATASET, Entry
from sordino.losses.budgets.blocks import blocks_text
from sordino.losses.budgets.limits import Limit
from sordino.losses.loss import Budget, headline
from sordino.numbers.formatting import format_amounts
from sordino.office.cli.main import (
    JSON,
    REFUSED,
    Command,
    flag,
    ledger_place,
    option,
    say,
    text_table,
    word_option,
    write,
    write_object,
)
from sordino.office.cli.risk import BUDGET, given_budget, odds, odds_sentence
from sordino.release.storage import write_text

_SHOWN: Final = 36


def _show_blocks(ledger: Ledger) -> None:
    blocks = ledger.blocks()
    exposures = worst_exposures(ledger.division, ledger.exposure)
    write()
    shown = blocks[-_SHOWN:]
    text_table([BLOCK_HEADING, *block_rows(shown)])
    if len(shown) < len(blocks):
        say(f"... and {len(blocks) - len(shown):,} before them (--json lists all)")
    write()
    text_table([PERSON_HEADING, *exposure_rows(exposures, blocks)])
    size, longest = exposures[-1]
    say(f"In {in_a_row(size)} at most, ever: {odds_sentence(longest.promise)}")


def longest_exposure(ledger: Ledger) -> dict[str, Any]:
    """Largest loss of a person over a year of blocks, for JSON."""
    return _exposure_facts(*worst_exposures(ledger.division, ledger.exposure)[-1])


def _exposure_facts(size: int, exposure: Exposure) -> dict[str, Any]:
    return {
        "blocks": size,
        "worst": list(exposure.blocks),
        "charged": sum_text(exposure.charged),
        "most": headline(exposure.promise),
        "odds": odds(exposure.promise),
    }


_OF_BLOCKS: Final = (", of each block", ", at most", ", in every block")
"""What limit, spent and left are of, where blocks are charged."""
_CHECKED: Final = """\
Checked: every record's hash and what it follows; every sum of charges, added
up anew, against its limit; that keys and answers are used once; every answer
that is kept against its hash."""


def _show_ledger(arguments: Namespace) -> None:
    if arguments.json:
        _write_facts(arguments)
        return
    with read_ledger(arguments) as ledger:
        facts = [("ledger", shown_place(arguments, ledger)), ("for", ledger.about)]
        policy = ledger.policy()
        if policy is not None:
            facts.append(("obeys", f"serial {policy.rules.serial}, {policy.sha256}"))
        text_table(facts)
        for name, limit in ledger.limits().items():
            write()
            by_block = ledger.division is not None and name == DATASET
            notes = _OF_BLOCKS if by_block else ("", "", "")
            rows = [
                (name, "limit", _limit_words(limit.stated) + notes[0]),
                ("", "spent", headline(ledger.spent(name)) + notes[1]),
                ("", "left", headline(ledger.remaining(name)) + notes[2]),
            ]
            text_table(rows)
        if ledger.division is not None:
            _show_blocks(ledger)
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


def _limit_words(stated: str) -> str:
    """A limit as it is read: epsilon = 2, counted as asked."""
    budget, mark, counted = stated.partition(")")
    return format_amounts(budget + mark) + counted


def _write_facts(arguments: Namespace) -> None:
    with read_ledger(arguments) as ledger:
        budgets = {
            name: {
                "limit": limit.stated,
                "spent": headline(ledger.spent(name)),
                "left": headline(ledger.remaining(name)),
            }
            for name, limit in ledger.limits().items()
        }
        blocks = [
            {
                "name": block.name,
                "opened": block.opened.isoformat(),
                "limit": headline(block.limit),
                "spent": sum_text(block.spent),
                "left": sum_text(block.remaining),
            }
            for block in ledger.blocks()
        ]
        exposures = worst_exposures(ledger.division, ledger.exposure)
        persons = list(starmap(_exposure_facts, exposures))
        facts: dict[str, Any] = {"for": ledger.about, "budgets": budgets}
        facts |= {"blocks": blocks, "persons": persons}
        entries = ledger.entries()
    last = entries[max(len(entries) - arguments.last, 0) :]
    write_object("ledger", facts | {"releases": _facts_of(last)})


def _show_history(arguments: Namespace) -> None:
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


def verify_ledger(arguments: Namespace) -> None:
    """Print that a ledger is what was written, and how many charges are proved."""
    with read_ledger(arguments) as ledger:
        verdict, place = ledger.verify(), shown_place(arguments, ledger)
    if arguments.json:
        write_object("verified", asdict(verdict))
        return
    counts = ", ".join([
        _count_text(verdict.records, "record"),
        _count_text(verdict.releases, "release"),
        _count_text(verdict.answers, "answer"),
    ])
    say(f"{place} is what was written: {counts}.")
    write(_proof_text(verdict.proved, verdict.unproved))
    write(_CHECKED)
    write("Newest record, to be written down elsewhere:")
    write(verdict.head)


def _proof_text(proved: int, unproved: int) -> str:
    """Return how many charges are no less than the kernel derives."""
    proofs = f"{proved} of {proved + unproved} charges are proved anew by the kernel"
    if not unproved:
        return f"{proofs}."
    return f"{proofs}; the others have no certificate: of earlier versions, or by hand."


def _export_ledger(arguments: Namespace) -> None:
    answers = {} if arguments.answers is None else _answers(arguments.answers)
    with read_ledger(arguments) as ledger:
        if arguments.format == "jsonl":
            lines = list(json_lines(ledger))
        else:
            lines = registry_yaml(ledger, answers, draft=arguments.draft).splitlines()
    for line in lines:
        write(line)


def _answers(path: Path) -> dict[str, Any]:
    """Answers of a person: `[basic] name = ...` is the field basic/name."""
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
        ("", "asked", format_amounts(entry.asked)),
        ("", "loss", entry.loss),
    ]
    lines += [("", "policy", entry.policy)] if entry.policy else []
    return lines + ([("", "why", entry.why)] if entry.why else [])


def open_ledger(arguments: Namespace) -> Ledger:
    """Open the ledger at a path to change it, signed by the key that is named."""
    signer = read_signer(arguments.signer)
    _refuse_missing(arguments.path)
    return Ledger.at(
        arguments.path,
        witness=arguments.witness,
        signer=signer,
        only_writer=arguments.only_writer,
    )


def read_ledger(arguments: Namespace) -> Ledger:
    """Open the ledger at a path, or a backup, to look at it."""
    _refuse_missing(arguments.path)
    return Ledger.read(arguments.path, witness=arguments.witness)


def shown_place(arguments: Namespace, ledger: Ledger) -> str:
    """Name of a ledger as it was given; of an address without its password."""
    path = arguments.path
    return str(path) if isinstance(path, Path) else ledger.place


def _refuse_missing(path: Path | str) -> None:
    if isinstance(path, Path) and not path.is_file():
        raise InvalidParameter(
            "PATH", str(path), "must be a file", "Name the file of a ledger."
        )


def _count_text(count: int, what: str) -> str:
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def read_signer(path: Path | None) -> Any:
    """Read the private key in a PEM file, if one is named."""
    if path is None:
        return None
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, TypeError, ValueError, UnsupportedAlgorithm):
        key = None
    if isinstance(key, Ed25519PrivateKey):
        return key
    raise InvalidParameter(
        "--signer",
        str(path),
        "must be a PEM file with an Ed25519 key, and no password",
        "Name the file of the private key; `sordino policy key` makes one.",
    )


def _show_head(arguments: Namespace) -> None:
    """Print the head of a ledger, or write it; signed, if the ledger is."""
    since = None if arguments.since is None else _read_head(arguments.since)
    signer = read_signer(arguments.sign)
    with read_ledger(arguments) as ledger:
        head = ledger.look(lambda log: make_head(log, signer, since))
        place = shown_place(arguments, ledger)
    if arguments.out is not None:
        if head.signed_by and not head.signature:
            raise InvalidParameter(
                "--sign", None, "must be given: this ledger is signed", "Name its key."
            )
        write_text(arguments.out, json.dumps(head.fields, indent=1) + "\n")
    if arguments.json:
        write(json.dumps(head.fields))
        return
    say(f"The head of {place}, of {_count_text(head.number, 'record')}, is:")
    write(head.digest)


def _compare_heads(arguments: Namespace) -> int:
    """Print whether each head follows the one before it; return 1 if one does not."""
    heads = [(path.name, _read_head(path)) for path in arguments.heads]
    for (first, earlier), (second, later) in pairwise(heads):
        gap = gap_between(earlier, later)
        if gap:
            say(f"{second} does not follow {first}: it {gap}.")
            return REFUSED
    last, head = heads[-1]
    signed = f"signed by {head.signed_by}" if head.signed_by else "not signed"
    say(f"Each head follows the one before it, up to {last}, {signed}.")
    write(head.digest)
    return 0


def _read_head(path: Path) -> PublishedHead:
    return PublishedHead.read(path.name, read_json_file(path))


def _allot_budget(arguments: Namespace) -> None:
    limit = _limit(arguments)
    with open_ledger(arguments) as ledger:
        ledger.allot(arguments.budget, limit)
        _tell(arguments, ledger, f"{arguments.budget} has {limit.stated}.")


def _lower_budget(arguments: Namespace) -> None:
    limit = _limit(arguments)
    with open_ledger(arguments) as ledger:
        ledger.lower(arguments.budget, limit, who=arguments.who, why=arguments.why)
        _tell(arguments, ledger, f"{arguments.budget} has now {limit.stated}.")


def _earmark_part(arguments: Namespace) -> None:
    amount: Any = _budget(arguments)
    with open_ledger(arguments) as ledger:
        ledger.earmark(
            arguments.name,
            amount,
            budget=arguments.budget,
            who=arguments.who,
            why=arguments.why,
        )
        _tell(arguments, ledger, f"{amount!r} is set aside for {arguments.name}.")


def _free_part(arguments: Namespace) -> None:
    with open_ledger(arguments) as ledger:
        ledger.free(arguments.name, who=arguments.who, why=arguments.why)
    say(f"What was left of {arguments.name} can be spent again.")


def _budget(arguments: Namespace) -> Budget:
    budget = given_budget(arguments)
    if budget is None:
        raise InvalidJob("the budget", "must be given", "Try --epsilon 0.5.")
    return budget


def _limit(arguments: Namespace) -> Limit:
    return Limit.of(_budget(arguments), arguments.counting, arguments.reserve)


def _tell(arguments: Namespace, ledger: Ledger, sentence: str) -> None:
    left = ledger.remaining(arguments.budget)
    if arguments.json:
        facts = {
            "budget": arguments.budget,
            "limit": ledger.limit(arguments.budget).stated,
            "left": headline(left),
            "set aside": {
                earmark.name: headline(earmark.left)
                for earmark in ledger.earmarks()
                if arguments.budget in {DATASET, earmark.budget}
            },
        }
        write_object("budget", facts)
        return
    say(sentence)
    say(f"left of {arguments.budget}: {left!r}")


def _show_answer(arguments: Namespace) -> None:
    with read_ledger(arguments) as ledger:
        several = ledger.answers(arguments.key)
    if arguments.name is not None:
        if arguments.name not in several:
            raise unknown("answer", arguments.name, [name for name in several if name])
        several = {"": several[arguments.name]}
    if arguments.csv is not None:
        if len(several) > 1:
            raise InvalidParameter(
                "--csv",
                list(several),
                "can write one answer, and the key has several",
                "Name one of them with --name.",
            )
        (only,) = several.values()
        only.to_csv(arguments.csv)
        say(f"{arguments.csv} has the answer and its errors.")
        return
    for name, release in several.items():
        title = name if name.isprintable() else repr(name)
        text = f"{title}:\n{release}\n" if name else str(release)
        write(text)


def _back_up_ledger(arguments: Namespace) -> None:
    with read_ledger(arguments) as ledger:
        ledger.backup(arguments.copy)
        place = shown_place(arguments, ledger)
    say(f"{arguments.copy} holds all of {place}, answers included.")
    say("It can be read and restored; nothing is charged to it.")
    say("What is charged after this stands in the ledger and its witness only.")


def _restore_ledger(arguments: Namespace) -> None:
    with Ledger.restore(
        arguments.copy,
        arguments.path,
        witness=arguments.witness,
        signer=read_signer(arguments.signer),
        only_writer=arguments.only_writer,
    ) as ledger:
        left, place = ledger.remaining(), shown_place(arguments, ledger)
    say(f"{place} is restored, and every charge counts.")
    say(f"left: {left!r}")


def _move_ledger(arguments: Namespace) -> None:
    with Ledger.move(
        arguments.path,
        arguments.target,
        witness=arguments.witness,
        signer=read_signer(arguments.signer),
    ) as ledger:
        verdict, place = ledger.verify(), ledger.place
    say(f"The ledger goes on at {place}: {_count_text(verdict.records, 'record')}.")
    say("At its old place it can be read, and is never charged again.")


def _close_budget(arguments: Namespace) -> None:
    with open_ledger(arguments) as ledger:
        ledger.close_budget(arguments.budget, who=arguments.who, why=arguments.why)
    say(f"{arguments.budget} is closed: nothing more is charged to it.")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"must be a number, got {text!r}")
    return int(text)


_PLACE: Final = (
    option("path", "PATH", "the ledger's file, or its address", ledger_place),
    option(
        "--witness",
        "PATH",
        "kept elsewhere, by it a ledger put back is found out",
        ledger_place,
    ),
)
SIGNER: Final = (
    option("--signer", "PEM", "the private key of a signed ledger", Path),
    flag(
        "--only-writer",
        "no other process opens the ledger meanwhile, so that its disk need not hold "
        "locks",
    ),
)
_REMARK: Final = (
    option("--who", "WHO", "who does it", default=""),
    option("--why", "WHY", "what for", default=""),
    *SIGNER,
)
_NAME: Final = option("budget", "NAME", "of an analyst, or `dataset`")
_EARMARK: Final = (option("name", "EARMARK", "what is planned"), *_REMARK)
_LIMIT: Final = (
    _NAME,
    *BUDGET,
    word_option(
        "--counting",
        ("asked", "concentrated", "gaussian"),
        "what is added up (asked)",
        "asked",
    ),
    option(
        "--reserve",
        "N",
        "the part of delta kept for releases over unknown keys (0)",
        default=0,
    ),
    JSON,
)
LEDGER_COMMANDS: Final = (
    Command(
        "show",
        "Show the limits of a ledger, what is spent and left (of each block, if there "
        "are any), and its last releases.",
        "sordino ledger show clinic.ledger --last 50",
        _show_ledger,
        (
            *_PLACE,
            JSON,
            option(
                "--last",
                "N",
                "how many releases to show, the newest ones (10)",
                _count,
                default=10,
            ),
        ),
    ),
    Command(
        "history",
        "List every release, or as much of each as an analyst may see.",
        "sordino ledger history clinic.ledger --analyst ana",
        _show_history,
        (
            *_PLACE,
            JSON,
            option("--analyst", "NAME", "only as much as who has this budget may see"),
        ),
    ),
    Command(
        "verify",
        "Check that a ledger is what was written: every record, sum and answer.",
        "sordino ledger verify clinic.ledger",
        verify_ledger,
        (*_PLACE, JSON),
    ),
    Command(
        "head",
        "Print the head of a ledger, 32 bytes to be published elsewhere: they stand "
        "for all its records so far.",
        "sordino ledger head clinic.ledger --sign key.pem -o 2026-11-28.json",
        _show_head,
        (
            *_PLACE,
            option("--sign", "PEM", "the private key of a signed ledger", Path),
            option(
                "--since", "HEAD", "show that it goes on from this earlier head", Path
            ),
            option("-o --out", "FILE", "write the head, as JSON", Path),
            JSON,
        ),
    ),
    Command(
        "heads",
        "Say whether published heads follow each other: an older copy, a second ledger "
        "or a changed one does not. It ends with 1 if not; no ledger is needed.",
        "sordino ledger heads 2026-11-28.json 2026-12-05.json",
        _compare_heads,
        (option("heads", "HEAD", "a file of a head", Path, nargs="+"),),
    ),
    Command(
        "answer",
        "Show a paid answer by its key, or write it as CSV; nothing is asked again.",
        "sordino ledger answer clinic.ledger 2026-11",
        _show_answer,
        (
            *_PLACE,
            option("key", "KEY", "what the answer was asked for with"),
            option("--name", "NAME", "which one, of requests answered together"),
            option(
                "--csv",
                "FILE",
                "write values and errors there, instead of showing them",
                Path,
            ),
        ),
    ),
    Command(
        "backup",
        "Write a whole copy of a ledger to a new file; others may charge meanwhile.",
        "sordino ledger backup clinic.ledger clinic.backup",
        _back_up_ledger,
        (*_PLACE, option("copy", "COPY", "a file that is not there", Path)),
    ),
    Command(
        "restore",
        "Make a ledger of a copy and of what its witness saw after it.",
        "sordino ledger restore wards.ledger --copy wards.backup --witness wards.seen",
        _restore_ledger,
        (
            *_PLACE,
            option("--copy", "COPY", "what `backup` wrote", Path, required=True),
            *SIGNER,
        ),
    ),
    Command(
        "move",
        "Have a ledger go on in another file or on a server, whole and verified.",
        "sordino ledger move clinic.ledger postgresql://keeper@db/clinic",
        _move_ledger,
        (
            *_PLACE,
            option("target", "TARGET", "a file or an address", ledger_place),
            SIGNER[0],
        ),
    ),
    Command(
        "allot",
        "Give an analyst a budget of their own, under that of the dataset.",
        "sordino ledger allot clinic.ledger bob --epsilon 0.1 --delta 1e-7",
        _allot_budget,
        (*_PLACE, *_LIMIT, *SIGNER),
    ),
    Command(
        "lower",
        "Lower the limit of a budget; none is ever raised.",
        "sordino ledger lower clinic.ledger ana --epsilon 0.05 --delta 0",
        _lower_budget,
        (*_PLACE, *_LIMIT, *_REMARK),
    ),
    Command(
        "earmark",
        "Set a part of a budget aside for what is planned.",
        "sordino ledger earmark clinic.ledger census --epsilon 0.1",
        _earmark_part,
        (
            *_PLACE,
            *_EARMARK,
            *BUDGET,
            option("--budget", "NAME", "whose budget (dataset)", default=DATASET),
            JSON,
        ),
    ),
    Command(
        "free",
        "Give back what is left of what was set aside.",
        "sordino ledger free clinic.ledger census",
        _free_part,
        (*_PLACE, *_EARMARK),
    ),
    Command(
        "close",
        "Let nothing more be charged to a budget, for ever; its answers stay.",
        "sordino ledger close clinic.ledger ana --who curator",
        _close_budget,
        (*_PLACE, _NAME, *_REMARK),
    ),
    Command(
        "export",
        "Write a ledger as lines of JSON, or as YAML for the public registry of "
        "differential privacy deployments.",
        "sordino ledger export clinic.ledger --format yaml --draft",
        _export_ledger,
        (
            *_PLACE,
            word_option(
                "--format",
                ("jsonl", "yaml"),
                "jsonl: every record, one a line; yaml: the entry of the registry",
                "jsonl",
            ),
            option(
                "--answers",
                "TOML",
                "for yaml: what only a person knows, by section and field",
                Path,
            ),
            flag("--draft", "for yaml: mark what is missing instead of refusing"),
        ),
    ),
)
"""Every command of `sordino ledger`."""
LEDGER: Final = Command(
    "ledger",
    "Look at a ledger: what was spent, by whom, whether it is whole, and what was "
    "answered; copy and restore it; share its budget and close it. Nothing is charged.",
    "sordino ledger verify clinic.ledger",
    below=LEDGER_COMMANDS,
)
