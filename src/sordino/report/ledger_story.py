"""The report of a ledger: read from its records and answers alone, never from a table.

verify ── the newest releases in full ── what holds of all of them ── one page
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import starmap
from typing import Final

from sordino.errors import AnswerLost, InvalidQuery
from sordino.ledger.entries import DATASET, Entry
from sordino.ledger.ledger import Ledger
from sordino.ledger.records import Record
from sordino.ledger.registry import registry_yaml
from sordino.losses.base import Loss
from sordino.pages.languages import read_language
from sordino.pages.story import ShownFiles, ShownRelease, Story
from sordino.pages.story_page import report_document
from sordino.release.release_story import answer_of
from sordino.report.accounts import accounts_of, taken_of
from sordino.report.recorded_loss import recorded_loss
from sordino.words import canonical_text

NEWEST: Final = 12
"""Releases that are shown in full."""


def ledger_report(ledger: Ledger, title: str, code: object) -> str:
    """Return the report of a ledger as a file of HTML, after verifying all of it."""
    language = read_language(code)
    return report_document(language, ledger_story(ledger, title))


def ledger_story(ledger: Ledger, title: str) -> Story:
    """Return what a ledger says, or refuse one that is not what was written."""
    seen = ledger.verify()
    entries, records = ledger.entries(), ledger.records()
    published = _by_charge(records)
    charges = {record.number: record for record in records if record.kind == "charged"}
    newest = entries[max(len(entries) - NEWEST, 0) :][::-1]
    return Story(
        title=title,
        bound=_promise_of(ledger),
        questions=tuple(dict.fromkeys(map(words_of, charges.values()))),
        shown=tuple(
            replace(
                _publication(ledger, entry, charges[entry.number]),
                files=_files(ledger, entry, published.get(entry.number, ())),
            )
            for entry in newest
        ),
        earlier=len(entries) - len(newest),
        plans=_by_plan(entries),
        accounts=accounts_of(ledger, entries, records, seen),
        registry=registry_yaml(ledger, {}, draft=True) if entries else "",
    )


def _promise_of(ledger: Ledger) -> Loss:
    """Return what holds of everything together, or of people of any one block."""
    if ledger.division is None or not ledger.blocks():
        return ledger.first_limit().rule.promise
    return ledger.exposure(1).promise


def words_of(record: Record) -> str:
    """Return what a charge asked, empty where that was not recorded."""
    words = record.fields.get("words")
    return "" if words is None else canonical_text(words)


def _by_plan(entries: Iterable[Entry]) -> dict[str, tuple[int, ...]]:
    """Return the numbers of the releases that were made by each plan."""
    plans: dict[str, list[int]] = {}
    for entry in entries:
        plans.setdefault(entry.plan, []).append(entry.number)
    return {plan: tuple(numbers) for plan, numbers in plans.items()}


def _by_charge(records: Iterable[Record]) -> dict[int, tuple[tuple[str, str], ...]]:
    """Return name and SHA-256 of the files that were published, by their charge."""
    published: dict[int, dict[tuple[str, str], None]] = {}
    for record in records:
        if record.kind == "published":
            fields = record.fields
            files = published.setdefault(fields["charge"], {})
            files[fields["name"], fields["sha256"]] = None
    return {charge: tuple(files) for charge, files in published.items()}


def _files(
    ledger: Ledger, entry: Entry, published: tuple[tuple[str, str], ...]
) -> ShownFiles | None:
    """Return where the numbers of a release are, if they are in files alone.

    Without a key nothing is kept of an answer but its hash: what was published is all.
    """
    try:
        files = None if entry.key is None else ledger.files_of(entry.key)
    except AnswerLost:
        files = None
    if files is None:
        is_published = entry.key is None and published
        return ShownFiles(None, 0, 0, published) if is_published else None
    _, answer = files
    size = sum(file.size for file in answer.files)
    return ShownFiles(answer.exactness.groups, len(answer.files), size, published)


def _publication(ledger: Ledger, entry: Entry, record: Record) -> ShownRelease:
    """Return a release as a reader is told of it."""
    fields = record.fields
    try:
        releases = {} if entry.key is None else ledger.answers(entry.key)
    except (AnswerLost, InvalidQuery):
        releases = {}
    return ShownRelease(
        bound=recorded_loss(entry.loss, fields["known"]),
        plan=entry.plan,
        words=words_of(record),
        answers=tuple(starmap(answer_of, releases.items())),
        number=entry.number,
        key=entry.key or "",
        when=entry.when,
        who=entry.who,
        why=entry.why,
        budget="" if entry.budget == DATASET else entry.budget,
        taken=taken_of(entry),
        blocks=entry.blocks,
    )
