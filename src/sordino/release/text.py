"""A release as a table for terminals; names of its columns.

The counts of what a release leaves out: noisy, with their errors.

| column | what |
|---|---|
| `kind` | "unreadable", "cut off" or "clamped" |
| `what` | the column, the limit, or the values and their bounds |
| `counted` | "ids", "rows" or "keys" |
| `count` | how many, noisy: it may be below 0 |
| `sd`, `low`, `high` | its standard deviation and interval |
"""

import math
import textwrap
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, final

import numpy as np

from sordino.aggregations.intervals import (
    Bars,
    additive,
    error_names,
    names_among,
    rank_names,
)
from sordino.aggregations.measurement import Numbers, draw
from sordino.errors import InvalidParameter
from sordino.losses.loss import Loss
from sordino.noise.sampling.bits import Bits
from sordino.numbers import formatting
from sordino.numbers.formatting import cut_text, format_percent, text_width
from sordino.plan.plan import exact_counts
from sordino.plan.purchase import Purchase
from sordino.query.dropped_rows import Counted

if TYPE_CHECKING:
    import pyarrow as pa


__all__ = [
    "check_tables",
    "error_names",
    "grouping_name",
    "names_with_errors",
    "side_by_side",
]
_MARK = "grouping"
NOISE: Final = "of the noise"
"""What intervals hold: the error of the noise, and of nothing else."""
POPULATION: Final = "for the population"
"""What they hold where the rows are taken for drawn ones: the noise and the draw."""


def names_with_errors(keys: tuple[str, ...], names: tuple[str, ...]) -> list[str]:
    """Return the names of a table of values and errors, or refuse two of one name.

    Ask before anything is charged: a release with such columns cannot be made.

    >>> names_with_errors(("ward",), ("n",))
    ['ward', 'n', 'n sd', 'n low', 'n high']
    >>> names_with_errors((), ("n", "n sd"))
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: columns names two columns, one of them of errors...
    """
    listed = [*keys]
    for name in names:
        listed += [name, *error_names(name)]
    ranks = [rank for name in names for rank in rank_names(name)]
    for place, name in enumerate(listed):
        if name in listed[:place] or name in ranks:
            problem = "names two columns, one of them of errors"
            raise InvalidParameter("columns", name, problem, "Rename the other.")
    return listed


def grouping_name(taken: Container[str]) -> str:
    """Return the name of the column that says of which set a row is.

    >>> grouping_name({"grouping"})
    'grouping_'
    """
    name = _MARK
    while name in taken:
        name += "_"
    return name


def check_tables(table: "pa.Table", errors: "pa.Table", keys: tuple[str, ...]) -> None:
    """Refuse tables that do not belong together."""
    names = tuple(table.column_names)
    if names[: len(keys)] != keys:
        raise InvalidParameter(
            "table", names, "must begin with the key columns", f"Begin with {keys}."
        )
    answers = names[len(keys) :]
    names_with_errors(keys, answers)
    wanted = [*keys]
    for name in answers:
        wanted += names_among(name, errors.column_names)
    if errors.column_names != wanted:
        raise InvalidParameter(
            "errors", errors.column_names, "has the wrong columns", f"Give {wanted}."
        )
    if errors.num_rows != table.num_rows:
        raise InvalidParameter(
            "errors",
            errors.num_rows,
            "has the wrong number of rows",
            f"Give {table.num_rows}.",
        )
    if not keys and table.num_rows > 1:
        raise InvalidParameter(
            "table",
            table.num_rows,
            "must have at most one row if there are no keys",
            "Give one.",
        )


