"""Whether two keys of noisy counts are independent: a test with the noise put in.

Of a table T of noisy counts, r and c its margins (at least 0), n its total,

    X = sum over the cells of (T - r c / n)^2 / (r c / n + s^2),  s the noise of a cell.

If the keys are independent the cells are draws of about the mean r c / n and the same
variance, with noise of the known law. So many tables are drawn with both, and X of the
noisy one is compared with theirs: who takes noisy counts for exact ones calls 4 to 100
of 100 independent tables dependent (docs/guides/inference.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from sordino.aggregations.intervals import AnswerLaws, Linear
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.curves.points import Floats
from sordino.noise.sampling.bits import Bits, BitSource
from sordino.numbers.normal import normal_quantile_of

if TYPE_CHECKING:
    import pyarrow as pa

DRAWS: Final = 999
_LEAST: Final = 1e-9


@final
@dataclass(frozen=True)
class IndependenceTest:
    """How unlikely counts as uneven as these are if two keys are independent."""

    keys: tuple[str, str]
    statistic: float
    p: float
    """The share of tables of independent keys, noise included, that are as uneven."""

    def __str__(self) -> str:
        names = f"{self.keys[0]!r} and {self.keys[1]!r}"
        return f"{names}: p = {self.p:.3f}, the noise of the release taken into account"

    __repr__ = __str__


def refuse_untested(keys: tuple[str, ...], pair: tuple[str, str]) -> None:
    """Refuse a release that has other keys than two that are tested."""
    if {*keys} != {*pair} or len({*pair}) != 2:
        raise InvalidParameter(
            "keys",
            list(pair),
            f"must be the two keys of the release, which has {list(keys)}",
            "Add the others up first: release.add_up(...).",
        )


def square_counts(table: "pa.Table", pair: tuple[str, str], counts: str) -> Floats:
    """Return noisy counts as a table of two keys, or refuse what is none."""
    cells = table.select([*pair, counts]).to_pylist()
    rows, columns = (list(dict.fromkeys(cell[name] for cell in cells)) for name in pair)
    if min(len(rows), len(columns)) < 2 or len(cells) != len(rows) * len(columns):
        raise InvalidQuery(
            "a test of independence is of all pairs of at least two values each",
            'Group by a full key set: sd.KeySet.from_dict({"a": [...], "b": [...]}).',
        )
    values = np.empty((len(rows), len(columns)))
    for cell in cells:
        place = rows.index(cell[pair[0]]), columns.index(cell[pair[1]])
        values[place] = cell[counts]
    return values


def noise_of_counts(
    laws: AnswerLaws | None, counts: str
) -> tuple[float, Callable[[int, int, BitSource], Floats]]:
    """Return the deviation of the noise of a count, and what draws it of many cells."""
    law = None if laws is None else laws.forms.get(counts)
    plain = laws is not None and laws.places is not None and laws.sums.shown is None
    if laws is None or not isinstance(law, Linear) or not plain or any(laws.blocked):
        raise InvalidQuery(
            f"the noise of {counts!r} is not known, or cut where groups show",
            "Ask counts of known groups, of the session itself.",
        )
    factors = law.factors

    def draw(tables: int, cells: int, bits: BitSource) -> Floats:
        noise = np.zeros((tables, cells))
        for number, factor in enumerate(factors):
            each = laws.sums.noises[number]
            if not factor or not each.unit:
                continue
            shape = (tables, 1 if laws.shared[number] else cells)
            # what is in a form of counts adds noise to numbers
            mechanism: Any = each.mechanism
            zeros = np.zeros(shape[0] * shape[1], mechanism.input_domain.numpy)
            drawn = mechanism.carrier.many(zeros, bits).astype(np.float64)
            noise += factor * float(each.unit) * drawn.reshape(shape)
        return noise

    return float(laws.sums.sd(factors)), draw


def compare_tables(
    table: Floats,
    deviation: float,
    draw: Callable[[int, int, BitSource], Floats],
    draws: int = DRAWS,
) -> tuple[float, float]:
    """Return the statistic of a noisy table, and its p."""
    bits = Bits()
    statistic = float(_statistics(table[None], deviation)[0])
    expected = _expect_counts(table[None])[0]
    words = bits.words(draws * table.size) >> np.uint64(11)
    z = normal_quantile_of((words.astype(np.float64) + 0.5) * 2.0**-53)
    cells = expected + np.sqrt(expected) * z.reshape(draws, *table.shape)
    cells += draw(draws, table.size, bits).reshape(cells.shape)
    beyond = np.count_nonzero(_statistics(cells, deviation) >= statistic)
    return statistic, float((1 + beyond) / (1 + draws))


def _expect_counts(tables: Floats) -> Floats:
    """Return the counts of independent keys with the margins of some tables."""
    rows = np.maximum(tables.sum(axis=2, keepdims=True), 0.0)
    columns = np.maximum(tables.sum(axis=1, keepdims=True), 0.0)
    total = np.maximum(rows.sum(axis=1, keepdims=True), _LEAST)
    return np.asarray(rows * columns / total)


def _statistics(tables: Floats, deviation: float) -> Any:
    expected = _expect_counts(tables)
    squares = (tables - expected) ** 2 / (expected + deviation**2)
    return squares.sum(axis=(1, 2))
