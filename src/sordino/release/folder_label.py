"""The label of a folder of files: one text in it, with the SHA-256 of each file.

| name in the folder | what |
|---|---|
| `_label.json` | the facts, as linked data, and `schema:hasPart`: the files |
| begins with `_` or `.` | no part of the answer: readers of folders pass it over |
| any other | a file of the answer |
"""

import json
from collections.abc import Iterable
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final

from sordino.errors import InvalidLabel
from sordino.pages.languages import read_language
from sordino.release.files_answer import WrittenFile
from sordino.release.label_facts import LabelFacts
from sordino.release.label_rows import label_texts
from sordino.release.linked_data import label_object
from sordino.release.whole_files import write_text

FOLDER_LABEL: Final = "_label.json"
_PARTS: Final = "schema:hasPart"
_NAME, _SIZE, _SHA256 = "schema:name", "schema:contentSize", "schema:sha256"
_PASSED_OVER: Final = ("_", ".")


def folder_label(facts: LabelFacts, files: Iterable[WrittenFile]) -> str:
    """Return the text of a folder's label: the same for the same facts and files."""
    texts = label_texts(facts, read_language("en"), "", "")
    parts = [
        {
            "@type": "schema:DataDownload",
            _NAME: file.name,
            _SIZE: file.size,
            _SHA256: file.sha256,
        }
        for file in sorted(files)
    ]
    document = label_object(facts, texts) | {_PARTS: parts}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def files_in(folder: Path) -> tuple[WrittenFile, ...]:
    """Return the files of an answer that lie in a folder of this machine, sorted."""
    if not folder.is_dir():
        return ()
    return tuple(
        written_file(path)
        for path in sorted(folder.iterdir())
        if not path.name.startswith(_PASSED_OVER)
    )


def written_file(path: Path) -> WrittenFile:
    """Return what stands for a file."""
    with path.open("rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
        return WrittenFile(path.name, file.tell(), sha256)


def write_label(place: Path, text: str) -> None:
    """Write a label, whole or not at all, unless one is there."""
    if not place.exists():
        write_text(place, text)


def check_files(folder: Path, document: dict[str, Any], name: str = "") -> None:
    """Refuse a folder that holds others than a label names; or one file of it."""
    stated = _parts_of(folder, document)
    present = [written_file(folder / name)] if name else files_in(folder)
    others = set(present) - stated if name else set(present) ^ stated
    for file in sorted(others):
        raise InvalidLabel(
            f"{folder.name}/{file.name}",
            f"is not as {FOLDER_LABEL} beside it says",
            "Copy the whole folder, and nothing else into it.",
        )


def _parts_of(folder: Path, document: dict[str, Any]) -> set[WrittenFile]:
    """Return the files that a label names, or refuse what names none."""
    parts = document.get(_PARTS)
    try:
        return {
            WrittenFile(str(part[_NAME]), int(part[_SIZE]), str(part[_SHA256]))
            for part in parts or ()
        }
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise InvalidLabel(
            f"{folder.name}/{FOLDER_LABEL}", "names no files that can be read"
        ) from None
