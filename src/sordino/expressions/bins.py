"""Bins: ranges with names; numbers as whole steps of a public lattice.

steps(x) = floor(min(max(x, low * 2^e), high * 2^e) / 2^e + 1/2) - origin

And the three nonnegative integers into which a number is divided for its square (see
docs/proofs/moments.md, lemma 1): with k = steps(x), W = high - low and m = 2^finer,

portion 2 = floor(k^2 m / W), portion 1 = 2 (k m - portion 2), portion 0 = W m - both

Kernel: totals.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.expressions import tree
from sordino.expressions.literals import LEAST, MOST, Fluent, lift, literal
from sordino.expressions.logic import order
from sordino.expressions.schema import NUMBERS, Column
from sordino.expressions.tree import (
    AbstractExpression,
    AbstractTree,
    Argument,
    Call,
    Literal,
    Operation,
    Value,
    receiver,
)
from sordino.numbers import arguments as _validate
from sordino.numbers.canonical import Words, call
from sordino.numbers.double_grid import DoubleGrid, bin_of_double
from sordino.numbers.frozen import fill, hides

MOST_BINS: Final = 1_000
_REMEDY: Final = "Use edges of the type of the column, or cast it."


@hides("labels", "words")
@final
@dataclass(frozen=True)
class Bins:
    """Ranges between ascending edges: [0, 10), [10, 20), ..., [90, 100].

    | | |
    |---|---|
    | an edge | belongs to the range above it; with `right` to the range below |
    | the outermost edges | belong to their ranges, unless include_ends=False |
    | outside, missing, NaN | in no range |

    >>> Bins([0, 18, 65, 120]).labels
    ('[0, 18)', '[18, 65)', '[65, 120]')
    >>> Bins([0, 18, 65], names=["young", "grown"]).labels
    ('young', 'grown')
    """

    edges: Sequence[Any]
    names: Sequence[str] | None = None
    right: bool = False
    include_ends: bool = True
    labels: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The names of the ranges, in order."""
    type: str = field(init=False, repr=False, compare=False)
    """The type of the edges: i64, f64, date or time."""

    def __post_init__(self) -> None:
        for name, value in (("right", self.right), ("include_ends", self.include_ends)):
            if not isinstance(value, bool):
                raise InvalidParameter(
                    name, value, "must be True or False", f"Try {name}=True."
                )
        kind, edges = _edges(self.edges)
        names = None if self.names is None else _names(self.names, len(edges) - 1)
        fill(self, type=kind, edges=edges, names=names)
        fill(self, labels=names or self._ranges())

    @property
    def words(self) -> Words:
        """Return the edges and what they are called; ranges without names are alike."""
        return call(
            "bins",
            edges=[Literal(self.type, edge).words for edge in self.edges],
            names=None if self.names is None else list(self.names),
            right=self.right,
            include_ends=self.include_ends,
        )

    def opens(self, place: int) -> bool:
        """Tell whether an edge belongs to the range above it."""
        if self.include_ends and place in (0, len(self.edges) - 1):
            return place == 0
        return not self.right

    def label(self, value: Value) -> str | None:
        """Return the name of the range of a value.

        >>> Bins([0, 18, 65]).label(18), Bins([0, 18, 65]).label(66)
        ('[18, 65]', None)
        """
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        passed = sum(self._passes(value, place) for place in range(len(self.edges)))
        return self.labels[passed - 1] if 0 < passed < len(self.edges) else None

    def _passes(self, value: Value, place: int) -> bool:
        sign = order(value, self.edges[place])
        return sign > 0 or (sign == 0 and self.opens(place))

    def _ranges(self) -> tuple[str, ...]:
        return tuple(
            f"{'[' if self.opens(place) else '('}{low}, {high}"
            f"{')' if self.opens(place + 1) else ']'}"
            for place, (low, high) in enumerate(itertools.pairwise(self.edges))
        )


def _edges(edges: Any) -> tuple[str, tuple[Value, ...]]:
    if not _is_list(edges):
        raise InvalidParameter("edges", edges, "must be a list", "Try [0, 10, 20].")
    read = [literal(edge) for edge in edges]
    if not 2 <= len(read) <= MOST_BINS + 1:
        raise InvalidParameter(
            "edges",
            f"{len(read)} of them",
            f"must have 2 to {MOST_BINS + 1} entries",
            "Try [0, 10, 20].",
        )
    kind = _kind(edges, read)
    values = [float(end.constant) if kind == "f64" else end.constant for end in read]
    if any(not low < high for low, high in itertools.pairwise(values)):
        raise InvalidParameter(
            "edges", edges, "must be in ascending order, without repeats", "Sort them."
        )
    return kind, tuple(values)


