"""One release of a job: what is asked, at what price, how often, for which blocks.

>>> read_budget(Section("", {"budget": {"rho": "0.1"}}), "budget")
ZCDP(rho=0.1)

Which blocks the release of a period reads, and which periods can be released:

>>> reading = BlockReading(CALENDARS["quarter"], CALENDARS["month"], date(2026, 2, 1))
>>> reading.periods_over(date(2026, 7, 3))
['2026-Q1', '2026-Q2']
>>> reading.blocks_of("2026-Q1"), reading.blocks_of("2026-Q2")
(('2026-02', '2026-03'), ('2026-04', '2026-05', '2026-06'))

>>> values = {"limits": {"max_rows_per_id": 10, "max_groups_per_id": {"ward": 2}}}
>>> read_limits(Section("", values))
[MaxRowsPerID(limit=10), MaxGroupsPerID(columns=('ward',), limit=2)]
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from sordino.data.limits import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.data.toml import Section, file_value
from sordino.errors import InvalidJob, InvalidParameter, show
from sordino.losses.budgets.blocks import Blocks
from sordino.losses.budgets.limits import Limit
from sordino.losses.budgets.risk import Advantage, ErrorRates
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Budget, PureDP
from sordino.numbers.calendar import CALENDARS, Calendar
from sordino.office.job.outputs import FORMATS, SCHEDULES, USUAL
from sordino.query.request import read_confidence, read_coverage

FORMS: Final[dict[tuple[str, ...], Callable[..., Budget]]] = {
    ("epsilon",): PureDP,
    ("epsilon", "delta"): ApproxDP,
    ("rho",): ZCDP,
    ("rho", "delta"): ApproxZCDP,
    ("mu",): GaussianDP,
    ("advantage",): Advantage,
    ("fpr", "tpr"): lambda fpr, tpr: ErrorRates(fpr=fpr, tpr=tpr),
}
"""Names of a budget's numbers in order, and what they make."""
_REMEDY: Final = (
    'Write { epsilon = "1", delta = "1e-6" }, { rho = "0.1" } or { mu = "0.2" }.'
)


def read_budget(section: Section, name: str) -> Budget:
    """Budget that a table states under a name."""
    section.value(name)
    inner = section.section(name)
    inner.refuse_others(*dict.fromkeys(word for form in FORMS for word in form))
    numbers = {word: file_value(inner.value(word)) for word in inner}
    with section.place_refusals(name):
        budget = budget_of(numbers)
    if budget is None:
        raise InvalidJob(inner.place, "is no budget", _REMEDY)
    return budget


def budget_of(numbers: dict[str, Any]) -> Budget | None:
    """Budget of some numbers by name, None if they make none."""
    for names, kind in FORMS.items():
        if set(names) == set(numbers):
            return kind(*(numbers[name] for name in names))
    return None


def read_limit(ledger: Section, sampled: Fraction | None) -> Limit:
    """Limit of a ledger, and how it is counted."""
    budget = read_budget(ledger, "limit")
    with ledger.place_refusals("limit"):
        return Limit.of(
            budget,
            ledger.values.get("counting", "asked"),
            ledger.values.get("reserve", 0),
            sampled=sampled,
        )


def read_division(ledger: Section) -> Blocks | None:
    """Blocks that have the limit each, None where it is one for all."""
    if "blocks" not in ledger:
        return None
    section = ledger.section("blocks")
    section.refuse_others("start", "every", "names")
    with ledger.place_refusals("blocks"):
        if "names" in section:
            return Blocks(**{name: section.value(name) for name in section})
        return Blocks(section.text("start"), section.value("every"))


EVERY: Final = 10_000
"""More blocks than can be open."""
_DAY: Final = timedelta(1)
_WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    "day": ("day", "week", "month", "quarter", "year"),
    "week": ("week",),
    "month": ("month", "quarter", "year"),
    "quarter": ("quarter", "year"),
    "year": ("year",),
}
"""The periods that each kind of block fills without being cut."""


@final
@dataclass(frozen=True)
class BlockReading:
    """The blocks of each period: they follow from its name, whenever it is released."""

    schedule: Calendar
    blocks: Calendar
    first: date
    """The first day of the first block."""
    since: date = date.min
    """The first day of the first period that is due."""
    last: int = 0
    """How many blocks it reads that end with the period; 0 for those in it."""

    @property
    def begin(self) -> date:
        """First day of what it reads."""
        return max(self.first, self.since)

    def periods_over(self, today: date) -> list[str]:
        """Periods that can be released on a day, the oldest first."""
        # a period that is not over may still get rows, and its release is kept for good
        return self.schedule.names_over(self.begin, today)

    def blocks_of(self, period: str) -> tuple[str, ...]:
        """Blocks that the release of a period reads."""
        try:
            start = self.schedule.first_day(period)
        except InvalidParameter as error:
            raise InvalidJob("--key", f"is refused: {error}", "") from None
        end = self.schedule.next_start(start) - _DAY
        # blocks that end with the period may begin before it
        begin = self.first if self.last else max(self.first, start)
        names = tuple(self.blocks.names(begin, end))
        if not names:
            first = self.blocks.name_of(self.first)
            raise InvalidJob(
                "--key",
                f"names {period}, before the first block, {first}",
                f"Name {self.schedule.name_of(self.first)}, or a later one.",
            )
        return names[-self.last :]  # 0 takes them all


