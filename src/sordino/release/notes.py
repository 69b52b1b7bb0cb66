"""What a reader must know of the numbers of a release, in sentences."""

from collections.abc import Iterator

from sordino.display.formatting import format_key, format_percent
from sordino.planning.plan_text import rank_lines
from sordino.planning.purchase import Purchase
from sordino.query.relation import Relation


def release_notes(purchase: Purchase) -> tuple[str, ...]:
    """Return what the table does not say: who is protected, which groups show."""
    return (
        note_protection(purchase.plan.relation),
        *_groups(purchase),
        *_note_ranks(purchase),
        *_note_choices(purchase),
        *_note_savings(purchase),
    )


def _groups(purchase: Purchase) -> Iterator[str]:
    """Yield which groups have a row."""
    plan = purchase.plan
    request = plan.request
    if request.selects_keys and purchase.least_shown is not None:
        level, unit = purchase.least_shown
        parted = (
            ", ".join(map(format_key, request.unknown)) if request.known_columns else ""
        )
        what = f"Values of {parted} with" if parted else "Groups of"
        yield f"{what} fewer than about {float(level):.3g} {unit} are not shown."
        if parted:
            yield "Each that is shown has a row for every public key, empty or not."
    elif request.by and request.minimum is None and request.few is None:
        yield "Every public key has a row, whether anybody is in it or not."
    if request.minimum is not None:
        unit = "rows" if plan.relation.ids is None else "ids"
        yield f"Left out are groups of a noisy count below {request.minimum} {unit}."
    shows = plan.stage is None and request.selects_keys
    if plan.estimators and (shows or request.minimum is not None):
        yield "Intervals hold for groups that show, given that they do."
    if plan.of_everything:
        yield (
            "Counts of groups err together, by a share of one noisy number of all ids: "
            "ask for a total of many groups, do not add them up."
        )


def _note_ranks(purchase: Purchase) -> Iterator[str]:
    """Yield how the first few groups were chosen, and how far off ranks may be."""
    for line in rank_lines(purchase):
        yield f"{line[0].upper()}{line[1:]}."
    if purchase.first is not None and purchase.plan.hides_keys:
        yield "The list may end early: then no further group is surely large enough."


def _note_choices(purchase: Purchase) -> Iterator[str]:
    """Yield how far off the columns are that have no error bars."""
    plan = purchase.plan
    for (name, _), estimator in zip(plan.request.columns, plan.estimators, strict=True):
        if estimator.chooses:
            error = purchase.errors[name]
            yield f"{format_key(name)} is chosen among public candidates: {error}."
    if plan.choices:
        share = format_percent(plan.request.confidence)
        yield (
            "Ranks count rows between an answer and the exact one, equal values aside; "
            f"± holds with a chance of at least {share}."
        )


def _note_savings(purchase: Purchase) -> Iterator[str]:
    """Yield which part of a budget it had, and what planning together saved it."""
    if purchase.share:
        yield f"Of several requests that share a budget it has {purchase.share}."
    if purchase.gain > 1:
        yield (
            "Planned together with other requests: its noise is that of "
            f"{purchase.gain:.3g} times its share of epsilon."
        )


def note_protection(relation: Relation) -> str:
    """Return whom the price protects."""
    if relation.ids is not None:
        return f"Protected is every {relation.ids!r} with all its rows."
    weighed, each_way = relation.weighed, relation.contribution.each_way
    if weighed is not None:
        name = min(weighed.names_in(relation.schema), default="a column")
        return (
            f"Protected is whatever adds at most {weighed.most} to the sum of {name!r}."
        )
    if each_way is not None:
        what = "any one row" if each_way == 1 else f"any {each_way} rows"
        return f"Protected is what stands in {what}: others may stand there instead."
    rows = relation.contribution.most_rows()
    if rows == 1:
        return "Protected is any one row, present or not."
    return f"Protected are any {rows} rows, present or not."
