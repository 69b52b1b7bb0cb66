"""What `sordino release` does: it makes the releases of a job, each once a period."""

import argparse
import sys
from datetime import date
from pathlib import Path
from typing import Any, Final

from sordino.cli.exit_codes import FAILED, INTERRUPTED, REFUSED, SPENT
from sordino.cli.job_options import (
    add_clock_options,
    add_job_options,
    given_job,
    said_day,
)
from sordino.cli.prices import print_price
from sordino.cli.quantities import quantities
from sordino.cli.terminal import (
    confirm,
    is_terminal,
    note,
    path_text,
    say,
    tint,
    write,
    write_object,
)
from sordino.errors import BudgetExceeded, InvalidJob
from sordino.job.job import Job
from sordino.job.job_desk import JobDesk, Published, open_to_release, today
from sordino.job.missed import missed_periods
from sordino.job.planned_release import PlannedRelease, check_period
from sordino.ledger.block_rows import left_in, left_text
from sordino.losses.headline import headline
from sordino.numbers import down

EXAMPLE: Final = "sordino release clinic.toml wards --key 2026-11 --out published"
WHAT: Final = (
    "Make releases of a job: charge them, write their files, and record both in the "
    "ledger. A release is charged once a period; whoever asks again gets the same "
    "answer at no cost."
)


def add_release_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=make_releases)
    add_job_options(parser, "the releases to make")
    parser.add_argument(
        "--key",
        metavar="PERIOD",
        help="what it is a release of, such as 2026-11 (the period of its schedule)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where its files go (published, beside the job file)",
    )
    parser.add_argument("--all", action="store_true", help="every release of the job")
    parser.add_argument(
        "--due",
        action="store_true",
        help="those with a schedule that were not made in this period",
    )
    add_clock_options(parser)
    parser.add_argument(
        "--even-without-new-files",
        action="store_true",
        help="make what is due, also of periods behind whose end no file was written",
    )
    parser.add_argument(
        "--yes", action="store_true", help="do not ask, also on a terminal"
    )


def make_releases(arguments: argparse.Namespace) -> int:
    """Make releases one after the other; the first that is refused ends it.

    Of what is due, what spent blocks refuse is passed over: the others have their own.
    """
    job, names = given_job(arguments)
    if arguments.key is not None:
        check_period(arguments.key)
        if arguments.due:
            raise InvalidJob(
                "--key", "names a period, and --due makes what is due", "Say one."
            )
    desk, is_new = open_to_release(
        job,
        said_day(arguments),
        due=arguments.due,
        progress=is_terminal(sys.stderr),
    )
    if is_new:
        place = path_text(job.ledger.path)
        note(f"a new ledger, with nothing spent, was made at {place}")
    day = arguments.on or today()
    runs = _choose(desk, names, arguments, day)
    if not runs:
        _tell_nothing(job, as_json=arguments.json)
    code = 0
    for plan, period in runs:
        for missed in missed_periods(desk, plan, day):
            note(f"{plan.name}: {missed} was never made, and is not made up for")
        ended = _make_release(desk, plan, period, arguments)
        if ended not in {0, SPENT, FAILED}:
            return ended
        code = max(code, ended)
    return code


def _tell_nothing(job: Job, *, as_json: bool) -> None:
    """Say that nothing is due, or that nothing ever will be."""
    scheduled = sum(plan.schedule is not None for plan in job.releases.values())
    if as_json:
        write_object("release", {"due": 0, "scheduled": scheduled})
    else:
        say("nothing is due" if scheduled else "no release here has a schedule")


def _tell_waiting(
    plan: PlannedRelease, period: str, waiting: str, *, as_json: bool
) -> None:
    """Say that a period is not made, because its rows have not come."""
    note(f"{waiting}. It is not made, and not charged: --even-without-new-files does.")
    if as_json:
        facts = {"release": plan.name, "period": period, "key": plan.key(period)}
        write_object("release", facts | {"charged": False, "waiting": waiting})


def _make_release(
    desk: JobDesk, plan: PlannedRelease, period: str, arguments: argparse.Namespace
) -> int:
    """Make the release of a period; return how the command ends if not with it."""
    waiting = desk.waits(plan, period) if arguments.due else ""
    if waiting and not arguments.even_without_new_files:
        _tell_waiting(plan, period, waiting, as_json=arguments.json)
        return FAILED
    if not _confirm_price(desk, plan, period, asks=not arguments.yes):
        note("nothing was charged")
        return REFUSED
    folder = arguments.out or desk.job.folder / "published"
    try:
        published = desk.release(plan, period, folder)
    except KeyboardInterrupt:
        _tell_interrupted(desk, plan.key(period))
        return INTERRUPTED
    except BudgetExceeded as error:
        if plan.reading is None or not arguments.due:
            raise
        note(f"{plan.name}: {period} is passed over: {error}")
        return SPENT
    (_log if arguments.json else _show)(desk, published)
    return 0


