"""Exact numbers, and the only conversions to float: each names its direction.

A privacy parameter is a rational (`Fraction`), a root of a rational (`Radical`), or
infinity (`INFINITE`).

- `arguments` reads what a user wrote for an argument, or refuses it by its name
- `exact`: roots of rationals; `rounding`: exact numbers as doubles, in the direction
  that its functions name; `normal`: the normal law in doubles, with its error
- `canonical`: the words of a request, for ever; `frozen`: values that stay as they are
- `formatting`, `calendar`, `arrays`, `progress`: what people read, and small borders
- `views`: the door by which a value finds its page in the office

>>> up(exact(scale="0.1")) > exact(scale=0.1) > down(exact(scale="0.1"))
True

Kernel: mathematics.

What holds here: docs/law/numbers.md.
"""

from sordino.numbers.arguments import (
    Number,
    distance,
    exact,
    outcome,
    positive,
    probability,
)
from sordino.numbers.exact import Exact, Radical, sqrt
from sordino.numbers.rounding import (
    INFINITE,
    Extended,
    Infinity,
    ball,
    down,
    finite,
    floor_log2,
    fraction,
    number_text,
    product,
    rational_above,
    root,
    rounded_up,
    shortest,
    total,
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
