"""The first rows of a release as texts, for every way to show them."""

import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

from sordino.display import formatting
from sordino.release.column_names import error_names
from sordino.release.release_view import ReleaseView

if TYPE_CHECKING:
    import pyarrow as pa


MOST: Final = 20
"""Rows that are shown before "... and 980 more"."""


@final
class Figure(NamedTuple):
    """A noisy number, its standard deviation and its interval; empty where unknown."""

    value: str
    sd: str
    interval: str
    outer: tuple[str, ...]
    """Both ends of the interval, none where one is not known."""
    ends: tuple[float | None, float | None, float | None]
    """Value, low and high as numbers, None for what is not a number."""


@final
class RowTexts(NamedTuple):
    """A group: its key and its figures."""

    keys: tuple[str, ...]
    figures: tuple[Figure, ...]


def row_texts(release: ReleaseView, most: int = MOST) -> list[RowTexts]:
    """Return the first rows."""
    table, errors = release.table.slice(0, most), release.errors.slice(0, most)
    keys = [
        list(map(formatting.format_key, table[k].to_pylist())) for k in release.keys
    ]
    figures = [figure_texts(table, errors, name) for name in release.names]
    return [
        RowTexts(tuple(key[i] for key in keys), tuple(figure[i] for figure in figures))
        for i in range(table.num_rows)
    ]


def figure_texts(table: "pa.Table", errors: "pa.Table", name: str) -> list[Figure]:
    """Return the numbers of an aggregate."""
    bars = [errors[part].to_pylist() for part in error_names(name)]
    return list(map(_figure, table[name].to_pylist(), *bars))


def _figure(value: Any, *bars: float | None) -> Figure:
    """Return the texts of a number and its bars."""
    sd, low, high = bars
    grain = _grain(sd, low, high)
    return Figure(
        formatting.format_number(value, grain),
        formatting.format_spread(sd),
        formatting.format_interval(value, (grain, low, high)),
        formatting.format_ends(value, (grain, low, high)),
        (float(value) if isinstance(value, (int, float)) else None, low, high),
    )


def _grain(sd: float | None, low: float | None, high: float | None) -> float | None:
    """Return what digits are shown for: a quarter of the interval without an sd."""
    if (sd is not None and not math.isnan(sd)) or low is None or high is None:
        return sd
    return (high - low) / 4
