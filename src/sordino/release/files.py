"""Writing a release to a file: the whole file or none of it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sordino.errors import InvalidParameter
from sordino.losses.base import Loss
from sordino.numbers import up
from sordino.release.column_names import side_by_side
from sordino.release.release_view import ReleaseView

METADATA = b"sordino"
"""The key of the JSON among the metadata of a Parquet file."""


def to_csv(release: ReleaseView, path: Any) -> None:
    """Write values and errors side by side; missing is empty, empty text is quoted."""
    from pyarrow import csv  # noqa: PLC0415 loaded when needed

    table = side_by_side(release.table, release.errors, len(release.keys))
    _write(path, lambda target: csv.write_csv(table, target))


def to_parquet(release: ReleaseView, path: Any) -> None:
    """Write values and errors side by side, with the loss and the plan as metadata."""
    from pyarrow import parquet  # noqa: PLC0415 loaded when needed

    table = side_by_side(release.table, release.errors, len(release.keys))
    metadata = {**(table.schema.metadata or {}), METADATA: json.dumps(_facts(release))}
    labelled = table.replace_schema_metadata(metadata)
    _write(path, lambda target: parquet.write_table(labelled, target))


def to_text(text: str, path: Any) -> None:
    """Write a text, such as a page."""
    _write(path, lambda target: Path(target).write_text(text, "utf-8", newline="\n"))


def _facts(release: ReleaseView) -> dict[str, object]:
    """Return what a file says of its release."""
    return {
        "confidence": str(release.confidence),
        "guarantees": _guarantees(release.loss),
        "keys": list(release.keys),
        "coverage": [] if release.coverage is None else release.coverage.to_pylist(),
        "loss": repr(release.loss),
        "notes": list(release.notes),
        "plan": release.plan,
        "price": release.price,
    }


def _guarantees(loss: Loss) -> dict[str, float | str]:
    """Return the headline numbers, rounded up; JSON knows no infinity."""
    guarantees = loss.guarantees
    numbers = {
        "delta": up(guarantees.delta),
        "epsilon": up(guarantees.epsilon),
        "mu": up(guarantees.mu),
        "rho": up(guarantees.rho),
    }
    return {name: value for name, value in numbers.items() if value != float("inf")}


def _write(path: Any, write: Callable[[str], object]) -> None:
    """Write the whole file, or refuse its path."""
    target = _target(path)
    try:
        problem = _problem(target)
        if not problem:
            _replace(target, write)
    except OSError as error:
        raise _refusal(path, "cannot be written there") from error
    if problem:
        raise _refusal(path, problem)


def _replace(target: Path, write: Callable[[str], object]) -> None:
    """Write beside the target, then put the finished file in its place."""
    with TemporaryDirectory(prefix=".sordino-", dir=target.parent) as folder:
        unfinished = Path(folder) / target.name
        write(str(unfinished))
        unfinished.replace(target)


def _target(path: Any) -> Path:
    """Return the real place of a file, behind links."""
    try:
        return Path(os.path.realpath(Path(path)))
    except (OSError, TypeError, ValueError) as error:
        raise _refusal(path, "is no path of a file") from error


def _problem(target: Path) -> str:
    """Return why nothing may be written there, from what is there already."""
    if target.is_dir():
        return "is a folder"
    if target.exists() and not target.is_file():
        return "is no ordinary file"
    if not target.parent.is_dir():
        return "lies in a folder that does not exist"
    return ""


def _refusal(path: Any, problem: str) -> InvalidParameter:
    """Return the refusal of a path."""
    shown = str(path) if isinstance(path, os.PathLike) else path
    remedy = 'Name a file in a folder you may write to, such as "out.csv".'
    return InvalidParameter("path", shown, problem, remedy)
