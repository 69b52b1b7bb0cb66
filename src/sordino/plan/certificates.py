"""The certificate of a price: a derivation that the kernel checks before any charge.

It is written of the objects that draw: the plan that the engine runs and the noise that
is bought, not of what they were made from. It concludes nothing: how far numbers move
and what that costs is derived anew by who reads it (docs/proofs/certificates.md).

Kernel: charge.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from sordino.aggregations.margins.measuring import children_at
from sordino.plan.margins import MarginsPurchase
from sordino.plan.purchase import Purchase
from sordino.query.certified import PlanWriter, Step
from sordino.query.dropped_rows import Counted

if TYPE_CHECKING:
    from sordino.numbers.canonical import Words

VERSION: Final = 1


def certify(
    writer: PlanWriter,
    releases: Iterable[Callable[[PlanWriter], Step]],
    blocks: tuple[str, ...] | None,
) -> Step:
    """Return the certificate of releases that share one charge, but for the charge."""
    listed: list[Words] = [release(writer) for release in releases]
    body: Step = {
        "certificate": VERSION,
        "releases": listed,
        "tables": dict(writer.tables),
    }
    if blocks is not None:
        body["blocks"] = {"tables": writer.blocks, "charged": [*blocks]}
    return body


def certify_parts(
    writer: PlanWriter, rows: Step, by: str, count: int, each: Mapping[str, str]
) -> Step:
    """Return the certificate of the parts of a table, but for what they cost."""
    parts: Step = {"rows": rows, "by": by, "count": count, "each": dict(each)}
    return {"certificate": VERSION, "parts": parts, "tables": dict(writer.tables)}


def certify_release(purchase: Purchase, writer: PlanWriter) -> Step:
    """Return one release: its rows, its keys, and everything that gets noise."""
    plan, request = purchase.plan, purchase.plan.request
    step: Step = {
        "rows": writer.write(plan.relation.node),
        "by": [*request.by],
        "unknown": [*request.unknown] if plan.hides_keys else [],
        "measurements": [
            plan.measurements[key].certificate | noise.certificate
            for key, noise in purchase.noise.items()
        ],
    }
    if request.keyset is not None and not step["unknown"]:
        step["known"] = request.keyset.size
    if purchase.choices:
        step["choices"] = [each.certificate for each in purchase.choices.values()]
    if purchase.coverage:
        step["coverage"] = [
            _left_out(plan.coverage[key], plan.relation.ids, writer) | noise.certificate
            for key, noise in purchase.coverage.items()
        ]
    return step | _certify_keys(purchase)


def _certify_keys(purchase: Purchase) -> Step:
    """Return the noise that shows keys which nobody named."""
    presence = purchase.plan.presence
    if purchase.rounds is not None:
        return {"rounds": purchase.rounds.certificate}
    if presence is None:
        return {}
    words = presence.certificate | purchase.selection.certificate
    return {"presence" if purchase.first is None else "first": words}


def _left_out(count: Counted, ids: str | None, writer: PlanWriter) -> Step:
    totals: list[Words] = [total.certificate for total in count.measurement.totals]
    if count.kind == "clamped" and count.unit == "rows":
        return {"of": "clamped", "totals": totals}
    rows = writer.write(count.rows)
    if ids is not None and count.unit == "rows":
        return {"of": "sum", "rows": rows, "totals": totals}
    return {"of": "rows" if ids is None else "ids", "rows": rows}


def certify_margins(purchase: MarginsPurchase, writer: PlanWriter) -> Step:
    """Return margins: the children of each level of each tree, and the precisions."""
    crossing = purchase.request.crossing
    trees: list[Words] = [
        [[*children_at(tree, level)] for level in range(1, tree.depth + 1)]
        for tree in crossing.trees
    ]
    parts = purchase.precisions.parts.items()
    return {
        "rows": writer.write(purchase.relation.node),
        "by": [*purchase.request.keyset.columns],
        "unknown": [],
        "measurements": [],
        "margins": {
            "trees": trees,
            "precisions": [[[*levels], str(precision)] for levels, precision in parts],
        },
    }
