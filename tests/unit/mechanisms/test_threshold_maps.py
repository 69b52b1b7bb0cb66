"""Privacy maps of thresholded releases: against others' numbers, and their laws."""

import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.noise.threshold.mechanism import AbstractThresholdMechanism
from sordino.numbers import up
from tests.batches import for_each, sampled

VECTORS = Path(__file__).parents[2] / "vectors/threshold_maps.json"
ROWS = json.loads(VECTORS.read_text(encoding="utf-8"))["rows"]
COMPUTED = [row for row in ROWS if "true_loss" in row]
STATED = 25
"""Digits to which the file states the truth."""


def double(value: Any) -> Any:
    """Return the very double of a number of the file, as its truth was computed.

    OpenDP takes a float at its binary value; we take it as its shortest decimal.
    """
    size = float(value)
    return Fraction(size) if math.isfinite(size) else size


def built(row: dict[str, Any]) -> AbstractThresholdMechanism:
    """Return the mechanism of a row of the file."""
    scale, threshold = double(row["scale"]), double(row["threshold"])
    options = {"dtype": row["T"], "granularity": row["k"]}
    if row["T"].startswith("i") and math.isfinite(threshold):
        threshold = int(row["threshold"])
    if "laplace" in row["fn"]:
        return sd.LaplaceThreshold(scale, threshold, **options)
    return sd.GaussianThreshold(scale=scale, threshold=threshold, **options)


def apart(row: dict[str, Any]) -> tuple[Any, ...]:
    keys, *norms = row["d_in"]
    return keys, *map(double, norms)


def truth(text: str) -> Fraction:
    """Read a decimal of the file; far below every double it is as good as 0."""
    found = Decimal(text.partition("e")[0])
    power = int(text.partition("e")[2] or 0)
    return Fraction(0) if power < -320 else Fraction(found) * Fraction(10) ** power


def exactly(value: Any) -> Fraction:
    return value if isinstance(value, Fraction) else Fraction(up(value))


def close(ours: Fraction, true: Fraction, least_step: Fraction) -> bool:
    """Tell whether a number is not below the truth and within 1e-12 of it."""
    lost_digits = true / 10 ** (STATED - 1)
    most = true * (1 + Fraction(1, 10**12)) + least_step
    return bool(true - lost_digits <= ours <= most)


@for_each("row", COMPUTED, ids=[row["id"] for row in COMPUTED])
def test_true_delta_and_loss(row: dict[str, Any]) -> None:
    if row["threshold"] == 0:
        with pytest.raises(sd.errors.InvalidParameter, match="must not be 0"):
            built(row)
        return
    loss = built(row).map(apart(row))
    spent = loss.epsilon if "laplace" in row["fn"] else loss.rho
    least = Fraction(5e-324)
    assert close(exactly(spent), truth(row["true_loss"]), least)
    if "true_delta_ge" in row:
        assert close(loss.delta, truth(row["true_delta_ge"]), least)
        if row["true_delta_ge"] == row["true_delta_gt"]:
            a_step_up = math.nextafter(float(row["out"][1]), math.inf)
            assert loss.delta <= Fraction(a_step_up)
            assert up(spent) <= float(row["out"][0])


@for_each("row", [row for row in ROWS if not row["ok"]], ids=itemgetter("id"))
def test_what_others_refuse(row: dict[str, Any]) -> None:
    """What the reference refuses is refused, or is a large delta, or needs no bound."""
    d_in: Any = tuple(float(x) if x == "nan" else x for x in row["d_in"])
    try:
        loss = built(row).map(d_in)
    except (sd.errors.InvalidParameter, TypeError):
        return
    assert loss.delta > Fraction(1, 2) or "inf" in row["d_in"]


def test_seed_page() -> None:
    """The seeds' page: floats agree, integers have the inclusive tail."""
    spread = (100, 10, 0.001)
    laplace = sd.LaplaceThreshold(1.0, 20.0)
    assert float(laplace.map((1, 1, 1)).delta) == pytest.approx(2.8013982187e-09, 1e-10)
    assert float(laplace.map(spread).epsilon) == pytest.approx(0.1, 1e-12)
    assert float(laplace.map(spread).delta) == pytest.approx(1.03160785e-07, 1e-8)
    whole = sd.LaplaceThreshold(1.0, 10, dtype="i32").map((1, 1, 1))
    assert float(whole.delta) == pytest.approx(9.0219796e-05, 1e-7)
    mirrored = sd.LaplaceThreshold(1.0, -10, dtype="i32").map((1, 1, 1))
    assert mirrored.delta == whole.delta


