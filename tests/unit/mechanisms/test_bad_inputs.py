"""Refusals: typed, naming the argument and the remedy, decided at the door."""

import math
from collections import namedtuple
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidData, InvalidParameter
from tests.batches import for_each

SCALES: list[Any] = [
    0, -1, float("inf"), float("nan"), True, np.True_, 1 + 0j, np.array([1.0]),
    [1], None, "", "abc", "1,5", "0x10", "nan", "1e", "-1", Decimal("NaN"), b"1",
    np.datetime64("2020-01-01"), object(),
]  # fmt: skip
FLOAT_KINDS = [
    sd.Laplace(1),
    sd.Gaussian(scale=1),
    sd.Laplace(1, granularity=0, values=1),
]


def named(value: Any) -> str:
    return f"{type(value).__name__}-{str(value)[:24]}".split(" object")[0]


INTEGER_KINDS = [sd.Geometric(1), sd.DiscreteGaussian(scale=1)]


@for_each("scale", SCALES, ids=named)
def test_senseless_scales_are_refused_by_name(scale: Any) -> None:
    for build in (sd.Laplace, sd.Geometric):
        with pytest.raises(InvalidParameter, match=r"^scale .*, got .*\. \S"):
            build(scale)
    if scale is not None:
        for by_variance in (sd.Gaussian, sd.DiscreteGaussian):
            with pytest.raises(InvalidParameter, match=r"^scale .*, got "):
                by_variance(scale=scale)
            with pytest.raises(InvalidParameter, match=r"^variance .*, got "):
                by_variance(variance=scale)


@for_each("scale", ["1", " 1 ", "1/3", "1e-6", "sqrt(2)", 2**70, 1e300])
def test_unusual_scales_that_make_sense_are_taken(scale: Any) -> None:
    mechanisms: list[Any] = [
        sd.Laplace(scale),
        sd.Geometric(scale),
        sd.Gaussian(scale=scale),
        sd.DiscreteGaussian(scale=scale),
    ]
    for mechanism in mechanisms:
        answers = mechanism(np.zeros(3, mechanism.input_domain.numpy))
        assert np.isfinite(answers.astype(float)).all()


def test_the_least_scales_work() -> None:
    """A scale of 1e-310 leaves integers alone and moves a zero by its own size."""
    assert sd.Geometric(1e-310)(5) == 5
    assert sd.DiscreteGaussian(scale=1e-310)([1, 2]) == [1, 2]
    assert 0 < abs(sd.Laplace(1e-310)(0.0)) < 1e-307
    assert sd.Laplace(1e-310)(1.0) == 1.0


@for_each("value", [float("nan"), float("inf"), -float("inf")])
@for_each("mechanism", FLOAT_KINDS, ids=named)
def test_nan_and_infinities_are_refused(mechanism: Any, value: float) -> None:
    for data in (value, [1.0, value], np.array([value, 0.0]), pa.array([0.0, value])):
        with pytest.raises(InvalidData, match=r"NaN or infinite.*Replace or drop"):
            mechanism(data)


@for_each("mechanism", [*FLOAT_KINDS, *INTEGER_KINDS], ids=named)
@for_each(
    "value",
    [True, [True], np.array([True]), np.True_, "1", ["1"], np.array(["1"]), None,
     [None], 1j, [1j], np.array([1j]), {"a": 1}, {1}, b"1", pa.array(["a"]),
     pa.array([1, None]), np.ma.masked_array([1], [True]), object(), Decimal(1),
     np.array([np.datetime64("2020-01-01")]), np.timedelta64(1), [[1], [2]]],
    ids=named,
)  # fmt: skip
def test_what_is_no_number_is_refused(mechanism: Any, value: Any) -> None:
    with pytest.raises(InvalidData):
        mechanism(value)