def side_by_side(table: "pa.Table", errors: "pa.Table", size: int) -> "pa.Table":
    """Keys (the first `size` columns), then each aggregate with its errors."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    homes = [(table, name) for name in table.column_names[:size]]
    for name in table.column_names[size:]:
        homes.append((table, name))
        homes += [(errors, part) for part in names_among(name, errors.column_names)]
    fields = [home.schema.field(name) for home, name in homes]
    schema = pa.schema(fields, table.schema.metadata)
    return pa.Table.from_arrays([home[name] for home, name in homes], schema=schema)


class ReleaseView(Protocol):
    """A release, as texts, pages, pictures and files read it."""

    @property
    def table(self) -> "pa.Table":
        """Return the keys and the answers."""

    @property
    def errors(self) -> "pa.Table":
        """Return the keys and the error columns of each answer."""

    @property
    def coverage(self) -> "pa.Table | None":
        """Return the noisy counts of what was left out, if asked for."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the names of the key columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the answers."""

    @property
    def confidence(self) -> Fraction:
        """Return the least chance that an interval holds."""

    @property
    def holds(self) -> str:
        """Return the words that follow the chance of the intervals."""

    @property
    def loss(self) -> Loss:
        """Loss of the release."""

    @property
    def price(self) -> str:
        """Price in the terms of its budget."""

    @property
    def plan(self) -> str:
        """Return how it was made."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that a reader needs."""

    @property
    def ranks(self) -> Mapping[str, str]:
        """How far off the answers are that are chosen among candidates, by name."""

    @property
    def unshown(self) -> str:
        """Why there is no row, where there is none."""

    @property
    def limits(self) -> str:
        """Limits in force, and whether what they cut off was measured, or ""."""

    @property
    def figures(self) -> Mapping[str, str]:
        """Of which figures the interval of each answer is."""

    @property
    def about(self) -> "Mapping[str, pa.Array]":
        """The answers for all rows of the table, had each group lost alike."""

    def __len__(self) -> int:
        """Return the number of rows."""

    def __getitem__(self, name: str) -> "pa.Array":
        """Return a column as an Arrow array."""


def file_table(release: ReleaseView) -> "pa.Table":
    """Keys, each answer with its errors, and what the table is thought to have."""
    table = side_by_side(release.table, release.errors, len(release.keys))
    for name, numbers in release.about.items():
        if about_name(name) not in table.column_names:
            place = table.column_names.index(error_names(name)[-1]) + 1
            table = table.add_column(place, about_name(name), numbers)
    return table


def whole_names(holds: Mapping[str, str]) -> tuple[str, ...]:
    """Return the answers whose intervals hold the figures of the whole table.

    >>> whole_names({"n": "of the table", "days": "of the table, clamped"})
    ('n', 'days')
    """
    return tuple(name for name in holds if holds[name] not in {NOISE, POPULATION})


def about_name(name: str) -> str:
    """Return the name of the column of what the table is thought to have.

    >>> about_name("n")
    'n about'
    """
    return f"{name} about"


