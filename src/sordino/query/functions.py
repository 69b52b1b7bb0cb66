"""Python functions of a row: what they return is declared, what they do is trusted.

A function must depend on its row alone. It runs in this process, once for each row, in
any order; a function that keeps state, reads a clock or writes somewhere is outside the
promise. Where it fails, or returns what was not declared, the values are missing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from sordino.errors import InvalidParameter
from sordino.schema import PLAIN, Column
from sordino.units import column_name


@final
@dataclass(frozen=True)
class Udf:
    """A Python function of a row and the columns that it returns."""

    function: Callable[[dict[str, Any]], Any]
    returns: tuple[tuple[str, Column], ...]


def udf(function: Callable[[dict[str, Any]], Any], returns: Mapping[str, Any]) -> Udf:
    """Return a function for `with_columns`: it takes and returns a dict.

    `returns` gives the type of each new column. A row on which the function fails, or
    returns something else, has missing values there.

    >>> import sordino as sd
    >>> half = sd.udf(lambda row: {"half": row["age"] / 2}, returns={"half": "f64"})
    """
    return Udf(function, returned(function, returns))


def returned(
    function: object, returns: Mapping[str, Any] | None
) -> tuple[tuple[str, Column], ...]:
    """Return the declared columns of a function, or refuse what is none."""
    if not callable(function):
        raise InvalidParameter(
            "function", function, "must be a function of a row", "Try lambda row: {}."
        )
    if not isinstance(returns, Mapping) or not returns:
        raise InvalidParameter(
            "returns", returns, "must name columns", 'Try returns={"half": "f64"}.'
        )
    return tuple(
        (column_name(returns=name), _declared(kind)) for name, kind in returns.items()
    )


def _declared(kind: Any) -> Column:
    """Return the facts of a returned column: anything in it may be missing."""
    if isinstance(kind, Column):
        kind = kind.type
    if kind not in PLAIN:
        raise InvalidParameter(
            "returns", kind, f"must be one of {', '.join(PLAIN)}", 'Try "f64".'
        )
    return Column(kind, unsettled="a Python function may fail on a row")
