"""A release in plain sentences."""

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from sordino.losses.base import Loss
from sordino.numbers import Exact, up
from sordino.release.columns import error_names
from sordino.release.formatting import key, percent

if TYPE_CHECKING:
    from sordino.release.release import Release

_DIGITS = 4
_NOTED_DELTA = 1e-6


def price(loss: Loss) -> str:
    """Return the headline numbers of a loss, rounded up.

    >>> from sordino.losses.closed import ApproxDP, GaussianDP
    >>> price(ApproxDP("1/3", "5e-7")), price(GaussianDP("0.25"))
    ('epsilon = 0.3334, delta = 5e-07', 'mu = 0.25')
    """
    known = loss.guarantees
    reserve = f", delta = {_upwards(known.delta)}" if known.delta else ""
    named = {"epsilon": known.epsilon, "mu": known.mu, "rho": known.rho}
    for name, value in named.items():
        if value != math.inf:
            return f"{name} = {_upwards(value)}{reserve}"
    epsilon = float(loss.epsilon_at(_NOTED_DELTA))
    return f"epsilon = {_upwards(epsilon)} at delta = {_NOTED_DELTA:g}"


def explain(release: "Release") -> str:
    """Return what was released, at which price, how exact, and by which plan."""
    steps = (_released, _priced, _odds, _bars, _unknown, _notes, _plan)
    return "\n".join(text for step in steps if (text := step(release)))


def subject(release: "Release") -> str:
    """Return which rows there are."""
    if not release.keys:
        return "one row"
    by = _listed(release.keys)
    count = len(release)
    return f"{count:,} group{'' if count == 1 else 's'} by {by}"


def _released(release: "Release") -> str:
    """Say what the columns and the rows are."""
    return f"Released: {_listed(release.names) or 'keys alone'}; {subject(release)}."


def _priced(release: "Release") -> str:
    """Say the price."""
    return f"Price: {price(release.loss)}."


def _odds(release: "Release") -> str:
    """Say what the price means."""
    return release.loss.explain()


def _bars(release: "Release") -> str:
    """Say what the error bars mean."""
    if not release.names:
        return ""
    share = percent(release.confidence)
    return (
        "Error bars: sd is the standard deviation of the noise. The exact answer lies "
        f"from low to high with a chance of at least {share}, for each number by "
        "itself. Exact means after clamping and truncation, whose effect no error bar "
        "shows."
    )


def _unknown(release: "Release") -> str:
    """Name the columns without any error bar."""
    silent = [
        name
        for name in release.names
        if all(
            release.errors[part].null_count == len(release)
            for part in error_names(name)
        )
    ]
    return f"No error bars are known for: {_listed(silent)}." if silent else ""


def _notes(release: "Release") -> str:
    """Return the notes, one on each line."""
    return "\n".join(f"Note: {note}" for note in release.notes)


def _plan(release: "Release") -> str:
    """Return the plan, indented."""
    return "\n".join(["Plan:", *(f"  {line}" for line in release.plan.splitlines())])


def _listed(names: Iterable[str]) -> str:
    """Return names of columns, each on one line."""
    return ", ".join(map(key, names))


def _upwards(value: "Exact | float") -> str:
    """Return four digits, rounded up."""
    if value == math.inf:
        return "inf"
    ratio = value if isinstance(value, Fraction) else Fraction(up(value))
    with localcontext() as context:
        context.prec, context.rounding = _DIGITS, ROUND_CEILING
        rounded = Decimal(ratio.numerator) / Decimal(ratio.denominator)
    return f"{float(rounded):.{_DIGITS}g}"
