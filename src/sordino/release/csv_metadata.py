"""Metadata of a CSV file by the W3C's "CSV on the Web": what each column means.

It lies beside the file under the name that readers look for,
`<name>.csv-metadata.json`, and holds the SHA-256 of the file that it describes.
"""

import json
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from sordino.display.formatting import format_percent
from sordino.release.column_names import error_names
from sordino.release.label_facts import LabelFacts
from sordino.release.label_rows import LabelTexts
from sordino.release.linked_data import label_properties
from sordino.release.release_view import ReleaseView

if TYPE_CHECKING:
    import pyarrow as pa

BESIDE: Final = "-metadata.json"
"""What the name of a CSV file is followed by in that of its metadata."""
SHA256: Final = "schema:sha256"
_CONTEXT: Final = ["http://www.w3.org/ns/csvw", {"@language": "en"}]
_TYPES: Final = {
    "bool": "boolean",
    "int8": "byte",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "uint8": "unsignedByte",
    "uint16": "unsignedShort",
    "uint32": "unsignedInt",
    "uint64": "unsignedLong",
    "float": "float",
    "double": "double",
    "string": "string",
    "large_string": "string",
    "date32[day]": "date",
}
"""What Arrow's types are called there."""
_MOMENT: Final = {"base": "dateTimeStamp", "format": "yyyy-MM-dd HH:mm:ss.SSSSSSX"}
_ENDLESS: Final = ["", "nan", "inf", "-inf"]
"""How a double is written that is no number; the standard writes it otherwise."""
_FLOATS: Final = {"double", "float"}


def csv_metadata(
    release: ReleaseView,
    columns: "tuple[pa.Schema, list[str]]",
    label: tuple[LabelFacts, LabelTexts],
    file: tuple[str, str],
) -> str:
    """Return the metadata of a file, by its name and its SHA-256, of a release.

    Of its columns it has the types, and the titles that stand in the file.
    """
    (facts, texts), (name, sha256) = label, file
    meanings = dict(_meanings(release))
    document = {
        "@context": _CONTEXT,
        "url": quote(os.fsencode(name), safe=""),
        "dc:title": texts.file,
        **label_properties(facts, texts),
        SHA256: sha256,
        "tableSchema": {
            "columns": [
                _column(field, title, meanings[field.name])
                for field, title in zip(*columns, strict=True)
            ]
        },
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _meanings(release: ReleaseView) -> Iterator[tuple[str, str]]:
    """Yield what each column holds, by name."""
    share = format_percent(release.confidence)
    for name in release.keys:
        yield name, "Group that a row is about."
    for name in release.names:
        sd, low, high = error_names(name)
        yield name, "Noisy answer: the exact one, with noise added."
        yield sd, f'Standard deviation of the noise of "{name}".'
        holds = f'that holds the exact answer to "{name}" with a chance of at least'
        yield low, f"Lower end of an interval {holds} {share}."
        yield high, f"Upper end of an interval {holds} {share}."


def _column(field: "pa.Field", title: str, meaning: str) -> dict[str, Any]:
    """Return the description of a column."""
    kind = str(field.type)
    named = _TYPES.get(kind, "string")
    return {
        "name": column_name(title),
        "titles": title,
        "dc:description": meaning,
        "datatype": _MOMENT if kind.startswith("timestamp") else named,
        **({"null": _ENDLESS} if named in _FLOATS else {}),
    }


def column_name(title: str) -> str:
    """Return a title as the name of a variable: letters, digits, and %-codes.

    Different titles have different names, and none begins with an underscore.

    >>> column_name("n sd"), column_name("_id"), column_name("Größe")
    ('n%20sd', '%5Fid', 'Gr%C3%B6%C3%9Fe')
    """
    coded = quote(title, safe="")
    coded = re.sub(r"[-.~]", lambda match: f"%{ord(match[0]):02X}", coded)
    return re.sub(r"^_", "%5F", coded)