def _is_list(values: Any) -> bool:
    # an array of no dimension says that it is iterable, and is not
    is_one = isinstance(values, str) or getattr(values, "shape", None) == ()
    return isinstance(values, Iterable) and not is_one


def _kind(edges: Any, read: list[Literal]) -> str:
    kinds = {edge.type for edge in read}
    if kinds <= set(NUMBERS):
        return "f64" if "f64" in kinds else "i64"
    if len(kinds) > 1 or not kinds <= {"date", "time"}:
        raise InvalidParameter(
            "edges", edges, "must be numbers, dates or times", "Use values of one type."
        )
    return kinds.pop()


def _names(names: Any, count: int) -> tuple[str, ...]:
    listed = tuple(names) if _is_list(names) else ()
    read = tuple(literal(name).constant for name in listed)
    texts = all(isinstance(name, str) for name in read)
    if not texts or len(read) != count or len(set(read)) != count:
        raise InvalidParameter(
            "names",
            names,
            f"must be {count} different texts",
            "Give one for each range.",
        )
    return read


def _facts(argument: Argument, *ends: Argument, bins: Bins) -> Column:
    tree.comparable("bin", (argument, *ends[: len(bins.edges)]), _REMEDY)
    unsettled = argument.column.unsettled
    return Column("text", nullable=True, unsettled=unsettled, labels=bins.labels)


def _meaning(value: Value, *ends: Value, bins: Bins) -> Value:
    del ends
    return bins.label(value)


def _text(arguments: Sequence[AbstractTree], bins: Bins) -> str:
    edges = ", ".join(map(str, arguments[1 : len(bins.edges) + 1]))
    return f"{receiver(arguments[0])}.bin([{edges}])"


def _words(arguments: Sequence[AbstractTree], bins: Bins) -> Words:
    return call("bin", of=[arguments[0].words], bins=bins.words)


BIN: Final = Operation("bin", _facts, _meaning, copies=None, text=_text, words=_words)


def bin_(self: Fluent, bins: Bins | Sequence[Any]) -> Fluent:
    """Return the label of the range in which the value lies; missing if in none.

    >>> from sordino.expressions.language import col
    >>> age = col("age").bin([0, 18, 65, 120])
    >>> age.value({"age": 18}), age.value({"age": 130})
    ('[18, 65)', None)
    """
    known = bins if isinstance(bins, Bins) else Bins(bins)
    edges = (Literal(known.type, edge) for edge in known.edges)
    names = (Literal("text", label) for label in known.labels)
    return self.call(BIN, self, *edges, *names, bins=known)


FARTHEST: Final = 2**40
"""The most steps on either side: their sums stay exact, and each is a double."""
WIDEST: Final = 2**31
"""The most steps whose square fits into 64 bits."""
_LONGEST_PORTION: Final = 31
"""Finer portions than of so many bits could have squares beyond 64 bits."""
STEEPEST: Final = 960
"""Beyond this exponent the ends of a lattice need not be doubles."""


def _step_facts(
    argument: Argument, low: int, high: int, exponent: int, origin: int = 0
) -> Column:
    del low, high, exponent, origin
    tree.require_types("steps", (argument,), NUMBERS, 'Try .cast("f64").')
    lost = "NaN is not on a lattice" if argument.column.nan else None
    return tree.result("i64", (argument,), lost=lost)


def _step_meaning(
    number: Value, low: int, high: int, exponent: int, origin: int = 0
) -> Value:
    if isinstance(number, int):
        return _of_integer(number, low, high, exponent) - origin
    if math.isnan(number):
        return None
    first, last = math.ldexp(low, exponent), math.ldexp(high, exponent)
    steps_up = min(max(number, first), last) * math.ldexp(1, -exponent)
    return math.floor(steps_up + 0.5) - origin


def _of_integer(number: int, low: int, high: int, exponent: int) -> int:
    if exponent <= 0:
        return min(max(number << -exponent, low), high)
    return min(max((number + (1 << exponent - 1)) >> exponent, low), high)


def _portion_facts(
    argument: Argument, low: int, high: int, exponent: int, place: int, finer: int
) -> Column:
    del place, finer
    return _step_facts(argument, low, high, exponent)


def _portion(
    number: Value, low: int, high: int, exponent: int, place: int, finer: int
) -> Value:
    steps = _step_meaning(number, low, high, exponent, low)
    if not isinstance(steps, int):
        return None
    width = high - low
    height = steps if place else width - steps
    square = (height * height << finer) // width
    return 2 * ((height << finer) - square) if place == 1 else square


def _step_cell(
    _of: Sequence[AbstractTree], low: int, high: int, exponent: int, origin: int = 0
) -> Words:
    del exponent
    return {"steps": [low, high, origin]}


def _portion_cell(
    _of: Sequence[AbstractTree],
    low: int,
    high: int,
    exponent: int,
    place: int,
    finer: int,
) -> Words:
    del exponent
    return {"portion": [high - low, place, finer]}


