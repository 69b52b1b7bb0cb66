"""How the demonstration is set: titles, sentences, tables and numbers."""

import math
import re
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

WIDEST = 80
_BOUNDS = re.compile(r", (?=Max)")
_VERBS = re.compile(r"\.(?=(?:filter|enforce|group_by|agg)\()")


def print_heading(console: Console, title: str, why: str) -> None:
    """Set a title on a line of its own, and below it why the scene is there."""
    console.print()
    console.rule(f"[bold]{title}[/]", align="left", style="dim")
    console.print(why)
    console.print()


def print_indented(console: Console, text: str) -> None:
    """Set a text two columns to the right, as it stands."""
    console.print(Padding(Text(text), (0, 0, 0, 2)))


def query_text(query: Any) -> str:
    """Return a query as it was written, a step on each line.

    >>> import sordino as sd
    >>> print(query_text(sd.table("visits").agg(n=sd.count())))
    table('visits')
      .agg(n=count())
    """
    return _BOUNDS.sub(",\n           ", _VERBS.sub("\n  .", repr(query)))


def columns(*headings: str, wide: int = 0) -> Table:
    """Return an empty table: text on the left, numbers on the right."""
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    table.add_column(headings[0], min_width=wide)
    for title in headings[1:]:
        table.add_column(title, justify="right")
    return table


def pair_table(rows: Iterable[tuple[str, str]]) -> Table:
    """Return labels with what belongs to them."""
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(style="dim", width=11)
    table.add_column()
    for label, text in rows:
        table.add_row(label, text)
    return table


def short_number(value: float) -> str:
    """Return a count in full, or an amount to the hundredth.

    >>> short_number(12345), short_number(12345.678)
    ('12,345', '12,345.68')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def rounded_up_text(value: Any) -> str:
    """Return two digits of a small number, rounded up."""
    digits = Decimal(math.nextafter(float(value), 1))
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(digits):.1e}"


def hundredths(value: float) -> str:
    """Return a number rounded up to the hundredth."""
    return f"{math.ceil(100 * value) / 100:.2f}"
