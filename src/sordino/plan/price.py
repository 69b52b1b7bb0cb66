"""Price and Batch, as the user sees them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

from sordino.aggregations.aggregation import Expected
from sordino.losses.budgets.blocks import touched_text
from sordino.losses.budgets.charge import Family
from sordino.losses.budgets.limits import Headroom
from sordino.losses.loss import Budget, Loss, headline
from sordino.noise.additive import AbstractMechanism
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import arguments
from sordino.numbers.frozen import hides
from sordino.numbers.views import office
from sordino.plan.bundle import Bundle
from sordino.plan.purchase import Purchase, best_purchase, rank_lines
from sordino.query.request import MOST_ROWS, Request
from sordino.query.steps import AbstractCatalog

SIZES: Final = (100, 10_000)
"""Rows of groups for which the error of a mean is told, unless others are asked."""


@hides("with_sizes")
@final
@dataclass(frozen=True, eq=False, repr=False)
class Price:
    """What a request costs under a budget, and what noise it buys."""

    _purchase: Purchase
    blocks: tuple[str, ...] = ()
    """The blocks that it reads, where there are blocks: each is charged the loss."""
    _certificate: Callable[[], str] = str
    headroom: Headroom | None = None
    """How many more of it the session answers; None with blocks, and in a batch."""
    _sizes: tuple[int, ...] = SIZES

    @cached_property
    def proof(self) -> str:
        """The certificate of the price, which `python -m sordino.kernel` checks alone.

        Canonical JSON with exact numbers as texts (docs/proofs/certificates.md); no
        data is in it.
        """
        return self._certificate()

    @property
    def request(self) -> Request:
        """Return the request."""
        return self._purchase.plan.request

    @property
    def budget(self) -> Budget:
        """Budget of the request."""
        return self._purchase.budget

    @property
    def family(self) -> Family:
        """Return the family of the noise."""
        return self._purchase.plan.family

    @property
    def loss(self) -> Loss:
        """Return the loss of the whole release, with its tight curve."""
        return self._purchase.loss

    @cached_property
    def noise(self) -> dict[str, tuple[AbstractMechanism, ...]]:
        """Return the mechanisms behind each column, in order."""
        return {
            name: mechanisms
            for (name, _), mechanisms in zip(
                self.request.columns, self._purchase.mechanisms, strict=True
            )
        }

    @cached_property
    def sensitivity(self) -> dict[str, Sensitivity | Any]:
        """Return how far one unit can move the exact numbers behind each column.

        A `Sensitivity`; for a column made of several numbers, a tuple of them in order.
        """
        changes: dict[str, Sensitivity | Any] = {}
        columns = zip(self.request.columns, self._purchase.plan.estimators, strict=True)
        for (name, _), estimator in columns:
            behind = tuple(measurement.change for measurement in estimator.measurements)
            changes[name] = behind[0] if len(behind) == 1 else behind
        return changes

    @property
    def errors(self) -> dict[str, Expected]:
        """Return how far each column will be off, as far as that is known."""
        return self._purchase.errors

    @cached_property
    def coverage(self) -> dict[str, Expected]:
        """Return how far each count of what is left out will be off, if asked for."""
        errors: dict[str, Expected] = {}
        for key, counted in self._purchase.plan.coverage.items():
            name = str(counted)
            while name in errors:  # a limit on each side of a join
                name += ", again"
            noise = counted.measurement.noise(self._purchase.coverage[key])
            reach = noise.reach(self.request.confidence)
            errors[name] = Expected(noise.sd, reach)
        return errors

    @property
    def gain(self) -> float:
        """Return how many times its share it has of a budget that several share.

        1 where it was priced alone: what planning together saves is given back so.
        """
        return self._purchase.gain

    @property
    def thresholds(self) -> tuple[Fraction, ...]:
        """Threshold that a group of unknown keys must reach to be shown."""
        shown = self._purchase.least_shown
        return () if shown is None else shown[:1]

    @cached_property
    def plan(self) -> str:
        """Return the plan as a readable tree, the last step first."""
        return self._purchase.plan_text

    def __repr__(self) -> str:
        """Show the price, the expected errors and the threshold."""
        lines = [f"price: {headline(self.loss, self.budget)}"]
        lines += [
            f"{name}: {error.text(self._sizes)}" for name, error in self.errors.items()
        ]
        return "\n".join([*lines, *self._remarks()])

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        """Show the same in a notebook, and the plan as a diagram."""
        shown: str = office.price_page(self._purchase, self._remarks(), self._sizes)
        return shown

    def with_sizes(self, sizes: Any) -> "Price":
        """The same price, which tells the errors of means for groups of these sizes."""
        listed = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        read = tuple(
            arguments.integer(sizes=size, least=1, most=MOST_ROWS) for size in listed
        )
        return replace(self, _sizes=read)

    def _remarks(self) -> list[str]:
        """Further public facts of a price: coverage, threshold, weight, gain."""
        lines = list(rank_lines(self._purchase))
        if self.headroom is not None and not self.headroom.more:
            lines.append(str(self.headroom))
        if self.blocks:
            lines.append(touched_text(self.blocks, headline(self.loss, self.budget)))
        lines += [f"coverage, {name}: {error}" for name, error in self.coverage.items()]
        if self._purchase.least_shown is not None:
            level, unit = self._purchase.least_shown
            lines.append(f"a group shows from about {float(level):.4g} {unit} on")
        if self._purchase.survey:
            lines.append(self._purchase.survey)
        if self._purchase.share:
            lines.append(f"weight: {self._purchase.share}")
        if self.gain > 1:
            lines.append(
                f"planned together: {self.gain:.3g} times its share of epsilon"
            )
        return lines


def price_request(request: Request, catalog: AbstractCatalog, budget: Budget) -> Price:
    """Return the price of a request within a budget: the least noise it buys."""
    return Price(best_purchase(request, catalog, budget))


@final
@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The prices of requests that are planned together, by name."""

    _bundle: Bundle
    blocks: tuple[str, ...] = ()
    """The blocks that they read, where there are blocks: each is charged the loss."""
    _certificate: Callable[[], str] = str

    @cached_property
    def proof(self) -> str:
        """The certificate of the price of all of them, as of a `Price`."""
        return self._certificate()

    @cached_property
    def prices(self) -> dict[str, Price]:
        """Return the price of each request, by its name."""
        return {
            name: Price(purchase) for name, purchase in self._bundle.purchases.items()
        }

    @property
    def budget(self) -> Budget:
        """Budget of all requests together."""
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
        pages = {name: each._repr_html_() for name, each in self.prices.items()}
        shown: str = office.prices_page(pages, self._savings)
        return shown

    @property
    def _savings(self) -> str:
        listed = [
            self._bundle.purchases[first].survey for first in self._bundle.surveys
        ]
        if self.gain > 1 or not listed:
            listed.append(f"each has {self.gain:.3g} times its share of epsilon")
        saved = f"together: {'; '.join(listed)}"
        if not self.blocks:
            return saved
        price = headline(self.loss, self.budget)
        return f"{saved}; {touched_text(self.blocks, price)}"


def _indent(price: Price) -> str:
    return "\n".join(f"  {line}" for line in repr(price).splitlines())
