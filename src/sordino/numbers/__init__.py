"""Exact numbers, and the only conversions to float: each names its direction.

A privacy parameter is a rational (`Fraction`), a root of a rational (`Radical`), or
infinity (`INFINITE`).

- `parameters` reads what a user wrote for a parameter;
- `radical` are the roots, `infinity` is the value that no number reaches;
- `rounding` turns exact numbers into doubles, in the direction that its name says;
- `numerals` writes them in messages;
- `precision` lends the digits with which enclosures are computed;
- `normal_law` is the normal law in doubles, with the error that it may have.

>>> up(exact(scale="0.1")) > exact(scale=0.1) > down(exact(scale="0.1"))
True
"""

from sordino.numbers.infinity import (
    INFINITE,
    Extended,
    Infinity,
    finite,
    product,
    root,
    total,
)
from sordino.numbers.numerals import number_text
from sordino.numbers.parameters import (
    Number,
    distance,
    exact,
    outcome,
    positive,
    probability,
)
from sordino.numbers.radical import Exact, Radical, sqrt
from sordino.numbers.rounding import (
    ball,
    down,
    floor_log2,
    fraction,
    rational_above,
    rounded_up,
    shortest,
    up,
)

__all__ = [
    "INFINITE",
    "Exact",
    "Extended",
    "Infinity",
    "Number",
    "Radical",
    "ball",
    "distance",
    "down",
    "exact",
    "finite",
    "floor_log2",
    "fraction",
    "number_text",
    "outcome",
    "positive",
    "probability",
    "product",
    "rational_above",
    "root",
    "rounded_up",
    "shortest",
    "sqrt",
    "total",
    "up",
]
