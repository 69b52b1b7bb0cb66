"""Check, init, price, release; the year ahead."""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, final

from sordino.data.toml import UNDECIDED
from sordino.errors import BudgetExceeded, InvalidJob, show
from sordino.ledger.blocks import in_a_row, left_in, left_text
from sordino.ledger.clocks import SaidDay
from sordino.losses.budgets.blocks import blocks_text, touched_text
from sordino.losses.loss import headline
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import down
from sordino.numbers.formatting import format_spread
from sordino.office.cli.ledgers import longest_exposure
from sordino.office.cli.main import (
    FAILED,
    INTERRUPTED,
    REFUSED,
    SPENT,
    ask,
    confirm,
    is_terminal,
    note,
    path_text,
    say,
    text_table,
    tint,
    write,
    write_object,
)
from sordino.office.cli.metrics import metrics_text, quantities
from sordino.office.cli.risk import odds, odds_sentence
from sordino.office.job.draft import Draft, draft_text, read_schema
from sordino.office.job.forecast import (
    BlockForecast,
    block_forecast,
    forecast,
    least_budget,
)
from sordino.office.job.job import USUAL, Job, find_job, read_job, undecided_places
from sordino.office.job.questions import PlannedRelease, check_period
from sordino.office.job.running import (
    JobDesk,
    Published,
    missed_periods,
    open_to_look,
    open_to_release,
    today,
)
from sordino.plan.price import Batch, Price
from sordino.release.storage import write_text
from sordino.session.session import Session


@final
@dataclass(frozen=True)
class YearAhead:
    """What is said of the year, to a person and to a program."""

    sentences: tuple[str, ...]
    facts: dict[str, Any]


def look_ahead(desk: JobDesk, day: date) -> YearAhead:
    """Cost of a year's scheduled releases, by the blocks they read."""
    readings = {
        plan.name: plan.reading
        for plan in desk.job.releases.values()
        if plan.reading is not None
    }
    if readings:
        return _year_of_blocks(desk, block_forecast(desk, day, readings))
    return _year_of_one_budget(desk, day)


def _year_of_one_budget(desk: JobDesk, day: date) -> YearAhead:
    limit, outlook = desk.session.budget, forecast(desk, day)
    end = "The budget lasts for a year or longer."
    if outlook.refused is not None:
        name, period = outlook.refused
        end = f"The budget ends within a year: {name} of {period} would be refused."
    cost = (
        f"A year from today: {_count_text(outlook.releases)} "
        f"{headline(outlook.spent)}; spent by then {headline(outlook.after)} of "
        f"{headline(limit)}."
    )
    sentences = (cost, end, f"All of the budget: {odds_sentence(limit)}")
    year = {
        "releases": outlook.releases,
        "loss": headline(outlook.spent),
        "loss_numbers": quantities(outlook.spent),
        "spent": headline(outlook.after),
        "refused": outlook.refused,
    }
    left = headline(desk.session.remaining)
    facts = {
        "limit": headline(limit),
        "limit_numbers": quantities(limit),
        "left": left,
        "left_numbers": quantities(desk.session.remaining, down),
        "year": year,
    }
    return YearAhead(sentences, facts)


def _year_of_blocks(desk: JobDesk, outlook: BlockForecast) -> YearAhead:
    limit, person = headline(desk.session.budget), headline(outlook.person)
    most = headline(outlook.most)
    cost = (
        f"The year from today is {blocks_text(outlook.blocks)}, each with a budget of "
        f"its own, {limit}: {_count_text(outlook.releases)} a block at most "
        f"{headline(outlook.one)}."
    )
    sentences = [
        cost,
        f"A person present all year loses {person} as scheduled, {most} at most.",
        f"As scheduled: {odds_sentence(outlook.person)}",
        f"At most: {odds_sentence(outlook.most)}",
    ]
    if not outlook.refused:
        sentences.append("No budget ends: the schedule fits into that of each block.")
    for name, period, why in outlook.refused[:3]:
        sentences.append(f"{name} of {period} would be refused: {why}.")
    if len(outlook.refused) > 3:
        sentences.append(f"So would {len(outlook.refused) - 3:,} more of the year.")
    year = {
        "blocks": list(outlook.blocks),
        "releases": outlook.releases,
        "one_block": headline(outlook.one),
        "person": {"scheduled": person, "most": most},
        "odds": {"scheduled": odds(outlook.person), "most": odds(outlook.most)},
        "refused": [list(run) for run in outlook.refused],
    }
    numbers = quantities(desk.session.budget)
    facts = {"limit": limit, "limit_numbers": numbers, "year": year}
    return YearAhead(tuple(sentences), facts)