@for_each("mechanism", INTEGER_KINDS, ids=named)
@for_each(
    "value",
    [3.0, 3.5, [3.0], np.array([3.0]), np.float32(3), pa.array([3.0])],
    ids=named,
)
def test_integer_mechanisms_take_no_floats(mechanism: Any, value: Any) -> None:
    with pytest.raises(InvalidData, match="takes integers"):
        mechanism(value)


@for_each(
    ("dtype", "value"),
    [("i64", 2**70), ("i64", 2**63), ("i8", 128), ("u8", -1), ("u64", 2**64),
     ("u64", -1), ("i64", -(2**63) - 1), ("u32", 2**32)],
)  # fmt: skip
def test_integers_outside_the_dtype_are_refused(dtype: str, value: int) -> None:
    mechanism = sd.Geometric(1, dtype=dtype)
    for data in (value, [value], [0, value]):
        with pytest.raises(InvalidData, match=rf"outside {dtype}, .* Clamp"):
            mechanism(data)


def test_integers_outside_the_dtype_in_arrays() -> None:
    with pytest.raises(InvalidData, match="outside i8"):
        sd.Geometric(1, dtype="i8")(np.array([0, 1000]))
    with pytest.raises(InvalidData, match="outside i64"):
        sd.Geometric(1)(np.array([2**63], np.uint64))
    assert sd.Geometric(1)(np.zeros(2, np.int8)).dtype == np.int64
    assert sd.Geometric(1, dtype="i8")(np.zeros(2, np.int64)).dtype == np.int8


def test_integers_that_doubles_equal_are_taken() -> None:
    assert isinstance(sd.Laplace(1)(3), float)
    assert sd.Laplace(1)(2**70) == 2.0**70
    assert sd.Laplace(1)(np.arange(3)).dtype == np.float64
    assert len(sd.Laplace(1)([1, 2.5])) == 2
    longer: Any = np.longdouble(2.5), np.longdouble(1) / 3
    assert sd.Laplace(1e-300)([longer[0]]) == [2.5]
    with pytest.raises(InvalidData, match="too long for a float"):
        sd.Laplace(1)([longer[1]])


def test_named_tuples_come_back_as_tuples() -> None:
    point = namedtuple("point", "x y")  # noqa: PYI024 the plain kind is meant
    assert type(sd.Geometric(1)(point(1, 2))) is tuple


@for_each("d_in", [-1, "-1", float("nan"), True, 1j, None, "x", [1], (1, 2)])
def test_senseless_distances_are_refused_by_name(d_in: Any) -> None:
    for mechanism in (*FLOAT_KINDS, *INTEGER_KINDS):
        with pytest.raises(InvalidParameter, match=r"^d_in "):
            mechanism.map(d_in)


def test_infinite_distances_cost_everything() -> None:
    for mechanism in (*FLOAT_KINDS, *INTEGER_KINDS):
        loss: Any = mechanism.map(float("inf"))
        assert (loss.epsilon if hasattr(loss, "epsilon") else loss.rho) == float("inf")


@for_each("build", [sd.Gaussian, sd.DiscreteGaussian])
def test_variance_and_scale_are_one_or_the_other(build: Any) -> None:
    for given in ({}, {"variance": 1, "scale": 1}):
        with pytest.raises(InvalidParameter, match="variance=4 or scale=2"):
            build(**given)
    assert build(variance=4) == build(scale=2)


def test_quantiles_of_noise_end_at_infinity() -> None:
    for mechanism in (sd.Laplace(1), sd.Geometric(1)):
        assert mechanism.inverse_cdf(0) == -math.inf
        assert mechanism.inverse_cdf(1) == mechanism.error(1) == math.inf


@for_each("mechanism", [*FLOAT_KINDS, *INTEGER_KINDS], ids=named)
def test_empty_data_gives_empty_answers(mechanism: Any) -> None:
    assert mechanism([]) == []
    assert mechanism(()) == ()
    dtype = mechanism.input_domain.numpy
    assert mechanism(np.zeros(0, dtype)).dtype == dtype
    assert mechanism(pa.array([], mechanism.output_type)).type == mechanism.output_type
