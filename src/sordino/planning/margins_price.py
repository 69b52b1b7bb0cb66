"""What all margins of some columns would cost and how far they would be off."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from sordino.aggregations.base import Expected
from sordino.budgets.touched import touched_text
from sordino.display.elements import html_details, html_line, html_page, html_table
from sordino.losses.base import Budget
from sordino.losses.closed import GaussianDP
from sordino.losses.headline import headline
from sordino.planning.margins_purchase import MarginsPurchase
from sordino.query.marginals import Marginals
from sordino.sensitivity import Sensitivity
from sordino.tables.crossing import Name

_SHOWN: Final = 12
"""More tables than these are summed up by how many columns they have."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class MarginsPrice:
    """What margins cost under a budget, and how far each table will be off."""

    _purchase: MarginsPurchase
    blocks: tuple[str, ...] = ()
    """The blocks that it reads, where there are blocks: each is charged the loss."""

    @property
    def request(self) -> Marginals:
        """Return what was asked."""
        return self._purchase.request

    @property
    def budget(self) -> Budget:
        """Return what may be spent."""
        return self._purchase.budget

    @property
    def loss(self) -> GaussianDP:
        """Return the loss of all tables together, exactly."""
        return self._purchase.loss

    @property
    def sensitivity(self) -> Sensitivity:
        """Return how far one unit moves the counts of all combinations of keys."""
        return self._purchase.change

    @property
    def errors(self) -> dict[Name, Expected]:
        """Return how far the cells of each table will be off, at most."""
        return self._purchase.errors

    @property
    def plan(self) -> str:
        """Return the plan as a readable tree, the last step first."""
        return self._purchase.plan

    def __repr__(self) -> str:
        """Show the price and the expected errors."""
        lines = (f"{name}: {error}" for name, error in self._lines())
        return "\n".join([*self._price_lines(), *lines])

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show the same in a notebook."""
        return html_page(
            *map(html_line, self._price_lines()),
            html_table(("table", "how far it is off"), self._lines()),
            html_details("how it is made", html_line(self.plan)),
        )

    def _price_lines(self) -> Iterator[str]:
        """Yield what it costs, and which blocks."""
        price = headline(self.loss, self.budget)
        yield f"price: {price}"
        if self.blocks:
            yield touched_text(self.blocks, price)

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield the error of each table, or of each number of columns at most."""
        if len(self.errors) <= _SHOWN:
            for name, error in self.errors.items():
                yield ", ".join(name) or "all", str(error)
            return
        for order in range(self.request.crossing.order + 1):
            several = [
                error for name, error in self.errors.items() if len(name) == order
            ]
            worst = max(several, key=lambda error: error.sd)
            noun = "table" if len(several) == 1 else "tables"
            yield f"{len(several):,} {noun} of {order}", str(worst)