def _count_text(count: int) -> str:
    """Return how many releases there are, and that they cost.

    >>> _count_text(1), _count_text(12)
    ('1 release, which costs', '12 releases, which cost')
    """
    return f"{count} releases, which cost" if count != 1 else "1 release, which costs"


def add_job_options(parser: argparse.ArgumentParser, names: str) -> None:
    """Add the job file, and what is named in it."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="[JOB.toml] [NAME ...]",
        help=f"a job file, and {names}",
    )
    parser.add_argument(
        "--job",
        type=Path,
        metavar="FILE",
        help="the job file, if it is not the only one here",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one a line")
    parser.add_argument(
        "--verbose", action="store_true", help="say on standard error what is done"
    )


def add_clock_options(parser: argparse.ArgumentParser) -> None:
    """Add what a person says of the day."""
    parser.add_argument(
        "--on",
        type=_day,
        metavar="DATE",
        help="the day that it is, whose periods are meant (today, by UTC)",
    )
    parser.add_argument(
        "--catch-up",
        action="store_true",
        help="periods have passed since the newest record of the ledger",
    )


def said_day(arguments: argparse.Namespace) -> SaidDay:
    """Day that options state: `--on`, `--catch-up`."""
    return SaidDay(arguments.on, arguments.catch_up)


def given_path(arguments: argparse.Namespace) -> Path:
    """Return the job file that is meant."""
    words, path = arguments.words, arguments.job
    if path is not None:
        return Path(path)
    return Path(words[0]) if _names_file(words) else find_job(Path.cwd())


def given_job(arguments: argparse.Namespace) -> tuple[Job, list[str]]:
    """Job of the options, and the release names that follow it."""
    words = list(arguments.words)
    beside = words[1:] if arguments.job is None and _names_file(words) else words
    return read_job(given_path(arguments)), beside


def _names_file(words: list[str]) -> bool:
    return bool(words) and words[0].endswith(".toml")


def named_releases(desk: JobDesk, names: list[str]) -> list[PlannedRelease]:
    """Return the named releases, or all of them; refuse unknown names."""
    named = [desk.job.release(name) for name in names]
    return named or list(desk.job.releases.values())


def _day(text: str) -> date:
    """Return a date; argparse refuses anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be a date such as 2026-11-30, got {text!r}"
        ) from None


def print_price(name: str, price: Price | Batch, session: Session) -> None:
    """Print what a release costs, and the noise of each column."""
    cost, left = headline(price.loss, price.budget), headline(session.remaining)
    if price.blocks:
        say(f"{name}: {touched_text(price.blocks, cost)}")
        say(f"left: {left_text(left_in(session.ledger.blocks(), price.blocks))}")
        say(_person_text(session))
    else:
        write(f"{name}: {cost} of {left} left")
    for title, single in _singles(price):
        rows = [
            (
                "column",
                "noise",
                _title_of_errors(single),
                "one unit changes it by at most",
            )
        ]
        rows += [
            (
                title + column,
                ", ".join(map(repr, single.noise[column])) or "chosen",
                f"±{format_spread(error.half_width)} {error.unit}".rstrip(),
                _change(single.sensitivity[column]),
            )
            for column, error in single.errors.items()
        ]
        text_table(rows)
        for level in single.thresholds:
            write(f"a group shows from about {float(level):.4g} on")
    write(odds_sentence(price.loss))


