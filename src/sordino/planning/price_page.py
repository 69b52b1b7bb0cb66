"""A price as a page for notebooks: the errors, the noise, and the plan as a diagram."""

from collections.abc import Iterable, Iterator
from typing import Final

from sordino.display.diagram import Step, diagram
from sordino.display.elements import html_details, html_line, html_page, html_table
from sordino.losses.headline import headline
from sordino.planning.plan_text import group_line
from sordino.planning.purchase import Purchase
from sordino.query.nodes import AbstractNode

_HEADING: Final = ("answer", "how far it is off", "noise")
_WIDE: Final = 120
"""Characters of a cell."""


def price_page(purchase: Purchase, remarks: Iterable[str]) -> str:
    """Return what it costs, how far each column is off, and how it would be made."""
    return html_page(
        html_line(f"price: {headline(purchase.loss, purchase.budget)}"),
        html_table(_HEADING, _columns(purchase), _WIDE),
        *map(html_line, remarks),
        html_details("how it is made", diagram(_plan_step(purchase))),
    )


def _columns(purchase: Purchase) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each answer."""
    for place, (name, error) in enumerate(purchase.errors.items()):
        noise = ", ".join(map(repr, purchase.mechanisms[place]))
        yield name, str(error), noise


def _plan_step(purchase: Purchase) -> Step:
    """Return the last step: the noisy answers of the groups."""
    groups = Step(group_line(purchase.plan), (_rows_step(purchase.plan.relation.node),))
    shown = groups
    if purchase.selection is not None:
        shown = Step(f"keep groups that pass {purchase.selection!r}", (groups,))
    columns = purchase.plan.request.columns
    answers = ", ".join(f"{name} = {aggregation!r}" for name, aggregation in columns)
    return Step(f"{answers}, with noise", (shown,)) if columns else shown


def _rows_step(node: AbstractNode) -> Step:
    """Return a step of the rows, and those before it."""
    return Step(node.describe(), tuple(map(_rows_step, node.inputs)))
