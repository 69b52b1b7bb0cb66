"""Writing files: all of them whole, or none of them."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sordino.errors import InvalidParameter

LINK: Final = "is a symbolic link, and none is followed"


def write_whole(path: Any, write: Callable[[Path], object]) -> None:
    """Write a file, and what `write` puts beside it, or refuse its path."""
    target = _target(path)
    try:
        problem = _problem(target)
        if not problem:
            _replace(target, write)
    except OSError as error:
        raise _refusal(path, "cannot be written there") from error
    if problem:
        raise _refusal(path, problem)


def write_text(path: Any, text: str) -> None:
    """Write a text, such as a page, or refuse its path."""
    write_whole(path, lambda file: file.write_text(text, "utf-8", newline="\n"))


def _replace(target: Path, write: Callable[[Path], object]) -> None:
    """Write beside the target, then put finished files in their places, it last."""
    with TemporaryDirectory(prefix=".sordino-", dir=target.parent) as folder:
        unfinished = Path(folder) / target.name
        write(unfinished)
        others = [file for file in Path(folder).iterdir() if file != unfinished]
        places = {file: target.parent / file.name for file in (*others, unfinished)}
        for place in filter(Path.is_symlink, places.values()):
            raise _refusal(place, LINK)
        for file, place in places.items():
            file.replace(place)


def _target(path: Any) -> Path:
    """Return the real place of a file: in a folder behind links, itself no link."""
    try:
        named = Path(path)
        os.path.realpath(named)  # refuses what is no path
        return Path(os.path.realpath(named.parent)) / named.name
    except (OSError, TypeError, ValueError) as error:
        raise _refusal(path, "is no path of a file") from error


def _problem(target: Path) -> str:
    """Return why nothing may be written there, from what is there already."""
    if target.is_symlink():
        return LINK
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
