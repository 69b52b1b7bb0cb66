"""Text on a terminal: folded at its width, and nothing in it commands the terminal."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, Final, Literal, TextIO

Colour = Literal["red", "green", "yellow", "bold"]
_COLOURS: Final = {"red": 31, "green": 32, "yellow": 33, "bold": 1}
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


def note(text: str) -> None:
    """Write for whoever watches, on standard error: not part of the data."""
    sys.stderr.write(f"{text}\n")


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a person sits at a stream."""
    return bool(stream) and stream.isatty()


def tint(text: str, colour: Colour, stream: TextIO) -> str:
    """Return a text in a colour where the stream shows any and nobody refused it."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    wanted = os.environ.get("FORCE_COLOR") or is_terminal(stream)
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if wanted and not refused else text


def confirm(question: str) -> bool:
    """Ask a person at the terminal; anything but yes is no."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def ask(question: str, default: str = "") -> str:
    """Ask a person for a text; an empty answer is the default."""
    shown = f" [{default}]" if default else ""
    sys.stderr.write(f"{question}{shown}: ")
    sys.stderr.flush()
    return sys.stdin.readline().strip() or default


def path_text(path: Path | str) -> str:
    """Return a path as one would type it here; an address of a cluster as it is."""
    if "://" in str(path):
        return str(path)
    here, path = Path.cwd(), Path(path)
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def write_object(kind: str, fields: Mapping[str, Any]) -> None:
    """Write one object on one line; `schema` says what it is."""
    write(json.dumps({"schema": f"sordino.{kind}/1"} | dict(fields), default=str))
