"""A risk as a page for notebooks: sentences, and the most that any attack achieves."""

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sordino.display.curves import unit_curve
from sordino.display.elements import html_line, html_page
from sordino.losses.explain import OUT_OF, finds

_STEPS: Final = 200
_AXES: Final = ("false alarms", "people found")


def risk_page(name: str, tpr_at: Callable[[Fraction], float]) -> str:
    """Return the name of a risk, what it means to an attacker, and its bound."""
    label = "how often any attack finds a person at most, by the false alarms allowed"
    rates = [Fraction(step, _STEPS) for step in range(_STEPS + 1)]
    points = [(float(rate), tpr_at(rate)) for rate in rates]
    return html_page(
        html_line(name),
        *(html_line(finds(lambda rate: tpr_at(Fraction(rate)), n)) for n in OUT_OF),
        html_line("All releases within it together promise this of each person."),
        unit_curve(points, _AXES, label),
    )
