"""Python functions of a row: what they return is declared, what they do is trusted.

A function must depend on its row alone. It runs in this process, once for each row, in
any order; a function that keeps state, reads a clock or writes somewhere is outside the
promise. Where it fails, or returns what was not declared, the values are missing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.query.held import function_words
from sordino.schema import PLAIN, Column
from sordino.words import Words, call, worded_pairs


@final
@dataclass(frozen=True)
class Udf:
    """A Python function of a row and the columns that it returns."""

    function: Callable[[dict[str, Any]], Any]
    returns: tuple[tuple[str, Column], ...]
    name: str | None = None
    """What the function is called, if its code is not to say which it is."""
    version: str | None = None

    @property
    def words(self) -> Words:
        """Return name and version; without them, the hash of what it does now."""
        if self.name is None:
            return function_words(self.function)
        return call("function", name=self.name, version=self.version)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(name for name, _ in self.returns)

    @property
    def types(self) -> Words:
        """Return the columns and their types."""
        return worded_pairs((name, column.type) for name, column in self.returns)


def udf(
    function: Callable[[dict[str, Any]], Any],
    returns: Mapping[str, Any],
    *,
    name: str | None = None,
    version: str | None = None,
) -> Udf:
    """Return a function for `with_columns` or `flat_map`.

    It takes a dict; `returns` gives the type of each new column. A row on which the
    function fails, or returns something else, has missing values there.

    What a function does tells one request from another: its code, its defaults, its
    closure and the globals it names. With a name and a version these tell instead, and
    whoever changes the function changes the version.

    >>> import sordino as sd
    >>> half = sd.udf(lambda row: {"half": row["age"] / 2}, returns={"half": "f64"})
    """
    if (name is None) != (version is None):
        raise InvalidParameter(
            "version",
            version,
            "and name must be given together",
            'Try name="half", version="1".',
        )
    for argument, text in (("name", name), ("version", version)):
        if text is not None:
            _validate.text(**{argument: text})
    return Udf(function, returned_columns(function, returns), name, version)


def udf_of(function: Any, returns: Mapping[str, Any] | None) -> Udf:
    """Return a function that was handed over bare, or with what `udf` says of it."""
    if not isinstance(function, Udf):
        return Udf(function, returned_columns(function, returns))
    if returns is not None:
        raise InvalidParameter(
            "returns", returns, "was already given to sd.udf", "Leave it out here."
        )
    return function


def returned_columns(
    function: object, returns: Mapping[str, Any] | None
) -> tuple[tuple[str, Column], ...]:
    """Return the declared columns of a function; anything else is refused."""
    if not callable(function):
        raise InvalidParameter(
            "function", function, "must be a function of a row", "Try lambda row: {}."
        )
    if not isinstance(returns, Mapping) or not returns:
        raise InvalidParameter(
            "returns",
            returns,
            "must be a dict from column names to types",
            'Try returns={"half": "f64"}.',
        )
    return tuple(
        (_validate.text(returns=name), _returned_column(kind))
        for name, kind in returns.items()
    )


def _returned_column(kind: Any) -> Column:
    """Return the facts of a returned column: anything in it may be missing."""
    if isinstance(kind, Column):
        kind = kind.type
    if kind not in PLAIN:
        raise InvalidParameter(
            "returns", kind, f"must be one of {', '.join(PLAIN)}", 'Try "f64".'
        )
    return Column(kind, unsettled="a Python function may fail on a row")