def _choose(
    desk: JobDesk, names: list[str], arguments: argparse.Namespace, day: date
) -> list[tuple[PlannedRelease, str]]:
    """Return the releases that are meant, and of what, in the order of the file."""
    known = desk.job.releases
    named = [desk.job.release(name) for name in names]
    if arguments.due:
        due = list(desk.due(day))
        return [run for run in due if not named or run[0] in named]
    if len(known) != 1 and not (named or arguments.all):
        listed = ", ".join(known) or "none"
        raise InvalidJob(
            "the job", f"has several releases ({listed})", "Name one, or say --all."
        )
    plans = named or list(known.values())
    return [(plan, arguments.key or plan.period(day)) for plan in plans]


def _confirm_price(
    desk: JobDesk, plan: PlannedRelease, period: str, *, asks: bool
) -> bool:
    """Show a person the price and ask; a scheduler, or what was paid, is not asked."""
    watched = is_terminal(sys.stdin) and is_terminal(sys.stdout)
    if not (asks and watched) or desk.session.ledger.entry(plan.key(period)):
        return True
    near = desk.in_period(plan, period)
    price = near.price(plan)
    print_price(plan.name, price, near.session)
    left = headline(desk.session.remaining)
    if price.blocks:
        left = left_text(left_in(desk.session.ledger.blocks(), price.blocks))
    return confirm(f"This is charged for good, of {left} left. Continue?")


def _tell_interrupted(desk: JobDesk, key: str) -> None:
    """Say whether what was interrupted is charged."""
    entry = desk.session.ledger.entry(key)
    charged = (
        "nothing was charged"
        if entry is None
        else f"it is charged (record {entry.number}): run it again, at no cost"
    )
    note(f"sordino: interrupted; {charged}")


def _show(desk: JobDesk, published: Published) -> None:
    """Print the answers, and say what was charged and written."""
    for name, release in published.releases.items():
        write(f"{name}:\n{release}" if name else str(release))
    status = (
        tint("charged", "green", sys.stderr)
        if published.is_new
        else "released before, charged nothing"
    )
    note(
        f"{status}: {published.plan.key(published.period)} is record "
        f"{published.number}; {_rest_text(desk, published)} is left"
    )
    for path in published.files:
        note(f"wrote {path_text(path)}")


def _log(desk: JobDesk, published: Published) -> None:
    """Print one line that a program reads."""
    write_object("release", release_facts(desk, published))


def release_facts(desk: JobDesk, published: Published) -> dict[str, Any]:
    """Return what was done, for JSON."""
    losses = [headline(release.loss) for release in published.releases.values()]
    return {
        "release": published.plan.name,
        "period": published.period,
        "key": published.plan.key(published.period),
        "record": published.number,
        "charged": published.is_new,
        "loss": losses,
        "loss_numbers": [
            quantities(release.loss) for release in published.releases.values()
        ],
        "left": _rest_text(desk, published),
        "left_numbers": _rest_numbers(desk, published),
        "limit_numbers": quantities(desk.session.budget),
        "confidence_number": float(published.plan.confidence),
        "files": list(map(path_text, published.files)),
    }


def _rest_text(desk: JobDesk, published: Published) -> str:
    """Return what is left of the budget, or of the blocks that were charged."""
    blocks = _blocks_of(desk, published)
    if not blocks:
        return headline(desk.session.remaining)
    return left_text(left_in(desk.session.ledger.blocks(), blocks))


def _rest_numbers(desk: JobDesk, published: Published) -> dict[str, Any]:
    """Return the same as numbers; of blocks, those of each by its name."""
    blocks = _blocks_of(desk, published)
    if not blocks:
        return quantities(desk.session.remaining, down)
    return {
        block.name: quantities(block.remaining, down)
        for block in desk.session.ledger.blocks()
        if block.name in blocks
    }


def _blocks_of(desk: JobDesk, published: Published) -> tuple[str, ...]:
    """Return the blocks that a release was charged to, none without blocks."""
    entry = desk.session.ledger.entry(published.plan.key(published.period))
    return () if entry is None else entry.blocks
