"""What is done to noisy answers, read from the arguments that users give."""

from collections.abc import Mapping
from typing import Any, Final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.expressions.fluent import lift
from sordino.expressions.language import check_expression
from sordino.query.processing import (
    ComputeAnswers,
    CutGroups,
    FilterGroups,
    RenameAnswers,
    ShowAnswers,
    SortGroups,
)
from sordino.words import canonical_text

_MOST_ROWS: Final = 2**62


def compute_answers(columns: Mapping[str, Any]) -> ComputeAnswers:
    """Return the step of computed answers, refusing none at all."""
    if not columns:
        raise InvalidParameter(
            "with_columns",
            columns,
            "must name at least one column",
            "Try share=sd.col('n') / 10.",
        )
    made = {_new_name(name): lift(one) for name, one in columns.items()}
    return ComputeAnswers(tuple(made.items()))


def filter_groups(condition: Any) -> FilterGroups:
    """Return the step of a filter."""
    return FilterGroups(check_expression(condition=condition))


def sort_groups(
    names: tuple[Any, ...], descending: Any, nulls_first: Any
) -> SortGroups:
    """Return the step of an order, refusing one by nothing."""
    found = tuple(_validate.text(names=one) for one in names)
    if not found:
        raise InvalidParameter(
            "names", names, "must name at least one column", 'Try sort("n").'
        )
    sides = []
    for word, given in (("descending", descending), ("nulls_first", nulls_first)):
        listed = _several(word, given, found)
        for one in listed:
            if one not in found:
                raise InvalidParameter(
                    word,
                    one,
                    "must be one of the columns that are sorted by",
                    "Name it first.",
                )
        sides.append(listed)
    return SortGroups(found, *sides)


def _several(word: str, given: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return some of the names: all for True, none for False."""
    if isinstance(given, bool):
        return names if given else ()
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, (tuple, list)):
        raise InvalidParameter(
            word, given, "must be a column name or a list of names", f'Try {word}="n".'
        )
    return tuple(_validate.text(**{word: one}) for one in listed)


def cut_groups(rows: Any, offset: Any) -> CutGroups:
    """Return the step of a number of rows."""
    most = _validate.integer(rows=rows, least=0, most=_MOST_ROWS)
    first = _validate.integer(offset=offset, least=0, most=_MOST_ROWS)
    return CutGroups(int(most), int(first))


def show_answers(names: tuple[Any, ...]) -> ShowAnswers:
    """Return the step of some answers."""
    return ShowAnswers(tuple(_validate.text(names=one) for one in names))


def rename_answers(columns: Any) -> RenameAnswers:
    """Return the step of other names."""
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidParameter(
            "columns",
            columns,
            "must be a dict from old names to new names",
            'Try {"n": "visits"}.',
        )
    pairs = ((_validate.text(columns=a), _new_name(b)) for a, b in columns.items())
    return RenameAnswers(tuple(pairs))


def _new_name(given: Any) -> str:
    """Return the name of a column, refusing what no table can hold."""
    canonical_text([name := _validate.text(columns=given)])
    return name
