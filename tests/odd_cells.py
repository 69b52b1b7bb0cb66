"""Tables of Python objects and frames, with the cells that engines stumble over.

`ARROW` has the columns of `sordino.auditing.hostile_sources`. A new form is one more
line, and the laws over sources hold it.
"""

import datetime as dt
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd
import polars as pl

from sordino.auditing.hostile_sources import COLUMNS
from sordino.expressions.schema import PLAIN


class Asked(BaseException):
    """A cell was asked something."""


class Loud:
    """A cell that fails whatever it is asked."""

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise Asked

    def _fails(self, *_: Any) -> Any:
        raise Asked

    __eq__ = __bool__ = __len__ = __iter__ = __str__ = __repr__ = _fails
    __int__ = __float__ = __index__ = __hash__ = _fails


class LoudText(str):  # noqa: FURB189 the text itself
    """A text that does the same."""

    __slots__ = ()
    __eq__ = __len__ = __iter__ = __str__ = __repr__ = encode = Loud._fails  # type: ignore[assignment]
    __hash__ = str.__hash__


@dataclass(frozen=True)
class Form:
    """A table of some form, and cells that it may have: plain ones, then odd ones."""

    make: Callable[[Sequence[Any]], Any]
    pool: Sequence[Any]
    declared: Mapping[str, str] = field(default_factory=dict)


ARROW: Final = {name: Form(each.make, each.pool) for name, each in COLUMNS.items()}
"""Columns of Arrow, with cells that no value of ours is."""

_CELLS: Final[tuple[Any, ...]] = (
    *(None, 7, 7.0, "7", True, b"7", b"\xff", "\ud800", math.nan, -0.0, 2**70, 10**400),
    *(Decimal("7.5"), Decimal("sNaN"), Fraction(1, 3), uuid.UUID(int=5), 1j, "n/a"),
    *(dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5), dt.time(3)),  # noqa: DTZ001
    dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=14))),
    *(np.int8(7), np.float32(0.1), np.bool_(True), np.str_("x"), np.array([1, 2])),
    *(np.datetime64("2020-01-01"), np.datetime64("NaT"), np.datetime64(2**62, "ns")),
    *(pd.Timestamp(1500), pd.Timestamp("2020", tz="Asia/Tokyo"), pd.NaT, pd.NA),
    *([1, "x"], (1,), [], {}, object(), Loud(), LoudText("x"), "x" * (2 << 20)),
)


def series(cells: Sequence[Any]) -> pd.Series:
    held = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        held[place] = cell
    return pd.Series(held, dtype=object)


def categories(cells: Sequence[Any]) -> pd.Categorical:
    """Return cells as categories, which pandas is not asked to find."""
    known = list(dict.fromkeys(cell for cell in cells if cell is not None))
    codes = [-1 if cell is None else known.index(cell) for cell in cells]
    return pd.Categorical.from_codes(codes, pd.Index(known, dtype=object))


def framed(make: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    """Return what makes a frame of a column."""
    return lambda cells: pd.DataFrame({
        "i": pd.Series([one[0] for one in cells], dtype="int64"),
        "x": make([one[1] for one in cells]),
    })


def _pandas(dtype: Any, *pool: Any) -> Form:
    return Form(framed(lambda cells: pd.Series(list(cells), dtype=dtype)), pool)


FRAMES: Final[Mapping[str, Form]] = {
    **{
        f"objects as {kind}": Form(framed(series), _CELLS, {"x": kind})
        for kind in (*PLAIN, "list[i64]")
    },
    **{
        f"categories as {kind}": Form(
            framed(categories),
            (*("7", None, 7.5, "n/a", b"7", b"\xff", "\ud800"), dt.date(2020, 1, 1)),
            {"x": kind},
        )
        for kind in ("i64", "text")
    },
    **{
        f"a dict as {kind}": Form(
            lambda cells: {
                "i": [one[0] for one in cells],
                "x": [one[1] for one in cells],
            },
            _CELLS,
            {"x": kind, "i": "i64"},
        )
        for kind in (*PLAIN, "list[i64]")
    },
    "pandas i64": _pandas("int64", 0, 5, 2**63 - 1),
    "pandas Int64": _pandas("Int64", 0, None, -(2**63)),
    "pandas UInt64": _pandas("UInt64", 0, None, 2**64 - 1),
    "pandas f64": _pandas("float64", 1.5, math.nan, math.inf, -0.0),
    "pandas Float64": _pandas("Float64", 1.5, None, math.inf),
    "pandas boolean": _pandas("boolean", True, None),
    "pandas str": _pandas("str", "a", None, "", "x" * (2 << 20)),
    "pandas python string": _pandas(
        pd.StringDtype("python"), "a", None, "", "\ud800", "x" * (2 << 20)
    ),
    "pandas ns": _pandas("datetime64[ns]", 0, 1500, pd.NaT, 2**62, -1500),
    "pandas s": _pandas("datetime64[s]", 0, pd.NaT, 253402300800, -(2**40)),
    "pandas zoned": _pandas("datetime64[us, Asia/Tokyo]", 0, pd.NaT, 10**15),
    "polars u64": Form(
        lambda cells: pl.DataFrame(
            {"i": [one[0] for one in cells], "x": [one[1] for one in cells]},
            schema={"i": pl.Int64, "x": pl.UInt64},
        ),
        (0, None, 2**64 - 1),
    ),
    "polars decimals": Form(
        lambda cells: pl.DataFrame(
            {"i": [one[0] for one in cells], "x": [one[1] for one in cells]},
            schema={"i": pl.Int64, "x": pl.Decimal(38, 2)},
        ),
        (Decimal("1.5"), None, Decimal("9" * 36)),
    ),
    "polars categories": Form(
        lambda cells: pl.DataFrame(
            {"i": [one[0] for one in cells], "x": [one[1] for one in cells]},
            schema={"i": pl.Int64, "x": pl.Categorical},
        ),
        ("a", None, "", "\U0001f600"),
    ),
}
"""Columns of Python objects and frames: (place, cell) pairs become a table."""
