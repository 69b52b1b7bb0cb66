"""What `sordino sql` does: it asks the tables of a job a question."""

import argparse
import sys
from dataclasses import replace
from typing import Final

from sordino.cli.budget_options import add_budget_options, given_budget
from sordino.cli.exit_codes import REFUSED
from sordino.cli.job_options import (
    add_clock_options,
    add_job_options,
    given_job,
    said_day,
)
from sordino.cli.limit_options import add_limit_options, given_limits
from sordino.cli.prices import price_facts, print_price
from sordino.cli.quantities import quantities
from sordino.cli.terminal import (
    confirm,
    is_terminal,
    note,
    path_text,
    write,
    write_object,
)
from sordino.errors import InvalidJob, SordinoError
from sordino.job.job import Job
from sordino.job.job_desk import JobDesk, open_to_look, open_to_release
from sordino.job.planned_release import PlannedRelease, question_in_sql
from sordino.job.questions import read_wording
from sordino.job.turns import turn_of
from sordino.losses.headline import headline
from sordino.numbers import down
from sordino.release.release import Release

EXAMPLE: Final = 'sordino sql clinic.toml "SELECT COUNT(*) FROM visits" --epsilon 0.1'
WHAT: Final = (
    "Ask the tables of a job a question in SQL, charged to its ledger. With --price "
    "nothing is charged; without a budget the question is printed as Python."
)

_HINT: Final = (
    "Here limits are said by --max-rows-per-id, --max-groups-per-id and "
    "--max-rows-per-group-per-id, or taken by --like NAME; bounds by CLAMP in the text."
)


def add_sql_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=ask_in_sql)
    add_job_options(parser, "a SELECT statement (- for standard input)")
    add_clock_options(parser)
    add_budget_options(parser)
    parser.add_argument(
        "--like",
        metavar="NAME",
        help="a release of the job, whose limits, bounds and keys hold here, too",
    )
    add_limit_options(parser, "a limit on what one person contributes")
    parser.add_argument("--price", action="store_true", help="charge nothing")
    parser.add_argument("--key", metavar="KEY", help="under which the answer is kept")
    parser.add_argument("--who", metavar="WHO", help="recorded with it")
    parser.add_argument("--why", default="", metavar="WHY", help="recorded with it")
    parser.add_argument(
        "--dialect",
        default="duckdb",
        metavar="NAME",
        help="duckdb, postgres, spark or bigquery",
    )
    parser.add_argument(
        "--yes", action="store_true", help="do not ask, also on a terminal"
    )


def ask_in_sql(arguments: argparse.Namespace) -> int:
    """Ask a question; a refusal that speaks Python is told in options, too."""
    try:
        return _ask(arguments)
    except SordinoError as error:
        if ".enforce(" in str(error):
            note(_HINT)
        raise


def _ask(arguments: argparse.Namespace) -> int:
    """Print a question, its price, or its answer."""
    job, words = given_job(arguments)
    if arguments.who is not None:
        job = replace(job, ledger=replace(job.ledger, who=arguments.who))
    plan = _plan(job, words, arguments)
    looking = open_to_look(job, said_day(arguments))
    wording = read_wording(looking.session, plan, job)
    if wording.budget is None:
        write(repr(wording.requests))
        return 0
    if arguments.price:
        _show_price(looking, plan, as_json=arguments.json)
        return 0
    if not _confirm_price(looking, plan, arguments):
        note("nothing was charged")
        return REFUSED
    _release(job, plan, arguments)
    return 0


def _plan(job: Job, words: list[str], arguments: argparse.Namespace) -> PlannedRelease:
    """Return the statement as a release that the file does not have."""
    if len(words) != 1:
        raise InvalidJob(
            "sordino sql", "needs one statement", 'Put it in quotes: "SELECT ...".'
        )
    text = sys.stdin.read() if words == ["-"] else words[0]
    like = None if arguments.like is None else job.release(arguments.like)
    notes = {"dialect": arguments.dialect, "why": arguments.why}
    plan = question_in_sql(text, given_budget(arguments), notes, like)
    limits = tuple(given_limits(arguments))
    return replace(plan, limits=limits) if limits else plan


def _show_price(desk: JobDesk, plan: PlannedRelease, *, as_json: bool) -> None:
    """Print what the question would cost."""
    price = desk.price(plan)
    if as_json:
        write_object("price", price_facts(price, desk.session))
    else:
        print_price(plan.name, price, desk.session)


def _confirm_price(
    desk: JobDesk, plan: PlannedRelease, arguments: argparse.Namespace
) -> bool:
    """Show a person the price and ask; a program has decided."""
    if arguments.yes or not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        return True
    _show_price(desk, plan, as_json=False)
    left = headline(desk.session.remaining)
    return confirm(f"This is charged for good, of {left} left. Continue?")


def _release(job: Job, plan: PlannedRelease, arguments: argparse.Namespace) -> None:
    """Charge the question and print its answer."""
    desk, is_new = open_to_release(
        job, said_day(arguments), progress=is_terminal(sys.stderr)
    )
    if is_new:
        place = path_text(job.ledger.path)
        note(f"a new ledger, with nothing spent, was made at {place}")
    answers = _answers(desk, plan, arguments.key)
    left = headline(desk.session.remaining)
    for release in answers.values():
        if arguments.json:
            rows, errors = release.table.to_pylist(), release.errors.to_pylist()
            facts = {
                "loss": release.price,
                "loss_numbers": quantities(release.loss),
                "left": left,
                "left_numbers": quantities(desk.session.remaining, down),
                "confidence_number": float(release.confidence),
            }
            write_object("answer", facts | {"rows": rows, "errors": errors})
        else:
            write(str(release))
    note(f"{left} is left")


def _answers(
    desk: JobDesk, plan: PlannedRelease, key: str | None
) -> dict[str, Release]:
    """Return the answers; who asks under a key that another works on waits for it."""
    if key is None:
        return desk.answers(plan, desk.question(plan), None)
    with turn_of(desk.job.ledger.path, key):
        return desk.answers(plan, desk.question(plan), key)
