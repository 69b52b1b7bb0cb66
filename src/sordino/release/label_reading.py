"""The label that a published file carries, read as from a stranger.

Sizes are bounded before anything is read, and each fact is checked
(`stated_facts`); what does not fit is refused. Texts stay texts: pages escape them.

| file | where its label lies |
|---|---|
| Parquet | among the metadata of its schema, under "sordino.label" |
| a folder | in it, in `_label.json`, with the SHA-256 of each file |
| one of its files | the same, unless it is a Parquet file that has its own |
| any other | beside it, in `<name>-metadata.json`, with the SHA-256 of the file |
"""

import json
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from sordino.errors import InvalidLabel
from sordino.release.csv_metadata import BESIDE, SHA256
from sordino.release.files import LABEL
from sordino.release.folder_label import FOLDER_LABEL, check_files
from sordino.release.label_facts import LabelFacts
from sordino.release.linked_data import FACTS
from sordino.release.stated_facts import read_facts

_LARGEST: Final = 2**24
"""Bytes of the footer of a Parquet file, or of the metadata beside another file."""
_MOST_THINGS: Final = 2**20
"""Columns and row groups that a footer may name."""
_MAGIC: Final = b"PAR1"


@final
class StatedLabel(NamedTuple):
    """What a file says of itself, and the file that it says so in."""

    facts: LabelFacts
    place: Path
    published: Path
    """What a ledger knows if it saw the file published: of a folder, its label."""


def label_of_file(path: Path) -> StatedLabel:
    """Return the facts that a file says of itself, or refuse them."""
    try:
        place, published, text = _stated_text(path)
    except InvalidLabel:
        raise
    except (OSError, ValueError):
        raise InvalidLabel(path.name, "cannot be read", "Name a file.") from None
    return StatedLabel(read_facts(path.name, text), place, published)


def _stated_text(path: Path) -> tuple[Path, Path, str]:
    """Return where a label lies, what a ledger knows of the file, and the facts."""
    if path.is_dir():
        place = path / FOLDER_LABEL
        return place, place, _text_of_folder(path, path.name)
    with path.open("rb") as file:
        is_parquet = file.read(len(_MAGIC)) == _MAGIC
    place = path.with_name(FOLDER_LABEL)
    if is_parquet:
        text = _parquet_text(path)
        if text:
            return path, path, text
        if not place.is_file():
            raise InvalidLabel(path.name, "carries no label")
    if path != place and place.is_file() and not _has_beside(path):
        return place, place, _text_of_folder(path.parent, path.name, path.name)
    beside = path.with_name(path.name + BESIDE)
    return beside, path, _text_beside(path, beside)


def vouching_file(path: Path) -> Path:
    """Return what a ledger knows if it saw a file, or a folder of them, published.

    What a folder's label names is looked at; refused is what it does not name so.
    """
    place = path / FOLDER_LABEL if path.is_dir() else path.with_name(FOLDER_LABEL)
    if not place.is_file() or path == place:
        return path
    name = "" if path.is_dir() else path.name
    _text_of_folder(place.parent, path.name, name)
    return place


def _has_beside(path: Path) -> bool:
    """Tell whether a file has a label of its own beside it."""
    return path.with_name(path.name + BESIDE).is_file()


def _text_of_folder(folder: Path, shown: str, name: str = "") -> str:
    """Return the text of the facts in the label of a folder, which are its own."""
    place = folder / FOLDER_LABEL
    if not place.is_file():
        raise InvalidLabel(shown, f"carries no label: {FOLDER_LABEL} is not in it")
    with place.open("rb") as file:
        document = read_json(place.name, file.read(_LARGEST + 1))
    stated = _property(document)
    if not isinstance(stated, str):
        raise InvalidLabel(place.name, "holds no facts of a label")
    check_files(folder, document, name)
    return stated


def _parquet_text(path: Path) -> str:
    """Return the text of the facts in the footer of a Parquet file, if it has one."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed
    from pyarrow import parquet  # noqa: PLC0415 loaded when needed

    with path.open("rb") as file:
        file.seek(-8, 2)
        if int.from_bytes(file.read(4), "little") > _LARGEST:
            raise InvalidLabel(path.name, "has a footer that is too large")
    try:
        with parquet.ParquetFile(
            path,
            thrift_string_size_limit=_LARGEST,
            thrift_container_size_limit=_MOST_THINGS,
        ) as file:
            stated = (file.metadata.metadata or {}).get(LABEL)
    except (pa.ArrowException, OSError, TypeError, ValueError):
        raise InvalidLabel(path.name, "is no Parquet file that can be read") from None
    return "" if stated is None else _decode(path.name, stated)


def _text_beside(path: Path, beside: Path) -> str:
    """Return the text of the facts in the metadata beside a file, which are its own."""
    if not beside.is_file():
        raise InvalidLabel(
            path.name,
            f"carries no label: {beside.name} is not beside it",
            "Copy both files together.",
        )
    with beside.open("rb") as file:
        document = read_json(beside.name, file.read(_LARGEST + 1))
    stated = _property(document)
    if not isinstance(stated, str):
        raise InvalidLabel(beside.name, "holds no facts of a label")
    with path.open("rb") as file:
        if file_digest(file, "sha256").hexdigest() != document.get(SHA256):
            raise InvalidLabel(
                beside.name,
                f"belongs to another file than this {path.name}: its SHA-256 differs",
                "Copy both files together.",
            )
    return stated


def read_json(name: str, stated: bytes) -> dict[str, Any]:
    """Return an object of JSON, or refuse what is none."""
    text = _decode(name, stated)
    try:
        document = json.loads(text)
    except (RecursionError, ValueError):
        raise InvalidLabel(name, "is no JSON") from None
    if not isinstance(document, dict):
        raise InvalidLabel(name, "is no object of JSON")
    return document


def _property(document: dict[str, Any]) -> Any:
    """Return the value of the property that holds the facts, if there is one."""
    properties = document.get("schema:additionalProperty")
    for each in properties if isinstance(properties, list) else ():
        if isinstance(each, dict) and each.get("schema:propertyID") == FACTS:
            return each.get("schema:value")
    return None


def _decode(name: str, stated: bytes) -> str:
    """Return bytes as text, or refuse what is too long or no UTF-8."""
    if len(stated) > _LARGEST:
        raise InvalidLabel(name, "has a label that is too large")
    try:
        return stated.decode()
    except UnicodeDecodeError:
        raise InvalidLabel(name, "has a label that is no text") from None
