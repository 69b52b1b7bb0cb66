"""A release as a table for terminals, within 100 columns and 20 rows."""

from collections.abc import Iterable
from itertools import accumulate
from typing import Final, NamedTuple, final

from sordino.display import formatting
from sordino.display.formatting import cut_text, format_percent, text_width
from sordino.release.cell_texts import RowTexts, row_texts
from sordino.release.coverage_table import coverage_lines
from sordino.release.release_view import ReleaseView

WIDEST: Final = 100
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
    below = f"... and {len(release) - len(shown):,} more rows" if shown else "no rows"
    parts = [
        *(line[len(_GAP) :].rstrip() for line in lines),
        *[below][: not shown or len(release) > len(shown)],
        *left_out,
        *coverage_lines(release.coverage),
        f"price: {release.price}",
    ]
    return "\n".join(cut_text(part, WIDEST) for part in parts)


def _side_by_side(columns: list[TextColumn]) -> Iterable[tuple[str, ...]]:
    """Return the lines of all columns, side by side."""
    return zip(*(column.lines() for column in columns), strict=True)


def _fit(
    release: ReleaseView, shown: list[RowTexts]
) -> tuple[list[TextColumn], list[str]]:
    """Return the fullest columns that fit, and sentences on what did not."""
    keys = _keys(release, shown)
    figures = [
        _aggregate(release, shown, index, name)
        for index, name in enumerate(release.names)
    ]
    for parts in (3, 2, 1):
        columns = [*keys, *(column for group in figures for column in group[:parts])]
        if _total(columns) <= WIDEST:
            return columns, [_OMITTED[parts]] if parts < 3 and figures else []
    columns = [*keys, *(group[0] for group in figures)]
    ends = accumulate(column.width + len(_GAP) for column in columns)
    fitting = sum(end - len(_GAP) <= WIDEST for end in ends)
    columns = columns[: max(1, fitting)]
    hidden = len(keys) + len(figures) - len(columns)
    return columns, [f"... and {hidden} more columns: see release.table", _OMITTED[1]]


_OMITTED: Final = {
    2: "intervals: see release.errors",
    1: "standard deviations and intervals: see release.errors",
}


def _total(columns: list[TextColumn]) -> int:
    """Return the width of columns side by side."""
    return sum(column.width for column in columns) + len(_GAP) * (len(columns) - 1)


def _keys(release: ReleaseView, shown: list[RowTexts]) -> list[TextColumn]:
    """Return the columns of the keys; long ones are cut, more so if they are many."""
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
    """Return the values of an aggregate, their deviations and their intervals."""
    figures = [row.figures[index] for row in shown]
    name = cut_text(formatting.format_key(known_as), _LONGEST)
    share = f"{format_percent(release.confidence)} interval"
    return [
        TextColumn(name, tuple(figure.value for figure in figures), is_number=True),
        TextColumn("± sd", tuple(figure.sd for figure in figures), is_number=True),
        TextColumn(share, tuple(figure.interval for figure in figures), is_number=True),
    ]
