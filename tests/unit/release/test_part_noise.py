"""Noise for parts of the groups: repeated bit for bit, of the law that is paid for."""

import datetime as dt
import pickle
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.errors import InvalidQuery
from sordino.noise.sampling.bits import KeyedBits
from sordino.plan.purchase import Purchase
from sordino.release import released_files
from sordino.release.released_files import PartNoise, refuse_whole
from tests.batches import for_each
from tests.statistics import integers_follow, is_at_least, is_at_most

ROWS: Final = {"id": [1, 2, 3], "g": [1, 2, 3], "v": [1, 2, 3], "x": [1.5, 2.5, 3.0]}
LIMIT: Final = sd.ApproxDP(100, "1e-3")
BUDGET: Final = sd.ApproxDP(1, "1e-6")
T: Final = sd.table("t").enforce(sd.MaxRowsPerID(2))
KEYS: Final = sd.KeySet.from_dict({"g": [1, 2, 3]})
EVERY: Final[dict[str, Any]] = {
    "counts": T.group_by(KEYS).agg(n=sd.count(), people=sd.count_ids()),
    "sums": T.group_by(KEYS).agg(v=sd.sum("v", 0, 9), m=sd.mean("x", 0, 9)),
    "variances": T.group_by(KEYS).agg(s=sd.stdev("x", 0, 9)),
    "unknown keys": T.group_by("g").agg(n=sd.count(), m=sd.mean("x", 0, 9)),
    "ids of unknown keys": T.group_by("g").agg(n=sd.count_ids()),
}
MANY: Final = 2000
PARTS: Final = 100


def bought(request: Any, budget: Any = BUDGET, rows: Any = None) -> Purchase:
    table = sd.PrivateTable(ROWS if rows is None else rows, sd.AddRowsWithID("id"))
    with pytest.warns(sd.errors.WeakBudget):
        session = sd.Session({"t": table}, LIMIT, engine="memory")
    return session._desk.buy(request, budget)


def totals(purchase: Purchase, first: int = 0, size: int = MANY) -> pa.Table:
    """Return exact totals of so many groups."""
    width = purchase.plan.width
    numbers = pa.array(np.arange(size) * 7919 % 5000 + 1)
    names = ["g", *(f"total {n}" for n in range(width))]
    return pa.table([pa.array(range(first, first + size)), *[numbers] * width], names)


@for_each("name", EVERY)
def test_a_part_is_repeated_bit_for_bit(name: str) -> None:
    """The same rows in any order, chunks or process: the same noise; else another's."""
    noise = PartNoise(bought(EVERY[name]))
    exact = totals(noise.purchase)
    once = noise(exact, b"secret")
    again = pickle.loads(pickle.dumps(noise))
    shuffled = exact.take(np.random.default_rng(3).permutation(MANY))
    pieces = pa.concat_tables([shuffled.slice(900), shuffled.slice(0, 900)])
    assert again(pieces, b"secret").equals(once)
    assert once.schema == noise.schema
    assert not noise(exact, b"secrets").equals(once)
    assert again.trial() == noise.trial()


def contents(noise: PartNoise, exact: pa.Table) -> list[bytes]:
    seen = []

    def keyed(secret: bytes, content: bytes) -> Any:
        seen.append(content)
        return _KEYED(secret, content)

    with patch.object(released_files, "KeyedBits", keyed):
        noise(exact, b"secret")
    return seen


