"""What stands after `%%dp`: a session, a budget, and what is said beside the text."""

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn, final

from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, PureDP
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.schema import unknown

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
        """Refuse words that cannot be read."""
        raise InvalidParameter("%%dp", message, "cannot be read", _HELP)


def read_arguments(line: str) -> Said:
    """Return what stands after `%%dp`.

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
    """Return what a variable of the notebook holds."""
    if name not in known:
        offered = [name for name in known if not name.startswith("_")]
        raise unknown("variable", name, offered)
    return known[name]


def _parser() -> _Parser:
    """Return what reads the words."""
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
    """Return the budget that is stated, if one is."""
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
