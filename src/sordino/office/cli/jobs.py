"""Commands on a job: init, check, price and release."""

import sys
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

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
    YES,
    Command,
    CommandOption,
    ask,
    confirm,
    flag,
    green,
    is_terminal,
    list_option,
    note,
    option,
    path_text,
    say,
    text_table,
    write,
    write_object,
)
from sordino.office.cli.metrics import metrics_text, quantities
from sordino.office.cli.risk import odds, odds_sentence
from sordino.office.job.draft import SERVER, Draft, draft_text, read_schema
from sordino.office.job.forecast import (
    BlockForecast,
    block_forecast,
    forecast,
    least_budget,
)
from sordino.office.job.job import (
    SPARK,
    USUAL,
    Job,
    find_job,
    read_job,
    undecided_places,
)
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


def _look_ahead(desk: JobDesk, day: date) -> tuple[list[str], dict[str, Any]]:
    """Cost of a year's scheduled releases: in sentences, and as facts for JSON."""
    readings = {
        plan.name: plan.reading
        for plan in desk.job.releases.values()
        if plan.reading is not None
    }
    if readings:
        return _year_of_blocks(desk, block_forecast(desk, day, readings))
    return _year_of_one_budget(desk, day)


def _year_of_one_budget(desk: JobDesk, day: date) -> tuple[list[str], dict[str, Any]]:
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
    return [cost, end, f"All of the budget: {odds_sentence(limit)}"], {
        "limit": headline(limit),
        "limit_numbers": quantities(limit),
        "left": headline(desk.session.remaining),
        # what is left is never overstated, a limit and a loss never understated
        "left_numbers": quantities(desk.session.remaining, down),
        "year": {
            "releases": outlook.releases,
            "loss": headline(outlook.spent),
            "loss_numbers": quantities(outlook.spent),
            "spent": headline(outlook.after),
            "refused": outlook.refused,
        },
    }


def _year_of_blocks(
    desk: JobDesk, outlook: BlockForecast
) -> tuple[list[str], dict[str, Any]]:
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
    return sentences, {"limit": limit, "limit_numbers": numbers, "year": year}


def _count_text(count: int) -> str:
    return f"{count} releases, which cost" if count != 1 else "1 release, which costs"


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(
            f"must be a date such as 2026-11-30, got {text!r}"
        ) from None


def job_options(names: str) -> tuple[CommandOption, ...]:
    """The job file, and what is named in it."""
    path = "the job file, if it is not the only one here"
    return (
        option("words", "[JOB.toml] [NAME ...]", f"a job file, and {names}", nargs="*"),
        option("--job", "FILE", path, Path),
        flag("--json", "print JSON, one a line"),
        flag("--verbose", "say on standard error what is done"),
    )


CLOCK: Final = (
    option(
        "--on",
        "DATE",
        "the day that it is, whose periods are meant (today, by UTC)",
        _day,
    ),
    flag("--catch-up", "periods have passed since the newest record of the ledger"),
)


def said_day(arguments: Namespace) -> SaidDay:
    """Day that options state: `--on`, `--catch-up`."""
    return SaidDay(arguments.on, arguments.catch_up)


def _given_path(arguments: Namespace) -> Path:
    if arguments.job is not None:
        return Path(arguments.job)
    words = arguments.words
    return Path(words[0]) if _names_file(words) else find_job(Path.cwd())


def given_job(arguments: Namespace) -> tuple[Job, list[str]]:
    """Job of the options, and the release names that follow it."""
    words = list(arguments.words)
    beside = words[1:] if arguments.job is None and _names_file(words) else words
    return read_job(_given_path(arguments)), beside


def open_to_charge(job: Job, arguments: Namespace, *, due: bool = False) -> JobDesk:
    """Open a job for releases; say so if its ledger is a new one."""
    desk, is_new = open_to_release(
        job, said_day(arguments), due=due, progress=is_terminal(sys.stderr)
    )
    if is_new:
        place = path_text(job.ledger.path)
        note(f"a new ledger, with nothing spent, was made at {place}")
    return desk


def _names_file(words: list[str]) -> bool:
    return bool(words) and words[0].endswith(".toml")


def _named_releases(desk: JobDesk, names: list[str]) -> list[PlannedRelease]:
    named = [desk.job.release(name) for name in names]
    return named or list(desk.job.releases.values())


