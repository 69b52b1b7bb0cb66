"""Keys that are shown in rounds: each looks at those that no round before has shown."""

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
    """Return the keys that pass a round, sorted, from the weights of the first one.

    What a round shows is public, and all that the next one knows of it.
    """
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    rounds, plan = purchase.rounds, purchase.plan
    assert rounds is not None  # noqa: S101 keys are shown in rounds
    assert plan.keys is not None  # noqa: S101 and asked for so
    names = list(plan.request.by)
    shown = first.select(names).slice(0, 0)
    for place in range(len(rounds.thresholds)):
        exact = ask(plan.keys.question_after(shown)) if place else first
        weights = exact.column(len(names)).to_numpy()
        passed = rounds.select(weights, place).rows
        shown = pa.concat_tables([shown, exact.select(names).take(passed)])
    return shown.combine_chunks().take(canonical_order(shown))
