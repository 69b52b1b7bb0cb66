"""A loss as a page for notebooks: sentences, and the curve of the best attack."""

from typing import Any, Final, Protocol

import numpy as np

from sordino.display.curves import unit_curve
from sordino.display.elements import html_line, html_page
from sordino.losses.explain import Explained, explain

_RATES: Final = np.concatenate([
    [0.0],
    np.logspace(-6, -2, 9),
    np.linspace(0.02, 1.0, 50),
])
_AXES: Final = ("false alarms", "people found")


class Pictured(Explained, Protocol):
    """What the page asks of a loss beside its sentences."""

    def tpr_at(self, alpha: Any) -> Any:
        """Return true positive rates at false positive rates."""


def loss_page(name: str, loss: Pictured) -> str:
    """Return the name of a loss, what it means to an attacker, and its curve."""
    label = "how often the best attack finds a person, by the false alarms allowed"
    points = zip(_RATES.tolist(), loss.tpr_at(_RATES).tolist(), strict=True)
    return html_page(
        html_line(name),
        *map(html_line, explain(loss).splitlines()),
        unit_curve(points, _AXES, label),
    )
