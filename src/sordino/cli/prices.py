"""Prices as lines and as JSON: the loss, each column's noise, the odds."""

from collections.abc import Iterator
from typing import Any, Final

from sordino.cli.terminal import text_table, write
from sordino.display.formatting import format_spread
from sordino.losses.base import Loss
from sordino.losses.headline import headline
from sordino.planning.batch import Batch
from sordino.planning.price import Price
from sordino.sensitivity import Sensitivity

ALARMS: Final = ("0.01", "0.05", "0.1")
"""Shares of false alarms at which odds are told."""
_USUAL: Final = 0.05


def print_price(name: str, price: Price | Batch, left: Loss) -> None:
    """Print what a release costs, and the noise of each column."""
    write(f"{name}: {headline(price.loss, price.budget)} of {headline(left)} left")
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


def price_facts(price: Price | Batch) -> dict[str, Any]:
    """Return a price for JSON."""
    columns = {
        title + column: {
            "noise": [repr(mechanism) for mechanism in single.noise[column]],
            "sd": error.sd,
            "within": error.half_width,
            "unit": error.unit,
            "confidence": str(single.request.confidence),
        }
        for title, single in _singles(price)
        for column, error in single.errors.items()
    }
    return {
        "loss": headline(price.loss, price.budget),
        "columns": columns,
        "odds": odds(price.loss),
    }


def odds(loss: Loss) -> dict[str, float]:
    """Return the greatest share of true alarms for some shares of false ones."""
    return {alarm: float(loss.tpr_at(alarm)) for alarm in ALARMS}


def odds_sentence(loss: Loss) -> str:
    """Return what a loss means to an attacker, in a sentence.

    >>> from sordino.losses.base import PureDP
    >>> odds_sentence(PureDP(1))
    'Of 100 people in the data an attacker finds at most 14, accusing 5 of 100 others.'
    """
    true = float(loss.tpr_at(_USUAL))
    return (
        f"Of 100 people in the data an attacker finds at most {_percent(true)}, "
        f"accusing {_percent(_USUAL)} of 100 others."
    )


def _percent(share: float) -> str:
    """Return a share of a hundred, never rounded down.

    >>> _percent(0.1359), _percent(0.05), _percent(1.0)
    ('14', '5', '100')
    """
    return f"{-int(-100 * share // 1) if share < 1 else 100:.0f}"


def _singles(price: Price | Batch) -> Iterator[tuple[str, Price]]:
    """Yield each price, and what stands before the names of its columns."""
    if isinstance(price, Price):
        yield "", price
        return
    for name, single in price.prices.items():
        yield f"{name}.", single


def _title_of_errors(price: Price) -> str:
    """Return the title of the errors."""
    return f"{float(100 * price.request.confidence):g} % within"


def _change(sensitivity: Any) -> str:
    """Return how far one unit moves a column: all of its cells together."""
    listed = sensitivity if isinstance(sensitivity, tuple) else (sensitivity,)
    return ", ".join(
        f"{float(each.l1):g}" for each in listed if isinstance(each, Sensitivity)
    )
