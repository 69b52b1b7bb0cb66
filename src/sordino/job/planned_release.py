"""One release of a job file: what is asked, at what price, and how often."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from sordino.budgets.table_blocks import Blocks
from sordino.constraints import AbstractConstraint
from sordino.errors import InvalidJob, show
from sordino.job.block_reading import BlockReading, read_block_reading
from sordino.job.budgets import read_budget
from sordino.job.outputs import FORMATS, USUAL
from sordino.job.personal_limits import read_limits
from sordino.job.schedule import SCHEDULES, Schedule
from sordino.losses.base import Budget
from sordino.query.request import read_confidence
from sordino.settings.section import Section, file_value

_NAMES: Final = (
    *("sql", "query", "budget", "limits", "bounds", "keys", "dialect"),
    *("confidence", "schedule", "reads", "since", "out", "files", "why"),
    "suppress_below",
)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@final
@dataclass(frozen=True)
class PlannedRelease:
    """A release as the file has it. Its question is a text of SQL, or a function."""

    name: str
    place: str
    sql: str | None
    function: tuple[str, str] | None
    """The Python file and the name of a function in it."""
    budget: Budget | None
    """None where the text of SQL states it."""
    limits: tuple[AbstractConstraint, ...]
    bounds: Mapping[str, Any]
    keys: Mapping[str, Any]
    dialect: str
    confidence: Any
    schedule: Schedule | None
    reading: BlockReading | None
    """Which blocks a release of a period reads, None for all that are open."""
    formats: tuple[str, ...]
    why: str
    files: str = ""
    """The folder that workers write a folder of files into, "" where nobody does."""
    suppress_below: Any = None
    """The least noisy count of a group that a question in SQL shows, None for any."""
    is_typed: bool = False
    """Whether it was typed, and takes of what it borrows as much as it needs."""

    def period(self, day: date) -> str:
        """Return what a run on a day is a release of: its period, or "once".

        Where blocks are read it is the newest period that is over.
        """
        if self.reading is not None:
            return self._newest_over(self.reading, day)
        return "once" if self.schedule is None else self.schedule.period(day)

    def _newest_over(self, reading: BlockReading, day: date) -> str:
        """Return the newest period whose blocks are all there."""
        periods = reading.periods_over(day)
        if not periods:
            end = reading.schedule.next_start(reading.begin)
            raise InvalidJob(
                self.place,
                f"has no period that is over on {day}",
                f"The first one is over on {end}.",
            )
        return periods[-1]

    def key(self, period: str) -> str:
        """Return under which key the ledger keeps the answer of a period."""
        return f"{self.name}/{check_period(period)}"

    def folder_of_files(self, home: Path, period: str) -> str:
        """Return where workers write: beside the job file, unless it is an address."""
        name = f"{self.name}-{check_period(period)}"
        if "://" in self.files:
            return f"{self.files}/{name}"
        return str(home / self.files / name)

    def stem(self, folder: Path, period: str) -> Path:
        """Return where its files begin."""
        return folder / f"{self.name}-{check_period(period)}"


def check_period(period: str) -> str:
    """Return the name of a period, which is part of a file's name.

    >>> check_period("2026-11")
    '2026-11'
    """
    return check_file_name("--key", period)


def check_file_name(place: str, name: Any) -> str:
    """Return what becomes part of a file's name, or refuse what would leave it."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise InvalidJob(
            place,
            f"must be letters, digits, and . _ - between them, got {show(name)}",
            "Try 2026-11, or by-age.",
        )
    return name


def question_in_sql(
    text: str,
    budget: Budget | None,
    notes: Mapping[str, str],
    like: PlannedRelease | None,
) -> PlannedRelease:
    """Return a question that is not in the file, asked with what a release has."""
    return PlannedRelease(
        name="sql",
        place="the statement",
        sql=text,
        function=None,
        budget=budget,
        limits=() if like is None else like.limits,
        bounds={} if like is None else like.bounds,
        keys={} if like is None else like.keys,
        dialect=notes["dialect"],
        confidence="0.95" if like is None else like.confidence,
        schedule=None,
        reading=None,
        formats=(),
        why=notes["why"],
        suppress_below=None if like is None else like.suppress_below,
        is_typed=True,
    )


