"""Prices as lines and as JSON: the loss, each column's noise, the odds."""

from collections.abc import Iterator
from typing import Any

from sordino.budgets.touched import touched_text
from sordino.cli.ledger_blocks import longest_exposure
from sordino.cli.odds_text import odds, odds_sentence
from sordino.cli.quantities import quantities
from sordino.cli.terminal import say, text_table, write
from sordino.display.formatting import format_spread
from sordino.ledger.block_rows import in_a_row, left_in, left_text
from sordino.losses.headline import headline
from sordino.planning.batch import Batch
from sordino.planning.price import Price
from sordino.sensitivity import Sensitivity
from sordino.session.session import Session


def print_price(name: str, price: Price | Batch, session: Session) -> None:
    """Print what a release costs, and the noise of each column."""
    cost, left = headline(price.loss, price.budget), headline(session.remaining)
    if price.blocks:
        say(f"{name}: {touched_text(price.blocks, cost)}")
        say(f"left: {left_text(left_in(session.ledger.blocks(), price.blocks))}")
        say(_person_text(session))
    else:
        write(f"{name}: {cost} of {left} left")
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


def _person_text(session: Session) -> str:
    """Return what a person over a year of blocks loses."""
    facts = longest_exposure(session.ledger)
    return (
        f"one person in {in_a_row(facts['blocks'])}: {facts['charged']} charged so "
        f"far, {facts['most']} at most, ever"
    )


def price_facts(price: Price | Batch, session: Session) -> dict[str, Any]:
    """Return a price for JSON."""
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
    left = left_in(session.ledger.blocks(), price.blocks)
    facts = {
        "loss": headline(price.loss, price.budget),
        "loss_numbers": quantities(price.loss),
        "columns": columns,
        "odds": odds(price.loss),
    }
    if left:
        facts |= {
            "left_in_blocks": left,
            "one_person": longest_exposure(session.ledger),
        }
    return facts


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
