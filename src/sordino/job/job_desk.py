"""A job at work: its tables opened, its releases priced, charged, written and recorded.

question ── price (public facts) ── folder tried ── charge ── answer ── files
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any, Final, cast, final

from sordino.budgets.table_blocks import WHOLE
from sordino.errors import InvalidJob
from sordino.job.job import BookPlan, Job
from sordino.job.outputs import (
    output_paths,
    record_files,
    refuse_taken,
    try_folder,
    write_outputs,
)
from sordino.job.planned_release import PlannedRelease
from sordino.job.questions import AskedRelease, read_question
from sordino.job.turns import turn_of
from sordino.ledger.clocks import UNSAID, SaidDay
from sordino.ledger.ledger import Ledger
from sordino.ledger.world import World
from sordino.planning.batch import Batch
from sordino.planning.price import Price
from sordino.policy.signed import Policy
from sordino.query.request import Request
from sordino.release.part_noise import refuse_whole
from sordino.release.release import Release
from sordino.release.released_files import ReleasedFiles
from sordino.session.files_read import files_behind
from sordino.session.identity import protection_text
from sordino.session.session import Session

_LOG: Final = logging.getLogger("sordino")


@final
@dataclass(frozen=True)
class Published:
    """A release that was made, or had been made before."""

    plan: PlannedRelease
    period: str
    number: int
    """Of the charge in the ledger."""
    is_new: bool
    """Whether this run charged it."""
    releases: Mapping[str, Release | ReleasedFiles]
    """By name; of one alone the name is empty."""
    files: tuple[Path | str, ...]
    """Paths, or the address of a folder that workers wrote."""


@final
@dataclass(frozen=True)
class JobDesk:
    """A job, and the session that its tables and its ledger are open in."""

    job: Job
    session: Session

    def in_period(self, plan: PlannedRelease, period: str) -> "JobDesk":
        """Return a desk at which the tables are what a release of a period reads."""
        if plan.reading is None:
            return self
        blocks = plan.reading.blocks_of(period)
        return JobDesk(self.job, self.session.in_blocks(*blocks))

    def in_newest(self, plan: PlannedRelease, day: date) -> "JobDesk":
        """Return that of the newest period; of the first one, what is open of it."""
        if plan.reading is None:
            return self
        periods = plan.reading.periods_over(day)
        if periods:
            return self.in_period(plan, periods[-1])
        first = plan.reading.schedule.name_of(plan.reading.begin)
        wanted, opened = plan.reading.blocks_of(first), _open_periods(self.session)
        blocks = [name for name in wanted if name in opened] or opened[-1:]
        return JobDesk(self.job, self.session.in_blocks(*blocks))

    def question(self, plan: PlannedRelease) -> AskedRelease:
        """Return what a release asks."""
        return read_question(self.session, plan, self.job)

    def price(self, plan: PlannedRelease) -> Price | Batch:
        """Return what a release would cost; no private row is read."""
        question, confidence = self.question(plan), plan.confidence
        if isinstance(question.requests, Request):
            price = self.session.price(
                question.requests, question.budget, confidence=confidence
            )
            if plan.files:
                refuse_whole(price._purchase)  # noqa: SLF001 as release_files would
            return price
        _refuse_several(plan)
        return self.session.price_all(
            question.requests, question.budget, confidence=confidence
        )

    def is_made(self, plan: PlannedRelease, period: str) -> bool:
        """Tell whether the answer of a period is there."""
        entry = self.session.ledger.entry(plan.key(period))
        return entry is not None and entry.answered

    def waits(self, plan: PlannedRelease, period: str) -> str:
        """Return why the rows of a period that is over have not come, "" if they may.

        It is told by the files alone: what is no file may have any rows.
        """
        files = files_behind(self.job.tables)
        if plan.reading is None or files is None:
            return ""
        calendar = plan.reading.schedule
        end = calendar.next_start(calendar.first_day(period))
        if files.newest >= datetime.combine(end, time(), UTC):
            return ""
        return (
            f"{plan.name}: no file is newer than the end of {period}, {end}: the "
            f"newest of {files.count:,} is of {files.newest:%Y-%m-%d %H:%M} UTC"
        )

    def due(self, day: date) -> Iterator[tuple[PlannedRelease, str]]:
        """Yield the releases with a schedule, and their periods, that have no answer.

        It is the period of the day, or of blocks every one that is over: their rows
        are still what they were.
        """
        for plan in self.job.releases.values():
            periods = [] if plan.schedule is None else [plan.schedule.period(day)]
            if plan.reading is not None:
                periods = plan.reading.periods_over(day)
            for period in periods:
                if not self.is_made(plan, period):
                    yield plan, period

    def release(self, plan: PlannedRelease, period: str, folder: Path) -> Published:
        """Make a release of a period, or find it; and write its files."""
        with turn_of(self.job.ledger.path, plan.key(period)):
            desk = self.in_period(plan, period)
            question = desk.question(plan)
            if plan.files:
                return desk.release_files(plan, period, question)
            return desk.release_outputs(plan, period, folder, question)

    def release_outputs(
        self, plan: PlannedRelease, period: str, folder: Path, question: AskedRelease
    ) -> Published:
        """Write the files of a release of a period, which this process may hold."""
        key, stem = plan.key(period), plan.stem(folder, period)
        try_folder(folder)
        paths = output_paths(stem, question.names, plan.formats)
        refuse_taken(self.session.ledger, key, paths)
        releases = self.answers(plan, question, key)
        files = write_outputs(releases, stem, plan.formats)
        record_files(self.session.ledger, key, files, self.job.ledger.who)
        return self._note_published(plan, period, releases, tuple(files))

    def release_files(
        self, plan: PlannedRelease, period: str, question: AskedRelease
    ) -> Published:
        """Have workers write the files of a release of a period, or find them."""
        if not isinstance(question.requests, Request):
            _refuse_several(plan)
        key = plan.key(period)
        written = self.session.release_files(
            cast("Request", question.requests),
            question.budget,
            plan.folder_of_files(self.job.folder, period),
            key=key,
            why=plan.why,
            confidence=plan.confidence,
        )
        return self._note_published(plan, period, {"": written}, (written.folder,))

    def _note_published(
        self,
        plan: PlannedRelease,
        period: str,
        releases: Mapping[str, Release | ReleasedFiles],
        files: tuple[Path | str, ...],
    ) -> Published:
        """Return what was made, and whether it is this run that was charged for it."""
        key = plan.key(period)
        entry = self.session.ledger.entry(key)
        number = 0 if entry is None else entry.number
        charged = self.session._desk.book.charged  # noqa: SLF001 by its tickets
        is_new = number in charged
        charged.discard(number)  # told once: to find it again in this run is no charge
        _LOG.info(
            "%s is %s as record %d", key, "charged" if is_new else "found", number
        )
        for file in files:
            _LOG.info("wrote %s", file)
        return Published(plan, period, number, is_new, releases, files)

    def answers(
        self, plan: PlannedRelease, question: AskedRelease, key: str | None
    ) -> dict[str, Release]:
        """Return the answers to a question, charged once for each key."""
        options: dict[str, Any] = {
            "key": key,
            "why": plan.why,
            "confidence": plan.confidence,
        }
        requests, budget = question.requests, question.budget
        if isinstance(requests, Request):
            return {"": self.session.release(requests, budget, **options)}
        releases = self.session.release_all(requests, budget, **options)
        return question.finish(releases)


def _refuse_several(plan: PlannedRelease) -> None:
    """Refuse files of several tables: workers write one."""
    if plan.files:
        raise InvalidJob(
            f"{plan.place}.files",
            "is for one table, and this asks for several together",
            'Ask for each by itself, or say out = ["parquet"].',
        )


def open_to_look(job: Job, word: SaidDay = UNSAID) -> JobDesk:
    """Open a job for prices: its ledger if there is one, else one that is forgotten.

    A ledger in a file obeys the policy that it has: looking changes nothing.
    """
    book = job.ledger
    if not book.path.exists():
        return JobDesk(job, _session(job, _forgotten_ledger(job)))
    if book.policy is not None:
        Policy.read(book.policy)
    ledger = Ledger.at(book.path, **_opening_terms(book, word))
    desk = JobDesk(job, _session(job, ledger))
    if book.blocks is None or _open_periods(desk.session):
        return desk
    return JobDesk(job, _session(job, _forgotten_ledger(job)))


def _open_periods(session: Session) -> list[str]:
    """Return the blocks that are open, but that of tables without any."""
    return [block.name for block in session.ledger.blocks() if block.name != WHOLE]


def _forgotten_ledger(job: Job) -> Ledger:
    """Return a ledger in memory, as of a day on which each release can be priced.

    Before a first period is over there are no blocks; what they will cost is known.
    """
    readings = [plan.reading for plan in job.releases.values() if plan.reading]
    ends = [reading.schedule.next_start(reading.begin) for reading in readings]
    day = max([today(), *ends])
    ledger = Ledger.in_memory(
        job.ledger.limit,
        about=protection_text(job.tables),
        blocks=job.ledger.blocks,
        world=World(clock=lambda: datetime.combine(day, time(), UTC)),
    )
    _adopt(job, ledger)
    return ledger


def open_to_release(
    job: Job, word: SaidDay = UNSAID, *, due: bool = False, progress: bool = False
) -> tuple[JobDesk, bool]:
    """Open a job for releases; tell whether its ledger is a new one.

    What is `due` is found by the clock, which must then be beyond doubt.
    """
    book = job.ledger
    is_new = not book.path.exists()
    if is_new and not book.create:
        raise InvalidJob(
            "ledger.path",
            f"names {book.path}, which is not there, and ledger.create is false",
            "Restore it: sordino ledger restore. A new one would begin with nothing "
            "spent.",
        )
    ledger = Ledger.at(
        book.path,
        book.limit if is_new else None,
        create=is_new,
        about=protection_text(job.tables) if is_new else "",
        blocks=book.blocks if is_new else None,
        **_opening_terms(book, word),
    )
    if due:
        _refuse_doubtful_clock(job, ledger)
    _adopt(job, ledger)
    return JobDesk(job, _session(job, ledger, progress=progress)), is_new


def _opening_terms(book: BookPlan, word: SaidDay) -> dict[str, Any]:
    """Return how the ledger of a job is opened."""
    return {
        "witness": book.witness,
        "only_writer": book.only_writer,
        "on": word.on,
        "catch_up": word.catch_up,
    }


def _refuse_doubtful_clock(job: Job, ledger: Ledger) -> None:
    """Refuse a clock that contradicts the ledger, or leaps over periods.

    It is asked before anything is recorded, which would hide the leap.
    """
    schedules = [plan.schedule for plan in job.releases.values() if plan.schedule]
    for every in dict.fromkeys(schedule.calendar.every for schedule in schedules):
        ledger.trusted_day(every)


def today() -> date:
    """Return the day by UTC."""
    return datetime.now(UTC).date()


def _adopt(job: Job, ledger: Ledger) -> None:
    """Let a ledger obey the policy of a job, if it has one."""
    if job.ledger.policy is not None:
        ledger.adopt(job.ledger.policy, who=job.ledger.who)


def _session(job: Job, ledger: Ledger, *, progress: bool = False) -> Session:
    """Return a session over a job's tables that charges a ledger."""
    book = job.ledger
    return Session(
        tables=job.tables,
        budget=book.limit,
        ledger=ledger,
        blocks=book.blocks,
        analyst=book.analyst,
        who=book.who,
        job=job.text,
        progress=progress,
        **job.engine,
    )
