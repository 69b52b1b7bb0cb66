"""What a release would leave of the budget."""

from dataclasses import dataclass
from typing import final

from sordino.losses.base import Loss
from sordino.planning.price import Price


@final
@dataclass(frozen=True, eq=False, repr=False)
class Outlook:
    """The price of a release that was not made, and what would be left after it."""

    price: Price
    remaining: Loss
    """With blocks, what would be left in every one that it reads."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """Return the blocks that it reads, where there are blocks."""
        return self.price.blocks

    def explain(self) -> str:
        """Return the price, what it means to an attacker, and what would be left."""
        return "\n".join([
            repr(self.price),
            self.price.loss.explain(),
            f"After it {self.remaining!r} would be left{self._where}.",
        ])

    def __repr__(self) -> str:
        """Show the price and what would be left."""
        return f"{self.price!r}\nleft after it{self._where}: {self.remaining!r}"

    @property
    def _where(self) -> str:
        """Return in what it would be left, where there are blocks."""
        return " in every block that it reads" if self.blocks else ""