@for_each("name", EVERY)
def test_other_totals_have_other_bits(name: str) -> None:
    """One total or one key that differs is other noise for all: no difference shows."""
    noise = PartNoise(bought(EVERY[name]))
    exact = totals(noise.purchase)
    others = [exact.set_column(0, "g", pa.array([*range(MANY - 1), MANY]))]
    for place in range(1, exact.num_columns):
        moved = exact.column(place).to_numpy().copy()
        moved[MANY // 2] += 1
        others.append(exact.set_column(place, f"total {place - 1}", pa.array(moved)))
    others.append(exact.slice(1))
    (once,) = contents(noise, exact)
    assert contents(noise, exact.take(np.arange(MANY)[::-1])) == [once]
    changed = [content for other in others for content in contents(noise, other)]
    assert len({once, *changed}) == len(others) + 1


def _of_nothing(secret: bytes, content: bytes) -> Any:
    del content
    return _KEYED(secret, b"")


_KEYED: Final = KeyedBits


def drawn(noise: PartNoise) -> Any:
    """Return the noise of counts in many parts under one secret."""
    parts = []
    for part in range(PARTS):
        exact = totals(noise.purchase, part * MANY)
        answer = noise(exact, b"one secret of a test")
        parts.append(answer["n"].to_numpy() - exact["total 0"].to_numpy())
    return np.concatenate(parts)


def test_the_law_is_that_of_the_mechanism() -> None:
    """All parts together, chi-square (false alarm 1e-9); 5 % less noise is rejected."""
    request = T.group_by(KEYS).agg(n=sd.count())
    honest, greedy = (
        PartNoise(bought(request, sd.PureDP(epsilon))) for epsilon in ("0.2", "0.21")
    )
    ((mechanism,),) = honest.purchase.mechanisms
    scale = float(mechanism.scale)  # type: ignore[attr-defined]
    share = np.exp(-1 / scale)

    def mass(points: Any) -> Any:
        return (1 - share) / (1 + share) * share ** np.abs(points)

    reach = int(9 * scale)
    assert integers_follow(drawn(honest), mass, reach)
    assert not integers_follow(drawn(greedy), mass, reach)
    with patch.object(released_files, "KeyedBits", _of_nothing):
        assert not integers_follow(drawn(honest), mass, reach)


def test_a_threshold_is_that_of_the_mechanism() -> None:
    """A group at the threshold shows as often as its law says (false alarm 2e-9)."""
    noise = PartNoise(bought(EVERY["ids of unknown keys"]))
    selection = noise.purchase.selection
    level = int(selection.threshold)
    chance = float(selection.law.at_least(selection.threshold - level).mid())
    shown = 0
    for part in range(50):
        exact = totals(noise.purchase, part * MANY)
        level_column = pa.array(np.full(MANY, level))
        shown += noise(exact.set_column(1, "total 0", level_column), b"s").num_rows
    hits = np.arange(50 * MANY) < shown
    assert is_at_least(hits, chance)
    assert is_at_most(hits, chance)
    assert not is_at_most(hits, chance - 0.02)


def test_keys_of_every_type() -> None:
    columns = {
        "g": [None, 1],
        "text": [None, "ä"],
        "bool": [None, True],
        "date": [None, dt.date(2026, 1, 31)],
        "time": [None, dt.datetime(2026, 1, 31, 5)],  # noqa: DTZ001 without a zone
    }
    rows = pa.table({"id": [1, 2], **columns})
    request = T.group_by(*columns).agg(n=sd.count_ids())
    noise = PartNoise(bought(request, rows=rows))
    keys = rows.select([*columns])
    exact = keys.take([1, 0]).append_column("total 0", pa.array([10**6] * 2))
    answer = noise(exact, b"s")
    assert answer.select([*columns]).to_pydict() == keys.to_pydict()
    assert answer.schema == noise.schema


WHOLE: Final[dict[str, Any]] = {
    "has no groups": T.agg(n=sd.count()),
    "drawn for all groups together": T.group_by(KEYS).agg(m=sd.median("v", 0, 9)),
    "coverage counts": T.group_by(KEYS).agg(n=sd.count(), coverage=True),
    "done to noisy answers": T.group_by(KEYS).agg(n=sd.count()).limit(2),
    "before anything is told": T.group_by("g").top(2, sd.count()),
}


@for_each("told", WHOLE)
def test_what_needs_all_groups_is_refused(told: str) -> None:
    with pytest.raises(InvalidQuery, match=rf"{told}.*session\.release"):
        refuse_whole(bought(WHOLE[told]))
