"""Files that carry a label, written and read back.

| file | where its label lies |
|---|---|
| Parquet | among the metadata of its schema, under "sordino.label" |
| a folder | in it, in `_label.json`, with the SHA-256 of each file |
| one of its files | the same, unless it is a Parquet file that has its own |
| any other | beside it, in `<name>-metadata.json`, with the SHA-256 of the file |

What shows that a file stands in a ledger lies in `<name>-ledger.json`, or in
`_ledger.json` of a folder (docs/ledger-format.md).

The facts are one text of JSON, among the rows people read, as linked data. Names with a
prefix are those of Dublin Core and schema.org, which readers of JSON-LD and of "CSV on
the Web" know. In a folder, files whose names begin with `_` or `.` are no part
of the answer: readers of folders pass them over.

A label is read as from a stranger: sizes are bounded before anything is read, and each
fact is checked; what does not fit is refused. Texts stay texts: pages escape them.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final
from urllib.parse import quote

from sordino.aggregations.intervals import error_names, rank_names
from sordino.errors import InvalidLabel
from sordino.losses.loss import Loss
from sordino.numbers import up
from sordino.numbers.formatting import format_percent
from sordino.office.html.page import read_language
from sordino.office.label.facts import (
    LabelFacts,
    LabelledRelease,
    label_facts,
    read_facts,
)
from sordino.office.label.label import LabelTexts, label_texts
from sordino.release.released_files import WrittenFile
from sordino.release.storage import write_text, write_whole
from sordino.release.text import (
    NOISE,
    ReleaseView,
    about_name,
    file_table,
    whole_names,
)

if TYPE_CHECKING:
    import pyarrow as pa


FACTS: Final = "sordino.label"
"""The name of the property whose value is the text of the facts."""
_PREFIXES: Final = {"dc": "http://purl.org/dc/terms/", "schema": "https://schema.org/"}


def facts_text(facts: LabelFacts) -> str:
    """Return the facts as one line of JSON, the same for the same facts."""
    return json.dumps(facts.fields, sort_keys=True, separators=(",", ":"))


def label_json(facts: LabelFacts, texts: LabelTexts) -> str:
    """Return a label as a document of JSON-LD."""
    return _json_text(_label_object(facts, texts))


def _json_text(document: dict[str, Any]) -> str:
    # NaN is no JSON: other readers would refuse the whole label
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _label_object(facts: LabelFacts, texts: LabelTexts) -> dict[str, Any]:
    return {
        "@context": _PREFIXES,
        "@type": "schema:Dataset",
        **({"schema:name": texts.file} if texts.file else {}),
        **_label_properties(facts, texts),
    }


def _label_properties(facts: LabelFacts, texts: LabelTexts) -> dict[str, Any]:
    rows = [
        _property("schema:name", row.name, row.value)
        for part in texts.parts
        for row in part.rows
    ]
    paid = facts.paid_by
    return {
        "dc:creator": facts.made_by,
        **({} if paid is None else {"dc:date": paid.when}),
        "dc:description": " · ".join((texts.title, *texts.feet)),
        "schema:additionalProperty": [
            *rows,
            _property("schema:propertyID", FACTS, facts_text(facts)),
        ],
    }


def _property(named_by: str, name: str, value: str) -> dict[str, str]:
    return {"@type": "schema:PropertyValue", named_by: name, "schema:value": value}


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
        # its bytes: the name of a file need not be text
        "url": quote(os.fsencode(name), safe=""),
        "dc:title": texts.file,
        **_label_properties(facts, texts),
        SHA256: sha256,
        "tableSchema": {
            "columns": [
                _column(field, title, meanings[field.name])
                for field, title in zip(*columns, strict=True)
            ]
        },
    }
    return _json_text(document)


def _meanings(release: ReleaseView) -> Iterator[tuple[str, str]]:
    share = format_percent(release.confidence)
    limits = f" {release.limits}" if release.limits else ""
    for name in release.keys:
        yield name, "Group that a row is about."
    for name in release.names:
        sd, low, high = error_names(name)
        yield name, "Noisy answer: the exact one, with noise added."
        moved = "noise" if release.holds == NOISE else "noise, and of the draw of rows,"
        yield sd, f'Standard deviation of the {moved} of "{name}".'
        word = release.figures[name]
        of = f" {word}," if name in whole_names(release.figures) else ""
        holds = f'that holds the exact answer to "{name}"{of} with a chance of at least'
        if release.holds != NOISE:
            holds = f'that holds "{name}" {release.holds} with a chance of about'
        yield low, f"Lower end of an interval {holds} {share}.{limits}"
        yield high, f"Upper end of an interval {holds} {share}.{limits}"
        lower, upper = rank_names(name)
        places = (
            f'"{name}" stands above the exact one, with a chance of at least {share}'
        )
        yield lower, f"Fewest rows by which {places}: below it, if negative."
        yield upper, f"Most rows by which {places}: below it, if negative."
        about = "the table would have had each group lost alike to limits: no promise."
        yield about_name(name), f'What "{name}" of {about}'


def _column(field: "pa.Field", title: str, meaning: str) -> dict[str, Any]:
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
    coded = quote(title, safe="")  # which leaves `-`, `.` and `~` as they are
    coded = re.sub(r"[-.~]", lambda match: f"%{ord(match[0]):02X}", coded)
    return re.sub(r"^_", "%5F", coded)


BEGINS: Final = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet takes for a formula."""


