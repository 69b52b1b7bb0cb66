"""What an answer would cost and how far it would be off: from the plan alone.

No data is read: a price depends on the question, the public facts of the tables, and
the budget.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, final

from sordino.aggregations.base import Expected, Setting
from sordino.aggregations.intervals import Noise
from sordino.aggregations.measurements import AbstractMeasurement
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.base import AbstractExpression
from sordino.expressions.literals import literal
from sordino.expressions.tree import Col
from sordino.losses.base import Budget, Loss
from sordino.losses.headline import headline
from sordino.mechanisms.mechanism import AbstractMechanism
from sordino.planning.coverage import counted, questions
from sordino.planning.plan import Plan, plans
from sordino.planning.plan_text import tree
from sordino.planning.purchase import Purchase, purchases
from sordino.query.nodes import Project
from sordino.query.passage import Counted
from sordino.query.question import Question, Total
from sordino.query.relation import AbstractCatalog, Relation
from sordino.query.request import Request, refuse_large
from sordino.query.steps import groupable
from sordino.schema import Schema

if TYPE_CHECKING:
    from sordino.sensitivity import Sensitivity

CONFIDENCE: Final = Fraction(95, 100)
"""Of all intervals."""
MOST_TOTALS: Final = 500
"""What an engine takes to plan its work grows with the square of their number."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Price:
    """What a request costs under a budget, and what noise it buys."""

    request: Request
    budget: Budget
    relation: Relation
    purchase: Purchase
    family: str

    @cached_property
    def loss(self) -> Loss:
        """Return the loss of the whole release, with its tight curve."""
        return self.purchase.loss

    @cached_property
    def noise(self) -> dict[str, tuple[AbstractMechanism, ...]]:
        """Return the mechanisms behind each column, in order."""
        return {
            name: self.purchase.mechanisms(place)
            for place, (name, _) in enumerate(self.request.columns)
        }

    @cached_property
    def sensitivity(self) -> "dict[str, Sensitivity | tuple[Sensitivity, ...]]":
        """Return how far one unit can move the exact numbers behind each column.

        For a column made of several numbers, a tuple of them in order.
        """
        found: dict[str, Sensitivity | tuple[Sensitivity, ...]] = {}
        columns = zip(self.request.columns, self.purchase.plan.estimators, strict=True)
        for (name, _), form in columns:
            changes = tuple(part.change for part in form.measurements)
            found[name] = changes[0] if len(changes) == 1 else changes
        return found

    @cached_property
    def errors(self) -> dict[str, Expected]:
        """Return how far each column will be off, as far as that is known."""
        return {
            name: self.purchase.expected(place, CONFIDENCE)
            for place, (name, _) in enumerate(self.request.columns)
        }

    @cached_property
    def coverage(self) -> dict[str, Expected]:
        """Return how far each count of what is left out will be off, if asked for."""
        found: dict[str, Expected] = {}
        for key, (one, _) in self.purchase.plan.coverage.items():
            name = str(one)
            while name in found:  # a limit on each side of a join
                name += ", again"
            found[name] = _spread(one.part.noise(self.purchase.coverage[key]))
        return found

    @property
    def thresholds(self) -> tuple[Fraction, ...]:
        """Return what a group must reach to be shown, if the groups are not known."""
        chosen = self.purchase.selection
        return () if chosen is None else (chosen.threshold,)

    @property
    def plan(self) -> str:
        """Return the plan as a readable tree, the last step first."""
        return tree(self)

    def __repr__(self) -> str:
        """Show the price, the expected errors and the threshold."""
        lines = [f"price: {headline(self.loss, self.budget)}"]
        lines += [f"{name}: {error}" for name, error in self.errors.items()]
        lines += [f"coverage, {name}: {error}" for name, error in self.coverage.items()]
        if self.purchase.selection is not None:
            level = float(self.purchase.selection.threshold)
            counted = "rows" if self.relation.ids is None else "ids"
            lines.append(f"a group shows from about {level:.4g} {counted} on")
        return "\n".join(lines)

    @property
    def question(self) -> Question:
        """Return the exact totals that the engine is asked for."""
        keyset = self.request.keyset
        return Question(
            self.relation.node,
            self.request.by,
            tuple(total for part in self.measurements for total in part.totals),
            None if keyset is None else keyset.table(),
        )

    @property
    def choice_questions(self) -> dict[Any, Question]:
        """Return the counts of candidates that parts which choose are drawn from."""
        return {
            key: binned(self.relation, self.request.by, part.position)
            for key, (part, _) in self.purchase.plan.choices.items()
        }

    @property
    def counts(self) -> tuple[Counted, ...]:
        """Return what is counted beside the answers."""
        return tuple(one for one, _ in self.purchase.plan.coverage.values())

    @property
    def coverage_questions(self) -> tuple[Question, ...]:
        """Return the questions that tell the exact counts, in their order."""
        return questions(self.counts)

    @cached_property
    def measurements(self) -> tuple[AbstractMeasurement, ...]:
        """Return the parts with additive noise, in the order of the totals."""
        return tuple(part for part, _ in self.purchase.plan.additive.values())


