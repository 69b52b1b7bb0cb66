"""What an inspection found: exact counts of private rows, for the curator alone."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

PRIVATE: Final = (
    "PRIVATE: exact counts of private rows, for the curator's eyes only. No noise is\n"
    "added and nothing is charged: do not publish this or show it to analysts."
)
_MOST: Final = 5


@final
@dataclass(frozen=True)
class InspectedColumn:
    """How the cells of one column are read."""

    name: str
    type: str
    missing: int
    unreadable: int
    shapes: tuple[tuple[str, int], ...]
    """What cells that cannot be read look like, the most frequent first."""
    more: int
    """How many further shapes there are."""

    @classmethod
    def of(
        cls, name: str, kind: str, missing: int, counts: Counter[str]
    ) -> "InspectedColumn":
        """Return the most frequent shapes of a column."""
        shapes = tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        total = sum(counts.values())
        more = max(0, len(shapes) - _MOST)
        return cls(name, kind, missing, total, shapes[:_MOST], more)

    def lines(self, rows: int) -> Iterator[str]:
        """Yield what is missing, and the shapes of what cannot be read."""
        missing, lost = part(self.missing, rows), part(self.unreadable, rows)
        yield f"{self.name}: {self.type}, {missing} missing, {lost} unreadable"
        yield from (f"    {shape}  {times:,}" for shape, times in self.shapes)
        if self.more:
            yield f"    and {self.more:,} other shapes"


@final
@dataclass(frozen=True)
class InspectedIds:
    """How many rows ids have."""

    column: str
    ids: int
    without: int
    """Rows without an id."""
    quantiles: tuple[tuple[str, int], ...]
    """Rows of an id: the least, some quantiles, the most."""

    def lines(self) -> Iterator[str]:
        """Yield how many ids there are, and the rows that they have."""
        yield f"ids ({self.column}): {self.ids:,}; rows without one: {self.without:,}"
        quantiles = ", ".join(f"{name} {count:,}" for name, count in self.quantiles)
        yield f"rows per id: {quantiles}" if quantiles else "rows per id: none"


@final
@dataclass(frozen=True)
class InspectedLimit:
    """What a limit by itself would leave out."""

    limit: str
    rows: int
    ids: int

    def line(self, rows: int, ids: int) -> str:
        """Return the rows that are cut, and the ids they are of."""
        cut, whose = part(self.rows, rows), part(self.ids, ids)
        return f"{self.limit}: cuts {cut} of the rows, of {whose} of the ids"


@final
@dataclass(frozen=True, repr=False)
class Inspection:
    """A look at a private table, for its curator.

    **Private.** It holds exact counts of private rows, and shows them.
    """

    rows: int
    columns: tuple[InspectedColumn, ...]
    undeclared: tuple[InspectedColumn, ...]
    """Columns of text without a declared type: the shapes of all their cells."""
    unusable: Mapping[str, str]
    """For each column that cannot be used, why."""
    ids: InspectedIds | None
    limits: tuple[InspectedLimit, ...]

    def __repr__(self) -> str:
        """Show the report, with a warning first that it is private."""
        return "\n".join(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, marked as private."""
        return {
            "private": True,
            "rows": self.rows,
            "columns": [_column(column) for column in self.columns],
            "undeclared": [_column(column) for column in self.undeclared],
            "unusable": dict(self.unusable),
            "ids": None if self.ids is None else _ids(self.ids),
            "limits": [
                {"limit": limit.limit, "rows_cut": limit.rows, "ids_cut": limit.ids}
                for limit in self.limits
            ],
        }

    def _lines(self) -> Iterator[str]:
        yield PRIVATE
        yield f"\nrows: {self.rows:,}"
        for column in self.columns:
            yield from column.lines(self.rows)
        for column in self.undeclared:
            yield f"{column.name}: not declared; its cells look like"
            yield from list(column.lines(self.rows))[1:]
        for name, reason in self.unusable.items():
            yield f"{name}: cannot be used: {reason}"
        if self.ids is not None:
            yield ""
            yield from self.ids.lines()
            owned = self.rows - self.ids.without
            yield from (limit.line(owned, self.ids.ids) for limit in self.limits)


def part(count: int, whole: int) -> str:
    """Return a count and its share.

    >>> part(3, 12), part(0, 0)
    ('3 (25 %)', '0')
    """
    share = f" ({100 * count / whole:.3g} %)" if count and whole else ""
    return f"{count:,}{share}"


def _column(column: InspectedColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "type": column.type,
        "missing": column.missing,
        "unreadable": column.unreadable,
        "shapes": dict(column.shapes),
        "further_shapes": column.more,
    }


def _ids(ids: InspectedIds) -> dict[str, Any]:
    return {
        "column": ids.column,
        "ids": ids.ids,
        "rows_without": ids.without,
        "rows_per_id": dict(ids.quantiles),
    }