def without_formulas(table: "pa.Table") -> "pa.Table":
    """Table in which an apostrophe precedes every text that would run as a formula.

    >>> import pyarrow as pa
    >>> table = pa.table({"=a": ["=1+1", "A", None], "n": [-1, 2, 3]})
    >>> without_formulas(table).to_pydict()
    {"'=a": ["'=1+1", 'A', None], 'n': [-1, 2, 3]}
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    columns = [
        pa.array(map(_harmless, column.to_pylist()), column.type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, list(map(_harmless, table.column_names)))


def _harmless(text: str | None) -> str | None:
    return f"'{text}" if text is not None and text.startswith(BEGINS) else text


METADATA: Final = b"sordino"
"""The key of the JSON among the metadata of a Parquet file."""
LABEL: Final = b"sordino.label"
"""The key of the facts of its label."""


def to_csv(release: LabelledRelease, path: Any, *, spreadsheet: bool = False) -> None:
    """Write values and errors side by side, and a metadata file for the columns.

    Missing is empty, empty text is quoted. A spreadsheet runs no text as a formula.
    """
    from pyarrow import csv  # noqa: PLC0415 loaded when needed

    table = file_table(release)
    shown = without_formulas(table) if spreadsheet else table
    facts = label_facts(release)

    def write(target: Path) -> None:
        csv.write_csv(shown, str(target))
        metadata = csv_metadata(
            release,
            (table.schema, shown.column_names),
            (facts, _texts(facts, target.name)),
            (target.name, written_file(target).sha256),
        )
        beside = target.with_name(target.name + BESIDE)
        beside.write_text(metadata, "utf-8")

    write_whole(path, write)


def to_parquet(release: LabelledRelease, path: Any) -> None:
    """Write values and errors side by side, with loss, plan and label as metadata."""
    labelled = labelled_table(release)
    write_whole(path, lambda target: write_parquet(labelled, str(target)))


def write_parquet(table: "pa.Table", where: Any) -> None:
    """Write a table to a path or to what takes bytes: the same bytes each time."""
    from pyarrow import parquet  # noqa: PLC0415 loaded when needed

    parquet.write_table(table, where)


def labelled_table(release: LabelledRelease) -> "pa.Table":
    """Return values and errors side by side, with loss, plan and label as metadata."""
    table = file_table(release)
    metadata = {
        **(table.schema.metadata or {}),
        METADATA: json.dumps(_facts(release)),
        LABEL: facts_text(label_facts(release)),
    }
    return table.replace_schema_metadata(metadata)


def _texts(facts: LabelFacts, file: str) -> LabelTexts:
    return label_texts(facts, read_language("en"), file, "")


def _facts(release: ReleaseView) -> dict[str, object]:
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
    guarantees = loss.guarantees
    numbers = {
        "delta": up(guarantees.delta),
        "epsilon": up(guarantees.epsilon),
        "mu": up(guarantees.mu),
        "rho": up(guarantees.rho),
    }
    # JSON knows no infinity
    return {name: value for name, value in numbers.items() if value != float("inf")}


FOLDER_LABEL: Final = "_label.json"
FOLDER_STANDING: Final = "_ledger.json"
STANDING: Final = "-ledger.json"
"""What the name of a file is followed by in that of what shows that it stands."""
_PARTS: Final = "schema:hasPart"
_NAME, _SIZE = "schema:name", "schema:contentSize"
_PASSED_OVER: Final = ("_", ".")


def folder_label(facts: LabelFacts, files: Iterable[WrittenFile]) -> str:
    """Return the text of a folder's label: the same for the same facts and files."""
    parts = [
        {
            "@type": "schema:DataDownload",
            _NAME: file.name,
            _SIZE: file.size,
            SHA256: file.sha256,
        }
        for file in sorted(files)  # a ledger records the hash of this text
    ]
    document = _label_object(facts, _texts(facts, "")) | {_PARTS: parts}
    return _json_text(document) + "\n"


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
    """Name, size and hash of a file."""
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
    # of a whole folder a file too many is as wrong as one that is missing
    others = set(present) - stated if name else set(present) ^ stated
    for file in sorted(others):
        raise InvalidLabel(
            f"{folder.name}/{file.name}",
            f"is not as {FOLDER_LABEL} beside it says",
            "Copy the whole folder, and nothing else into it.",
        )