def binned(
    relation: Relation, by: tuple[str, ...], position: AbstractExpression
) -> Question:
    """Return the question for the rows of each group in each bin."""
    place = "bin"
    while place in by:
        place += "_"
    columns = (*((name, Col(name)) for name in by), (place, position))
    facts = ((name, one.column(relation.schema)) for name, one in columns)
    rows = Project(relation.node, columns, Schema.of(facts))
    return Question(rows, (*by, place), (Total(literal(1)),))


def price(request: Request, catalog: AbstractCatalog, budget: Budget) -> Price:
    """Return the price of a request within a budget: the least noise it buys.

    Of the ways to put the answers together, and of the families of noise, the one with
    the least expected error is taken; the choice depends on the plan alone.
    """
    if not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "is no budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    relation = request.rows.resolve(catalog)
    setting = _setting(request, relation)
    counts = counted(request, relation, setting)
    found = [
        (family, outlay)
        for layout in _narrow(list(plans(request, setting, counts)))
        for family, outlay in purchases(layout, budget, request.noise).items()
    ]
    if not found:
        raise _unaffordable(request, budget)
    family, best = min(found, key=lambda pair: pair[1].score)
    return Price(request, budget, relation, best, family)


def _narrow(laid: list[Plan]) -> list[Plan]:
    """Return the plans whose totals an engine adds up at once, or refuse them all."""
    narrow = [one for one in laid if one.width <= MOST_TOTALS]
    if not narrow:
        least = min(one.width for one in laid)
        raise InvalidQuery(
            f"this needs {least} exact totals of each group, and {MOST_TOTALS} is the "
            "most",
            "Ask for fewer at a time: session.release_all plans requests together.",
        )
    return narrow


def _spread(noise: Noise) -> Expected:
    """Return how far a number with this noise will be off."""
    return Expected(noise.sd, noise.reach(CONFIDENCE))


def _setting(request: Request, relation: Relation) -> Setting:
    """Return what the public knows of the rows, the groups checked."""
    for name in request.by:
        groupable(relation.schema, name)
    if request.keyset is not None:
        request.keyset.checked(relation.schema, request.by)
    refuse_large([request])
    return Setting(relation.schema, relation.contribution, request.by, relation.ids)


def _unaffordable(request: Request, budget: Budget) -> InvalidQuery:
    """Return the refusal of a request that no family of noise can serve."""
    if request.selects_keys:
        return InvalidQuery(
            f"groups with unknown keys need a delta, and {budget!r} has none",
            'Use sd.ApproxDP(1, "1e-6"), or group by a sd.KeySet.',
        )
    return InvalidQuery(
        f"{budget!r} cannot pay for {request.noise} noise",
        'Use noise="laplace", or a budget with a delta.',
    )
