"""The tables of a job file: sources, columns, and how text is written."""

from pathlib import Path
from typing import Any, Final

from sordino.job.protection import read_protection
from sordino.query.tables import PrivateTable, PublicTable
from sordino.settings.section import Section
from sordino.sources.csv_format import Csv

_FORMAT: Final = (
    *("delimiter", "quote", "encoding", "decimal"),
    *("date", "time", "true", "false", "null"),
)
"""How text files are written, each as `sordino.Csv` takes it."""


def read_tables(root: Section, folder: Path) -> dict[str, PrivateTable | PublicTable]:
    """Return the private and the public tables of a job by name."""
    tables: dict[str, PrivateTable | PublicTable] = {}
    for name, section in root.sections("tables").items():
        section.refuse_others("source", "protects", "blocks", "columns", "format")
        unit = read_protection(section)
        source = _source(section, folder)
        columns = None if isinstance(source, Csv) else _columns(section)
        with root.section("tables").place_refusals(name):
            tables[name] = PrivateTable(source, unit, columns, **_blocks(section))
    if not tables:
        root.section("tables").value("visits")
    for name, section in root.sections("public").items():
        section.refuse_others("source", "columns", "format")
        if name in tables:
            raise root.section("public").wrong(
                name, "is also a private table", "Choose another name."
            )
        source = _source(section, folder)
        columns = None if isinstance(source, Csv) else _columns(section)
        with root.section("public").place_refusals(name):
            tables[name] = PublicTable(source, columns)
    return tables


def _blocks(section: Section) -> dict[str, str]:
    """Return the column that says of what block a row is, if there is one."""
    return {"blocks": section.text("blocks")} if "blocks" in section else {}


def _columns(section: Section) -> dict[str, Any]:
    """Return the declared types of columns."""
    columns = section.section("columns")
    return {name: columns.text(name) for name in columns}


def _source(section: Section, folder: Path) -> Any:
    """Return where the rows are, with what is said of how text is written."""
    paths = _places(section, folder)
    style = section.section("format")
    style.refuse_others(*_FORMAT)
    if not list(style):
        return paths
    with section.place_refusals("format"):
        return Csv(
            paths, _columns(section), **{name: style.values[name] for name in style}
        )


def _places(section: Section, folder: Path) -> Any:
    """Return a path, several, or the address of a server with the name of a table."""
    source = section.value("source")
    if not isinstance(source, list):
        return _path_beside(folder, section.secret("source"))
    if source and isinstance(source[0], dict):
        address, *names = source
        server = Section(section.at("source"), {"address": address, "table": names})
        return server.secret("address"), " ".join(server.texts("table"))
    return [_path_beside(folder, path) for path in section.open_texts("source")]


def _path_beside(folder: Path, source: str) -> str:
    """Return a path relative to the job file; an address of a server stays."""
    return source if "://" in source else str(folder / source)
