"""A report as one file: of a release, or of a ledger from its records and answers.

No table is read, and a ledger is verified first.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from itertools import starmap
from typing import Final

from sordino.aggregations.intervals import error_names
from sordino.errors import AnswerLost, InvalidQuery
from sordino.ledger.copies import registry_yaml
from sordino.ledger.file_format import Record
from sordino.ledger.ledger import Ledger
from sordino.ledger.record_kinds import DATASET, Entry, proof_text
from sordino.losses.loss import Loss
from sordino.numbers.canonical import canonical_text
from sordino.office.html.elements import fill_template, join
from sordino.office.html.page import PAGES, Language, document, read_language
from sordino.office.label.facts import LabelledRelease
from sordino.office.report.accounts import accounts_of, recorded_loss, taken_of
from sordino.office.report.numbers import FEW, published_page
from sordino.office.report.pictures import MOST_ACROSS, MOST_DOWN
from sordino.office.report.promise import limits_page, promise_page
from sordino.office.report.proof import beside_page, proof_page
from sordino.office.report.story import (
    Banded,
    NumberColumn,
    ShownFiles,
    ShownRelease,
    ShownTable,
    Story,
)
from sordino.release.explanation import told_loss
from sordino.release.text import row_texts, whole_names

_PAGES = (promise_page, published_page, limits_page, proof_page, beside_page)


def report_document(language: Language, story: Story) -> str:
    """Return a report as a file of HTML; the same story gives the same bytes."""
    newest = story.shown[0].when if story.shown else None
    body = fill_template(
        "report/report.html",
        language=language,
        title=story.title,
        newest=None if newest is None else newest.date(),
        pages=PAGES,
        content=join(*(page(language, story) for page in _PAGES)),
    )
    name = language.bare_name(story.title)
    return document(language, language.plain("report.title", name=name), body)


MOST_DAYS: Final = 400
"""Rows that are read of a release: a year of days, a page of cells."""
MOST_COLUMNS: Final = 12
"""Numbers of a group that are shown; a reader of more opens the files."""


def single_report(release: LabelledRelease, title: str, code: object) -> str:
    """Return a report about one release by itself, as a file of HTML."""
    language = read_language(code)
    name = title or language.plain("published.alone")
    record, words = release.provenance.record, release.provenance.words
    bound = told_loss(release.loss, [words])
    publication = ShownRelease(
        when=None if record is None else datetime.fromisoformat(record.when),
        bound=bound,
        plan=release.plan,
        words=words,
        answers=(answer_of("", release),),
        proof=release.provenance.proof,
    )
    story = Story(
        title=name,
        bound=bound,
        questions=(words,),
        shown=(publication,),
        earlier=0,
        plans={release.plan: (0,)},
    )
    return report_document(language, story)


def answer_of(name: str, release: LabelledRelease) -> ShownTable:
    """Return the first numbers of a release, under the name it was asked for by."""
    # by the published keys alone: which rows are shown tells nothing of the numbers
    most = MOST_DAYS if len(release.keys) == 1 else max(FEW, MOST_ACROSS * MOST_DOWN)
    first = row_texts(release, most)
    keys = [release.table[key].slice(0, most).to_pylist() for key in release.keys]
    groups = tuple(tuple(key[row] for key in keys) for row in range(len(first)))
    columns = tuple(
        NumberColumn(
            column,
            tuple(
                Banded(
                    group,
                    row.figures[place].value,
                    row.figures[place].outer,
                    *row.figures[place].ends,
                )
                for group, row in zip(groups, first, strict=True)
            ),
        )
        for place, column in enumerate(release.names[:MOST_COLUMNS])
    )
    coverage = release.coverage
    return ShownTable(
        name=name,
        keys=release.keys,
        groups=groups,
        columns=columns,
        rows=len(release),
        banded=_count_bands(release),
        confidence=release.confidence,
        unshown=max(len(release.names) - MOST_COLUMNS, 0),
        left_out=() if coverage is None else tuple(coverage.to_pylist()),
        whole=whole_names(release.figures),
    )


def _count_bands(release: LabelledRelease) -> int:
    lows = (error_names(name)[1] for name in release.names)
    return sum(len(release) - release.errors[low].null_count for low in lows)


NEWEST: Final = 12
"""Releases that are shown in full."""


def ledger_report(ledger: Ledger, title: str, code: object) -> str:
    """Return the report of a ledger as a file of HTML, after verifying all of it."""
    language = read_language(code)
    return report_document(language, ledger_story(ledger, title))


def ledger_story(ledger: Ledger, title: str) -> Story:
    """Facts of a ledger; one that is damaged is refused."""
    seen = ledger.verify()  # first: a report tells nothing of a damaged ledger
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
    if ledger.division is None or not ledger.blocks():
        # not what is spent so far: the rest of the limit may be spent any day
        return ledger.first_limit().promise
    return ledger.exposure(1).promise


def words_of(record: Record) -> str:
    """Words of a charge; empty where they were not recorded."""
    words = record.fields.get("words")
    return "" if words is None else canonical_text(words)


def _by_plan(entries: Iterable[Entry]) -> dict[str, tuple[int, ...]]:
    plans: dict[str, list[int]] = {}
    for entry in entries:
        plans.setdefault(entry.plan, []).append(entry.number)
    return {plan: tuple(numbers) for plan, numbers in plans.items()}


def _by_charge(records: Iterable[Record]) -> dict[int, tuple[tuple[str, str], ...]]:
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
    try:
        files = None if entry.key is None else ledger.files_of(entry.key)
    except AnswerLost:
        files = None
    if files is None:
        # without a key nothing is kept of an answer but its hash
        is_published = entry.key is None and published
        return ShownFiles(None, 0, 0, published) if is_published else None
    _, answer = files
    size = sum(file.size for file in answer.files)
    return ShownFiles(answer.exactness.groups, len(answer.files), size, published)


def _publication(ledger: Ledger, entry: Entry, record: Record) -> ShownRelease:
    fields = record.fields
    try:
        releases = {} if entry.key is None else ledger.answers(entry.key)
    except (AnswerLost, InvalidQuery):
        releases = {}
    return ShownRelease(
        bound=told_loss(recorded_loss(entry.loss, fields["known"]), [words_of(record)]),
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
        proof=proof_text(fields),
    )
