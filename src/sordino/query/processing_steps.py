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
    expressions = {_new_name(name): lift(column) for name, column in columns.items()}
    return ComputeAnswers(tuple(expressions.items()))


def filter_groups(condition: Any) -> FilterGroups:
    """Return the step of a filter."""
    return FilterGroups(check_expression(condition=condition))


def sort_groups(
    names: tuple[Any, ...], descending: Any, nulls_first: Any
) -> SortGroups:
    """Return the step of an order, refusing one by nothing."""
    sort_names = tuple(_validate.text(names=name) for name in names)
    if not sort_names:
        raise InvalidParameter(
            "names", names, "must name at least one column", 'Try sort("n").'
        )
    sides = []
    for word, which in (("descending", descending), ("nulls_first", nulls_first)):
        listed = _several(word, which, sort_names)
        for name in listed:
            if name not in sort_names:
                raise InvalidParameter(
                    word,
                    name,
                    "must be one of the columns that are sorted by",
                    "Name it first.",
                )
        sides.append(listed)
    return SortGroups(sort_names, *sides)


def _several(word: str, which: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return some of the names: all for True, none for False."""
    if isinstance(which, bool):
        return names if which else ()
    listed = (which,) if isinstance(which, str) else which
    if not isinstance(listed, (tuple, list)):
        raise InvalidParameter(
            word, which, "must be a column name or a list of names", f'Try {word}="n".'
        )
    return tuple(_validate.text(**{word: name}) for name in listed)


def cut_groups(rows: Any, offset: Any) -> CutGroups:
    """Return the step of a number of rows."""
    most = _validate.integer(rows=rows, least=0, most=_MOST_ROWS)
    first = _validate.integer(offset=offset, least=0, most=_MOST_ROWS)
    return CutGroups(int(most), int(first))


def show_answers(names: tuple[Any, ...]) -> ShowAnswers:
    """Return the step of some answers."""
    return ShowAnswers(tuple(_validate.text(names=name) for name in names))


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


def _new_name(label: Any) -> str:
    """Return the name of a column, refusing what no table can hold."""
    return _validate.unicode_text(columns=label)
