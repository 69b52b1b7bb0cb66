"""What a release of a job asks: the request of its SQL, or of its Python function."""

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

from sordino.errors import InvalidJob, InvalidParameter, SordinoError
from sordino.job.job import Job
from sordino.job.planned_release import PlannedRelease, check_file_name
from sordino.keysets.keyset import KeySet
from sordino.losses.base import Budget
from sordino.query.request import Request
from sordino.release.release import Release
from sordino.session.session import Session
from sordino.session.sql_request import SqlGiven, sql_request, stacked_release

Requests = Request | dict[str, Request]


@final
@dataclass(frozen=True)
class AskedRelease:
    """What is asked, within what, and what becomes of several answers."""

    requests: Requests
    names: tuple[str, ...]
    """Of the answers in the end; of one alone it is empty."""
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


def read_wording(session: Session, plan: PlannedRelease, job: Job) -> Wording:
    """Return what a release asks of a session, and within what, if that is said."""
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


def read_question(session: Session, plan: PlannedRelease, job: Job) -> AskedRelease:
    """Return what a release asks of a session; no private row is read."""
    wording = read_wording(session, plan, job)
    if wording.budget is None:
        raise InvalidJob(
            plan.place,
            "has no budget",
            'Add budget = { epsilon = "1/2", delta = "1e-6" }.',
        )
    return AskedRelease(wording.requests, wording.names, wording.budget, wording.finish)


def _parse_sql(session: Session, plan: PlannedRelease) -> Wording:
    """Return what a text of SQL asks; its groupings lie below each other."""
    catalog = session._desk.catalog  # noqa: SLF001 priced before it is released
    keys = _keys(session, plan.keys)
    beside = SqlGiven(plan.limits, plan.bounds, keys, plan.dialect, plan.is_typed)
    question = sql_request(catalog, plan.sql, plan.budget, beside)
    return Wording(
        _suppress_groups(plan, question.request),
        question.budget,
        finish=lambda releases: {"": stacked_release(question, releases)},
    )


def _suppress_groups(plan: PlannedRelease, requests: Requests) -> Requests:
    """Return requests that leave out small groups, as far as they have groups."""
    if plan.suppress_below is None:
        return requests
    if isinstance(requests, Request):
        return requests.suppress_below(plan.suppress_below)
    return {
        name: request.suppress_below(plan.suppress_below) if request.by else request
        for name, request in requests.items()
    }


def _keys(session: Session, keys: Mapping[str, Any]) -> Any:
    """Return public keys: those that are listed, or those of a public table."""
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
    """Return what the function of a Python file asks, by the text that is recorded."""
    file, name = plan.function or ("", "")
    place = f"{plan.place}.query"
    module = types.ModuleType(Path(file).stem)
    module.__file__ = str(job.folder / file)
    try:
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
    """Return the refusal of a program that fails: it has seen nothing private."""
    file, name = plan.function or ("", "")
    return InvalidJob(
        place,
        f"fails: {type(error).__name__}: {error}",
        f"Run {name}() of {file} alone.",
    )
