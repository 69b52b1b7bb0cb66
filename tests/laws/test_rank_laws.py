"""Where quantiles say they stand: in rows, and between two values.

Of known groups of rows without ties, so that the rank of each answer is known to a row.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias, final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sordino as sd
from sordino.aggregations.choices import QuantileChoice
from sordino.aggregations.intervals.linear_forms import Bars
from tests.batches import for_each
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

Floats: TypeAlias = NDArray[np.float64]
ROWS: Final = 400
GROUPS: Final = often(1_000, 4_000)
SHARES: Final = (Fraction(1, 4), Fraction(1, 2), Fraction(9, 10))


def _doubles(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.lognormal(0, 2, shape)


def _moved(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Return doubles far from zero, of both signs."""
    return rng.normal(0, 1, shape) * 10**6 - 10**5


def _whole(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
    return rng.integers(-(10**8), 10**9, shape)


def _ties(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.int64]:
    return rng.integers(0, 12, shape)


@final
class Told(NamedTuple):
    """Answers to one question, and by how many rows they are off at least and most."""

    off: tuple[Floats, Floats]
    exact: Floats
    """The values that were asked for."""
    ranks: tuple[Floats, Floats]
    ends: tuple[Floats, Floats]


@cache
def released(
    values: Callable[..., Any], budget: sd.Budget, several: bool = False
) -> list[Told]:
    """Return what a release tells of quantiles of all groups."""
    x = values(np.random.default_rng(7), (GROUPS, ROWS))
    kind = "i64" if x.dtype.kind == "i" else "f64"
    rows = pa.table({"g": np.repeat(np.arange(GROUPS), ROWS), "x": x.ravel()})
    facts = {"x": sd.Column(kind, nullable=False, nan=False)}
    private = sd.PrivateTable(rows, protects=sd.AddOneRow(), columns=facts)
    session = sd.Session({"t": private}, budget)
    keys = sd.KeySet.from_dict({"g": list(range(GROUPS))})
    shares = SHARES if several else SHARES[1:2]
    asked = sd.quantiles("x", list(shares), -(10**9), 10**9)
    release = session.release(sd.table("t").group_by(keys).agg(a=asked), budget)
    x = np.sort(x, axis=1)
    return [
        _told(release, x, name, float(share))
        for name, share in zip(release.names, shares, strict=True)
    ]


def _told(release: sd.Release, x: Any, name: str, share: float) -> Told:
    value = release[name].to_numpy()[:, None]
    below, upto = (x < value).sum(axis=1), (x <= value).sum(axis=1)
    ranks, ends = (
        tuple(release.errors[f"{name} {part}{end}"].to_numpy() for end in ("low", "high"))
        for part in ("ranks ", "")
    )
    exact = x[:, int(np.ceil(share * ROWS)) - 1].astype(np.float64)
    aim = share * ROWS
    return Told((below - aim, upto - aim), exact, ranks, ends)  # type: ignore[arg-type]


CASES: Final[dict[str, tuple[Any, ...]]] = {
    "a median of doubles": (_doubles, sd.PureDP(1)),
    "three of integers": (_whole, sd.PureDP(2), True),
    "three of doubles, Gaussian": (_moved, sd.ZCDP("0.1"), True),
    "a median, by mu": (_doubles, sd.GaussianDP("0.7")),
}


@for_each("case", CASES)
def test_ranks_hold_as_often_as_they_say(case: str) -> None:
    """Of distinct values 95 % of the intervals hold the rank, and hardly more.

    Each test errs once in 1e10 runs; a third of the width less would be refused.
    """
    for told in released(*CASES[case]):
        (below, upto), (low, high) = told.off, told.ranks
        # the cut lies within the row of the answer, or before the next one
        holds = (low <= upto) & (high >= below)
        assert is_at_least(holds, 0.95)
        assert is_at_most((low <= below + 0.5) & (high >= upto - 0.5), 0.965)
        middle, half = (low + high) / 2, (high - low) / 3
        assert not is_at_least((middle - half <= upto) & (middle + half >= below), 0.95)


@for_each("case", {**CASES, "ages": (_ties, sd.PureDP(1), True)})
def test_ends_hold_the_exact_value(case: str) -> None:
    """Intervals of values hold the exact quantile, and most of them are of use.

    At least 95 %, in truth nearly all: an end that is told is some three scales off.
    """
    for told in released(*(CASES | {"ages": (_ties, sd.PureDP(1), True)})[case]):
        low, high = told.ends
        assert is_at_least((low <= told.exact) & (told.exact <= high), 0.95)
        assert ((low > -(10**9)) & (high < 10**9)).mean() > 0.5


def _no_noise(*parts: Any) -> list[Bars]:
    """Tell rows as if no noise were on them: ends on the wrong side are told, too."""
    cells, _, probabilities, _ = parts
    return [
        Bars(value, value, value)
        for place, share in enumerate(np.repeat(list(map(float, probabilities)), 3))
        for value in [
            sum(cells[: place + 1]) * (1 - share) - sum(cells[place + 1 :]) * share
        ]
    ]


def test_ends_without_a_test_are_caught(monkeypatch: Any) -> None:
    """Of few rows ends lie near each other, and those that are told untested miss."""
    monkeypatch.setattr("sordino.aggregations.choices.rank_bars", _no_noise)
    monkeypatch.setattr(QuantileChoice, "_reach", lambda *_: 0.0)
    monkeypatch.setattr("sordino.aggregations.choices._SCALES", 0)
    (told,) = released.__wrapped__(_moved, sd.PureDP("0.9"))
    low, high = told.ends
    assert not is_at_least((low <= told.exact) & (told.exact <= high), 0.95)
