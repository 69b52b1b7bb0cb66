"""A job file as a value, read whole and checked before anything is opened.

Whom a table protects:

| `protects = ...` | unit |
|---|---|
| `"rows"`, `{ rows = 3 }` | any row, or any three of them |
| `"changed row"` | what stands in any row, where the number of rows is public |
| `{ id = "patient" }` | all rows with one value of a column; also `id_space` |
| `{ column = "ward", groups = 2, rows_per_group = 3 }` | rows in two groups at most |
| `{ column = "views", total = 30 }` | rows whose values add up to 30 at most |
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from sordino.data.csv import Csv
from sordino.data.files import have_endings
from sordino.data.tables import PrivateTable, PublicTable
from sordino.data.toml import UNDECIDED, Section, file_value, read_text, read_toml
from sordino.data.units import (
    AbstractUnit,
    AddMaxRows,
    AddMaxRowsInMaxGroups,
    AddMaxTotal,
    AddOneRow,
    AddRowsWithID,
    ChangeOneRow,
)
from sordino.data.workbooks import WORKBOOKS, Workbook
from sordino.errors import InvalidJob
from sordino.expressions.schema import unknown
from sordino.ledger.places import is_address, refuse_password
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Limit
from sordino.office.job.questions import (
    PlannedRelease,
    read_division,
    read_limit,
    read_planned_releases,
)
from sordino.session.tables import sampled_rate

USUAL: Final = "sordino.toml"
SPARK: Final = "spark://"
"""Before the name of a table in `source`: the Spark that the environment says."""
_NOT_OURS: Final = ("pyproject.toml", "policy.toml")  # often beside a job


def find_job(folder: Path) -> Path:
    """Job file of a folder: the usual name, or the only one there is."""
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
    """All that a job says, and the texts of the files that it names, as JSON.

    >>> from decimal import Decimal
    >>> canonical({"b": Decimal("0.10"), "a": 1}, {})
    '{"files":{},"job":{"a":1,"b":"0.10"}}'
    """
    whole = {"job": file_value(values), "files": dict(texts)}
    return json.dumps(
        whole,
        sort_keys=True,  # the same job has one text, in whatever order it is written
        separators=(",", ":"),
        ensure_ascii=False,
        default=str,  # dates and times
    )


_FORMS: Final[dict[tuple[str, ...], Callable[..., AbstractUnit]]] = {
    ("rows",): AddMaxRows,
    ("id",): AddRowsWithID,
    ("id", "id_space"): AddRowsWithID,
    ("column", "total"): AddMaxTotal,
    ("column", "total", "in_each"): AddMaxTotal,
    ("column", "groups", "rows_per_group"): AddMaxRowsInMaxGroups,
}
"""Names of what a unit needs in order, and what they make."""
_WORDS: Final[dict[str, AbstractUnit]] = {
    "rows": AddOneRow(),
    "changed row": ChangeOneRow(),
}
_REMEDY: Final = (
    'Write protects = { id = "patient" } for all rows of a person, or "rows" for one.'
)


def read_protection(table: Section) -> AbstractUnit:
    """Unit that a table of a job protects."""
    word = table.value("protects")
    if isinstance(word, str):
        if word not in _WORDS:
            raise table.wrong("protects", "is no unit", _REMEDY)
        return _WORDS[word]
    section = table.section("protects")
    names = next((names for names in _FORMS if set(names) == {*section}), None)
    if names is None:
        section.refuse_others(*sorted({name for names in _FORMS for name in names}))
        raise InvalidJob(section.place, "says too much or too little", _REMEDY)
    with table.place_refusals("protects"):
        return _FORMS[names](*map(section.value, names))


_FORMAT: Final = (
    *("delimiter", "quote", "encoding", "decimal", "thousands", "currency"),
    *("date", "time", "true", "false", "null", "skip", "header"),
)
"""How text files are written, each as `sordino.Csv` takes it."""
_SHEET: Final = ("sheet", "true", "false", "null", "skip", "header")
"""How workbooks are, each as `sordino.Workbook` takes it."""


_TABLE: Final = ("source", "protects", "blocks", "sampled", "columns", "format")


def read_tables(root: Section, folder: Path) -> dict[str, PrivateTable | PublicTable]:
    """Private and public tables of a job by name."""
    tables: dict[str, PrivateTable | PublicTable] = {}
    for name, section in root.sections("tables").items():
        section.refuse_others(*_TABLE)
        unit = read_protection(section)
        source, columns = _source(section, folder)
        blocks = {"blocks": section.text("blocks")} if "blocks" in section else {}
        with root.section("tables").place_refusals(name):
            tables[name] = PrivateTable(
                source, unit, columns, **blocks, sampled=section.values.get("sampled")
            )
    if not tables:
        root.section("tables").value("visits")
    for name, section in root.sections("public").items():
        section.refuse_others("source", "columns", "format")
        if name in tables:
            raise root.section("public").wrong(
                name, "is also a private table", "Choose another name."
            )
        source, columns = _source(section, folder)
        with root.section("public").place_refusals(name):
            tables[name] = PublicTable(source, columns)
    return tables


def _source(section: Section, folder: Path) -> tuple[Any, dict[str, str] | None]:
    """Where the rows are; the types of their columns, unless the source has them."""
    paths = _places(section, folder)
    style, types = section.section("format"), section.section("columns")
    listed = paths if isinstance(paths, list) else [str(paths)]
    is_workbook = have_endings(listed, WORKBOOKS)
    style.refuse_others(*(_SHEET if is_workbook else _FORMAT))
    columns = {name: types.text(name) for name in types}
    if not list(style):
        return paths, columns
    with section.place_refusals("format"):
        declared = Workbook if is_workbook else Csv
        return declared(paths, columns, **style.values), None


def _places(section: Section, folder: Path) -> Any:
    """A path, several, or a server or Spark with the name of a table."""
    source = section.value("source")
    if not isinstance(source, list):
        return _path_beside(folder, section.secret("source"))
    if source and isinstance(source[0], dict):
        address, *names = source
        # the address may have a password: it is read from the environment alone
        server = Section(section.at("source"), {"address": address, "table": names})
        return server.secret("address"), " ".join(server.texts("table"))
    texts = section.open_texts("source")
    if texts[:1] == (SPARK,):
        return SPARK, " ".join(texts[1:])
    return [_path_beside(folder, path) for path in texts]


def _path_beside(folder: Path, source: str) -> str:
    return source if "://" in source else str(folder / source)


_TABLES: Final = ("schema", "tables", "public", "ledger", "engine", "releases")
_LEDGER: Final = (
    *("path", "limit", "counting", "reserve", "blocks"),
    *("witness", "create", "only_writer", "analyst", "who", "policy"),
)
_ENGINE: Final = ("name", "memory_limit", "threads")
_VERSION: Final = 1


@final
@dataclass(frozen=True)
class BookPlan:
    """The ledger that a job charges."""

    path: Path | str
    """A file, or the address of a server."""
    limit: Limit
    blocks: Blocks | None
    """The blocks that have the limit each, None where it is one for all."""
    witness: Path | str | None
    create: bool
    """Whether one that is missing is made, with nothing spent."""
    only_writer: bool
    """Whether no other process opens it meanwhile, so that its locks do not matter."""
    analyst: str | None
    who: str
    policy: Path | None
    """The signed rules that it obeys, if the job brings them."""


@final
@dataclass(frozen=True)
class Job:
    """All that a job file says."""

    path: Path
    tables: Mapping[str, PrivateTable | PublicTable]
    ledger: BookPlan
    engine: Mapping[str, Any]
    releases: Mapping[str, PlannedRelease]
    programs: Mapping[str, str]
    """The texts of the Python files that it names, which are run as recorded."""
    text: str
    """Its canonical text, which the ledger keeps."""

    @property
    def folder(self) -> Path:
        """Folder that paths in it are relative to."""
        return self.path.parent

    def release(self, name: str) -> PlannedRelease:
        """Release of a name."""
        if name not in self.releases:
            raise unknown("release", name, self.releases)
        return self.releases[name]


def read_job(path: Path) -> Job:
    """Read a job; nothing but the file and the programs it names is opened."""
    return job_of(read_toml(path.absolute()), path)


def job_of(values: Mapping[str, Any], path: Path) -> Job:
    """Job of the content of a file, which need not be written yet."""
    place, root = path.absolute(), Section("", values)
    root.refuse_others(*_TABLES)
    if root.values.get("schema", _VERSION) != _VERSION:
        raise root.wrong(
            "schema", f"must be {_VERSION}", "This version reads no other."
        )
    tables = read_tables(root, place.parent)
    with root.place_refusals("tables"):
        rate = sampled_rate(tables)
    book = _book(root, place.parent, rate)
    _refuse_half_of_blocks(root, book.blocks)
    releases = read_planned_releases(root, book.blocks)
    engine = root.section("engine")
    engine.refuse_others(*_ENGINE)
    _refuse_no_workers(root, releases)
    programs = _programs(releases, place.parent)
    return Job(
        place,
        tables,
        book,
        {"engine" if name == "name" else name: engine.value(name) for name in engine},
        releases,
        programs,
        canonical(root.values, programs),
    )


def _book(root: Section, folder: Path, rate: Fraction | None) -> BookPlan:
    section = root.section("ledger")
    section.refuse_others(*_LEDGER)
    witness = section.text("witness", "")
    analyst = section.text("analyst", "")
    policy = section.text("policy", "")
    return BookPlan(
        _place_of(section, "path", folder),
        read_limit(section, rate),
        read_division(section),
        _place_of(section, "witness", folder) if witness else None,
        create=section.truth("create", default=True),  # a first run has none (ADR 190)
        only_writer=section.truth("only_writer", default=False),
        analyst=analyst or None,
        who=section.text("who", ""),
        policy=folder / policy if policy else None,
    )


def _place_of(section: Section, name: str, folder: Path) -> Path | str:
    """Place of a ledger: the text of a job is recorded, so it holds no password."""
    text = section.text(name)
    if not is_address(text):
        return folder / text
    refuse_password(text, f"ledger.{name}")
    return text


def _refuse_half_of_blocks(root: Section, blocks: Blocks | None) -> None:
    """Refuse blocks of tables without their kind, and a kind that no table has."""
    tables = root.sections("tables")
    divided = [section for section in tables.values() if "blocks" in section]
    if divided and blocks is None:
        raise divided[0].wrong(
            "blocks",
            "needs the blocks of the ledger",
            'Say [ledger] blocks = { start = "2026-01", every = "month" }.',
        )
    if blocks is not None and not divided:
        place = next(iter(tables.values())).at("blocks")
        raise root.section("ledger").wrong(
            "blocks",
            "are of no table",
            f'Name the column of blocks: {place} = "arrived".',
        )


def _refuse_no_workers(root: Section, releases: Mapping[str, PlannedRelease]) -> None:
    """Refuse files that nobody would write: Spark alone has workers."""
    if root.section("engine").values.get("name") == "spark":
        return
    for release in releases.values():
        if release.files:
            raise (
                root
                .section("releases")
                .section(release.name)
                .wrong(
                    "files",
                    "is for workers, which Spark alone has",
                    'Say [engine] name = "spark", or out = ["parquet"] instead.',
                )
            )


def _programs(releases: Mapping[str, PlannedRelease], folder: Path) -> dict[str, str]:
    programs = {
        release.function[0]: release.place
        for release in releases.values()
        if release.function is not None
    }
    return {
        name: read_text(folder, name, f"{place}.query")
        for name, place in programs.items()
    }


def undecided_places(path: Path) -> list[str]:
    """Places of a file where a person still has to choose."""
    return list(_find_undecided(Section("", read_toml(path.absolute()))))


def _find_undecided(section: Section) -> Iterator[str]:
    for name, value in section.values.items():
        if value == UNDECIDED:
            yield section.at(name)
        elif isinstance(value, dict):
            yield from _find_undecided(section.section(name))
