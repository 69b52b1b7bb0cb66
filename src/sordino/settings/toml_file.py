"""A file of TOML as text: read whole, with its numbers as they are written."""

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from sordino.errors import InvalidJob, InvalidPolicy

_LARGEST: Final = 1 << 20
_MOST_PARTS: Final = 64
"""Of a dotted name: the time to read one grows with the square of these."""
_MOST_TABLES: Final = 4000
_ENDS_NAME: Final = re.compile(r"[\n=,]")


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a job file says; floats are decimals, as they stand there."""
    try:
        text = small_text(path)
    except (OSError, UnicodeDecodeError, ValueError):
        raise InvalidJob(
            str(path),
            "cannot be read as text of at most 1 MB",
            "See docs/guides/jobs.md for an example.",
        ) from None
    return parse_toml(text, str(path), InvalidJob, "docs/guides/jobs.md")


def parse_toml(
    text: str,
    title: str,
    refusal: type[InvalidJob] | type[InvalidPolicy],
    example: str,
) -> dict[str, Any]:
    """Return what a text says; floats are decimals, as they stand there."""
    if _parts(text) > _MOST_PARTS or text.count("\n[") > _MOST_TABLES:
        raise refusal(
            title,
            f"has a name of more than {_MOST_PARTS} parts, or more than "
            f"{_MOST_TABLES} tables",
            f"See {example} for an example.",
        )
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        problem = f"is not TOML: {error}"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:
        problem = "has a number of too many digits"
    raise refusal(title, problem, f"See {example} for an example.")


def _parts(text: str) -> int:
    """Return a bound on the parts of the longest dotted name in a text.

    >>> _parts("a.b.c = 1"), _parts('keys = ["A01.1", "A01.2", "A01.3"]')
    (3, 2)
    """
    longest = run = 0
    for between in text.split("."):
        run += 1
        longest = max(longest, run)
        inner = between.strip(" \t")
        if not inner or _ENDS_NAME.search(inner):
            run = 1  # what follows the end begins another name
    return longest


def read_text(folder: Path, name: str, place: str) -> str:
    """Return the text of a file that a job names."""
    try:
        return small_text(folder / name)
    except (OSError, UnicodeDecodeError, ValueError):
        raise InvalidJob(
            place,
            f"names {name!r}, which cannot be read as text of at most 1 MB",
            f"It is looked for in {folder}.",
        ) from None


def small_text(path: Path) -> str:
    """Return the text of a file that is no larger than a person would write."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError
    return content.decode()
