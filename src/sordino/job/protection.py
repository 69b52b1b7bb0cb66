"""Whom a table protects, as a job file says it.

| `protects = ...` | unit |
|---|---|
| `"rows"`, `{ rows = 3 }` | any row, or any three of them |
| `"changed row"` | what stands in any row, of a number of rows that is public |
| `{ id = "patient" }` | all rows with one value of a column; also `id_space` |
| `{ column = "ward", groups = 2, rows_per_group = 3 }` | rows in so many groups |
| `{ column = "views", total = 30 }` | rows that add up to so much |
"""

from collections.abc import Callable
from typing import Final

from sordino.errors import InvalidJob
from sordino.settings.section import Section
from sordino.units import (
    AbstractUnit,
    AddMaxRows,
    AddMaxRowsInMaxGroups,
    AddMaxTotal,
    AddOneRow,
    AddRowsWithID,
    ChangeOneRow,
)

_FORMS: Final[dict[frozenset[str], Callable[[Section], AbstractUnit]]] = {
    frozenset({"rows"}): lambda section: AddMaxRows(section.value("rows")),
    frozenset({"id"}): lambda section: AddRowsWithID(section.value("id")),
    frozenset({"id", "id_space"}): lambda section: AddRowsWithID(
        section.value("id"), section.value("id_space")
    ),
    frozenset({"column", "total"}): lambda section: AddMaxTotal(
        section.value("column"), section.value("total")
    ),
    frozenset({"column", "groups", "rows_per_group"}): lambda section: (
        AddMaxRowsInMaxGroups(
            section.value("column"),
            section.value("groups"),
            section.value("rows_per_group"),
        )
    ),
}
_WORDS: Final[dict[str, AbstractUnit]] = {
    "rows": AddOneRow(),
    "changed row": ChangeOneRow(),
}
_REMEDY: Final = (
    'Write protects = { id = "patient" } for all rows of a person, or "rows" for one.'
)


def read_protection(table: Section) -> AbstractUnit:
    """Return the unit that a table of a job protects."""
    word = table.value("protects")
    if isinstance(word, str):
        if word not in _WORDS:
            raise table.wrong("protects", "is no unit", _REMEDY)
        return _WORDS[word]
    section = table.section("protects")
    form = _FORMS.get(frozenset(section))
    if form is None:
        section.refuse_others(*sorted(frozenset().union(*_FORMS)))
        raise InvalidJob(section.place, "says too much or too little", _REMEDY)
    with table.place_refusals("protects"):
        return form(section)
