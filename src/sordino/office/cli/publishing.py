"""What readers of a release get: reports, labels, and whether a file is untouched.

A file says of itself what it likes; a ledger that saw it published confirms it.
"""

import re
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sordino.errors import InvalidJob, InvalidLabel
from sordino.ledger.heads import (
    PublishedHead,
    Standing,
    read_json_file,
    standing_text,
)
from sordino.ledger.ledger import Ledger
from sordino.losses.budgets.blocks import blocks_text
from sordino.office.cli.ledgers import verify_ledger
from sordino.office.cli.main import (
    JSON,
    REFUSED,
    WITNESS,
    Command,
    CommandOption,
    is_terminal,
    ledger_place,
    note,
    option,
    path_text,
    say,
    word_option,
    write,
    write_object,
)
from sordino.office.html.odds import FALSE_ALARMS, Odds
from sordino.office.html.page import language_codes, read_language
from sordino.office.job.job import find_job, read_job
from sordino.office.report.annex import ledger_annex
from sordino.office.report.document import ledger_report
from sordino.release.storage import write_text

if TYPE_CHECKING:
    from sordino.office.label.files import StatedLabel
    from sordino.office.label.views import Label


def _language(what: str) -> CommandOption:
    return word_option("--language", language_codes(), what, "en")


def _verify_file(arguments: Namespace) -> int:
    """Print which release a file holds; return 1 if it holds none."""
    from sordino.office.label.files import vouching_file  # noqa: PLC0415 brings Arrow

    path: Path = arguments.file
    if arguments.ledger is None and _is_ledger(path):
        verify_ledger(Namespace(**{**vars(arguments), "path": path}))
        return 0
    place, witness = _place("--ledger", arguments.ledger, arguments.witness)
    with Ledger.read(place, witness=witness) as ledger:
        known = None if path.is_dir() else ledger.publication(path)
        publication = known or ledger.publication(vouching_file(path))
        entries = {entry.number: entry for entry in ledger.entries()}
    if publication is None:
        facts = {"file": str(arguments.file), "published": False}
        sentence = (
            f"{arguments.file} is no file that this ledger saw published: it was "
            "changed, or made elsewhere."
        )
    else:
        entry = entries[publication.charge]
        facts = {
            "file": str(arguments.file),
            "published": True,
            "record": entry.number,
            "key": entry.key,
            "blocks": list(entry.blocks),
            "loss": entry.loss,
            "when": publication.when.isoformat(),
            "sha256": publication.sha256,
        }
        key = "without a key" if entry.key is None else f"key {entry.key}"
        rows = f", of {blocks_text(entry.blocks)}" if entry.blocks else ""
        sentence = (
            f"{arguments.file} is untouched: record {entry.number} of the ledger, "
            f"{key}{rows}, published on {publication.when:%Y-%m-%d %H:%M %Z}."
        )
    if arguments.json:
        write_object("verify", facts)
    else:
        say(sentence)
    return REFUSED if publication is None else 0


def _is_ledger(path: Path) -> bool:
    """Say whether a file says of itself that it is a ledger; verifying says if so."""
    try:
        with path.open("rb") as file:
            return file.read(64).startswith(_LEDGER)
    except OSError:
        return False


def _place(
    name: str, path: Path | str | None, witness: Path | str | None
) -> tuple[Path | str, Path | str | None]:
    """Ledger that an argument names, or that of the job file here; its witness."""
    if path is None:
        book = read_job(find_job(Path.cwd())).ledger
        return book.path, witness or book.witness
    if isinstance(path, Path) and not path.is_file():
        raise InvalidJob(name, "must be a file", "Name that of a ledger.")
    return path, witness


