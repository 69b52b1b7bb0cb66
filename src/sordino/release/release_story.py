"""What a report tells of a release: its first numbers, what it asked, what it cost."""

from datetime import datetime
from typing import Final

from sordino.pages.bands import Banded
from sordino.pages.cell_tables import MOST_ACROSS, MOST_DOWN
from sordino.pages.languages import read_language
from sordino.pages.number_parts import FEW
from sordino.pages.story import NumberColumn, ShownRelease, ShownTable, Story
from sordino.pages.story_page import report_document
from sordino.release.cell_texts import row_texts
from sordino.release.column_names import error_names
from sordino.release.label_facts import LabelledRelease

MOST_DAYS: Final = 400
"""Rows that are read of a release: a year of days, a page of cells."""
MOST_COLUMNS: Final = 12
"""Numbers of a group that are shown; a reader of more opens the files."""


def single_report(release: LabelledRelease, title: str, code: object) -> str:
    """Return a report about one release by itself, as a file of HTML."""
    language = read_language(code)
    name = title or language.plain("published.alone")
    record = release.provenance.record
    publication = ShownRelease(
        when=None if record is None else datetime.fromisoformat(record.when),
        bound=release.loss,
        plan=release.plan,
        words=release.provenance.words,
        answers=(answer_of("", release),),
    )
    story = Story(
        title=name,
        bound=release.loss,
        questions=(release.provenance.words,),
        shown=(publication,),
        earlier=0,
        plans={release.plan: (0,)},
    )
    return report_document(language, story)


def answer_of(name: str, release: LabelledRelease) -> ShownTable:
    """Return the first numbers of a release, under the name that it was asked for by.

    Which rows those are comes from the published keys alone.
    """
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
    )


def _count_bands(release: LabelledRelease) -> int:
    """Return how many numbers of a release have a band."""
    lows = (error_names(name)[1] for name in release.names)
    return sum(len(release) - release.errors[low].null_count for low in lows)
