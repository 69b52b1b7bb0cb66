"""Thresholded releases against NumPy, which protects nobody, and against OpenDP."""

from dataclasses import dataclass
from functools import cache
from typing import Any, final

import numpy as np
import pyarrow as pa

import sordino as sd
from benchmarks.frame import (
    Action,
    Figure,
    Measured,
    Prepare,
    Race,
    Row,
    cpu_seconds,
    duration,
    fastest,
)

MILLION = 1_000_000
FEW = 10_000
SCALE, THRESHOLD = 1.0, 20


@cache
def table(size: int, kind: str) -> pa.Table:
    """Return counts by user: text keys in no order, counts that fall like a power."""
    generator = np.random.default_rng(1)
    users = [f"user-{i:08d}" for i in generator.permutation(size)]
    counts = generator.zipf(1.7, size).clip(0, 10**6)
    return pa.table({"user": users, "n": counts.astype(kind)})


def ours(size: int, kind: str) -> Action:
    """Return one release of a table."""
    dtype = "f64" if kind == "f8" else "i64"
    mechanism = sd.LaplaceThreshold(SCALE, THRESHOLD, dtype=dtype)
    given = table(size, kind)
    return lambda: mechanism(given)


def filtered(kind: str) -> Action:
    """Return NumPy's noise and a filter, on the same arrays."""
    generator = np.random.default_rng()
    given = table(MILLION, kind)
    users, counts = given.column("user"), given.column("n").to_numpy()

    def release() -> pa.Table:
        noisy = counts + generator.laplace(0.0, SCALE, MILLION)
        kept = noisy >= THRESHOLD
        return pa.table([users.filter(pa.array(kept)), noisy[kept]], names=["k", "n"])

    return release


def opendp(kind: str) -> Action:
    """Return OpenDP's release of a dict; it costs the same for every key."""
    import opendp.prelude as dp  # noqa: PLC0415 an optional peer

    dp.enable_features("contrib")
    atom = (
        dp.atom_domain(T="i64") if kind == "i8" else dp.atom_domain(T="f64", nan=False)
    )
    space = dp.map_domain(dp.atom_domain(T=str), atom)
    metric = dp.l01inf_distance(
        dp.absolute_distance(T="i64" if kind == "i8" else "f64")
    )
    level: Any = THRESHOLD if kind == "i8" else float(THRESHOLD)
    mechanism = dp.m.make_laplace_threshold(space, metric, SCALE, level)
    rows = table(FEW, kind).to_pydict()
    given = dict(zip(rows["user"], rows["n"], strict=True))
    return lambda: mechanism(given)


@final
@dataclass(frozen=True, kw_only=True)
class PerKey:
    """Our time a key at a million keys, and OpenDP's at ten thousand, which grows."""

    what: str
    kind: str
    floor: float = 200.0
    goal: float = 1000.0

    def measure(self) -> Measured:
        """Take turns where the peer is there."""
        mine, theirs = ours(MILLION, self.kind), None
        try:
            spent, peer = fastest(mine, opendp(self.kind))
            theirs = peer / FEW
        except ImportError:
            (spent,) = fastest(mine)
        each = spent / MILLION
        return Measured(
            what=self.what,
            ours=duration(each),
            peer="OpenDP -" if theirs is None else f"OpenDP {duration(theirs)}",
            ratio=None if theirs is None else theirs / each,
            floor=self.floor,
            goal=self.goal,
            better="more",
        )


def microseconds_a_map() -> float:
    """Return the time of a privacy map whose arguments were never seen before."""
    mechanism, rounds = sd.LaplaceThreshold(SCALE, THRESHOLD), 2000
    arguments = iter([(i, 1.0, 1.0) for i in range(1, rounds + 1)])
    return cpu_seconds(lambda: mechanism.map(next(arguments)), rounds) / rounds * 1e6


def milliseconds_a_fit() -> float:
    """Return the time to solve scale and threshold for (epsilon, delta)."""
    budget, rounds = sd.ApproxDP(1, "1e-6"), 200
    fit = lambda: sd.LaplaceThreshold.for_loss(budget, (3, 3, 1))  # noqa: E731
    return cpu_seconds(fit, rounds) / rounds * 1e3


def over_numpy(what: str, kind: str) -> Race:
    """Return a row whose ratio is ours over NumPy's."""
    peer: Prepare = lambda: filtered(kind)  # noqa: E731
    return Race(
        what=f"{what} threshold, 1e6 Arrow keys, over NumPy noise + filter",
        ours=lambda: ours(MILLION, kind),
        peer=peer,
        against="NumPy",
        floor=3.0,
        items=MILLION,
    )


def over_opendp(what: str, kind: str) -> PerKey:
    """Return a row whose ratio is how many times faster than OpenDP's dict we are."""
    row = f"{what} threshold, 1e6 Arrow keys, faster than OpenDP's dict"
    return PerKey(what=row, kind=kind)


ROWS: tuple[Row, ...] = (
    over_numpy("integer", "i8"),
    over_numpy("float", "f8"),
    over_opendp("integer", "i8"),
    over_opendp("float", "f8"),
    Figure(
        what="a threshold's privacy map",
        figure=microseconds_a_map,
        unit="us",
        floor=100,
    ),
    Figure(
        what="scale and threshold solved", figure=milliseconds_a_fit, unit="ms", floor=1
    ),
)