_LEDGER: Final = b'{"application":"sordino","role":"ledger"'
_RELEASED: Final = option("file", "FILE", "a published file or folder", Path)
VERIFY: Final = Command(
    "verify",
    "Say whether a file is one that a job published, untouched, and which release it "
    "is. It ends with 1 if it is not. Of a ledger: whether it is what was written, and "
    "each charge what its proof says.",
    "sordino verify published/wards-2026-11.parquet --ledger clinic.ledger",
    _verify_file,
    (
        _RELEASED,
        option(
            "--ledger",
            "PATH",
            "the ledger that paid for it (that of the job file here)",
            ledger_place,
        ),
        WITNESS,
        JSON,
    ),
)


def _write_report(arguments: Namespace) -> None:
    path, witness = _place("LEDGER", arguments.path, arguments.witness)
    with Ledger.read(path, witness=witness) as ledger:
        title = arguments.title or Path(ledger.place).name
        write_text(arguments.out, ledger_report(ledger, title, arguments.language))
        releases = len(ledger.entries())
    if arguments.json:
        facts = {
            "file": path_text(arguments.out),
            "language": arguments.language,
            "releases": releases,
        }
        write_object("report", facts)
    else:
        note(f"wrote {path_text(arguments.out)}")


_OF_LEDGER: Final = option(
    "path", "LEDGER", "the ledger (that of the job file here)", ledger_place, nargs="?"
)
REPORT: Final = Command(
    "report",
    "Write a report that a reader who is no statistician can follow: whom the releases "
    "of a ledger protect, what was published, what is not promised, and what proves "
    "it. One HTML file, made of the ledger alone; no private row is read.",
    "sordino report clinic.ledger -o report.html --language de",
    _write_report,
    (
        _OF_LEDGER,
        WITNESS,
        option(
            "-o --out",
            "FILE",
            "where the report goes (report.html)",
            Path,
            default=Path("report.html"),
        ),
        _language("of the report (en)"),
        option("--title", "TEXT", "its title (the ledger's name)", default=""),
        JSON,
    ),
)


def _write_annex(arguments: Namespace) -> None:
    path, witness = _place("LEDGER", arguments.path, arguments.witness)
    with Ledger.read(path, witness=witness) as ledger:
        title = arguments.title or Path(ledger.place).name
        write_text(arguments.out, ledger_annex(ledger, title, arguments.language))
    note(f"wrote {path_text(arguments.out)}")


ANNEX: Final = Command(
    "annex",
    "Write an annex for a data protection impact assessment, along Article 35(7) of "
    "the GDPR: the processing, need, risks and measures, as far as a ledger knows "
    "them. One HTML file; no private row is read.",
    "sordino annex clinic.ledger -o annex.html --language de",
    _write_annex,
    (
        _OF_LEDGER,
        WITNESS,
        option(
            "-o --out",
            "FILE",
            "where the annex goes (annex.html)",
            Path,
            default=Path("annex.html"),
        ),
        _language("of the annex (en)"),
        option("--title", "TEXT", "its title (the ledger's name)", default=""),
    ),
)


def _show_label(arguments: Namespace) -> int:
    """Write the label of a file; return 1 if the ledger does not confirm it."""
    label = _label(arguments)
    if arguments.out is not None:
        label.save(arguments.out)
    elif arguments.format != "png":
        write(label.render(arguments.format).decode().removesuffix("\n"))
    elif is_terminal(sys.stdout):
        raise InvalidJob("--format png", "is no text for a terminal", "Add -o a.png.")
    else:
        sys.stdout.buffer.write(label.render("png"))
    return REFUSED if label.status in {"unknown", "unlabelled"} else 0


def _label(arguments: Namespace) -> "Label":
    from sordino.office.label.files import label_of_file  # noqa: PLC0415 the same
    from sordino.office.label.views import Label  # noqa: PLC0415 brings Arrow

    path: Path = arguments.file
    language = read_language(arguments.language)
    stated = label_of_file(path)
    label = Label(stated.facts, path.name, "claimed", language)
    if arguments.ledger is None:
        return _held_against_head(arguments.head, stated, label)
    place, witness = _place("--ledger", arguments.ledger, arguments.witness)
    with Ledger.read(place, witness=witness) as ledger:
        label = _held_against(ledger, (stated.published, stated.place), label)
        if arguments.head is not None and label.status == "confirmed":
            _stand_file(ledger, _read_head(arguments.head), stated)
    return label


