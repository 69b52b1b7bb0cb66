"""A job file as text: read whole, with its numbers as they are written."""

import json
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from sordino.errors import InvalidJob
from sordino.job.section import file_value

USUAL: Final = "sordino.toml"
_NOT_OURS: Final = ("pyproject.toml", "policy.toml")
_LARGEST: Final = 1 << 20


def find_job(folder: Path) -> Path:
    """Return the job file of a folder: the usual name, or the only one there is."""
    usual = folder / USUAL
    if usual.is_file():
        return usual
    others = [path for path in folder.glob("*.toml") if path.name not in _NOT_OURS]
    if len(others) == 1:
        return others[0]
    problem = "is one of several" if others else "is not here"
    raise InvalidJob(
        "a job file",
        problem,
        "Name one: --job clinic.toml. `sordino init` writes a new one.",
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a file says; floats are decimals, as they stand there."""
    try:
        text = _small_text(path)
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        problem = f"is not TOML: {error}"
    except RecursionError:
        problem = "is nested too deeply"
    except (OSError, UnicodeDecodeError, ValueError):
        problem = "cannot be read as text of at most 1 MB"
    raise InvalidJob(str(path), problem, "See docs/guides/jobs.md for an example.")


def read_text(folder: Path, name: str, place: str) -> str:
    """Return the text of a file that a job names."""
    try:
        return _small_text(folder / name)
    except (OSError, UnicodeDecodeError, ValueError):
        raise InvalidJob(
            place,
            f"names {name!r}, which cannot be read as text of at most 1 MB",
            f"It is looked for in {folder}.",
        ) from None


def canonical(values: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return all that a job says, and the texts of the files that it names, as JSON.

    >>> canonical({"b": Decimal("0.10"), "a": 1}, {})
    '{"files":{},"job":{"a":1,"b":"0.10"}}'
    """
    whole = {"job": file_value(values), "files": dict(texts)}
    return json.dumps(
        whole,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        default=str,  # dates and times
    )


def _small_text(path: Path) -> str:
    """Return the text of a file that is no larger than a person would write."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError
    return content.decode()