def read_block_reading(
    release: Section, schedule: Calendar | None, blocks: Blocks | None
) -> BlockReading | None:
    """Blocks that a release reads, None for all that are open."""
    if schedule is None or blocks is None or blocks.start is None:
        for name in ("reads", "since"):
            if name in release:
                raise release.wrong(
                    name,
                    "is for releases with a schedule, and blocks that are periods",
                    'Say [ledger] blocks = { start = "2026-01", every = "month" }.',
                )
        return None
    calendar = CALENDARS[blocks.every]
    first = calendar.first_day(blocks.start)
    if schedule.every not in _WHOLE[blocks.every]:
        fitting = ", ".join(_WHOLE[blocks.every])
        raise release.wrong(
            "schedule",
            f"cuts blocks in two: each is a {blocks.every}",
            f"Make a release every {fitting}, or shorter blocks.",
        )
    since = date.min
    if "since" in release:
        with release.place_refusals("since"):
            since = schedule.first_day(release.value("since"))
    return BlockReading(schedule, calendar, first, since, _last(release))


def _last(release: Section) -> int:
    reads: Any = release.values.get("reads", "period")
    whole = isinstance(reads, int) and not isinstance(reads, bool)  # true is no 1
    if reads == "period":
        return 0
    if reads == "all":
        return EVERY
    if not whole or not 1 <= reads <= EVERY:
        raise release.wrong(
            "reads",
            'must be "period", "all", or how many blocks that end with the period',
            'Write reads = "period".',
        )
    return int(reads)


_BY_COLUMN: Final[dict[str, type[MaxGroupsPerID | MaxRowsPerGroupPerID]]] = {
    "max_groups_per_id": MaxGroupsPerID,
    "max_rows_per_group_per_id": MaxRowsPerGroupPerID,
}
_ROWS: Final = "max_rows_per_id"


def limit_in_file(name: str, columns: Sequence[str], most: int) -> str:
    """Limit as a job file writes it, of one column.

    >>> limit_in_file("MaxGroupsPerID", ["ward"], 2)
    'limits.max_groups_per_id = { ward = 2 }'
    """
    kinds = {kind.__name__: word for word, kind in _BY_COLUMN.items()}
    match columns:
        case []:
            return f"limits = {{ {_ROWS} = {most} }}"
        case [column]:
            return f"limits.{kinds[name]} = {{ {column} = {most} }}"
        case _:
            return ""


def read_limits(release: Section) -> list[AbstractConstraint]:
    """Limits of a release, in the order in which the file has them."""
    section = release.section("limits")
    section.refuse_others(_ROWS, *_BY_COLUMN)
    limits: list[AbstractConstraint] = []
    with release.place_refusals("limits"):
        for name in section:
            if name == _ROWS:
                limits.append(_read_rows(section))
                continue
            columns = section.section(name)
            constraint = _BY_COLUMN[name]
            limits += [constraint(column, columns.value(column)) for column in columns]
    return limits


def _read_rows(limits: Section) -> MaxRowsPerID:
    """Read a limit of all rows, a number or one with what nobody exceeds."""
    if not isinstance(limits.values[_ROWS], Mapping):
        return MaxRowsPerID(limits.value(_ROWS))
    rows = limits.section(_ROWS)
    rows.refuse_others("limit", "at_most")
    return MaxRowsPerID(rows.value("limit"), at_most=rows.values.get("at_most"))