STEPS: Final = Operation("steps", _step_facts, _step_meaning, copies=4, cell=_step_cell)
PORTION: Final = Operation(
    "portion", _portion_facts, _portion, copies=12, cell=_portion_cell
)


def steps(
    expression: AbstractExpression, low: int, high: int, exponent: int, origin: int = 0
) -> AbstractExpression:
    """Return how many steps of 2**exponent a number is, within [low, high].

    They are counted from an origin, given in steps.

    Halves go up. Infinities are at the ends; missing and NaN are missing. For an i64
    this is exact, for an f64 it is floor(x * 2**-exponent + 0.5) in doubles.

    >>> from sordino.expressions.language import col
    >>> money = steps(col("x"), 0, 400, -2)
    >>> [money.value({"x": x}) for x in (1.3, -5.0, math.inf, math.nan, 99)]
    [5, 0, 400, None, 396]
    """
    _validate.integer(low=low, least=-FARTHEST, most=FARTHEST)
    _validate.integer(high=high, least=low, most=FARTHEST)
    _validate.integer(exponent=exponent, least=-STEEPEST, most=STEEPEST)
    _validate.integer(origin=origin, least=-FARTHEST, most=FARTHEST)
    options = {"low": int(low), "high": int(high), "exponent": int(exponent)}
    if origin:
        options["origin"] = int(origin)
    return Call(STEPS, (lift(expression),), options)


def portion(
    expression: AbstractExpression,
    low: int,
    high: int,
    exponent: int,
    place: int,
    finer: int,
) -> AbstractExpression:
    """Return one of the integers whose sum is (high - low) 2**finer for every number.

    >>> from sordino.expressions.language import col
    >>> parts = [portion(col("x"), 0, 8, 0, place, 3) for place in (0, 1, 2)]
    >>> [[part.value({"x": x}) for part in parts] for x in (0, 3, 8)]
    [[64, 0, 0], [25, 30, 9], [0, 0, 64]]
    """
    wide = _validate.integer(high=high, least=low + 1, most=FARTHEST) - low
    finest = max(0, _LONGEST_PORTION - wide.bit_length())
    options = {
        "low": _validate.integer(low=low, least=-FARTHEST, most=FARTHEST),
        "high": int(high),
        "exponent": _validate.integer(
            exponent=exponent, least=-STEEPEST, most=STEEPEST
        ),
        "place": _validate.integer(place=place, least=0, most=2),
        "finer": _validate.integer(finer=finer, least=0, most=finest),
    }
    _validate.integer(width=wide, least=1, most=WIDEST)
    return Call(PORTION, (lift(expression),), options)


def thresholds(low: int, high: int, exponent: int) -> tuple[int, int]:
    """Return up to where an i64 has `low` steps, and from where it has `high`.

    Both are within 64 bits or one beyond.

    >>> thresholds(-3, 5, -1), thresholds(1, 2**40, 40)
    ((-2, 3), (1099511627776, 9223372036854775808))
    """
    if exponent < 0:
        first, last = low >> -exponent, -(-high >> -exponent)
    else:
        first, last = low << exponent, high << exponent
    return min(max(first, LEAST - 1), MOST), max(min(last, MOST + 1), LEAST)


def _double_bin_facts(
    argument: Argument, low: float, high: float, digits: int, least: int
) -> Column:
    del low, high, digits, least
    tree.require_types("double_bin", (argument,), ("f64",), 'Try .cast("f64").')
    lost = "NaN is in no bin" if argument.column.nan else None
    return tree.result("i64", (argument,), lost=lost)


def _double_bin(
    number: Value, low: float, high: float, digits: int, least: int
) -> Value:
    if math.isnan(number):
        return None
    within = min(max(number, low), high)
    first = bin_of_double(low, digits, least)
    return bin_of_double(within, digits, least) - first


DOUBLE_BIN: Final = Operation("double_bin", _double_bin_facts, _double_bin, copies=4)


def double_bin(expression: AbstractExpression, grid: DoubleGrid) -> AbstractExpression:
    """Return the bin of a double, moved to the bounds, from that of the lower one on.

    Missing and NaN have none.

    >>> from sordino.expressions.language import col
    >>> place = double_bin(col("x"), DoubleGrid.of_bounds(0.0, 1.0))
    >>> place.value({"x": 0.5}) - place.value({"x": 0.25}) == 2**49
    True
    """
    ends = {"low": grid.low, "high": grid.high}
    options = {**ends, "digits": grid.digits, "least": grid.least}
    return Call(DOUBLE_BIN, (lift(expression),), options)


OPERATIONS: Final = (
    BIN,
    STEPS,
    PORTION,
    DOUBLE_BIN,
)
