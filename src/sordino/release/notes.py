"""What a reader must know of the numbers of a release, in sentences."""

from collections.abc import Iterator

from sordino.planning.price import CONFIDENCE, Price
from sordino.release.formatting import key, percent


def notes(price: Price) -> tuple[str, ...]:
    """Return what the table does not say: who is protected, which groups show."""
    said = [_protected(price)]
    if price.purchase.selection is not None:
        counted = "rows" if price.relation.ids is None else "people"
        level = float(price.purchase.selection.threshold)
        said.append(
            f"Groups of fewer than about {level:.3g} {counted} are not shown, and "
            "intervals hold over all groups, shown or not."
        )
    elif price.request.by:
        said.append("Every public key has a row, whether anybody is in it or not.")
    return (*said, *_chosen(price))


def _chosen(price: Price) -> Iterator[str]:
    """Yield how far off the columns are that have no error bars."""
    columns = zip(price.request.columns, price.purchase.plan.estimators, strict=True)
    for (name, _), form in columns:
        if form.chooses:
            yield (
                f"{key(name)} is chosen among public candidates: {price.errors[name]}."
            )
    if any(form.chooses for form in price.purchase.plan.estimators):
        yield (
            "Ranks count rows between an answer and the exact one, equal values aside; "
            f"± holds with a chance of at least {percent(CONFIDENCE)}."
        )


def _protected(price: Price) -> str:
    """Return whom the price protects."""
    relation = price.relation
    if relation.ids is not None:
        return f"Protected is every {relation.ids!r} with all its rows."
    rows = relation.contribution.most_rows()
    if rows == 1:
        return "Protected is any one row, present or not."
    return f"Protected are any {rows} rows, present or not."
