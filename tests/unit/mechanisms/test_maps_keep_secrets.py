"""Nothing of an answer tells of keys that did not pass, whatever its container."""

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidData
from tests.batches import for_each

SEEN = ["b", "a"]
HIDDEN = "a rare disease"
MECHANISM = sd.LaplaceThreshold("1e-9", 10)


def table(keys: list[str], values: list[float], kind: Any) -> pa.Table:
    return pa.table({"k": pa.array(keys).cast(kind), "n": values})


def pandas_series(
    keys: list[str], values: list[float], index: Callable[..., Any]
) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.Series(values, index=index(pandas)(keys))


def polars_frame(keys: list[str], values: list[float], kind: str) -> Any:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"k": keys, "n": values})
    return frame.cast({"k": getattr(polars, kind)})


def levels(pandas: Any) -> Callable[[list[str]], Any]:
    return lambda keys: pandas.MultiIndex.from_arrays([keys, [*range(len(keys))][::-1]])


CONTAINERS: dict[str, Callable[[list[str], list[float]], Any]] = {
    "dict": lambda k, v: dict(zip(k, v, strict=True)),
    "lists": lambda k, v: (k, v),
    "text array": lambda k, v: (np.array(k), np.array(v)),
    "bytes array": lambda k, v: (np.array(k, "S"), np.array(v)),
    "object array": lambda k, v: (np.array(k, object), np.array(v)),
    "arrow": lambda k, v: table(k, v, pa.string()),
    "arrow dictionary": lambda k, v: table(
        k, v, pa.dictionary(pa.int32(), pa.string())
    ),
    "arrow chunks": lambda k, v: pa.concat_tables([
        table([x], [y], pa.string()) for x, y in zip(k, v, strict=True)
    ]),
    "pandas": lambda k, v: pandas_series(k, v, lambda p: p.Index),
    "pandas categories": lambda k, v: pandas_series(k, v, lambda p: p.CategoricalIndex),
    "pandas levels": lambda k, v: pandas_series(k, v, levels),
    "polars": lambda k, v: polars_frame(k, v, "String"),
    "polars categories": lambda k, v: polars_frame(k, v, "Categorical"),
}


def remembered(answer: Any) -> str:
    """Return all that a container says of itself, values aside."""
    match type(answer).__name__:
        case "tuple":
            keys, _ = answer
            return f"{type(keys)} {getattr(keys, 'dtype', None)} {list(keys)}"
        case "Table":
            (keys,) = answer.column("k").chunks
            words = getattr(keys, "dictionary", None)
            return f"{answer.schema} {words} {keys.to_pylist()}"
        case "Series":
            index = answer.index
            inner = getattr(index, "levels", getattr(index, "categories", None))
            return f"{type(index)} {index.dtype} {inner} {list(index)}"
        case "DataFrame":
            column = answer.get_column("k")
            return f"{answer.schema} {column.to_physical()} {column.to_list()}"
        case _:
            return str(list(answer))


@for_each("build", CONTAINERS.values(), ids=list(CONTAINERS))
def test_an_unreleased_key_leaves_no_trace(
    build: Callable[[list[str], list[float]], Any],
) -> None:
    """With and without a key that never passes, the answer says the same of itself."""
    without = MECHANISM(build([*SEEN], [30.0, 40.0]))
    behind = MECHANISM(build([*SEEN, HIDDEN], [30.0, 40.0, 1.0]))
    assert HIDDEN not in remembered(behind)
    if getattr(without, "index", None) is not None and hasattr(without.index, "levels"):
        return  # the second level numbers the rows, and so differs by construction
    assert remembered(behind) == remembered(without)


@for_each("build", CONTAINERS.values(), ids=list(CONTAINERS))
def test_an_answer_of_nothing_says_nothing(
    build: Callable[[list[str], list[float]], Any],
) -> None:
    assert HIDDEN not in remembered(MECHANISM(build([HIDDEN, "x"], [1.0, 2.0])))


def test_times_that_cannot_be_ordered_are_refused() -> None:
    """Times with and without a zone, and missing times, are typed refusals."""
    naive, aware = datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=timezone.utc)  # noqa: DTZ001, UP017
    with pytest.raises(InvalidData, match="zone"):
        MECHANISM({naive: 30.0, aware: 40.0})
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InvalidData, match="missing"):
        MECHANISM({pandas.NaT: 30.0, naive: 40.0})