def _stand_file(ledger: "Ledger", head: PublishedHead, stated: "StatedLabel") -> None:
    """Write beside a file what shows, without its ledger, that it stands there."""
    text = ledger.look(lambda log: standing_text(log, head, stated.digests))
    write_text(stated.standing_place, text)
    note(f"wrote {path_text(stated.standing_place)}")


def _held_against_head(
    known: str | None, stated: "StatedLabel", label: "Label"
) -> "Label":
    """Label of a file that shows by itself that it stands in a ledger, if it does."""
    place = stated.standing_place
    if not place.is_file():
        if known is None:
            return label
        raise InvalidLabel(
            label.file,
            f"does not show that it stands in a ledger: {place.name} is not there",
        )
    standing = Standing.read(place.name, read_json_file(place))
    published, described = map(standing.charges.get, stated.digests)
    # a true file with the label of another release would be vouched for
    if published is None or published != described:
        raise InvalidLabel(place.name, "is of another file, or of another label")
    _refuse_other_payer(label, (standing.head.ledger, published))
    digest = standing.head.digest
    if known is None:
        return replace(label, status="stands", head=digest)
    if digest != (known if _is_digest(known) else _read_head(known).digest):
        raise InvalidLabel(
            place.name,
            f"is of another head, {digest}",
            "Name that head, if it was published; sordino ledger heads says whether "
            "one follows another.",
        )
    return replace(label, status="published", head=digest)


def _is_digest(known: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{64}", known) is not None


def _read_head(known: str) -> PublishedHead:
    path = Path(known)
    return PublishedHead.read(path.name, read_json_file(path))


def _held_against(
    ledger: "Ledger", places: tuple[Path, Path], label: "Label"
) -> "Label":
    # a file that the ledger saw published is bit for bit what it was then, so what it
    # says of itself was said then
    published, described = map(ledger.publication, places)
    if published is None:
        return replace(label, status="unknown")
    # a true file with the label of another release would be vouched for
    if described is None or described.charge != published.charge:
        return replace(label, status="unlabelled")
    _refuse_other_payer(label, (ledger.identity, published.charge))
    is_divided = ledger.division is not None
    odds = Odds(ledger.first_limit().promise)
    facts = replace(
        label.facts,
        # the ledger's own word, not that of the file
        found_by_all=None if is_divided else odds.finds(FALSE_ALARMS),
        is_divided=is_divided,
    )
    return replace(label, facts=facts, status="confirmed")


def _refuse_other_payer(label: "Label", payer: tuple[str, int]) -> None:
    """Refuse a label that names another charge than the one that paid for its file."""
    paid = label.facts.paid_by
    if paid is None or (paid.ledger, paid.number) != payer:
        raise InvalidLabel(
            label.file,
            f"names another record than {payer[1]} of the ledger that paid for it",
        )


LABEL: Final = Command(
    "label",
    "Show the privacy facts that a published file carries. They are the file's own "
    "words, unless a ledger that saw it published confirms them; it ends with 1 if the "
    "ledger does not.",
    "sordino label published/wards-2026-11.csv --ledger clinic.ledger",
    _show_label,
    (
        _RELEASED,
        option("--ledger", "PATH", "the ledger that paid for it", Path),
        WITNESS,
        option(
            "--head",
            "HEAD",
            "a published head, its file or its 64 digits, under which the file must "
            "stand; with --ledger, write beside it what shows that",
        ),
        word_option(
            "--format", ("text", "html", "png", "json"), "what is shown (text)", "text"
        ),
        _language("of its words (en)"),
        option(
            "-o", "PATH", "write .html, .png, .json or .txt instead", Path, dest="out"
        ),
    ),
)
