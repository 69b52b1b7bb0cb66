"""A label as text: names to the left, what they are to the right."""

import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from sordino.display.formatting import text_width
from sordino.release.label_rows import LabelRow, LabelTexts

_WIDTH: Final = 60


def plain_label(texts: LabelTexts) -> str:
    """Return a label in lines, those of rows as wide as each other where they fit."""
    lines = [
        texts.title,
        *filter(None, [texts.file, texts.when]),
        *_fold([texts.status]),
    ]
    for part in texts.parts:
        lines.append("-" * _WIDTH)
        lines += filter(None, [part.heading])
        lines += [line for row in part.rows for line in _row(row)]
    return "\n".join([*lines, "-" * _WIDTH, *_fold(texts.feet)])


def _fold(sentences: Iterable[str]) -> Iterator[str]:
    """Yield the lines of sentences; a long word keeps a line of its own."""
    for sentence in sentences:
        yield from textwrap.wrap(sentence, _WIDTH, break_long_words=False)


def _row(row: LabelRow) -> Iterator[str]:
    """Yield a row on one line, or on two if it is too long for one."""
    room = _WIDTH - 2 - text_width(row.name) - text_width(row.value)
    if room >= 1:
        yield f"  {row.name}{' ' * room}{row.value}".rstrip()
    else:
        yield f"  {row.name}"
        yield " " * max(_WIDTH - text_width(row.value), 4) + row.value
