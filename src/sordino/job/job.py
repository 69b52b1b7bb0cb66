"""A job file as a value: read whole and checked, before anything is opened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import Blocks
from sordino.job.budgets import read_division, read_limit
from sordino.job.job_file import canonical
from sordino.job.job_tables import read_tables
from sordino.job.planned_release import PlannedRelease, read_planned_releases
from sordino.query.tables import PrivateTable, PublicTable
from sordino.schema import unknown
from sordino.settings.section import UNDECIDED, Section
from sordino.settings.toml_file import read_text, read_toml

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

    path: Path
    limit: Limit
    blocks: Blocks | None
    """What the limit is of each of."""
    witness: Path | None
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
        """Return where it lies: paths in it are relative to that."""
        return self.path.parent

    def release(self, name: str) -> PlannedRelease:
        """Return a release by its name."""
        if name not in self.releases:
            raise unknown("release", name, self.releases)
        return self.releases[name]


def read_job(path: Path) -> Job:
    """Return a job; nothing but the file and the programs it names is read."""
    place = path.absolute()
    root = Section("", read_toml(place))
    root.refuse_others(*_TABLES)
    if root.values.get("schema", _VERSION) != _VERSION:
        raise root.wrong(
            "schema", f"must be {_VERSION}", "This version reads no other."
        )
    tables, book = read_tables(root, place.parent), _book(root, place.parent)
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


def _book(root: Section, folder: Path) -> BookPlan:
    """Return where the ledger lies, what its limit is, and who charges it."""
    section = root.section("ledger")
    section.refuse_others(*_LEDGER)
    witness = section.text("witness", "")
    analyst = section.text("analyst", "")
    policy = section.text("policy", "")
    return BookPlan(
        folder / section.text("path"),
        read_limit(section),
        read_division(section),
        folder / witness if witness else None,
        create=section.truth("create", default=True),
        only_writer=section.truth("only_writer", default=False),
        analyst=analyst or None,
        who=section.text("who", ""),
        policy=folder / policy if policy else None,
    )


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
    """Return the texts of the Python files that releases name."""
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
    """Return the places of a file where a person still has to choose."""
    return list(_find_undecided(Section("", read_toml(path.absolute()))))


def _find_undecided(section: Section) -> Iterator[str]:
    """Yield the places in a table, and in those below it."""
    for name, value in section.values.items():
        if value == UNDECIDED:
            yield section.at(name)
        elif isinstance(value, dict):
            yield from _find_undecided(section.section(name))
