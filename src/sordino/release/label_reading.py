"""The label that a published file carries, read as from a stranger.

Sizes are bounded before anything is read, and each fact is checked
(`stated_facts`); what does not fit is refused. Texts stay texts: pages escape them.

| file | where its label lies |
|---|---|
| Parquet | among the metadata of its schema, under "sordino.label" |
| any other | beside it, in `<name>-metadata.json`, with the SHA-256 of the file |
"""

import json
from hashlib import file_digest
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from sordino.errors import InvalidLabel
from sordino.release.csv_metadata import BESIDE, SHA256
from sordino.release.files import LABEL
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


def label_of_file(path: Path) -> StatedLabel:
    """Return the facts that a file says of itself, or refuse them."""
    try:
        with path.open("rb") as file:
            is_parquet = file.read(len(_MAGIC)) == _MAGIC
        place = path if is_parquet else path.with_name(path.name + BESIDE)
        text = _parquet_text(path) if is_parquet else _text_beside(path, place)
    except InvalidLabel:
        raise
    except (OSError, ValueError):
        raise InvalidLabel(path.name, "cannot be read", "Name a file.") from None
    return StatedLabel(read_facts(path.name, text), place)


def _parquet_text(path: Path) -> str:
    """Return the text of the facts in the footer of a Parquet file."""
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
    if stated is None:
        raise InvalidLabel(path.name, "carries no label")
    return _decode(path.name, stated)


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
