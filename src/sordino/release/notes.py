"""What a reader must know of the numbers of a release, in sentences."""

from sordino.query.price import Price


def notes(price: Price) -> tuple[str, ...]:
    """Return what the table does not say: who is protected, which groups show."""
    said = [_protected(price)]
    if price.outlay.selection is not None:
        counted = "rows" if price.relation.ids is None else "people"
        level = float(price.outlay.selection.threshold)
        said.append(
            f"Groups of fewer than about {level:.3g} {counted} are not shown, and "
            "intervals hold over all groups, shown or not."
        )
    elif price.request.by:
        said.append("Every public key has a row, whether anybody is in it or not.")
    return tuple(said)


def _protected(price: Price) -> str:
    """Return whom the price protects."""
    relation = price.relation
    if relation.ids is not None:
        return f"Protected is every {relation.ids!r} with all its rows."
    rows = relation.contribution.most_rows()
    if rows == 1:
        return "Protected is any one row, present or not."
    return f"Protected are any {rows} rows, present or not."