def _parts_of(folder: Path, document: dict[str, Any]) -> set[WrittenFile]:
    parts = document.get(_PARTS)
    try:
        return {
            WrittenFile(str(part[_NAME]), int(part[_SIZE]), str(part[SHA256]))
            for part in parts or ()
        }
    # a stranger wrote it: any JSON may stand there
    except (ArithmeticError, LookupError, TypeError, ValueError):
        raise InvalidLabel(
            f"{folder.name}/{FOLDER_LABEL}", "names no files that can be read"
        ) from None


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

    @property
    def standing_place(self) -> Path:
        """File that shows that it stands in a ledger, if there is one."""
        if self.published.name == FOLDER_LABEL:
            return self.published.with_name(FOLDER_STANDING)
        return self.published.with_name(self.published.name + STANDING)

    @property
    def digests(self) -> tuple[str, str]:
        """SHA-256 of what a ledger knows if it saw it published, and of the label."""
        return written_file(self.published).sha256, written_file(self.place).sha256


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
    beside = path.with_name(path.name + BESIDE)
    if path != place and place.is_file() and not beside.is_file():
        return place, place, _text_of_folder(path.parent, path.name, path.name)
    return beside, path, _text_beside(path, beside)


def vouching_file(path: Path) -> Path:
    """File whose hash a ledger records for a file or a folder of them.

    What a folder's label names is looked at; refused is what it does not name so.
    """
    place = path / FOLDER_LABEL if path.is_dir() else path.with_name(FOLDER_LABEL)
    if not place.is_file() or path == place:
        return path
    name = "" if path.is_dir() else path.name
    _text_of_folder(place.parent, path.name, name)
    return place


def _text_of_folder(folder: Path, shown: str, name: str = "") -> str:
    place = folder / FOLDER_LABEL
    if not place.is_file():
        raise InvalidLabel(shown, f"carries no label: {FOLDER_LABEL} is not in it")
    with place.open("rb") as file:
        document = read_json(place.name, file.read(_LARGEST + 1))
    stated = _property_text(document)
    if not isinstance(stated, str):
        raise InvalidLabel(place.name, "holds no facts of a label")
    check_files(folder, document, name)
    return stated


def _parquet_text(path: Path) -> str:
    import pyarrow as pa  # noqa: PLC0415 loaded when needed
    from pyarrow import parquet  # noqa: PLC0415 loaded when needed

    with path.open("rb") as file:
        file.seek(-8, 2)  # the size of the footer: looked at before Arrow reads it
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
    if not beside.is_file():
        raise InvalidLabel(
            path.name,
            f"carries no label: {beside.name} is not beside it",
            "Copy both files together.",
        )
    with beside.open("rb") as file:
        document = read_json(beside.name, file.read(_LARGEST + 1))
    stated = _property_text(document)
    if not isinstance(stated, str):
        raise InvalidLabel(beside.name, "holds no facts of a label")
    if written_file(path).sha256 != document.get(SHA256):
        raise InvalidLabel(
            beside.name,
            f"belongs to another file than this {path.name}: its SHA-256 differs",
            "Copy both files together.",
        )
    return stated


def read_json(name: str, stated: bytes) -> dict[str, Any]:
    """Object of a JSON text; any other text is refused."""
    text = _decode(name, stated)
    try:
        document = json.loads(text)
    except (RecursionError, ValueError):
        raise InvalidLabel(name, "is no JSON") from None
    if not isinstance(document, dict):
        raise InvalidLabel(name, "is no object of JSON")
    return document


def _property_text(document: dict[str, Any]) -> Any:
    properties = document.get("schema:additionalProperty")
    for each in properties if isinstance(properties, list) else ():
        if isinstance(each, dict) and each.get("schema:propertyID") == FACTS:
            return each.get("schema:value")
    return None


def _decode(name: str, stated: bytes) -> str:
    # a label comes from outside, and may be of any size
    if len(stated) > _LARGEST:
        raise InvalidLabel(name, "has a label that is too large")
    try:
        return stated.decode()
    except UnicodeDecodeError:
        raise InvalidLabel(name, "has a label that is no text") from None