def print_price(name: str, price: Price | Batch, session: Session) -> None:
    """Print what a release costs, and the noise of each column."""
    cost, left = headline(price.loss, price.budget), headline(session.remaining)
    if price.blocks:
        say(f"{name}: {touched_text(price.blocks, cost)}")
        say(f"left: {left_text(left_in(session.ledger.blocks(), price.blocks))}")
        person = longest_exposure(session.ledger)
        say(
            f"one person in {in_a_row(person['blocks'])}: {person['charged']} charged "
            f"so far, {person['most']} at most, ever"
        )
    else:
        write(f"{name}: {cost} of {left} left")
    for title, single in _singles(price):
        within = f"{float(100 * single.request.confidence):g} % within"
        rows = [("column", "noise", within, "one unit changes it by at most")]
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


def price_facts(price: Price | Batch, session: Session) -> dict[str, Any]:
    """Facts of a price, for JSON."""
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
    facts = {
        "loss": headline(price.loss, price.budget),
        "loss_numbers": quantities(price.loss),
        "columns": columns,
        "odds": odds(price.loss),
    }
    left = left_in(session.ledger.blocks(), price.blocks)
    if not left:
        return facts
    person = longest_exposure(session.ledger)
    return facts | {"left_in_blocks": left, "one_person": person}


def _singles(price: Price | Batch) -> Iterator[tuple[str, Price]]:
    """Yield each price, after a prefix for the names of its columns."""
    if isinstance(price, Price):
        yield "", price
    else:
        yield from ((f"{name}.", single) for name, single in price.prices.items())


def _change(sensitivity: Any) -> str:
    """How far one unit moves a column: all of its cells together."""
    listed = sensitivity if isinstance(sensitivity, tuple) else (sensitivity,)
    return ", ".join(
        f"{float(each.l1):g}" for each in listed if isinstance(each, Sensitivity)
    )


def _check_job(arguments: Namespace) -> None:
    _refuse_undecided(arguments)
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    day = arguments.on or today()
    if arguments.metrics is not None:
        write_text(arguments.metrics, metrics_text(desk, day, datetime.now(UTC)))
    sentences, facts = _look_ahead(desk, day)
    prices = {}
    for plan in _named_releases(desk, names):
        near = desk.in_newest(plan, day)
        prices[plan.name] = near.price(plan), near.session
    waiting = [why for run in desk.due(day) if (why := desk.waits(*run))]
    if arguments.json:
        each = {name: price_facts(*priced) for name, priced in prices.items()}
        write_object("check", {"releases": each, "waiting": waiting} | facts)
        return
    write(f"{job.path.name}: {', '.join(job.releases) or 'no release yet'}")
    for holding in desk.session._desk.catalog.holdings():  # noqa: SLF001 unprinted
        say(f"{holding.name}: {holding.sentence}")
    for name, priced in prices.items():
        write()
        print_price(name, *priced)
    write()
    for sentence in sentences:
        say(sentence)
    _warn_of_limits(_named_releases(desk, names))
    for why in waiting:
        say(f"{why}. Until then --due does not make it.")
    say("Nothing was charged, and nothing private is shown.")


def _warn_of_limits(plans: list[PlannedRelease]) -> None:
    """Name the releases whose readers cannot know how much is left out."""
    for plan in plans:
        if (plan.limits or plan.bounds) and not plan.coverage:
            say(
                f"warning: {plan.name}: limits and bounds cut something off, and how "
                "much is not measured (coverage = true)"
            )


def _refuse_undecided(arguments: Namespace) -> None:
    # all places at once: whoever reads the file would refuse only the first
    path = _given_path(arguments)
    places = undecided_places(path)
    if places:
        raise InvalidJob(
            str(path),
            f"is still to be decided at {', '.join(places)}",
            'Put what you choose in place of each "?".',
        )


CHECK: Final = Command(
    "check",
    "Read a job file, look at the schemas of its tables, and say what each release "
    "costs, what a year costs, and when the budget ends. Nothing private is shown.",
    "sordino check clinic.toml",
    _check_job,
    (
        *job_options("releases of it (all)"),
        option(
            "--metrics",
            "FILE",
            "write what a monitor reads, as OpenMetrics, to a file",
            Path,
        ),
        *CLOCK,
    ),
)
_WIDEST: Final = 10**300  # it is printed as a double


