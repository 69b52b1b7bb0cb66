"""The prices of requests that are planned together, as the user sees them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

from sordino.budgets.touched import touched_text
from sordino.display.elements import html_line, html_page, html_title
from sordino.losses.base import Budget, Loss
from sordino.losses.headline import headline
from sordino.planning.bundle import Bundle
from sordino.planning.price import Price


@final
@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The prices of requests that are planned together, by name."""

    _bundle: Bundle
    blocks: tuple[str, ...] = ()
    """The blocks that they read, where there are blocks: each is charged the loss."""

    @cached_property
    def prices(self) -> dict[str, Price]:
        """Return the price of each request, by its name."""
        return {
            name: Price(purchase) for name, purchase in self._bundle.purchases.items()
        }

    @property
    def budget(self) -> Budget:
        """Return what may be spent on all of them together."""
        return self._bundle.budget

    @property
    def shares(self) -> dict[str, Fraction]:
        """Return which part of the budget each request has; they add up to 1."""
        return dict(self._bundle.weights.shares)

    @property
    def gain(self) -> float:
        """Return how many times its share of epsilon each request gets."""
        return self._bundle.gain

    @property
    def loss(self) -> Loss:
        """Return the loss of all of them, composed as curves."""
        return self._bundle.loss

    def __repr__(self) -> str:
        """Show each price, and what planning together saves."""
        shown = [f"{name}:\n{_indent(price)}" for name, price in self.prices.items()]
        return "\n".join([*shown, self._savings])

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show the same in a notebook."""
        pages = (
            html_title(name) + each._repr_html_() for name, each in self.prices.items()
        )
        return html_page(*pages, html_line(self._savings))

    @property
    def _savings(self) -> str:
        """Return what planning together saves, and which blocks are charged for it."""
        saved = f"together: each has {self.gain:.3g} times its share of epsilon"
        if not self.blocks:
            return saved
        price = headline(self.loss, self.budget)
        return f"{saved}; {touched_text(self.blocks, price)}"


def _indent(price: Price) -> str:
    """Return a price a little to the right."""
    return "\n".join(f"  {line}" for line in repr(price).splitlines())
