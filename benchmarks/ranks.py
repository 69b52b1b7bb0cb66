"""How many ranks quantiles are off at epsilon 1, equal values aside, in the mean.

Ten known groups of 1e5 rows each, rows protected. A value among equal ones has all of
their ranks; another is off by the rows up to the nearest rank that was asked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure, Row

Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64]

SIZE: Final = 100_000
GROUPS: Final = 10
EPSILON: Final = sd.PureDP(1)


@final
@dataclass(frozen=True)
class Values:
    """A kind of values, and the bounds that are given for them."""

    drawn: Callable[[np.random.Generator, int], Numbers]
    low: int
    high: int


def _ages(rng: np.random.Generator, size: int) -> Numbers:
    """Return whole years from 0 to 94."""
    return rng.integers(0, 95, size)


def _zeros(rng: np.random.Generator, size: int) -> Numbers:
    """Return 40 % zeros and small whole numbers."""
    small = np.minimum(np.floor(rng.exponential(3, size)), 30).astype(np.int64)
    return np.where(rng.random(size) < 0.4, 0, small)


def _even(rng: np.random.Generator, size: int) -> Numbers:
    """Return values without ties, half of them from Beta(2, 5)."""
    half = np.arange(size) % 2 == 0
    return np.where(half, rng.beta(2, 5, size), rng.random(size))


AGES: Final = Values(_ages, 0, 120)
AGES_AS_FLOATS: Final = Values(lambda rng, n: _ages(rng, n).astype(float), 0, 120)
ZEROS: Final = Values(_zeros, 0, 30)
EVEN: Final = Values(_even, 0, 1)
WIDE: Final = Values(lambda rng, n: rng.lognormal(0, 1, n), 0, 10**6)
ELDERS: Final = Values(lambda rng, n: rng.integers(17, 91, n), 0, 1000)


def released(values: Values, asked: object) -> sd.Release:
    """Return an answer for each group."""
    groups = np.repeat(np.arange(GROUPS), SIZE)
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS)
    kind = "i64" if x.dtype.kind == "i" else "f64"
    facts = {"x": sd.Column(kind, nullable=False, nan=False)}
    rows = pa.table({"g": groups, "x": x})
    private = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, EPSILON)
    keys = sd.KeySet.from_dict({"g": list(range(GROUPS))})
    return session.release(sd.table("t").group_by(keys).agg(a=asked), EPSILON)


def off(values: Values, count: int) -> float:
    """Return by how many ranks so many even quantiles are off."""
    shares = [Fraction(i + 1, count + 1) for i in range(count)]
    release = released(values, sd.quantiles("x", shares, values.low, values.high))
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    x.sort(axis=1)
    wrong = []
    for name, share in zip(release.names, shares, strict=True):
        wanted = float(share) * SIZE
        for row, told in zip(x, release[name].to_pylist(), strict=True):
            below, upto = (np.searchsorted(row, told, side) for side in _SIDES)
            wrong.append(max(below - wanted, wanted - upto, 0.0))
    return float(np.mean(wrong))


_SIDES: Final = ("left", "right")


def beyond(values: Values) -> float:
    """Return how many rows lie beyond a greatest value, the mean of the groups."""
    release = released(values, sd.max("x", values.low, values.high))
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    told = np.array(release["a"].to_pylist())
    return float((x > told[:, None]).sum(axis=1).mean())


def aside(values: Values) -> float:
    """Return how far a greatest value is from the true one, the mean of the groups."""
    release = released(values, sd.max("x", values.low, values.high))
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    told = np.array(release["a"].to_pylist())
    return float(np.abs(told - x.max(axis=1)).mean())


def _figure(
    kind: str, values: Values, count: int, floor: float, goal: float | None
) -> Figure:
    """Return a row about so many quantiles."""
    word = "median" if count == 1 else f"{count} quantiles"
    what = f"{word} of {kind}, 1e5 rows, epsilon 1: ranks off"
    return Figure(
        what=what,
        figure=lambda: off(values, count),
        unit="ranks",
        floor=floor,
        goal=goal,
    )


ROWS: tuple[Row, ...] = (
    _figure("integer ages", AGES, 9, 1.5, 0.2),
    _figure("integer ages", AGES, 99, 1.5, 0.2),
    _figure("integer ages as floats", AGES_AS_FLOATS, 99, 1.5, 0.2),
    _figure("40 % zeros and small integers", ZEROS, 99, 1.5, 0.2),
    _figure("values without ties", EVEN, 1, 2, 1.2),
    _figure("values without ties", EVEN, 9, 7, 6),
    _figure("values without ties", EVEN, 99, 16, 14),
    _figure("lognormal values within [0, 1e6]", WIDE, 1, 15, 3),
    Figure(
        what="max of ages 17 to 90 within [0, 1000], epsilon 1: years off",
        figure=lambda: aside(ELDERS),
        unit="years",
        floor=2,
        goal=0.5,
    ),
    Figure(
        what="max of lognormal values within [0, 1e6], epsilon 1: rows beyond",
        figure=lambda: beyond(WIDE),
        unit="rows",
        floor=24,
        goal=16,
    ),
)
