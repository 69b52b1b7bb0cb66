"""Which job file is meant, and what it says as a text that lasts."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sordino.errors import InvalidJob
from sordino.settings.section import file_value

USUAL: Final = "sordino.toml"
_NOT_OURS: Final = ("pyproject.toml", "policy.toml")


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


def canonical(values: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    """Return all that a job says, and the texts of the files that it names, as JSON.

    >>> from decimal import Decimal
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