def _print_prices(arguments: Namespace) -> None:
    job, names = given_job(arguments)
    desk = open_to_look(job, said_day(arguments))
    wanted = dict(map(_column_and_width, arguments.within))
    for plan in _named_releases(desk, names):
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


PRICE: Final = Command(
    "price",
    "Say what releases of a job would cost, how far off each column would be, and what "
    "that means to an attacker. Nothing is charged, and nothing private is shown.",
    "sordino price clinic.toml wards",
    _print_prices,
    (
        *job_options("releases of it (all)"),
        *CLOCK,
        list_option(
            "--within",
            "COLUMN=N",
            "what it takes for a column to be within N; may be repeated",
        ),
    ),
)
_QUESTIONS: Final = {
    "id": "Which column marks a person (rows, if each row is one)",
    "epsilon": "Epsilon of the whole budget, such as 1",
    "delta": "Delta of the whole budget, such as 1e-6, or 0",
    "group": "Count by which column",
}
"""What a person decides, and how it is asked."""
_GROWS: Final = "If the table grows, which column says when a row arrived ({})"


def _write_job(arguments: Namespace) -> None:
    folder = arguments.to.absolute().parent
    table = arguments.table or ""
    columns, style = read_schema(folder, arguments.source, table)
    options = {name: vars(arguments)[name] for name in _QUESTIONS}
    asks = is_terminal(sys.stdin) and is_terminal(sys.stderr)
    if asks:
        note(f"columns: {', '.join(columns)}")
    choices: dict[str, Any] = {
        name: text or (ask(_QUESTIONS[name]) if asks else "") or UNDECIDED
        for name, text in options.items()
    }
    draft = Draft(arguments.source, columns, **choices, format=style, table=table)
    growing = arguments.blocks or ""
    if asks and draft.moments and not growing:
        growing = ask(_GROWS.format(", ".join(draft.moments)))
    text = draft_text(replace(draft, blocks=growing))
    try:
        # "x": a job file that somebody has reviewed is never written over
        with arguments.to.open("x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError):
        raise InvalidJob(
            str(arguments.to), "is there, or cannot be written", "Name another: --to."
        ) from None
    if table and arguments.source != SPARK:
        note(f"it reads the address of the server from the environment: {SERVER}")
    note(f"wrote {arguments.to}. Next: sordino check {arguments.to}")


INIT: Final = Command(
    "init",
    "Write a new job file for a table, with a comment on each choice. On a terminal it "
    'asks; what nobody says is left as "?", and `sordino check` lists it. Only names '
    "and types of columns are told, never a row.",
    "sordino init visits.parquet --to clinic.toml",
    _write_job,
    (
        option("source", "FILE", "a file, or postgresql://..., or spark://"),
        option("--table", "NAME", "a table of that server or Spark"),
        option(
            "--to",
            "JOB.toml",
            f"the file to write ({USUAL}); it must not be there",
            Path,
            default=Path(USUAL),
        ),
        option("--id", "COLUMN", "the column that marks people"),
        option("--epsilon", "N", "of the whole budget"),
        option("--delta", "N", "of the whole budget"),
        option("--group", "COLUMN", "what to count by"),
        option(
            "--blocks",
            "COLUMN",
            "for a table that grows: the column that says when a row arrived",
        ),
    ),
)


def _make_releases(arguments: Namespace) -> int:
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
    desk = open_to_charge(job, arguments, due=arguments.due)
    day = arguments.on or today()
    runs = _choose(desk, names, arguments, day)
    if not runs:
        _tell_nothing(job, as_json=arguments.json)
    code = 0
    for plan, period in runs:
        for missed in missed_periods(desk, plan, day):
            note(f"{plan.name}: {missed} was never made, and is not made up for")
        ended = _make_release(desk, plan, period, arguments)
        if ended not in {0, SPENT, FAILED}:  # the next may have blocks and rows
            return ended
        code = max(code, ended)
    return code


def _tell_nothing(job: Job, *, as_json: bool) -> None:
    # a job without any schedule is a mistake that a scheduler would repeat for ever
    scheduled = sum(plan.schedule is not None for plan in job.releases.values())
    if as_json:
        write_object("release", {"due": 0, "scheduled": scheduled})
    else:
        say("nothing is due" if scheduled else "no release here has a schedule")


def _make_release(
    desk: JobDesk, plan: PlannedRelease, period: str, arguments: Namespace
) -> int:
    """Make the release of a period; return how the command ends if not with it."""
    waiting = desk.waits(plan, period) if arguments.due else ""
    if waiting and not arguments.even_without_new_files:
        note(
            f"{waiting}. It is not made, and not charged: --even-without-new-files "
            "does."
        )
        if arguments.json:
            facts = {"release": plan.name, "period": period, "key": plan.key(period)}
            write_object("release", facts | {"charged": False, "waiting": waiting})
        return FAILED
    if not _confirm_price(desk, plan, period, asks=not arguments.yes):
        note("nothing was charged")
        return REFUSED
    folder = arguments.out or desk.job.folder / "published"
    try:
        published = desk.release(plan, period, folder)
    except KeyboardInterrupt:
        # it may have come after the charge: only the ledger knows
        entry = desk.session.ledger.entry(plan.key(period))
        charged = (
            "nothing was charged"
            if entry is None
            else f"it is charged (record {entry.number}): run it again, at no cost"
        )
        note(f"sordino: interrupted; {charged}")
        return INTERRUPTED
    except BudgetExceeded as error:
        if plan.reading is None or not arguments.due:
            raise
        note(f"{plan.name}: {period} is passed over: {error}")
        return SPENT
    if arguments.json:
        write_object("release", _release_facts(desk, published))
    else:
        _show(desk, published)
    return 0


def _choose(
    desk: JobDesk, names: list[str], arguments: Namespace, day: date
) -> list[tuple[PlannedRelease, str]]:
    """Releases that are meant, with their periods, in the order of the file."""
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


def _show(desk: JobDesk, published: Published) -> None:
    for name, release in published.releases.items():
        write(f"{name}:\n{release}" if name else str(release))
    status = "released before, charged nothing"
    if published.is_new:
        status = green("charged", sys.stderr)
    key, (left, _) = published.plan.key(published.period), _rest(desk, published)
    note(f"{status}: {key} is record {published.number}; {left} is left")
    for path in published.files:
        note(f"wrote {path_text(path)}")


def _release_facts(desk: JobDesk, published: Published) -> dict[str, Any]:
    losses = [release.loss for release in published.releases.values()]
    left, numbers = _rest(desk, published)
    return {
        "release": published.plan.name,
        "period": published.period,
        "key": published.plan.key(published.period),
        "record": published.number,
        "charged": published.is_new,
        "loss": list(map(headline, losses)),
        "loss_numbers": list(map(quantities, losses)),
        "left": left,
        "left_numbers": numbers,
        "limit_numbers": quantities(desk.session.budget),
        "confidence_number": float(published.plan.confidence),
        "files": list(map(path_text, published.files)),
    }


def _rest(desk: JobDesk, published: Published) -> tuple[str, dict[str, Any]]:
    """Text and numbers of what is left; of blocks, in each that was charged."""
    entry = desk.session.ledger.entry(published.plan.key(published.period))
    blocks, remaining = desk.session.ledger.blocks(), desk.session.remaining
    if entry is None or not entry.blocks:
        return headline(remaining), quantities(remaining, down)
    return left_text(left_in(blocks, entry.blocks)), {
        block.name: quantities(block.remaining, down)
        for block in blocks
        if block.name in entry.blocks
    }


RELEASE: Final = Command(
    "release",
    "Make releases of a job: charge them, write their files, and record both in the "
    "ledger. A release is charged once a period; whoever asks again gets the same "
    "answer at no cost.",
    "sordino release clinic.toml wards --key 2026-11 --out published",
    _make_releases,
    (
        *job_options("the releases to make"),
        option(
            "--key",
            "PERIOD",
            "what it is a release of, such as 2026-11 (the period of its schedule)",
        ),
        option(
            "--out",
            "FOLDER",
            "where its files go (published, beside the job file)",
            Path,
        ),
        flag("--all", "every release of the job"),
        flag("--due", "those with a schedule that were not made in this period"),
        *CLOCK,
        flag(
            "--even-without-new-files",
            "make what is due, also of periods behind whose end no file was written",
        ),
        YES,
    ),
)
