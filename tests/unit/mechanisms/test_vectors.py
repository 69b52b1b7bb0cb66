"""Maps and quantiles against numbers computed by others (tests/vectors)."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.numbers import exact, up
from tests.batches import for_each

VECTORS = Path(__file__).parents[2] / "vectors"
TUMULT: dict[str, Callable[[Any], Any]] = {
    "AddLaplaceNoise[float]": lambda scale: sd.Laplace(scale),
    "AddLaplaceNoise[int]": lambda scale: sd.Geometric(scale),
    "AddGeometricNoise": lambda scale: sd.Geometric(scale),
    "AddDiscreteGaussianNoise": lambda v: sd.DiscreteGaussian(variance=v),
    "AddGaussianNoise": lambda variance: sd.Gaussian(variance=variance),
}


def rows(section: str) -> list[Any]:
    core = json.loads((VECTORS / "noise_mechanisms.json").read_text())["core"]
    return [
        pytest.param(TUMULT[name], row, id=f"{name} {list(row.values())[1:4]}")
        for name in TUMULT
        for row in core[name][section]
    ]


def number(text: str) -> Any:
    """Read a number of the file; powers are written out for our parser."""
    return exact(
        number="1e30" if text == "10**30" else text.replace("/1" + "0" * 30, "/1e30")
    )


@for_each(("build", "row"), rows("privacy_function"))
def test_maps_are_exactly_the_closed_forms(
    build: Callable[[Any], Any], row: dict[str, Any]
) -> None:
    """The headline parameter equals the exact value found symbolically elsewhere."""
    if row["parameter"] == "0":
        mechanism = type(build(1)).no_noise()
    else:
        mechanism = build(number(row["parameter"]))
    loss = mechanism.map(number(row["d_in"]))
    ours = loss.epsilon if hasattr(loss, "epsilon") else loss.rho
    expected = row["d_out_exact"]
    assert ours == (math.inf if expected == "oo" else number(expected))


@for_each(("build", "row"), rows("inverse_cdf"))
def test_quantiles(build: Callable[[Any], Any], row: dict[str, Any]) -> None:
    """Quantiles agree to 1e-9; at the jumps of integer laws, with exact arithmetic.

    The reference computes integer quantiles in doubles from another convention: where
    it differs by one our value is checked against the exact distribution instead.
    """
    parameter, p = row["parameter"], row["p"]
    if "error" in row:
        with pytest.raises(sd.errors.InvalidParameter, match="p must lie between"):
            build(1).inverse_cdf(p)
        return
    if parameter in {"inf", "nan"} or float(parameter) < 0:
        with pytest.raises(sd.errors.InvalidParameter, match=r"scale|variance"):
            build(float(parameter))
        return
    mechanism = build(parameter) if parameter else type(build(1)).no_noise()
    ours, reference = mechanism.inverse_cdf(p), float(row["value"])
    if isinstance(ours, int) and ours != reference:
        assert mechanism.cdf(ours) >= p * (1 - 1e-14)
        assert mechanism.cdf(ours - 1) < p
        assert abs(ours - reference) <= 1
    else:
        assert ours == pytest.approx(reference, rel=1e-9, abs=1e-12)


def plain_rows() -> list[Any]:
    data = json.loads((VECTORS / "plain_noise_maps.json").read_text())
    return [pytest.param(row, id=row["id"]) for row in data["rows"] if row["ok"]]


def build_plain(row: dict[str, Any]) -> Any:
    """Return our mechanism for a row of the reference: its floats are binary."""
    scale = Fraction(float(row["scale"]))
    is_float = row["T"].startswith("f")
    laplace = row["fn"] == "make_laplace"
    kind: Any = {
        (True, True): sd.Laplace,
        (True, False): sd.Geometric,
        (False, True): sd.Gaussian,
        (False, False): sd.DiscreteGaussian,
    }[laplace, is_float]
    grid = {"granularity": row["k"]} if is_float else {}
    if scale == 0:
        return kind.no_noise(dtype=row["T"], **grid)
    if laplace:
        return kind(scale, dtype=row["T"], **grid)
    return kind(scale=scale, dtype=row["T"], **grid)


@for_each("row", plain_rows())
def test_plain_maps(row: dict[str, Any]) -> None:
    mechanism = build_plain(row)
    size = row["size"] if row["shape"] == "vector" else 1
    d_in = Fraction(row["d_in"])
    if row["k"] is not None:
        norm = "l1" if row["fn"] == "make_laplace" else "l2"
        loss = mechanism.map(sd.Sensitivity(l0=size, **{norm: d_in}))
    else:
        loss = mechanism.map(d_in)
    ours = loss.epsilon if row["fn"] == "make_laplace" else loss.rho
    scale = Fraction(float(row["scale"]))
    if scale:
        bare = d_in / scale if row["fn"] == "make_laplace" else (d_in / scale) ** 2 / 2
        assert ours >= bare
        assert row["k"] is not None or ours == bare
    assert up(ours) <= float(row["out"])
