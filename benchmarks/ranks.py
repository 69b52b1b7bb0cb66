"""How many ranks quantiles are off at epsilon 1, equal values aside, in the mean.

Ten known groups of 1e5 rows each, rows protected. A value among equal ones has all of
their ranks; another is off by the rows up to the nearest rank that was asked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, Final, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from benchmarks.frame import Figure, Row

Numbers: TypeAlias = NDArray[np.float64] | NDArray[np.int64]

SIZE: Final = 100_000
GROUPS: Final = 10
EPSILON: Final = sd.PureDP(1)
REPEATS: Final = 3
NINE: Final = 9
FEW: Final = 20
"""Fewer quantiles than these are asked several times."""
PEER: Final = "PipelineDP"


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
FAR: Final = Values(lambda rng, n: rng.normal(10**9, 1, n), 0, 10**12)
TINY: Final = Values(lambda rng, n: rng.lognormal(0, 1, n) * 1e-9, -(10**12), 10**12)
ELDERS: Final = Values(lambda rng, n: rng.integers(17, 91, n), 0, 1000)


def opened(values: Values) -> sd.Session:
    """Return a session over the rows of all groups, for some releases."""
    groups = np.repeat(np.arange(GROUPS), SIZE)
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS)
    kind = "i64" if x.dtype.kind == "i" else "f64"
    facts = {"x": sd.Column(kind, nullable=False, nan=False)}
    rows = pa.table({"g": groups, "x": x})
    private = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    return sd.Session({"t": private}, sd.PureDP(REPEATS))


def released(session: sd.Session, asked: Any) -> sd.Release:
    """Return an answer for each group."""
    keys = sd.KeySet.from_dict({"g": list(range(GROUPS))})
    return session.release(sd.table("t").group_by(keys).agg(a=asked), EPSILON)


def off(values: Values, count: int) -> float:
    """Return by how many ranks so many even quantiles are off.

    Few of them are asked several times: their errors differ more in the mean.
    """
    shares = [Fraction(i + 1, count + 1) for i in range(count)]
    asked = sd.quantiles("x", shares, values.low, values.high)
    session = opened(values)
    wrong = []
    for _ in range(REPEATS if count < FEW else 1):
        release = released(session, asked)
        told = [release[name].to_pylist() for name in release.names]
        wrong.append(ranks_off(values, told))
    return float(np.mean(wrong))


def ranks_off(values: Values, told: list[list[float]]) -> float:
    """Return by how many ranks answers are off, of each quantile for each group."""
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    x.sort(axis=1)
    wrong = []
    for place, answers in enumerate(told):
        wanted = (place + 1) / (len(told) + 1) * SIZE
        for row, answer in zip(x, answers, strict=False):
            below, upto = (np.searchsorted(row, answer, side) for side in _SIDES)
            wrong.append(max(below - wanted, wanted - upto, 0.0))
    return float(np.mean(wrong))


def peer_off(values: Values, count: int) -> float:
    """Return by how many ranks the quantiles of PipelineDP are off, of one group.

    It tells every unit's rows one by one in Python: a second for 1e5 of them.
    """
    import pipeline_dp as peer  # noqa: PLC0415 a peer, measured where it is installed

    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS)[:SIZE]
    rows = [(place, 0, value) for place, value in enumerate(x.tolist())]
    spent = peer.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
    percents = [100 * (i + 1) / (count + 1) for i in range(count)]
    asked = peer.AggregateParams(
        noise_kind=peer.NoiseKind.LAPLACE,
        metrics=[peer.Metrics.PERCENTILE(one) for one in percents],
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        min_value=values.low,
        max_value=values.high,
    )
    read = peer.DataExtractors(
        privacy_id_extractor=itemgetter(0),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(2),
    )
    engine = peer.DPEngine(spent, peer.LocalBackend())
    answer = engine.aggregate(rows, asked, read, public_partitions=[0])
    spent.compute_budgets()
    ((_, told),) = list(answer)
    whole = x.dtype.kind == "i"  # its answers are not: the reader rounds them
    return ranks_off(values, [[round(one) if whole else one] for one in told])


_SIDES: Final = ("left", "right")


def beyond(values: Values) -> float:
    """Return how many rows lie beyond a greatest value, the mean of the groups."""
    release = released(opened(values), sd.max("x", values.low, values.high))
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    told = np.array(release["a"].to_pylist())
    return float((x > told[:, None]).sum(axis=1).mean())


def aside(values: Values) -> float:
    """Return how far a greatest value is from the true one, the mean of the groups."""
    release = released(opened(values), sd.max("x", values.low, values.high))
    x = values.drawn(np.random.default_rng(2), SIZE * GROUPS).reshape(GROUPS, -1)
    told = np.array(release["a"].to_pylist())
    return float(np.abs(told - x.max(axis=1)).mean())


def _figure(
    kind: str, values: Values, count: int, floor: float, goal: float | None
) -> Figure:
    """Return a row about so many quantiles, nine or more beside the peer."""
    word = "median" if count == 1 else f"{count} quantiles"
    what = f"{word} of {kind}, 1e5 rows, epsilon 1: ranks off"
    return Figure(
        what=what,
        figure=lambda: off(values, count),
        unit="ranks",
        floor=floor,
        goal=goal,
        peer=partial(peer_off, values, count) if count >= NINE else None,
        against=PEER,
    )


ROWS: tuple[Row, ...] = (
    _figure("integer ages", AGES, 9, 1.5, 0.2),
    _figure("integer ages", AGES, 99, 1.5, 0.2),
    _figure("integer ages as floats", AGES_AS_FLOATS, 99, 1.5, 0.2),
    _figure("40 % zeros and small integers", ZEROS, 99, 1.5, 0.2),
    _figure("values without ties", EVEN, 1, 2, 1.2),
    _figure("values without ties", EVEN, 9, 7, 6),
    _figure("values without ties", EVEN, 99, 16, 14),
    _figure("lognormal values within [0, 1e6]", WIDE, 1, 10, 3),
    _figure("values around 1e9 within [0, 1e12]", FAR, 1, 10, 3),
    _figure("values around 1e-9 within [-1e12, 1e12]", TINY, 1, 10, 3),
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
