"""Margins: price and purchase.

Kernel: sensitivity.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, final

from sordino.aggregations.aggregation import Expected, Setting
from sordino.aggregations.intervals import Noise
from sordino.aggregations.margins.crossing import Levels, Name
from sordino.aggregations.margins.measuring import (
    CellChange,
    Precisions,
    best_precisions,
)
from sordino.aggregations.measurement import Total
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.literals import literal
from sordino.losses.budgets.blocks import touched_text
from sordino.losses.closed import ApproxDP, GaussianDP
from sordino.losses.loss import Budget, headline
from sordino.noise.gaussian import Gaussian
from sordino.noise.sensitivity import Sensitivity
from sordino.numbers import rational_above, sqrt
from sordino.numbers.views import office
from sordino.plan.purchase import mu_within, node_lines
from sordino.query.groups import Marginals
from sordino.query.nodes import Question
from sordino.query.request import MOST_NUMBERS
from sordino.query.steps import AbstractCatalog, Relation, group_column

_NARROWER = Fraction(1, 2**30)
"""What a root that is not rational may lose to its rational bound."""


@final
@dataclass(frozen=True, eq=False)
class MarginsPurchase:
    """The noise of all margins, and what it costs."""

    request: Marginals
    relation: Relation
    budget: Budget
    precisions: Precisions
    change: CellChange

    @cached_property
    def loss(self) -> GaussianDP:
        """Return the exact loss: for any two tables, at most mu of all contrasts."""
        return GaussianDP(sqrt(self.precisions.square(self.change)))

    @property
    def question(self) -> Question:
        """Return the exact counts that the engine is asked for."""
        columns = self.request.keyset.columns
        return Question(self.relation.node, columns, (Total(literal(1)),))

    @cached_property
    def reach(self) -> float:
        """Return within how many deviations a cell errs, with the confidence asked."""
        return Noise(Gaussian(variance=1)).reach(self.request.confidence)

    @cached_property
    def errors(self) -> dict[Name, Expected]:
        """Return how far the cells of each table will be off, at most."""
        crossing = self.request.crossing
        errors = {}
        for table in crossing.tables:
            sd = float(self.precisions.variances(table).max()) ** 0.5
            errors[crossing.name(table)] = Expected(sd, sd * self.reach)
        return errors

    @cached_property
    def plan(self) -> str:
        """Return the plan as a readable tree, the last step first."""
        crossing = self.request.crossing
        measured = sum(
            count_contrasts(self.request, part) for part in self.precisions.parts
        )
        trees = ", ".join(" > ".join(tree.columns) for tree in crossing.trees)
        lines = [
            f"{len(crossing.tables):,} tables of up to {crossing.order} of {trees}"
            + (", some weighed" if self.request.weights else ""),
            f"{measured:,} contrasts with Gaussian noise around exact integers",
        ]
        return "\n".join([*lines, *node_lines(self.relation.node, "")])


def count_contrasts(request: Marginals, part: Levels) -> int:
    """Return how many contrasts a part has."""
    size = 1
    for tree, level in zip(request.crossing.trees, part, strict=True):
        size *= int(tree.sizes[level] - tree.sizes[level - 1]) if level else 1
    return size


def buy_margins(
    request: Marginals, catalog: AbstractCatalog, budget: Budget
) -> MarginsPurchase:
    """Return the precisions that a budget buys, from public facts alone."""
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    relation = request.rows.resolve(catalog)
    for name in request.keyset.columns:
        group_column(relation.schema, name)
    request.keyset.check(relation.schema)
    _refuse_large(request)
    change, part = _change_of_cells(request, relation), budget
    if relation.spread is not None:
        # charged once for each row that a unit has in the part
        part = budget.times(Fraction(1, relation.spread.rows))
    unscaled = best_precisions(request.crossing, request.totals, request.weights)
    if not unscaled.parts:
        raise InvalidQuery(
            "the totals say all that these tables say", "Leave some of them out."
        )
    whole = unscaled.square(change)
    # where no row can differ any precision is within the budget
    precisions = unscaled.times(_square_of(part) / whole if whole else Fraction(1))
    return MarginsPurchase(request, relation, budget, precisions, change)


def _change_of_cells(request: Marginals, relation: Relation) -> CellChange:
    """Return how far one unit moves the counts of all combinations of keys.

    In a part of a table that is charged by the row these are its rows, whole.
    """
    by = request.keyset.columns
    setting = Setting(
        relation.schema,
        relation.contribution,
        by,
        relation.ids,
        weighed=relation.weighed,
    )
    if relation.spread is not None:
        return CellChange(setting.rows())
    # all rows of an id come or leave, and those of others stay as they are
    each_way = relation.contribution.each_way
    return CellChange(setting.counts(), each_way, relation.ids is not None)


def _square_of(budget: Budget) -> Fraction:
    """Return the square of mu that a budget may spend on Gaussian noise."""
    allowance = budget.allowance("gaussian")
    if allowance is None:
        raise InvalidQuery(
            f"margins have Gaussian noise, and {budget!r} allows for none",
            'Use sd.ApproxDP(1, "1e-6"); or ask for few tables by release_all, or for '
            "the finest table alone, whose sums add_up has.",
        )
    match allowance.parameter:
        case "rho":
            square = 2 * allowance.amount
        case "mu":
            square = allowance.amount**2
        case _:
            square = mu_within(ApproxDP(allowance.amount, allowance.delta)) ** 2
    if isinstance(square, Fraction):
        return square
    # rounded up it could be more than there is: a little is taken off
    return rational_above(square) * (1 - _NARROWER)


def _refuse_large(request: Marginals) -> None:
    """Refuse answers that together are larger than a session can hold and keep."""
    crossing = request.crossing
    width = 2 * (len(request.keyset.columns) + 1) + 4
    numbers = width * sum(map(crossing.cells, crossing.tables))
    if numbers > MOST_NUMBERS:
        raise InvalidQuery(
            f"all tables together would have {numbers:,} numbers, including their "
            f"error bars, and the limit is {MOST_NUMBERS:,}",
            "Lower the order, or name fewer keys.",
        )


_SHOWN: Final = 12
"""More tables than these are summed up by how many columns they have."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class MarginsPrice:
    """What margins cost under a budget, and how far each table will be off."""

    _purchase: MarginsPurchase
    blocks: tuple[str, ...] = ()
    """The blocks that it reads, where there are blocks: each is charged the loss."""
    _certificate: Callable[[], str] = str

    @cached_property
    def proof(self) -> str:
        """The certificate of the price, as of a `Price`."""
        return self._certificate()

    @property
    def request(self) -> Marginals:
        """The request."""
        return self._purchase.request

    @property
    def budget(self) -> Budget:
        """Budget of the request."""
        return self._purchase.budget

    @property
    def loss(self) -> GaussianDP:
        """Return the loss of all tables together, exactly."""
        return self._purchase.loss

    @property
    def sensitivity(self) -> Sensitivity:
        """Return how far one unit moves the counts of all combinations of keys."""
        return self._purchase.change.size

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
        shown: str = office.html_page(
            *map(office.html_line, self._price_lines()),
            office.html_table(("table", "how far it is off"), self._lines()),
            office.html_details("how it is made", office.html_line(self.plan)),
        )
        return shown

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
            if not several:
                continue
            worst = max(several, key=lambda error: error.sd)
            noun = "table" if len(several) == 1 else "tables"
            yield f"{len(several):,} {noun} of {order}", str(worst)