def _person_text(session: Session) -> str:
    facts = longest_exposure(session.ledger)
    return (
        f"one person in {in_a_row(facts['blocks'])}: {facts['charged']} charged so "
        f"far, {facts['most']} at most, ever"
    )


def price_facts(price: Price | Batch, session: Session) -> dict[str, Any]:
    """Return a price for JSON."""
    columns = {
        title + column: {
            "noise": [repr(mechanism) for mechanism in single.noise[column]],
            "sd": error.sd,
            "within": error.half_width,
            "unit": error.unit,
            "confidence": str(single.request.confidence),
            "confidence_number": float(single.request.confidence),
        }
        for title, single in _singles(price)
        for column, error in single.errors.items()
    }
    left = left_in(session.ledger.blocks(), price.blocks)
    facts = {
        "loss": headline(price.loss, price.budget),
        "loss_numbers": quantities(price.loss),
        "columns": columns,
        "odds": odds(price.loss),
    }
    if left:
        facts |= {
            "left_in_blocks": left,
            "one_person": longest_exposure(session.ledger),
        }
    return facts


def _singles(price: Price | Batch) -> Iterator[tuple[str, Price]]:
    """Yield each price, and what stands before the names of its columns."""
    if isinstance(price, Price):
        yield "", price
        return
    for name, single in price.prices.items():
        yield f"{name}.", single


def _title_of_errors(price: Price) -> str:
    return f"{float(100 * price.request.confidence):g} % within"


def _change(sensitivity: Any) -> str:
    """Return how far one unit moves a column: all of its cells together."""
    listed = sensitivity if isinstance(sensitivity, tuple) else (sensitivity,)
    return ", ".join(
        f"{float(each.l1):g}" for each in listed if isinstance(each, Sensitivity)
    )


CHECK_EXAMPLE: Final = "sordino check clinic.toml"
CHECK_WHAT: Final = (
    "Read a job file, look at the schemas of its tables, and say what each release "
    "costs, what a year costs, and when the budget ends. Nothing private is shown."
)


def add_check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=check_job)
    add_job_options(parser, "releases of it (all)")
    parser.add_argument(
        "--metrics",
        type=Path,
        metavar="FILE",
        help="write what a monitor reads, as OpenMetrics, to a file",
    )
    add_clock_options(parser)


def check_job(arguments: argparse.Namespace) -> None:
    """Print what a job would do."""
    _refuse_undecided(arguments)
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    day = arguments.on or today()
    if arguments.metrics is not None:
        write_text(arguments.metrics, metrics_text(desk, day, datetime.now(UTC)))
    outlook = look_ahead(desk, day)
    prices = {}
    for plan in named_releases(desk, names):
        near = desk.in_newest(plan, day)
        prices[plan.name] = near.price(plan), near.session
    waiting = [why for run in desk.due(day) if (why := desk.waits(*run))]
    if arguments.json:
        facts = {name: price_facts(*priced) for name, priced in prices.items()}
        write_object("check", {"releases": facts, "waiting": waiting} | outlook.facts)
        return
    write(f"{job.path.name}: {', '.join(job.releases) or 'no release yet'}")
    for holding in desk.session.describe().holdings:
        say(f"{holding.name}: {holding.sentence}")
    for name, priced in prices.items():
        write()
        print_price(name, *priced)
    write()
    for sentence in outlook.sentences:
        say(sentence)
    for why in waiting:
        say(f"{why}. Until then --due does not make it.")
    say("Nothing was charged, and nothing private is shown.")


def _refuse_undecided(arguments: argparse.Namespace) -> None:
    """Refuse a file in which a person still has to choose, naming every place."""
    path = given_path(arguments)
    places = undecided_places(path)
    if places:
        raise InvalidJob(
            str(path),
            f"is still to be decided at {', '.join(places)}",
            'Put what you choose in place of each "?".',
        )


_WIDEST: Final = 10**300
PRICE_EXAMPLE: Final = "sordino price clinic.toml wards"
PRICE_WHAT: Final = (
    "Say what releases of a job would cost, how far off each column would be, and what "
    "that means to an attacker. Nothing is charged, and nothing private is shown."
)


