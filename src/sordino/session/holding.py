"""A table or a view as everybody may know it: its columns, and what each may lack."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, final

from sordino.schema import Column, Schema

MOST: Final = 60
"""Columns of a table that are shown."""


@final
@dataclass(frozen=True)
class Holding:
    """A table or a view: a sentence on it, its columns, and what cannot be used."""

    name: str
    sentence: str
    columns: tuple[tuple[str, str, str], ...]
    """(name, type, what of its values may be missing)"""
    unusable: tuple[tuple[str, str], ...]
    """(name, why)"""

    @classmethod
    def of(
        cls, name: str, sentence: str, schema: Schema, unusable: Mapping[str, str]
    ) -> "Holding":
        """Return what is to be said of a table or a view."""
        columns = tuple(
            (known, column.type, missing_word(column))
            for known, column in schema.columns
        )
        return cls(name, sentence, columns, tuple(unusable.items()))

    @property
    def first_columns(self) -> tuple[tuple[str, str, str], ...]:
        """Return the first columns."""
        return self.columns[:MOST]

    @property
    def rest(self) -> int:
        """Return how many columns are not shown."""
        return len(self.columns) - len(self.first_columns)


def missing_word(column: Column) -> str:
    """Return what of a column may be missing, in a word.

    >>> missing_word(Column("f64")), missing_word(Column("i64", nullable=False))
    ('yes, or NaN', 'no')
    """
    match column.nullable, column.nan:
        case True, True:
            return "yes, or NaN"
        case True, False:
            return "yes"
        case False, True:
            return "NaN"
        case _:
            return "no"
