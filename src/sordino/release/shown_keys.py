"""Keys that are shown first: each round looks at those that none before has shown."""

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from sordino.keysets.canonical import canonical_order
from sordino.planning.purchase import Purchase

if TYPE_CHECKING:
    import pyarrow as pa

    from sordino.query.question import Question

Ask: TypeAlias = "Callable[[Question], pa.Table]"
"""Returns the exact totals of a question."""


def show_keys(purchase: Purchase, first: "pa.Table", ask: Ask) -> "pa.Table":
    """Return the keys that pass a round, sorted, from the totals of the first one.

    The first few groups are in the order in which they were chosen.
    What a round shows is public, and all that the next one knows of it.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    stage = purchase.plan.stage
    assert stage is not None  # noqa: S101 keys are shown first
    names = list(stage.names)
    shown = first.select(names).slice(0, 0)
    for place in range(purchase.stages):
        exact = ask(stage.question_after(shown)) if place else first
        passed = purchase.select(exact.column(len(names)).to_numpy(), place)
        shown = pa.concat_tables([shown, exact.select(names).take(passed)])
    shown = shown.combine_chunks()
    if purchase.first is not None:
        return shown
    return shown.take(canonical_order(shown))