def add_price_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=print_prices)
    add_job_options(parser, "releases of it (all)")
    add_clock_options(parser)
    parser.add_argument(
        "--within",
        action="append",
        default=[],
        metavar="COLUMN=N",
        help="what it takes for a column to be within N; may be repeated",
    )


def print_prices(arguments: argparse.Namespace) -> None:
    """Print what releases would cost."""
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    wanted = dict(map(_column_and_width, arguments.within))
    for plan in named_releases(desk, names):
        near = desk.in_newest(plan, arguments.on or today())
        price = near.price(plan)
        needed = {
            column: headline(least_budget(near, plan, column, width))
            for column, width in wanted.items()
        }
        if arguments.json:
            facts = {"release": plan.name} | price_facts(price, near.session)
            write_object("price", facts | ({"needed": needed} if needed else {}))
            continue
        print_price(plan.name, price, near.session)
        for column, loss in needed.items():
            say(f"{column} within ±{float(wanted[column]):g} needs {loss} in all.")


def _column_and_width(text: str) -> tuple[str, Fraction]:
    column, _, number = text.rpartition("=")
    try:
        width = Fraction(number)
    except (ValueError, ZeroDivisionError):
        width = Fraction(0)
    if not column or not 0 < width < _WIDEST:
        raise InvalidJob("--within", f"must be COLUMN=N, got {show(text)}", "Try n=10.")
    return column, width


INIT_EXAMPLE: Final = "sordino init visits.parquet --to clinic.toml"
INIT_WHAT: Final = (
    "Write a new job file for a table, with a comment on each choice. On a terminal it "
    'asks; what nobody says is left as "?", and `sordino check` lists it. Only names '
    "and types of columns are looked at, never a row."
)


def add_init_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=write_job)
    parser.add_argument("source", metavar="FILE", help="a Parquet or text file")
    parser.add_argument(
        "--to",
        type=Path,
        default=Path(USUAL),
        metavar="JOB.toml",
        help=f"the file to write ({USUAL}); it must not be there",
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column that marks people")
    parser.add_argument("--epsilon", metavar="N", help="of the whole budget")
    parser.add_argument("--delta", metavar="N", help="of the whole budget")
    parser.add_argument("--group", metavar="COLUMN", help="what to count by")
    parser.add_argument(
        "--blocks",
        metavar="COLUMN",
        help="for a table that grows: the column that says when a row arrived",
    )


def write_job(arguments: argparse.Namespace) -> None:
    """Write the file, and say what comes next."""
    folder = arguments.to.absolute().parent
    columns = read_schema(folder, arguments.source)
    options = {name: vars(arguments)[name] for name in _QUESTIONS}
    asks = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if asks:
        note(f"columns: {', '.join(columns)}")
    choices = {
        name: text or (ask(_QUESTIONS[name]) if asks else "") or UNDECIDED
        for name, text in options.items()
    }
    draft = Draft(arguments.source, columns, **choices)
    growing = arguments.blocks or ""
    if asks and draft.moments and not growing:
        growing = ask(_GROWS.format(", ".join(draft.moments)))
    text = draft_text(replace(draft, blocks=growing))
    try:
        with arguments.to.open("x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError):
        raise InvalidJob(
            str(arguments.to), "is there, or cannot be written", "Name another: --to."
        ) from None
    note(f"wrote {arguments.to}. Next: sordino check {arguments.to}")


_QUESTIONS: Final = {
    "id": "Which column marks a person (rows, if each row is one)",
    "epsilon": "Epsilon of the whole budget, such as 1",
    "delta": "Delta of the whole budget, such as 1e-6, or 0",
    "group": "Count by which column",
}
"""What a person decides, and how it is asked."""
_GROWS: Final = "If the table grows, which column says when a row arrived ({})"


RELEASE_EXAMPLE: Final = (
    "sordino release clinic.toml wards --key 2026-11 --out published"
)
RELEASE_WHAT: Final = (
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
    write_object("release", release_facts(desk, published))


def release_facts(desk: JobDesk, published: Published) -> dict[str, Any]:
    """Facts of a published release, for JSON."""
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