_NAMES: Final = (
    *("sql", "query", "budget", "limits", "bounds", "keys", "dialect"),
    *("confidence", "schedule", "reads", "since", "out", "files", "why"),
    *("suppress_below", "coverage"),
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
    limits: tuple[AbstractConstraint, ...] = ()
    bounds: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    dialect: str = "duckdb"
    confidence: Any = "0.95"
    schedule: Calendar | None = None
    reading: BlockReading | None = None
    """Which blocks a release of a period reads, None for all that are open."""
    formats: tuple[str, ...] = ()
    why: str = ""
    files: str = ""
    """The folder that workers write a folder of files into, "" where nobody does."""
    suppress_below: Any = None
    """The least noisy count of a group that a question in SQL shows, None for any."""
    coverage: bool = False
    """Whether what limits and bounds cut off is counted."""
    is_typed: bool = False
    """Whether it was typed, and takes of what it borrows as much as it needs."""

    def period(self, day: date) -> str:
        """Period of a run on a day, or "once".

        Where blocks are read it is the newest period that is over.
        """
        if self.reading is None:
            return "once" if self.schedule is None else self.schedule.name_of(day)
        periods = self.reading.periods_over(day)
        if not periods:
            end = self.reading.schedule.next_start(self.reading.begin)
            raise InvalidJob(
                self.place,
                f"has no period that is over on {day}",
                f"The first one is over on {end}.",
            )
        return periods[-1]

    def key(self, period: str) -> str:
        """Key under which the ledger keeps the answer of a period."""
        return f"{self.name}/{check_period(period)}"

    def folder_of_files(self, home: Path, period: str) -> str:
        """Folder where workers write: relative to the job file, or an address."""
        name = f"{self.name}-{check_period(period)}"
        if "://" in self.files:
            return f"{self.files}/{name}"
        return str(home / self.files / name)

    def stem(self, folder: Path, period: str) -> Path:
        """Path without the endings of its files."""
        return folder / f"{self.name}-{check_period(period)}"


def check_period(period: str) -> str:
    """Name of a period, which becomes part of a file's name.

    >>> check_period("2026-11")
    '2026-11'
    """
    return check_file_name("--key", period)


def check_file_name(place: str, name: Any) -> str:
    """Text that becomes part of a file's name; one that would leave it is refused."""
    # it comes from a command line or a program, and must stay in the folder of outputs
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
    notes: Mapping[str, Any],
    like: PlannedRelease | None,
) -> PlannedRelease:
    """Question that is not in the file, asked with what a release of it has."""
    borrowed = (
        *("limits", "bounds", "keys", "confidence"),
        *("suppress_below", "coverage"),
    )
    return PlannedRelease(
        "sql",
        "the statement",
        text,
        None,
        budget,
        is_typed=True,
        **notes,
        **({} if like is None else {name: getattr(like, name) for name in borrowed}),
    )


def read_planned_releases(
    root: Section, blocks: Blocks | None
) -> dict[str, PlannedRelease]:
    """Releases of a job by name."""
    sections = root.sections("releases")
    return {name: _release(name, section, blocks) for name, section in sections.items()}


def _release(name: str, section: Section, blocks: Blocks | None) -> PlannedRelease:
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
    with section.place_refusals("confidence"):
        confidence = read_confidence(
            file_value(section.values.get("confidence", "0.95"))
        )
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
        confidence=confidence,
        schedule=schedule,
        reading=read_block_reading(section, schedule, blocks),
        formats=() if "files" in section else _formats(section),
        why=section.text("why", ""),
        files=_files(section),
        suppress_below=section.values.get("suppress_below"),
        coverage=_coverage(section),
    )


def _coverage(section: Section) -> bool:
    with section.place_refusals("coverage"):
        return read_coverage(section.values.get("coverage", False))


def _function(section: Section) -> tuple[str, str]:
    file, _, function = section.text("query").rpartition(":")
    of_sql = {"limits", "bounds", "keys", "dialect", "suppress_below", "coverage"}
    beside = of_sql & set(section)
    if not file.endswith(".py") or not function.isidentifier():
        raise section.wrong(
            "query", "must be FILE.py:FUNCTION", 'Write query = "queries.py:wards".'
        )
    if beside:
        raise section.wrong(
            min(beside), "belongs to SQL", "Say it in the function instead."
        )
    return file, function


def _bounds(section: Section) -> dict[str, Any]:
    bounds = section.section("bounds")
    for name in bounds:
        pair = bounds.value(name)
        if not isinstance(pair, list) or len(pair) != 2:
            raise bounds.wrong(name, "must be two values", f"Write {name} = [0, 30].")
    return {name: tuple(bounds.value(name)) for name in bounds}


def _schedule(section: Section) -> Calendar | None:
    name = section.text("schedule", "once")
    if name != "once" and name not in SCHEDULES:
        raise section.wrong(
            "schedule",
            f"must be once, {', '.join(SCHEDULES)}",
            'Write schedule = "monthly".',
        )
    return SCHEDULES.get(name)


def _files(section: Section) -> str:
    if "files" in section and "out" in section:
        raise section.wrong(
            "files", "stands beside out, and an answer is one or the other", "Say one."
        )
    if "files" in section and not section.text("files").strip():
        raise section.wrong("files", "must be a folder", 'Write files = "published".')
    return section.text("files", "").rstrip("/")


def _formats(section: Section) -> tuple[str, ...]:
    formats = section.texts("out", USUAL)
    if not formats or not set(formats) <= set(FORMATS):
        raise section.wrong(
            "out",
            f"must be a list of {', '.join(FORMATS)}",
            'Write out = ["parquet", "csv"].',
        )
    return tuple(dict.fromkeys(formats))
