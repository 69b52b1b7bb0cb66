"""Exact noise against the insecure noise of NumPy, and against OpenDP."""

from typing import Any, Literal

import numpy as np

import sordino as sd
from benchmarks.frame import Action, Prepare, Race, Row

SCALE = 10
MILLION = 1_000_000
TEN_THOUSAND = 10_000


def ours(mechanism: Any, value: object) -> Action:
    """Return one call of a mechanism."""
    return lambda: mechanism(value)


def numpy_noise(name: Literal["laplace", "normal"]) -> Action:
    """Return NumPy's floating-point noise, which protects nobody."""
    generator = np.random.default_rng()
    draw = getattr(generator, name)
    return lambda: draw(0.0, SCALE, MILLION)


def opendp(
    maker: Literal["make_laplace", "make_gaussian"], kind: str, value: Any
) -> Action:
    """Return one call of OpenDP's measurement, on a scalar or on an array."""
    import opendp.prelude as dp  # noqa: PLC0415 an optional peer

    dp.enable_features("contrib")
    atom = (
        dp.atom_domain(T=kind) if kind == "i64" else dp.atom_domain(T=kind, nan=False)
    )
    apart = kind if maker == "make_laplace" else "f64"
    if isinstance(value, np.ndarray):
        norm = dp.l1_distance if maker == "make_laplace" else dp.l2_distance
        space = dp.vector_domain(atom), norm(T=apart)
    else:
        space = atom, dp.absolute_distance(T=apart)
    measurement = getattr(dp.m, maker)(*space, scale=float(SCALE))
    return lambda: measurement(value)


def over_numpy(
    what: str, mechanism: Prepare, name: Literal["laplace", "normal"], *limits: float
) -> Race:
    """Return a row at n = 1e6 whose ratio is ours over NumPy's."""
    floor, goal = limits
    return Race(
        what=f"{what}, n=1e6, over NumPy {name}",
        ours=mechanism,
        peer=lambda: numpy_noise(name),
        against="NumPy",
        floor=floor,
        goal=goal,
        items=MILLION,
    )


def over_opendp(
    what: str,
    mechanism: Prepare,
    peer: Prepare,
    items: int,
    floor: float,
    goal: float | None = None,
) -> Race:
    """Return a row whose ratio is how many times faster than OpenDP we are."""
    return Race(
        what=f"{what}, faster than OpenDP",
        ours=mechanism,
        peer=peer,
        against="OpenDP",
        floor=floor,
        goal=goal,
        better="more",
        items=items,
    )


INTEGERS = np.zeros(TEN_THOUSAND, np.int64)
FLOATS = np.zeros(TEN_THOUSAND)

ROWS: tuple[Row, ...] = (
    over_numpy(
        "integer Laplace",
        lambda: ours(sd.Geometric(SCALE), np.zeros(MILLION, np.int64)),
        "laplace",
        *(1.0, 0.7),
    ),
    over_numpy(
        "float Laplace",
        lambda: ours(sd.Laplace(SCALE), np.zeros(MILLION)),
        "laplace",
        *(4.0, 2.0),
    ),
    over_numpy(
        "integer Gaussian",
        lambda: ours(sd.DiscreteGaussian(scale=SCALE), np.zeros(MILLION, np.int64)),
        "normal",
        *(3.5, 1.2),
    ),
    over_numpy(
        "float Gaussian",
        lambda: ours(sd.Gaussian(scale=SCALE), np.zeros(MILLION)),
        "normal",
        *(6.0, 3.0),
    ),
    over_opendp(
        "integer Laplace, n=1e4",
        lambda: ours(sd.Geometric(SCALE), INTEGERS),
        lambda: opendp("make_laplace", "i64", INTEGERS),
        TEN_THOUSAND,
        floor=300,
    ),
    over_opendp(
        "float Laplace, n=1e4",
        lambda: ours(sd.Laplace(SCALE), FLOATS),
        lambda: opendp("make_laplace", "f64", FLOATS),
        TEN_THOUSAND,
        floor=300,
    ),
    over_opendp(
        "integer Gaussian, n=1e4",
        lambda: ours(sd.DiscreteGaussian(scale=SCALE), INTEGERS),
        lambda: opendp("make_gaussian", "i64", INTEGERS),
        TEN_THOUSAND,
        floor=150,
    ),
    over_opendp(
        "float Gaussian, n=1e4",
        lambda: ours(sd.Gaussian(scale=SCALE), FLOATS),
        lambda: opendp("make_gaussian", "f64", FLOATS),
        TEN_THOUSAND,
        floor=500,
    ),
    over_opendp(
        "one integer Laplace draw",
        lambda: ours(sd.Geometric(SCALE), 3),
        lambda: opendp("make_laplace", "i64", 3),
        1,
        floor=5,
        goal=25,
    ),
    over_opendp(
        "one float Laplace draw",
        lambda: ours(sd.Laplace(SCALE), 3.5),
        lambda: opendp("make_laplace", "f64", 3.5),
        1,
        floor=5,
        goal=25,
    ),
)
