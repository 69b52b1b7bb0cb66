"""The rules of "CSV on the Web" that metadata and their file must keep.

Written from the W3C's recommendations of 17 December 2015, "Metadata Vocabulary for
Tabular Data" (sections 3.3 dialects, 5.1 to 5.8, 6.4 formats) and "Model for Tabular
Data" (4.6). Each rule yields a sentence where it is broken.
"""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

NAME: Final = re.compile(r"(?!_)(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+")
PREFIXED: Final = re.compile(r"(?:dc|schema|dcat|prov):[A-Za-z0-9]+")
OWN: Final = {"@context", "url", "tableSchema"}
OF_COLUMNS: Final = {"name", "titles", "datatype", "null"}
KEYWORDS: Final = {"@type", "@value", "@language", "@id"}
INTEGERS: Final = {
    "byte": (-(2**7), 2**7),
    "short": (-(2**15), 2**15),
    "int": (-(2**31), 2**31),
    "long": (-(2**63), 2**63),
    "unsignedByte": (0, 2**8),
    "unsignedShort": (0, 2**16),
    "unsignedInt": (0, 2**32),
    "unsignedLong": (0, 2**64),
}
DOUBLE: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|NaN|-?INF")
FORMS: Final = {
    "string": re.compile(r".*", re.DOTALL),
    "boolean": re.compile(r"true|false|1|0"),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "double": DOUBLE,
    "float": DOUBLE,
}
MOMENT: Final = {"base": "dateTimeStamp", "format": "yyyy-MM-dd HH:mm:ss.SSSSSSX"}
MOMENTS: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{1,6}"
    r"(Z|[-+][0-9]{2}([0-9]{2})?)"
)


def broken_rules(file: Path) -> Iterator[str]:
    """Yield what is wrong with a CSV file and the metadata beside it."""
    beside = file.with_name(f"{file.name}-metadata.json")
    document = json.loads(beside.read_text("utf-8"))
    context = document.get("@context")
    if context != "http://www.w3.org/ns/csvw" and (
        not isinstance(context, list) or context[0] != "http://www.w3.org/ns/csvw"
    ):
        yield "5.2: the context must be that of the recommendation"
    if (beside.parent / unquote(document["url"])).resolve() != file.resolve():
        yield "5.4.2: url must name the file, relative to the metadata"
    for name, value in document.items():
        if name not in OWN and PREFIXED.fullmatch(name) is None:
            yield f"5.8: {name} is neither a property nor has a prefix"
        elif name not in OWN:
            yield from _common(value)
    columns = document["tableSchema"]["columns"]
    yield from _columns(columns)
    yield from _rows(file, columns)


def _common(value: Any) -> Iterator[str]:
    """Yield what a common property may not hold (5.8)."""
    if isinstance(value, list):
        for each in value:
            yield from _common(each)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name not in KEYWORDS and PREFIXED.fullmatch(name) is None:
                yield f"5.8.2: {name} may not stand within a common property"
            yield from _common(inner)


def _columns(columns: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with the descriptions of columns (5.6)."""
    names = [column["name"] for column in columns]
    if len(set(names)) < len(names):
        yield "5.6: names of columns must differ"
    for column in columns:
        if NAME.fullmatch(column["name"]) is None:
            yield f"5.6: {column['name']} cannot be the name of a variable"
        for name in column:
            if name not in OF_COLUMNS and PREFIXED.fullmatch(name) is None:
                yield f"5.6: {name} is no property of a column"


def _rows(file: Path, columns: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what a reader of the file would warn of."""
    with file.open(newline="", encoding="utf-8") as opened:
        heading, *rows = csv.reader(opened)
    if heading != [column["titles"] for column in columns]:
        yield "4.6: the titles must be those of the heading, in order"
    for row in rows:
        for cell, column in zip(row, columns, strict=True):
            nulls = column.get("null", [""])
            if cell not in nulls and not _fits(cell, column["datatype"]):
                yield f"6.4: {cell!r} is no {column['datatype']}"


def _fits(cell: str, datatype: Any) -> bool:
    """Tell whether a cell is of a datatype (6.4)."""
    if isinstance(datatype, dict):
        return datatype == MOMENT and MOMENTS.fullmatch(cell) is not None
    if datatype in INTEGERS:
        low, end = INTEGERS[datatype]
        return re.fullmatch(r"[-+]?[0-9]+", cell) is not None and low <= int(cell) < end
    return FORMS[datatype].fullmatch(cell) is not None
