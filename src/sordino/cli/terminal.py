"""Text on a terminal: folded at its width, and nothing in it commands the terminal."""

import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import starmap

_GAP = 2
_LEAST = 8
"""Letters that a column keeps however narrow the terminal is."""


def write(text: str = "") -> None:
    """Write lines as they are."""
    sys.stdout.write(f"{text}\n")


def say(sentence: str) -> None:
    """Write a sentence, folded between words."""
    write("\n".join(_fold(_harmless(sentence), _columns())))


def text_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Write columns of texts side by side; the widest are folded until all fit."""
    cells = [[_harmless(text) for text in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + _GAP * (len(widths) - 1) > _columns() and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    for row in cells:
        folded = list(starmap(_fold, zip(row, widths, strict=True)))
        for place in range(max(map(len, folded))):
            texts = [lines[place] if place < len(lines) else "" for lines in folded]
            padded = map(str.ljust, texts, widths)
            write((" " * _GAP).join(padded).rstrip())


def _fold(text: str, room: int) -> list[str]:
    """Return the lines of a text, at least one; a long word is broken."""
    return textwrap.wrap(text, max(room, 1), break_on_hyphens=False) or [""]


def _harmless(text: str) -> str:
    """Return a text that a terminal shows and does not obey."""
    return text if text.isprintable() else repr(text)


def _columns() -> int:
    """Return the width of the terminal, 80 where there is none."""
    return shutil.get_terminal_size().columns
