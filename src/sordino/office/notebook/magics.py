"""SQL in a cell."""

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, final

from sordino.errors import InvalidParameter
from sordino.expressions.schema import unknown
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.loss import Budget, PureDP
from sordino.query.request import Request
from sordino.session.session import Session
from sordino.session.sql import (
    NOTHING,
    RemedyWords,
    SqlGiven,
    python_limit,
    sql_request,
    stacked_release,
    word_needs,
)

_AMOUNTS: Final = ("epsilon", "rho", "mu")
_HELP: Final = "Try %%dp session --epsilon 0.5 --delta 5e-7."
NO_BUDGET: Final = "--epsilon"


@final
@dataclass(frozen=True)
class Said:
    """The names after `%%dp`, read but not yet looked up."""

    session: str
    budget: Budget | None
    price: bool
    into: str | None
    key: str | None
    why: str
    dialect: str
    beside: Mapping[str, str]
    """Variables that hold limits, bounds and keys, by what they are for."""


@final
class _Parser(argparse.ArgumentParser):
    """A parser that refuses as everything here refuses."""

    def error(self, message: str) -> NoReturn:
        raise InvalidParameter("%%dp", message, "cannot be read", _HELP)


def read_arguments(line: str) -> Said:
    """Arguments after `%%dp`.

    >>> read_arguments("clinic --epsilon 0.5 --delta 5e-7 --price").budget
    ApproxDP(epsilon=0.5, delta=5e-07)
    """
    try:
        words = shlex.split(line)
    except ValueError:
        words = None
    if words is None:
        raise InvalidParameter("%%dp", line, "has a quote that is not closed", _HELP)
    options = _parser().parse_args(words)
    beside = {
        name: variable
        for name in ("limits", "bounds", "keys")
        if (variable := getattr(options, name)) is not None
    }
    return Said(
        options.session,
        _budget(options),
        options.price,
        options.into,
        options.key,
        options.why,
        options.dialect,
        beside,
    )


def variable(name: str, known: Mapping[str, Any]) -> Any:
    """Value of a variable of the notebook."""
    if name not in known:
        offered = [name for name in known if not name.startswith("_")]
        raise unknown("variable", name, offered)
    return known[name]


def _parser() -> _Parser:
    parser = _Parser(prog="%%dp", add_help=False, allow_abbrev=False)
    parser.add_argument("session", nargs="?", default="session")
    for amount in (*_AMOUNTS, "delta"):
        parser.add_argument(f"--{amount}")
    parser.add_argument("--price", action="store_true")
    for name in ("into", "key", "limits", "bounds", "keys"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--why", default="")
    parser.add_argument("--dialect", default="duckdb")
    return parser


def _budget(options: argparse.Namespace) -> Budget | None:
    amounts = {name: getattr(options, name) for name in _AMOUNTS}
    stated = {name: text for name, text in amounts.items() if text is not None}
    if len(stated) > 1:
        raise InvalidParameter(
            "%%dp", " and ".join(stated), "are two budgets", "State one of them."
        )
    match stated, options.delta:
        case {"epsilon": epsilon}, None:
            return PureDP(epsilon)
        case {"epsilon": epsilon}, delta:
            return ApproxDP(epsilon, delta)
        case {"rho": rho}, None:
            return ZCDP(rho)
        case {"rho": rho}, delta:
            return ApproxZCDP(rho, delta)
        case {"mu": mu}, None:
            return GaussianDP(mu)
        case _, None:
            return None
        case _:
            raise InvalidParameter(
                "--delta", options.delta, "stands alone", "Add --epsilon 0.5, or --rho."
            )


_NAME: Final = "dp"
_IN_A_CELL: Final = RemedyWords(
    python_limit,
    ", ",
    "Set limits = [{}] in a cell above, and add --limits limits.",
    'Add --delta 1e-6, or set keys = {"ward": ["A", "B"]} and add --keys keys.',
)
_NOTHING_SAID: Final[dict[str, Any]] = {
    "limits": (),
    "bounds": NOTHING,
    "keys": NOTHING,
}


@final
class DPMagic:
    """What the cells that begin with `%%dp` do.

    `%%dp session --epsilon 0.5 --delta 5e-7` releases what the text below it asks. With
    `--price` it says what that would cost, and without a budget it is the request
    alone. `--limits`, `--bounds` and `--keys` name variables, `--into` the variable
    that keeps the result; `--rho` and `--mu` are other budgets; `--key`, `--why` and
    `--dialect` are those of `session.release` and `session.sql`.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> Any:
        options = read_arguments(line)
        result = self._answer(options, cell)
        if options.into is not None:
            self._shell.push({options.into: result})
        return result

    def _answer(self, options: Said, text: str) -> Any:
        known = self._shell.user_ns
        session = variable(options.session, known)
        if not isinstance(session, Session):
            raise InvalidParameter(
                options.session,
                type(session).__name__,
                "must be a session",
                "Name a variable that holds one: %%dp clinic.",
            )
        beside = {
            name: variable(value, known) for name, value in options.beside.items()
        }
        arguments = SqlGiven(**{**_NOTHING_SAID, **beside}, dialect=options.dialect)
        catalog = session._desk.catalog  # noqa: SLF001 priced before it is released
        question = sql_request(catalog, text, options.budget, arguments)
        request, budget = question.request, question.budget
        if budget is None:
            return request
        details: dict[str, Any] = {"key": options.key, "why": options.why}
        with word_needs(_IN_A_CELL):
            if isinstance(request, Request):
                if options.price:
                    return session.price(request, budget)
                return session.release(request, budget, **details)
            if options.price:
                return session.price_all(request, budget)
            releases = session.release_all(request, budget, **details)
        return stacked_release(question, releases)


def load_ipython_extension(ipython: Any) -> None:
    """Make `%%dp` known to a notebook: `%load_ext sordino` calls this."""
    ipython.register_magic_function(DPMagic(ipython), "cell", _NAME)
