"""Budgets of a job file: `{ epsilon = "1/2", delta = "1e-6" }`, `{ mu = 0.2 }`, ...

>>> read_budget(Section("", {"budget": {"rho": "0.1"}}), "budget")
ZCDP(rho=0.1)
"""

from collections.abc import Callable
from typing import Any, Final

from sordino.budgets.limits import Limit
from sordino.budgets.risk import Advantage, ErrorRates
from sordino.budgets.table_blocks import Blocks
from sordino.errors import InvalidJob
from sordino.losses.base import Budget, PureDP
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.settings.section import Section, file_value

FORMS: Final[dict[tuple[str, ...], Callable[..., Budget]]] = {
    ("epsilon",): PureDP,
    ("epsilon", "delta"): ApproxDP,
    ("rho",): ZCDP,
    ("rho", "delta"): ApproxZCDP,
    ("mu",): GaussianDP,
    ("advantage",): Advantage,
    ("fpr", "tpr"): lambda fpr, tpr: ErrorRates(fpr=fpr, tpr=tpr),
}
"""Names of a budget's numbers in order, and what they make."""
_REMEDY: Final = (
    'Write { epsilon = "1", delta = "1e-6" }, { rho = "0.1" } or { mu = "0.2" }.'
)


def read_budget(section: Section, name: str) -> Budget:
    """Return the budget that a table states under a name."""
    section.value(name)
    inner = section.section(name)
    inner.refuse_others(*dict.fromkeys(word for form in FORMS for word in form))
    numbers = {word: file_value(inner.value(word)) for word in inner}
    with section.place_refusals(name):
        budget = budget_of(numbers)
    if budget is None:
        raise InvalidJob(inner.place, "is no budget", _REMEDY)
    return budget


def budget_of(numbers: dict[str, Any]) -> Budget | None:
    """Return the budget of some numbers by name, None if they make none."""
    for names, kind in FORMS.items():
        if set(names) == set(numbers):
            return kind(*(numbers[name] for name in names))
    return None


def read_limit(ledger: Section) -> Limit:
    """Return the limit of a ledger, and how it is counted."""
    budget = read_budget(ledger, "limit")
    with ledger.place_refusals("limit"):
        return Limit.of(
            budget,
            ledger.values.get("counting", "asked"),
            ledger.values.get("reserve", 0),
        )


def read_division(ledger: Section) -> Blocks | None:
    """Return the blocks that the limit is of each of, None for one of all."""
    if "blocks" not in ledger:
        return None
    section = ledger.section("blocks")
    section.refuse_others("start", "every", "names")
    with ledger.place_refusals("blocks"):
        if "names" in section:
            return Blocks(**{name: section.value(name) for name in section})
        return Blocks(section.text("start"), section.value("every"))