def read_planned_releases(
    root: Section, blocks: Blocks | None
) -> dict[str, PlannedRelease]:
    """Return the releases of a job by name."""
    sections = root.sections("releases")
    return {name: _release(name, section, blocks) for name, section in sections.items()}


def _release(name: str, section: Section, blocks: Blocks | None) -> PlannedRelease:
    """Return one release, whose name becomes part of the names of files."""
    if _NAME.fullmatch(name) is None:
        raise InvalidJob(
            section.place,
            "must be named by letters, digits, . _ -",
            "Try wards-by-age.",
        )
    section.refuse_others(*_NAMES)
    if ("sql" in section) == ("query" in section):
        raise InvalidJob(
            section.place,
            "must have one question, sql or query",
            'Write sql = "SELECT ..." or query = "queries.py:wards".',
        )
    schedule = _schedule(section)
    return PlannedRelease(
        name,
        section.place,
        sql=section.text("sql") if "sql" in section else None,
        function=_function(section) if "query" in section else None,
        budget=read_budget(section, "budget") if "budget" in section else None,
        limits=tuple(read_limits(section)),
        bounds=_bounds(section),
        keys=section.section("keys").values,
        dialect=section.text("dialect", "duckdb"),
        confidence=_confidence(section),
        schedule=schedule,
        reading=read_block_reading(section, schedule, blocks),
        formats=() if "files" in section else _formats(section),
        why=section.text("why", ""),
        files=_files(section),
        suppress_below=section.values.get("suppress_below"),
    )


def _function(section: Section) -> tuple[str, str]:
    """Return the file and the function of `queries.py:wards`."""
    file, _, function = section.text("query").rpartition(":")
    beside = {"limits", "bounds", "keys", "dialect", "suppress_below"} & set(section)
    if not file.endswith(".py") or not function.isidentifier():
        raise section.wrong(
            "query", "must be FILE.py:FUNCTION", 'Write query = "queries.py:wards".'
        )
    if beside:
        raise section.wrong(
            min(beside), "belongs to SQL", "Say it in the function instead."
        )
    return file, function


def _confidence(section: Section) -> Fraction:
    """Return the least chance that intervals hold."""
    with section.place_refusals("confidence"):
        return read_confidence(file_value(section.values.get("confidence", "0.95")))


def _bounds(section: Section) -> dict[str, Any]:
    """Return the bounds of columns, each a pair."""
    bounds = section.section("bounds")
    for name in bounds:
        pair = bounds.value(name)
        if not isinstance(pair, list) or len(pair) != 2:
            raise bounds.wrong(name, "must be two values", f"Write {name} = [0, 30].")
    return {name: tuple(bounds.value(name)) for name in bounds}


def _schedule(section: Section) -> Schedule | None:
    """Return how often it is made; None is once."""
    name = section.text("schedule", "once")
    if name != "once" and name not in SCHEDULES:
        raise section.wrong(
            "schedule",
            f"must be once, {', '.join(SCHEDULES)}",
            'Write schedule = "monthly".',
        )
    return SCHEDULES.get(name)


def _files(section: Section) -> str:
    """Return where workers write, if they do: then nothing is written beside it."""
    if "files" in section and "out" in section:
        raise section.wrong(
            "files", "stands beside out, and an answer is one or the other", "Say one."
        )
    if "files" in section and not section.text("files").strip():
        raise section.wrong("files", "must be a folder", 'Write files = "published".')
    return section.text("files", "").rstrip("/")


def _formats(section: Section) -> tuple[str, ...]:
    """Return the endings of the files that it becomes."""
    formats = section.texts("out", USUAL)
    if not formats or not set(formats) <= set(FORMATS):
        raise section.wrong(
            "out",
            f"must be a list of {', '.join(FORMATS)}",
            'Write out = ["parquet", "csv"].',
        )
    return tuple(dict.fromkeys(formats))
