"""A job at work: tables opened, releases priced, charged, written and recorded.

question ── price (public facts) ── folder tried ── charge ── answer ── files

One process at a time makes a release: whoever comes later waits, and finds it. The lock
ends with the process that holds it, and then the next one tries again.
"""

import logging
import os
import sys
import time
import types
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast, final

from sordino.data.keyset import KeySet
from sordino.errors import InvalidJob, InvalidParameter, LedgerUnavailable, SordinoError
from sordino.ledger.clocks import UNSAID, SaidDay
from sordino.ledger.file_format import World
from sordino.ledger.ledger import Ledger
from sordino.ledger.places import is_there
from sordino.ledger.policy_file import Policy
from sordino.losses.budgets.blocks import WHOLE
from sordino.losses.loss import Budget
from sordino.office.job.job import BookPlan, Job
from sordino.office.job.outputs import (
    output_paths,
    record_files,
    refuse_taken,
    starts,
    try_folder,
    write_outputs,
)
from sordino.office.job.questions import (
    PlannedRelease,
    check_file_name,
    limit_in_file,
)
from sordino.plan.price import Batch, Price
from sordino.query.request import Request
from sordino.release.release import Release
from sordino.release.released_files import ReleasedFiles, refuse_whole
from sordino.session.charging import protection_text
from sordino.session.files import files_behind
from sordino.session.session import Session
from sordino.session.sql import (
    RemedyWords,
    SqlGiven,
    sql_request,
    stacked_release,
    word_needs,
)

Requests = Request | dict[str, Request]


@final
@dataclass(frozen=True)
class AskedRelease:
    """A question, its budget, and what becomes of several answers."""

    requests: Requests
    names: tuple[str, ...]
    """Of the answers; that of the only one is empty."""
    budget: Budget
    finish: Callable[[dict[str, Release]], dict[str, Release]]


@final
@dataclass(frozen=True)
class Wording:
    """A question as it is put: its budget may still be missing."""

    requests: Requests
    budget: Budget | None
    names: tuple[str, ...] = ("",)
    finish: Callable[[dict[str, Release]], dict[str, Release]] = dict


_IN_A_FILE: Final = RemedyWords(
    limit_in_file,
    " and ",
    "Say {} of the release.",
    'Say budget.delta = "1e-6", or keys = { ward = ["A", "B"] }.',
)


def _word_needs(plan: PlannedRelease) -> AbstractContextManager[None]:
    # a question that Python asks is mended in Python
    return nullcontext() if plan.function is not None else word_needs(_IN_A_FILE)


def read_wording(session: Session, plan: PlannedRelease, job: Job) -> Wording:
    """Question of a release, with its budget if the job states one."""
    try:
        if plan.function is not None:
            requests = _call_function(plan, job)
            several = () if isinstance(requests, Request) else tuple(requests)
            return Wording(requests, plan.budget, several or ("",))
        return _parse_sql(session, plan)
    except InvalidJob:
        raise
    except SordinoError as error:
        if plan.is_typed:
            raise
        raise InvalidJob(plan.place, f"is refused: {error}", "") from None


def _parse_sql(session: Session, plan: PlannedRelease) -> Wording:
    catalog = session._desk.catalog  # noqa: SLF001 priced before it is released
    keys = _keys(session, plan.keys)
    options = (plan.limits, plan.bounds, keys, plan.dialect, plan.is_typed)
    beside = SqlGiven(*options, plan.coverage)
    question = sql_request(catalog, plan.sql, plan.budget, beside)
    return Wording(
        _suppress_groups(plan, question.request),
        question.budget,
        finish=lambda releases: {"": stacked_release(question, releases)},
    )


def _suppress_groups(plan: PlannedRelease, requests: Requests) -> Requests:
    if plan.suppress_below is None:
        return requests
    if isinstance(requests, Request):
        return requests.suppress_below(plan.suppress_below)
    return {
        name: request.suppress_below(plan.suppress_below) if request.by else request
        for name, request in requests.items()
    }


def _keys(session: Session, keys: Mapping[str, Any]) -> Any:
    """Public keys: those that are listed, or those of a public table."""
    if not isinstance(keys.get("table"), str):
        return keys
    catalog = session._desk.catalog  # noqa: SLF001 its public tables are frozen there
    source = catalog.public(keys["table"])
    rows = catalog.engine.frozen_rows(source.table)
    columns = keys.get("columns", list(rows.column_names))
    if not isinstance(columns, list):
        raise InvalidParameter(
            "keys.columns", columns, "must be a list of names", 'Try ["ward"].'
        )
    for column in columns:
        source.schema[column]  # refuses a name that is not there
    return KeySet.from_table(rows.select(list(columns)))


