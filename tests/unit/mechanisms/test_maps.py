"""Maps of every kind: what is taken, what is refused, and how the answer is closed."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
from sordino.noise.threshold.maps import column_keys
from tests.batches import for_each

EXACT = sd.LaplaceThreshold.no_noise(5, dtype="i64")
FLOATS = sd.LaplaceThreshold.no_noise(5)


@for_each(
    "given",
    [
        {"b": 7, "a": 9, "c": 1},
        {7: 7, -2: 9, 0: 4},
        {b"b": 7, b"a": 9, b"": 2},
        {dt.date(2020, 1, 2): 7, dt.date(2020, 1, 1): 9},
        {dt.datetime(2020, 1, 2): 7, dt.datetime(2020, 1, 1): 9},  # noqa: DTZ001
        {("x", 2): 7, ("x", 1): 9, ("w", 5): 5},
        {("x", (1, b"")): 7, ("x", (0, b"z")): 9},
        {np.int64(3): 7, 1: 9},
        {"only": 9},
        {},
    ],
    ids=str,
)
def test_dict(given: dict[Any, int]) -> None:
    expected = {key: given[key] for key in sorted(given) if given[key] >= 5}
    for order in (list(given), list(given)[::-1]):
        answer = EXACT({key: given[key] for key in order})
        assert list(answer.items()) == list(expected.items())


TEXTS = st.text(alphabet="ab\0é€𝄞", max_size=20)


@given(st.lists(TEXTS, unique=True), st.sampled_from(["string", "large_string"]))
def test_columns_of_text_are_ordered_as_text(texts: list[str], kind: str) -> None:
    """Words of a column order text by code point, whatever its lengths and slices."""
    column = pa.array(["zz", *texts], pa.type_for_alias(kind)).slice(1)
    keys = column_keys([column])
    keys.check()
    assert [texts[i] for i in keys.order(np.arange(len(texts)))] == sorted(texts)
    numbered = [(len(text) % 3 - 1, text) for text in texts]
    pairs = column_keys([pa.array([n for n, _ in numbered], pa.int8()), column])
    pairs.check()
    order = pairs.order(np.arange(len(texts)))
    assert [numbered[i] for i in order] == sorted(numbered)


@given(st.lists(TEXTS, unique=True, min_size=1), st.data())
def test_a_key_that_stands_twice_is_found(texts: list[str], data: Any) -> None:
    """Wherever a key occurs twice in a column, it is refused."""
    twice = data.draw(st.permutations([*texts, data.draw(st.sampled_from(texts))]))
    with pytest.raises(sd.errors.InvalidData, match="occurs twice"):
        column_keys([pa.array(twice, pa.string())]).check()
    with pytest.raises(sd.errors.InvalidData, match="occurs twice"):
        EXACT((list(twice), [9] * len(twice)))


@for_each(
    "keys",
    [
        pa.array(["bb", "a", "ccc"]),
        pa.array(["x" * 80 + c for c in "bac"]),
        pa.array(["bb", "a", "ccc"]).dictionary_encode(),
        pa.array([b"bb", b"a", b"ccc"]),
        pa.array([b"bb", b"aa", b"cc"], pa.binary(2)),
        pa.array([2**63 + 1, 3, 2**64 - 1], pa.uint64()),
        pa.array([0, -5, 7], pa.int8()),
        pa.array([dt.date(2020, 1, 2), dt.date(1960, 1, 1), dt.date(2021, 1, 1)]),
        pa.array([86_400_000, -5], pa.timestamp("ms")),
        pa.chunked_array([["b"], ["a", "c"]]),
    ],
    ids=lambda keys: str(keys.type),
)
def test_table(keys: Any) -> None:
    table = pa.table({"key": keys, "n": pa.array([7, 9, 8][: len(keys)])})
    answer = EXACT(table)
    assert answer.schema == table.schema
    assert answer.equals(EXACT(table.take(list(range(len(keys)))[::-1])))
    listed = answer.column("key").to_pylist()
    assert listed == sorted(listed)
    for row in answer.to_pylist():
        assert row in table.to_pylist()
    assert EXACT(table.slice(0, 0)).num_rows == 0


def test_table_of_several_key_columns() -> None:
    """The last column holds the values; the columns before it are one key together."""
    table = pa.table({"k": ["b", "b", "a"], "day": [2, 1, 0], "n": [9, 8, 7]})
    assert EXACT(table).to_pylist() == table.to_pylist()[::-1]
    batch = table.to_batches()[0]
    assert EXACT(batch).equals(EXACT(table))


def test_pair() -> None:
    keys: Any
    values: Any
    keys, values = EXACT((["b", "a", "c"], [7, 9, 1]))
    assert (keys, values) == (["a", "b"], [9, 7])
    keys, values = EXACT((("b", "a"), (7, 9)))
    assert (keys, values) == (("a", "b"), (9, 7))
    for array in (np.array([3, 1]), np.array(["x", "a"]), np.array([b"x", b"a"])):
        keys, values = EXACT((array, np.array([7, 9])))
        assert keys.dtype == array.dtype
        assert keys.tolist() == sorted(array.tolist())
        assert values.tolist() == [9, 7]
    days = np.array(["2020-01-02", "2020-01-01"], "M8[D]")
    assert EXACT((days, [7, 9]))[0].tolist() == sorted(days.tolist())
    keys, values = EXACT((pa.array(["b", "a"]), pa.array([7, 9])))
    assert (keys.to_pylist(), values.to_pylist()) == (["a", "b"], [9, 7])


def test_pandas() -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series([7.0, 9, 1], index=["b", "a", "c"], name="n")
    pd.testing.assert_series_equal(FLOATS(series), series.iloc[[1, 0]])
    index = pd.MultiIndex.from_tuples([("b", 1), ("a", 2)], names=["p", "q"])
    pairs = pd.Series([7, 9], index=index)
    pd.testing.assert_series_equal(EXACT(pairs), pairs.iloc[[1, 0]])
    for bad in (["a", "a"], ["a", None], [1.0, 2.0], [True, False]):
        with pytest.raises(sd.errors.InvalidData):
            EXACT(pd.Series([7, 9], index=bad))
    with pytest.raises(sd.errors.InvalidData):
        FLOATS(pd.Series([True, 2], index=["a", "b"], dtype=object))


def test_polars() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"key": ["b", "a", "c"], "n": [7, 9, 1]})
    assert EXACT(frame).equals(frame[[1, 0]])
    for bad in (["a", "a", "b"], ["a", None, "b"], [1.0, 2.0, 3.0]):
        with pytest.raises(sd.errors.InvalidData):
            EXACT(frame.with_columns(pl.Series("key", bad)))


@for_each(
    "bad",
    [
        5,
        [1, 2],
        np.array([1, 2]),
        (1, 2, 3),
        ("ab", [1, 2]),
        {1.0: 9},
        {None: 9},
        {True: 9},
        {float("nan"): 9},
        {"a": 9, 2: 9},
        {("a", 1): 9, ("b",): 9},
        {("a", 1.5): 9},
        {"a": 9, b"a": 9},
        {dt.date(2020, 1, 1): 9, dt.datetime(2020, 1, 1): 9},  # noqa: DTZ001
        (["a", "a"], [9, 9]),
        (["a", None], [9, 9]),
        (["a"], [9, 9]),
        (np.array([[1, 2]]), [9, 9]),
        (np.array([1.5, 2]), [9, 9]),
        (np.array([1, 1]), [9, 9]),
        (np.array(["2020-01-01", "NaT"], "M8[D]"), [9, 9]),
        (["a", "b"], np.ones((2, 1))),
        (["a", "b"], "99"),
        pa.table({"k": ["a"]}),
        pa.table({"k": ["a", "a"], "n": [9, 9]}),
        pa.table({"k": ["a", None], "n": [9, 9]}),
        pa.table({"k": [1.0, 2.0], "n": [9, 9]}),
        pa.table({"k": [True, False], "n": [9, 9]}),
        pa.table({"k": ["a", "b"], "n": [9, None]}),
        pa.table({"k": ["a", "b"], "n": ["9", "9"]}),
    ],
    ids=lambda bad: str(bad).replace("\n", " ")[:40],
)
def test_what_is_no_map(bad: Any) -> None:
    for mechanism in (EXACT, FLOATS):
        with pytest.raises(sd.errors.InvalidData, match=r"[.a-z]$|\. [A-Z]|: "):
            mechanism(bad)


@for_each(
    "bad",
    [float("nan"), float("inf"), True, None, "9", Decimal(9), 9 + 0j, [9], 2**70 + 1],
    ids=str,
)
def test_bad_values(bad: Any) -> None:
    for mechanism in (EXACT, FLOATS):
        with pytest.raises(sd.errors.InvalidData) as refusal:
            mechanism({"private-key": bad})
        assert "private-key" not in str(refusal.value)
        assert "118059" not in str(refusal.value)


def test_values_outside_a_dtype() -> None:
    for dtype, value in (("i8", 128), ("u8", -1), ("i64", 2**63), ("u64", 2**64)):
        mechanism = sd.LaplaceThreshold(1, 5, dtype=dtype)
        with pytest.raises(sd.errors.InvalidData, match=f"outside {dtype}"):
            mechanism({"a": value})
    with pytest.raises(sd.errors.InvalidData, match="takes integers"):
        EXACT({"a": 9.0})
    assert FLOATS({"a": 9}) == {"a": 9.0}


def test_facts() -> None:
    mechanism = sd.GaussianThreshold(scale=2, threshold=9, dtype="u16")
    assert mechanism.input_metric == "l0, l2, linf"
    assert mechanism.output_measure is sd.ApproxZCDP
    assert mechanism.output_type == pa.uint16()
    assert mechanism.input_domain.is_integer
    assert not mechanism.is_interactive
    assert mechanism.error("0.95") == mechanism.inverse_cdf("0.975") == 4
    assert repr(mechanism) == (
        "GaussianThreshold(variance=4, threshold=9, dtype='u16')"
    )
    assert mechanism.threshold == Fraction(9)