@for_each("keys", [1, 7, 10**6, 10**18])
@for_each("level", [30, 300, 690])
def test_delta_keeps_its_digits(keys: int, level: int) -> None:
    """Down to 1e-300 and up to 10**18 keys delta is the true one, rounded up."""
    import mpmath  # noqa: PLC0415 an oracle of this test alone

    with mpmath.workdps(60):
        chance = mpmath.exp(-(level - 1)) / 2
        exact = -mpmath.expm1(keys * mpmath.log1p(-chance))
        found = mpmath.mpf(
            float(sd.LaplaceThreshold(1, level).map((keys, keys, 1)).delta)
        )
        assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -51)


SIZES = st.fractions(min_value=Fraction(1, 50), max_value=9, max_denominator=60)
MORE = st.fractions(min_value=0, max_value=3, max_denominator=20)
MAKERS: dict[str, Callable[..., AbstractThresholdMechanism]] = {
    "Laplace": lambda s, t, **o: sd.LaplaceThreshold(s, t, **o),
    "Gaussian": lambda s, t, **o: sd.GaussianThreshold(scale=s, threshold=t, **o),
}
OPTIONS: list[dict[str, Any]] = [{}, {"dtype": "i32"}, {"granularity": -1}]


@sampled(2)
@for_each("options", OPTIONS, ids=str)
@for_each("kind", MAKERS)
@given(l0=st.integers(1, 50), whole=SIZES, linf=SIZES, more=st.tuples(MORE, MORE, MORE))
def test_monotone_in_distance(
    options: Any, kind: str, l0: int, whole: Any, linf: Any, more: Any
) -> None:
    mechanism = MAKERS[kind](2, 12, **options)
    before = mechanism.headline(mechanism.change((l0, whole, linf)))
    further = (l0 + int(more[0]), whole + more[1], linf + more[2])
    after = mechanism.headline(mechanism.change(further))
    assert after.delta >= before.delta
    assert up(parameter(after)) >= up(parameter(before))


def parameter(headline: Any) -> Any:
    known = headline.guarantees
    return known.rho if isinstance(known.epsilon, float) else known.epsilon


@for_each("options", OPTIONS, ids=str)
@for_each("kind", MAKERS)
@given(scale=SIZES, more=MORE, threshold=st.integers(2, 40), further=st.integers(0, 20))
def test_monotone_in_noise_and_threshold(
    options: Any, kind: str, scale: Any, more: Any, threshold: int, further: int
) -> None:
    distance = (3, 2, 1)
    loss = MAKERS[kind](scale, threshold, **options).map(distance)
    wide = MAKERS[kind](scale + more, threshold, **options).map(distance)
    far = MAKERS[kind](scale, threshold + further, **options).map(distance)
    assert up(wide.rho) <= up(loss.rho)
    assert far.delta <= loss.delta
    assert MAKERS[kind](scale, -threshold, **options).map(distance).delta == loss.delta


def test_redundant_sensitivities() -> None:
    """A bound that the others imply changes nothing; no change costs nothing."""
    mechanism = sd.LaplaceThreshold(1, 10, dtype="i64")
    assert mechanism.map((3, 100, 1)).epsilon == mechanism.map((3, 3, 1)).epsilon == 3
    assert mechanism.map((1, 1, 11)).delta == mechanism.map((1, 1, 1)).delta
    assert mechanism.map((3, "2.9", "1.9")).epsilon == 2
    for nothing in ((0, 1, 1), (1, 0, 1), (1, 1, 0), (4, "0.9", "0.9")):
        assert mechanism.map(nothing).headline == sd.ApproxDP(0, 0)
    asked = sd.Sensitivity(l0=3, linf=1)
    assert mechanism.map(asked).delta == mechanism.map((3, 3, 1)).delta


def test_threshold_within_reach() -> None:
    deltas = [float(sd.LaplaceThreshold(1, 2).map((1, s, s)).delta) for s in (1, 2, 3)]
    assert deltas == pytest.approx([math.exp(-1) / 2, 0.5, 1 - math.exp(-1) / 2])


def test_no_noise() -> None:
    for mechanism in (
        sd.LaplaceThreshold.no_noise("1/2"),
        sd.GaussianThreshold.no_noise("1/2"),
    ):
        assert mechanism.adds_no_noise
        assert math.isinf(mechanism.map((1, 1, 1)).guarantees.rho)
        assert mechanism({"a": 0.5, "b": 0.49}) == {"a": 0.5}
    assert sd.LaplaceThreshold.no_noise(3, dtype="u8")({1: 3, 2: 2}) == {1: 3}