def _call_function(plan: PlannedRelease, job: Job) -> Requests:
    file, name = plan.function or ("", "")
    place = f"{plan.place}.query"
    module = types.ModuleType(Path(file).stem)
    module.__file__ = str(job.folder / file)
    try:  # the text that the ledger keeps is the text that runs: it is read once
        exec(compile(job.programs[file], module.__file__, "exec"), vars(module))  # noqa: S102 the reviewed program of the job
        function = vars(module)[name]
        requests = function()
    except SordinoError:
        raise
    except KeyError as error:
        if error.args != (name,):
            raise _refusal(place, plan, error) from error
        raise InvalidJob(place, f"names {name}, which {file} lacks", "") from None
    except (Exception, SystemExit) as error:
        raise _refusal(place, plan, error) from error
    several = isinstance(requests, dict) and bool(requests)
    listed = list(requests.values()) if several else [requests]
    if not all(isinstance(request, Request) for request in listed):
        raise InvalidJob(
            place,
            "returns no request",
            'Return sd.table("visits").agg(n=sd.count()), or a dict of such.',
        )
    for named in requests if several else ():
        check_file_name(place, named)
    return cast("Requests", requests)


def _refusal(place: str, plan: PlannedRelease, error: BaseException) -> InvalidJob:
    # its own words may be shown: it has seen nothing private
    file, name = plan.function or ("", "")
    return InvalidJob(
        place,
        f"fails: {type(error).__name__}: {error}",
        f"Run {name}() of {file} alone.",
    )


if sys.platform != "win32":
    import fcntl

_LOG: Final = logging.getLogger("sordino")
_BESIDE: Final = "-turns"
"""What the name of a ledger is followed by in that of the file that is locked."""
_PATIENCE: Final = 600.0
"""Seconds after which a run that comes later gives up."""
_PAUSE: Final = 0.1


@contextmanager
def turn_of(
    ledger: Path | str, key: str, patience: float = _PATIENCE
) -> Generator[None]:
    """Wait until no other process works on a key of a ledger, and keep others off it.

    Each key is one byte of an empty file beside that of the ledger. Where there can be
    none, nobody waits: the ledger still charges a key once.
    """
    file = _open_beside(ledger)
    if file is None:
        yield
        return
    try:
        _wait(file, ledger, key, time.monotonic() + patience)
        yield
    finally:
        os.close(file)


def _open_beside(ledger: Path | str) -> int | None:
    if sys.platform == "win32" or isinstance(ledger, str):
        return None
    try:
        real = Path(os.path.realpath(ledger))  # one file, whatever link leads there
        path = real.with_name(real.name + _BESIDE)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o600)
    except OSError:
        return None  # the lock carries no promise: a key is charged once without it


def _wait(file: int, ledger: Path | str, key: str, until: float) -> None:
    place = int.from_bytes(sha256(key.encode()).digest()[:7])  # offsets have 63 bits
    waited = False
    while not _is_locked(file, place):
        if not waited:
            _LOG.info("%s is being made by another process: waiting for it", key)
        if time.monotonic() > until:
            raise LedgerUnavailable(
                ledger,
                f"has {key} being made by another process, which takes long",
                "Ask again later: its answer will be there, at no cost.",
            )
        waited = True
        time.sleep(_PAUSE)