def coverage_table(
    purchase: Purchase, answers: "Sequence[pa.Table]"
) -> "pa.Table | None":
    """Return noisy counts of what was left out, None where they were not asked for."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    if purchase.plan.request.coverage is None:
        return None
    counts = tuple(purchase.plan.coverage.values())
    noisy = [
        _noisy(purchase, count, exact)
        for count, exact in zip(counts, exact_counts(counts, answers), strict=True)
    ]
    numbers = [values[0] for values, _ in noisy]
    ends = [np.array([float(bars[end][0]) for _, bars in noisy]) for end in range(3)]
    return pa.table({
        "kind": pa.array([count.kind for count in counts], pa.string()),
        "what": pa.array([count.what for count in counts], pa.string()),
        "counted": pa.array([count.unit for count in counts], pa.string()),
        "count": pa.array(numbers, pa.int64()),
        **{
            name: pa.array(values, pa.float64())
            for name, values in zip(("sd", "low", "high"), ends, strict=True)
        },
    })


def _noisy(purchase: Purchase, count: Counted, exact: int) -> tuple[Numbers, Bars]:
    measurement = count.measurement
    mechanism = purchase.coverage[measurement.key]
    (values,) = draw(measurement, mechanism, [np.array([exact])], Bits())
    noise, confidence = measurement.noise(mechanism), purchase.plan.request.confidence
    # exact counts are never below 0
    return values, additive(values, noise, confidence, 0)


def coverage_lines(coverage: "pa.Table | None") -> Iterator[str]:
    """Yield a line for each count: what, about how many, and its interval."""
    for row in [] if coverage is None else coverage.to_pylist():
        low, high = (formatting.format_number(row[end]) for end in ("low", "high"))
        name = f"{formatting.format_key(row['what'])} {row['kind']} ({row['counted']})"
        # only the noise can be below 0
        yield f"{name}: about {max(row['count'], 0):,} ({low} to {high})"


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
    ranks: str = ""
    """In how many rows it stands too far up, of a value that was chosen by its rank."""


@final
class RowTexts(NamedTuple):
    """A group: its key and its figures."""

    keys: tuple[str, ...]
    figures: tuple[Figure, ...]


def row_texts(release: ReleaseView, most: int = MOST) -> list[RowTexts]:
    """Return the first rows."""
    table, errors = release.table.slice(0, most), release.errors.slice(0, most)
    # of all rows: what is shown of one is not to depend on which others are shown
    keys = [formatting.format_keys(release.table[k].to_pylist()) for k in release.keys]
    figures = [figure_texts(table, errors, name) for name in release.names]
    return [
        RowTexts(tuple(key[i] for key in keys), tuple(figure[i] for figure in figures))
        for i in range(table.num_rows)
    ]


def figure_texts(table: "pa.Table", errors: "pa.Table", name: str) -> list[Figure]:
    """Return the numbers of an aggregate."""
    names = names_among(name, errors.column_names)
    bars = [errors[part].to_pylist() for part in names[:3]]
    figures = list(map(_figure, table[name].to_pylist(), *bars))
    if not names[3:]:
        return figures
    ranks = map(_rank_text, *(errors[part].to_pylist() for part in names[3:]))
    # a value that was chosen has no more digits than it needs
    values = map(formatting.format_number, table[name].to_pylist())
    return [
        each._replace(value=value, ranks=text)
        for each, value, text in zip(figures, values, ranks, strict=True)
    ]


def _rank_text(low: float | None, high: float | None) -> str:
    """Write rows outward to whole ones."""
    if low is None or high is None or math.isinf(low) or math.isinf(high):
        return ""
    return f"{math.floor(low):,} to {math.ceil(high):,}"


def _figure(value: Any, *bars: float | None) -> Figure:
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
    if (sd is not None and not math.isnan(sd)) or low is None or high is None:
        return sd
    return (high - low) / 4


RANKS: Final = "in ranks"
"""Above the rows by which an answer stands too far up, as an interval."""
WIDEST: Final = 120
_PROSE: Final = 80
_LONGEST = 28
_ALL_KEYS = 60
_GAP = "  "


@final
class TextColumn(NamedTuple):
    """A heading above cells; numbers stand to the right."""

    heading: str
    cells: tuple[str, ...]
    is_number: bool

    @property
    def width(self) -> int:
        """Return the columns of the terminal that it takes."""
        return max(map(text_width, (self.heading, *self.cells)))

    def lines(self) -> list[str]:
        """Return the heading, a rule and the cells, all of one width."""
        size = self.width
        texts = [self.heading, "-" * size, *self.cells]
        blanks = [" " * (size - text_width(text)) for text in texts]
        if self.is_number:
            return [blank + text for blank, text in zip(blanks, texts, strict=True)]
        return [text + blank for blank, text in zip(blanks, texts, strict=True)]


def release_text(release: ReleaseView) -> str:
    """Return the table, what it leaves out, and its price."""
    shown = row_texts(release)
    columns, left_out = _fit(release, shown)
    lines = ["".join(_GAP + cell for cell in line) for line in _side_by_side(columns)]
    below = (
        f"... and {len(release) - len(shown):,} more rows" if shown else release.unshown
    )
    parts = [
        *(line[len(_GAP) :].rstrip() for line in lines),
        *[below][: not shown or len(release) > len(shown)],
        *left_out,
        *coverage_lines(release.coverage),
        *textwrap.wrap(release.limits, _PROSE, break_on_hyphens=False),
        f"price: {release.price}",
    ]
    return "\n".join(cut_text(part, WIDEST) for part in parts)


def interval_heading(confidence: Fraction, holds: str = NOISE) -> str:
    """Name what intervals hold: the error of the noise alone, or more.

    >>> interval_heading(Fraction(95, 100))
    '95% of the noise'
    """
    return f"{format_percent(confidence)} {holds}"


def _side_by_side(columns: list[TextColumn]) -> Iterable[tuple[str, ...]]:
    return zip(*(column.lines() for column in columns), strict=True)


def _fit(
    release: ReleaseView, shown: list[RowTexts]
) -> tuple[list[TextColumn], list[str]]:
    keys = _keys(release, shown)
    figures = [
        _aggregate(release, shown, index, name)
        for index, name in enumerate(release.names)
    ]
    for parts in (0, 1, 2):
        columns = [
            *keys,
            *(column for group in figures for column in group[: len(group) - parts]),
        ]
        if _total(columns) <= WIDEST:
            return columns, [_OMITTED[parts]] if parts and figures else []
    columns = [*keys, *(group[0] for group in figures)]
    ends = accumulate(column.width + len(_GAP) for column in columns)
    fitting = sum(end - len(_GAP) <= WIDEST for end in ends)
    columns = columns[: max(1, fitting)]
    hidden = len(keys) + len(figures) - len(columns)
    return columns, [f"... and {hidden} more columns: see release.table", _OMITTED[2]]


_OMITTED: Final = {
    1: "intervals: see release.errors",
    2: "standard deviations and intervals: see release.errors",
}


def _total(columns: list[TextColumn]) -> int:
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _keys(release: ReleaseView, shown: list[RowTexts]) -> list[TextColumn]:
    most = max(4, min(_LONGEST, _ALL_KEYS // max(1, len(release.keys))))
    return [
        TextColumn(
            cut_text(formatting.format_key(name), most),
            tuple(cut_text(row.keys[index], most) for row in shown),
            is_number=False,
        )
        for index, name in enumerate(release.keys)
    ]


def _aggregate(
    release: ReleaseView, shown: list[RowTexts], index: int, known_as: str
) -> list[TextColumn]:
    figures = [row.figures[index] for row in shown]
    name = cut_text(formatting.format_key(known_as), _LONGEST)
    share = interval_heading(release.confidence, release.figures[known_as])
    values = TextColumn(name, tuple(each.value for each in figures), is_number=True)
    if any(each.ranks for each in figures):
        interval = [each.interval for each in figures]
        ranks = TextColumn(RANKS, tuple(each.ranks for each in figures), is_number=True)
        beside = (
            [TextColumn(share, tuple(interval), is_number=True)]
            if any(interval)
            else []
        )
        return [values, *beside, ranks]
    if is_silent(figures):
        rank = release.ranks.get(known_as)
        off = (rank,) * len(figures) if rank else ()
        return [values, *[TextColumn(share, off, is_number=True)][: len(off)]]
    columns = [
        values,
        TextColumn("± sd", tuple(figure.sd for figure in figures), is_number=True),
        TextColumn(share, tuple(figure.interval for figure in figures), is_number=True),
    ]
    if known_as in release.about:
        about = about_texts(release, known_as, len(shown))
        columns.insert(1, TextColumn("about", tuple(about), is_number=True))
    return columns


def about_texts(release: ReleaseView, name: str, most: int) -> list[str]:
    """Texts of what the table is thought to have, in as many digits as answers."""
    sds = release.errors[error_names(name)[0]].slice(0, most).to_pylist()
    numbers = release.about[name].slice(0, most).to_pylist()
    return list(map(formatting.format_number, numbers, sds))


def is_silent(figures: Sequence[Figure]) -> bool:
    """Say whether no number of an answer has an error of its own."""
    return bool(figures) and not any(each.sd or each.interval for each in figures)
