"""The page: what is known of the choices so far, and what is asked next.

    choices ── look ── job ── price ── limits tried ── odds ── page, or the job's text

What one part refuses stands beside it, and the parts behind it are not there yet.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib.resources import files
from math import exp
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, final
from urllib.parse import parse_qsl

from sordino.data.limits import (
    AbstractConstraint,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    MaxRowsPerID,
)
from sordino.data.toml import UNDECIDED
from sordino.data.units import AddRowsWithID
from sordino.errors import InvalidJob, InvalidParameter, SordinoError
from sordino.losses.closed import ApproxDP
from sordino.losses.loss import headline
from sordino.numbers.formatting import format_spread
from sordino.office.form.choices import (
    ANSWERS,
    ROWS,
    TYPES,
    WHEN,
    Choices,
    ChosenFile,
    list_files,
    read_choices,
)
from sordino.office.html.elements import fill_template, short_text
from sordino.office.html.odds import FALSE_ALARMS, Odds, hundred_text, people_picture
from sordino.office.html.page import form_document, read_language
from sordino.office.html.small_pictures import share_bar
from sordino.office.job.questions import PlannedRelease
from sordino.office.job.running import JobDesk, open_to_draft, read_wording
from sordino.plan.price import SIZES, Batch, Price
from sordino.query.request import Request
from sordino.session.inspection import PRIVATE, Inspection, inspect, part
from sordino.session.rehearsal import rehearsal
from sordino.session.suggestion import Suggestion, Tried, noise_in_words

_RELEASE: Final = "counts"
"""The name of the release that a drafted job has."""
MOST_BYTES: Final = 2**20
"""Of a form: a list of keys is most of it."""
_MOST_FIELDS: Final = 20_000
_MOST_COLUMNS: Final = 500
"""Columns that are shown; the others are as they were proposed."""
_BUDGETS: Final = ("0.1", "0.5", "1", "2", "5")
"""Epsilons whose meaning is told beside the one that is chosen."""
_T = TypeVar("_T")


@final
class FormReply(NamedTuple):
    """What goes back to the browser: a page, or a file to keep."""

    status: int
    content: str
    is_file: bool = False


def reply_to_form(folder: Path, body: bytes) -> FormReply:
    """Return the page of the choices in a body, or the job that they make."""
    try:
        fields = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            max_num_fields=_MOST_FIELDS,
            errors="strict",
        )
        choices = read_choices(fields)
    except SordinoError as error:
        return FormReply(400, _page(folder, Choices(), {"form": str(error)}))
    except ValueError:  # of letters, or of numbers of fields
        refusal = InvalidParameter("the form", "a body", "cannot be read", "Go back.")
        return FormReply(400, _page(folder, Choices(), {"form": str(refusal)}))
    findings = follow_choices(folder, choices)
    drafted = findings.drafted
    if drafted is None:
        return FormReply(200, _page(folder, choices, findings.refusals, findings))
    with drafted.desk.session:
        if ("act", "download") in fields and findings.prices:
            return FormReply(200, drafted.text, is_file=True)
        return FormReply(200, _page(folder, choices, findings.refusals, findings))


@final
class Drafted(NamedTuple):
    """A job as it would be written, and the desk where it is priced."""

    text: str
    desk: JobDesk
    plan: PlannedRelease


@final
@dataclass(frozen=True)
class Findings:
    """What came of the choices; what is refused, and all behind it, is not there."""

    refusals: Mapping[str, str]
    file: ChosenFile | None = None
    look: Inspection | None = None
    drafted: Drafted | None = None
    prices: tuple[tuple[str, Price], ...] = ()
    suggestion: Suggestion | None = None
    untried: str = ""
    """Why no limits could be tried."""


def _attempt(refusals: dict[str, str], place: str, act: Callable[[], _T]) -> _T | None:
    try:
        return act()
    except SordinoError as error:
        refusals[place] = str(error)
        return None


def follow_choices(folder: Path, choices: Choices) -> Findings:
    """Look at the file, draft the job, price it and try limits, as far as it goes."""
    refusals: dict[str, str] = {}
    attempt = partial(_attempt, refusals)
    file = None
    if choices.file:
        file = attempt("file", lambda: ChosenFile.open(folder, choices))
    if file is None:
        return Findings(refusals)
    drafted = None
    if choices.id != UNDECIDED:
        drafted = attempt("question", lambda: _draft(file, choices))
    limits = drafted.plan.limits if drafted is not None else ()
    look = attempt("look", lambda: _look(file, choices, limits))
    if drafted is None or look is None:
        return Findings(refusals, file, look)
    prices = attempt("price", lambda: tuple(_prices(drafted))) or ()
    findings = Findings(refusals, file, look, drafted, prices)
    if not prices or choices.id == ROWS:
        return findings
    try:
        return replace(findings, suggestion=_suggest(file, choices, drafted))
    except SordinoError as error:  # the job needs none of this
        return replace(findings, untried=str(error))


def _draft(file: ChosenFile, choices: Choices) -> Drafted:
    """Draft the job; the limits of a question that was written are by its one group."""
    text = file.job_text(choices, "" if choices.own else choices.group)
    job = file.job(text)
    desk = open_to_draft(job)
    try:
        by = _requests(desk, job.release(_RELEASE))[0].by
    except SordinoError:
        desk.session.close()
        raise
    if choices.own and len(by) == 1:
        text = file.job_text(choices, by[0])
        desk = JobDesk(file.job(text), desk.session)
    return Drafted(text, desk, desk.job.release(_RELEASE))


def _requests(desk: JobDesk, plan: PlannedRelease) -> list[Request]:
    """Read the questions without limits: those may be of another question yet."""
    free = replace(plan, limits=(), coverage=False)
    wording = read_wording(desk.session, free, desk.job).requests
    return [wording] if isinstance(wording, Request) else [*wording.values()]


def _look(
    file: ChosenFile, choices: Choices, limits: tuple[AbstractConstraint, ...]
) -> Inspection:
    """Look at the file as its curator does; it is looked at anew when it changes."""
    state = (file.folder / file.name).stat()
    marks = choices.id if choices.id in file.usable else UNDECIDED
    chosen = Choices(file=file.name, types=choices.types, id=marks)
    # a group that the question computes is no column of the file
    own = tuple(each for each in limits if file.usable.keys() >= {*each.values})
    return _inspection(file.folder, chosen, own, (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=32)
def _inspection(
    folder: Path,
    choices: Choices,
    limits: tuple[AbstractConstraint, ...],
    state: tuple[int, int],
) -> Inspection:
    del state
    file = ChosenFile.open(folder, choices)
    needed = frozenset(name for each in limits for name in each.values)
    if choices.id == UNDECIDED:
        return inspect(file.source(needed))
    return inspect(
        file.source(needed | {choices.id}), AddRowsWithID(choices.id), limits=limits
    )


def _prices(drafted: Drafted) -> Iterator[tuple[str, Price]]:
    price = drafted.desk.price(drafted.plan)
    if isinstance(price, Batch):
        yield from price.prices.items()
    else:
        yield "", price


def _suggest(file: ChosenFile, choices: Choices, drafted: Drafted) -> Suggestion:
    """Try limits on invented rows, or on those of the sample that is named."""
    requests, session = _requests(drafted.desk, drafted.plan), drafted.desk.session
    budget = drafted.plan.budget
    if len(requests) > 1 or budget is None:
        raise InvalidJob(
            "limits", "can be tried of one grouping at once", "Choose them yourself."
        )
    sample: Any = _sample(file, choices)
    if sample is None:
        keys = {choices.group: _cells(drafted.plan, choices.group)}
        values = keys if choices.keys and choices.group and not choices.own else {}
        with (trial := rehearsal(session, values=values)).session:
            sample = trial.tables
    tried_all = session.suggest(requests[0], budget, sample)
    # bounds are chosen with the question: limits alone are laid beside one another
    same = tuple(
        each for each in tried_all.tried if each.request.columns == requests[0].columns
    )
    return replace(tried_all, tried=same or tried_all.tried)


def _cells(plan: PlannedRelease, group: str) -> Any:
    return plan.keys.get(group, [])


def _sample(file: ChosenFile, choices: Choices) -> Any:
    if not choices.sample:
        return None
    other = ChosenFile.open(file.folder, Choices(file=choices.sample))
    path = str(other.folder / other.name)
    if other.proposal is None:
        return path
    return other.proposal.source(path)


def first_page(folder: Path) -> str:
    """Page on which nothing is chosen yet."""
    return _page(folder, Choices(), {})


def _page(
    folder: Path,
    choices: Choices,
    refusals: Mapping[str, str],
    findings: Findings | None = None,
) -> str:
    language = read_language("en")
    findings = findings or Findings(refusals)
    content = fill_template(
        "form/page.html",
        choices=choices,
        files=list_files(folder),
        folder=short_text(folder.name or str(folder)),
        refusals=refusals,
        warning=PRIVATE.replace("\n", " ").removeprefix("PRIVATE: "),
        types=TYPES,
        answers=ANSWERS,
        schedules=WHEN,
        name=language.bare_name,
        share=part,
        **_of_file(findings),
        **_of_limits(findings),
        **_of_price(findings, choices),
    )
    return form_document(language, "From a file to a job", form_sheet(), content)


def form_sheet() -> str:
    """Style sheet of forms, which no published page needs."""
    return (files("sordino.office.form") / "form.css").read_text("utf-8")


def _of_file(findings: Findings) -> dict[str, Any]:
    file, look = findings.file, findings.look
    columns = [] if file is None else list(file.columns.items())
    read = {} if look is None else {each.name: each for each in look.columns}
    seen = () if look is None else (*look.columns, *look.undeclared)
    shapes = {each.name: each.shapes for each in seen}
    return {
        "file": file,
        "look": look,
        "columns": [
            (name, kind, read.get(name), shapes.get(name, ()))
            for name, kind in columns[:_MOST_COLUMNS]
        ],
        "more": max(0, len(columns) - _MOST_COLUMNS),
        "used": [] if file is None else list(file.usable),
        "numeric": [name for name, kind in columns if kind in {"i64", "f64"}],
        "proposal": None if file is None or file.proposal is None else file.proposal,
        "made": "" if findings.drafted is None else findings.drafted.plan.sql or "",
    }


def _of_limits(findings: Findings) -> dict[str, Any]:
    suggestion, look = findings.suggestion, findings.look
    limits = () if findings.drafted is None else findings.drafted.plan.limits
    words = {repr(limit): _limit_words(limit) for limit in limits}
    cuts = []
    if look is not None and look.ids is not None:
        owned, ids = look.rows - look.ids.without, look.ids.ids
        cuts = [
            (words[cut.limit], part(cut.rows, owned), part(cut.ids, ids))
            for cut in look.limits
        ]
    tried = () if suggestion is None else suggestion.tried
    best = -1 if suggestion is None else suggestion.best
    return {
        "has_limits": bool(limits),
        "by_group": len(limits) > 1,
        "untried": findings.untried,
        "cuts": cuts,
        "source": "" if suggestion is None else suggestion.source,
        "tried": [_tried_row(each, place == best) for place, each in enumerate(tried)],
        "noisy": [] if not tried else list(tried[0].noise),
    }


def _limit_words(limit: AbstractConstraint) -> str:
    """Say what a limit of a drafted job leaves of a person."""
    match limit:
        case MaxGroupsPerID(columns=columns, limit=most):
            return f"{most:,} different {', '.join(columns)}"
        case MaxRowsPerGroupPerID(columns=columns, limit=most):
            return f"{most:,} rows with the same {', '.join(columns)}"
        case MaxRowsPerID(limit=most):
            return f"{most:,} rows"
        case _:
            return repr(limit)


def _tried_row(tried: Tried, is_best: bool) -> dict[str, Any]:  # noqa: FBT001 a fact
    choice = tried.choice
    lost = next((share for share, _ in tried.lost.values()), 0.0)
    return {
        "groups": choice.groups,
        "rows": choice.rows,
        "noise": [
            f"\u00b1 {format_spread(size)} {unit}".rstrip()
            for size, unit in (
                noise_in_words(sd, tried.units[name])
                for name, sd in tried.noise.items()
            )
        ],
        "lost": f"{lost:.1%}",
        "bar": share_bar(lost, f"{lost:.1%} of the rows are cut off"),
        "error": f"{exp(tried.error_score / len(tried.errors)):.0%}"
        if tried.errors
        else "",
        "is_best": is_best,
        "use": f"{choice.groups or 1} {choice.rows}",
    }


def _of_price(findings: Findings, choices: Choices) -> dict[str, Any]:
    if not findings.prices or findings.drafted is None:
        return {"priced": False}
    language, (text, desk, plan) = read_language("en"), findings.drafted
    budget: Any = plan.budget
    single, whole = Odds(budget), Odds(desk.session.budget)
    return {
        "priced": True,
        "rows": [
            (
                f"{title}.{column}" if title else column,
                f"\u00b1 {format_spread(error.half_width)} {error.unit}".rstrip(),
                error.text(SIZES),
            )
            for title, price in findings.prices
            for column, error in price.errors.items()
        ],
        "levels": [
            f"{float(level):.4g}"
            for _, price in findings.prices
            for level in price.thresholds
        ],
        "cost": headline(budget),
        "limit": headline(desk.session.budget),
        "picture": people_picture(language, whole),
        "alarms": FALSE_ALARMS,
        "one": hundred_text(language, single.finds(FALSE_ALARMS)),
        "whole": hundred_text(language, whole.finds(FALSE_ALARMS)),
        "others": [
            (
                epsilon,
                hundred_text(language, _odds(epsilon, choices).finds(FALSE_ALARMS)),
            )
            for epsilon in _BUDGETS
        ],
        "promise": language.html(
            "promise.little" if whole.promises else "promise.much"
        ),
        "general": language.html("promise.general"),
        "text": text,
    }


def _odds(epsilon: str, choices: Choices) -> Odds:
    return Odds(ApproxDP(epsilon, choices.delta or "0"))