def _is_locked(file: int, place: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):  # POSIX allows either for a held lock
        return False
    except OSError:
        pass  # a disk without locks locks nobody out
    return True


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
        """Desk whose tables are what a release of a period reads."""
        if plan.reading is None:
            return self
        blocks = plan.reading.blocks_of(period)
        return JobDesk(self.job, self.session.in_blocks(*blocks))

    def in_newest(self, plan: PlannedRelease, day: date) -> "JobDesk":
        """Desk of the newest period; before one is over, of the blocks open so far."""
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
        """Question of a release; no private row is read."""
        wording = read_wording(self.session, plan, self.job)
        if wording.budget is None:
            raise InvalidJob(
                plan.place,
                "has no budget",
                'Add budget = { epsilon = "1/2", delta = "1e-6" }.',
            )
        return AskedRelease(
            wording.requests, wording.names, wording.budget, wording.finish
        )

    def price(self, plan: PlannedRelease) -> Price | Batch:
        """Price of a release; no private row is read."""
        question, confidence = self.question(plan), plan.confidence
        with _word_needs(plan):
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
        """Whether the answer of a period is there."""
        entry = self.session.ledger.entry(plan.key(period))
        return entry is not None and entry.answered

    def waits(self, plan: PlannedRelease, period: str) -> str:
        """Why the rows of a period that is over have not come, "" if they may.

        Only the times of files tell: what is no file may have any rows.
        """
        files = files_behind(self.job.tables)
        if plan.reading is None or files is None:
            return ""
        calendar = plan.reading.schedule
        end = calendar.next_start(calendar.first_day(period))
        if files.newest >= datetime.combine(end, time_of_day(), UTC):
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
            periods = [] if plan.schedule is None else [plan.schedule.name_of(day)]
            if plan.reading is not None:
                periods = plan.reading.periods_over(day)
            for period in periods:
                if not self.is_made(plan, period):
                    yield plan, period

    def release(self, plan: PlannedRelease, period: str, folder: Path) -> Published:
        """Make a release of a period, or find it; and write its files."""
        # a run that did not wait would use up the only second try of a lost answer
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
        # what cannot be written is refused before the charge, not after it
        try_folder(folder)
        paths = output_paths(stem, question.names, plan.formats)
        refuse_taken(self.session.ledger, key, paths)
        releases = self.answers(plan, question, key)
        files = write_outputs(releases, stem, plan.formats)
        # a record vouches for a file: only after it was written whole
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
        key = plan.key(period)
        entry = self.session.ledger.entry(key)
        number = 0 if entry is None else entry.number
        # by the ticket of the charge: of runs at once the ledger gives exactly one
        charged = self.session._desk.book.charged  # noqa: SLF001 its own tickets
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
        """Answers to a question, charged once for each key."""
        options: dict[str, Any] = {"key": key, "why": plan.why}
        options["confidence"] = plan.confidence
        requests, budget = question.requests, question.budget
        with _word_needs(plan):
            if isinstance(requests, Request):
                return {"": self.session.release(requests, budget, **options)}
            releases = self.session.release_all(requests, budget, **options)
        return question.finish(releases)


def _refuse_several(plan: PlannedRelease) -> None:
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
    if not is_there(book.path):
        return open_to_draft(job)
    if book.policy is not None:
        Policy.read(book.policy)  # read, not adopted: to look changes nothing
    ledger = Ledger.at(book.path, **_opening_terms(book, word))
    desk = JobDesk(job, _session(job, ledger))
    if book.blocks is None or _open_periods(desk.session):
        return desk
    return open_to_draft(job)


def open_to_draft(job: Job) -> JobDesk:
    """Open a job for prices alone: its ledger is not looked at, and none is made."""
    return JobDesk(job, _session(job, _forgotten_ledger(job)))


def _open_periods(session: Session) -> list[str]:
    return [block.name for block in session.ledger.blocks() if block.name != WHOLE]


def _forgotten_ledger(job: Job) -> Ledger:
    # before a first period is over no block is open, and nothing of it has a price:
    # the ledger is as of a day on which each release has one
    readings = [plan.reading for plan in job.releases.values() if plan.reading]
    ends = [reading.schedule.next_start(reading.begin) for reading in readings]
    day = max([today(), *ends])
    ledger = Ledger.in_memory(
        job.ledger.limit,
        about=protection_text(job.tables),
        blocks=job.ledger.blocks,
        world=World(clock=lambda: datetime.combine(day, time_of_day(), UTC)),
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
    is_new = not is_there(book.path)
    # a ledger that was lost would begin anew, with nothing spent
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
    return {
        "witness": book.witness,
        "only_writer": book.only_writer,
        "on": word.on,
        "catch_up": word.catch_up,
    }


def _refuse_doubtful_clock(job: Job, ledger: Ledger) -> None:
    # before anything is recorded: a record of today would hide a leap of the clock
    schedules = [plan.schedule for plan in job.releases.values() if plan.schedule]
    for every in dict.fromkeys(schedule.every for schedule in schedules):
        ledger.trusted_day(every)


def today() -> date:
    """Day by UTC."""
    return datetime.now(UTC).date()


def _adopt(job: Job, ledger: Ledger) -> None:
    if job.ledger.policy is not None:
        ledger.adopt(job.ledger.policy, who=job.ledger.who)


def _session(job: Job, ledger: Ledger, *, progress: bool = False) -> Session:
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


_SHOWN = 12


def missed_periods(desk: JobDesk, plan: PlannedRelease, day: date) -> list[str]:
    """Periods without a release, between the last one and a day's period.

    The last release is the newest of this name in the ledger, on its own day. Of
    blocks none is missed for good: it stays due.
    """
    prefix = plan.key("x").removesuffix("x")
    days = [
        entry.when.date()
        for entry in desk.session.ledger.entries()
        if entry.key is not None and entry.key.startswith(prefix)
    ]
    if plan.schedule is None or plan.reading is not None or not days or days[-1] >= day:
        return []
    _, *later = starts(plan.schedule, days[-1], day)
    between = [plan.period(start) for start in later]
    missed = [period for period in between if period != plan.period(day)]
    return [period for period in missed if not desk.is_made(plan, period)][-_SHOWN:]
