"""The noise of questions, against what another library adds for the same budget."""

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, InvalidQuery
from sordino.losses.loss import Budget
from sordino.plan.price import Price, price_request
from tests.batches import for_each, sampled
from tests.vector_queries import UNITS, asked, catalog, numbers

ROWS: Final = json.loads(
    (Path(__file__).parents[2] / "vectors" / "query_sensitivity.json").read_text()
)["rows"]

PAIR: Final = "a pair of sums tells the mean and the count at the price of one"
CENTRED: Final = "centred squares are told in widths R: a row adds R, not R**2 / 2"
TOTAL: Final = "groups times rows in each bound the rows that are not grouped"
SHARED: Final = "the count that shows the groups is the count that is told"
EXACT: Final = "all three constraints bound l2 together: 3 groups of 2, 2 squared twice"
DELTA: Final = "(epsilon, delta) buys Gaussian noise too, by its exact curve"
KNOWN: Final = "an id is in no more groups than are known, which are two"
MADE: Final = "max_rows is known, so bounds on rows are multiplied, not forgotten"
NO_RATE: Final = (
    "the vectors hold no number; a row has the same rate here as a quantile"
)
DIVIDED: Final = "a row is divided into three numbers, which share one noise"
NO_NOISE: Final = "keys have a threshold and no column with noise"
REFUSED: Final = "both refuse"
ENDLESS: Final = "an infinite budget is refused here"

_COUNT: Final = Fraction(4701259, 1506958)
_DEVIATIONS: Final = Fraction(4701259, 90192)
_SQUARES: Final = Fraction(897412642898151091, 1793389364248576)
"""The least noise by exact shares: 1251/401, 417/8 and 2502/5, and 2e-7 to 7e-7 more.

A middle portion is rounded down, which a row pays for by 8 steps of its 2^24.
"""

DEVIATIONS: Final[dict[int, tuple[str, Any]]] = {
    5: (PAIR, [10]),
    6: (DIVIDED, [10]),
    7: (CENTRED, [_COUNT, _DEVIATIONS, _SQUARES]),
    8: (DIVIDED, [10]),
    9: (CENTRED, [_COUNT, _DEVIATIONS, _SQUARES]),
    24: (TOTAL, [8]),
    25: (TOTAL, [8]),
    29: (PAIR, [80]),
    32: (PAIR, [11]),
    33: (REFUSED, InvalidParameter),
    38: (REFUSED, InvalidQuery),
    39: (DELTA, [17.84791173040867]),
    68: (PAIR, [40]),
    69: (PAIR, [40]),
    70: (CENTRED, [16 * _COUNT, 16 * _DEVIATIONS, 16 * _SQUARES]),
    81: (PAIR, [180]),
    86: (EXACT, [8]),
    88: (REFUSED, InvalidQuery),
    92: (KNOWN, [2]),
    93: (KNOWN, [2]),
    95: (MADE, [20]),
    101: (ENDLESS, InvalidParameter),
    102: (REFUSED, InvalidQuery),
    103: (SHARED, [1]),
    104: (NO_RATE, [1]),
    105: (NO_RATE, [1]),
    106: (NO_RATE, [1]),
    107: (REFUSED, InvalidQuery),
    108: (NO_NOISE, []),
    109: (ENDLESS, InvalidParameter),
    110: (REFUSED, InvalidQuery),
    111: (REFUSED, InvalidQuery),
    112: (TOTAL, [0.125]),
    113: (NO_RATE, [1]),
    114: (NO_NOISE, []),
    115: (PAIR, [40]),
    116: (NO_RATE, [0.25]),
    117: (NO_RATE, [0.25]),
}
"""Where the numbers differ: why, and what they are here."""
ABSENT: Final = {
    100: "no step sees all rows of an id at once",
    118: "small counts are not held back: they have noise",
    **dict.fromkeys(
        range(120, 128), "parts are charged by how many hold a unit, not noised"
    ),
}
"""Questions that cannot be asked here."""
_BUDGETS: Final = {
    "PureDPBudget": sd.PureDP,
    "ApproxDPBudget": sd.ApproxDP,
    "RhoZCDPBudget": sd.ZCDP,
}


def priced(row: dict[str, Any]) -> Price:
    budget = budget_of(row["budget"])
    request = asked(row["query"], budget)
    assert request is not None, row["query"]
    return price_request(request, catalog(UNITS[row["protects"]]), budget)


def budget_of(text: str) -> Budget:
    """Return a budget as it is written: PureDPBudget(epsilon=1)."""
    amounts = [float(one) for one in re.findall(r"=([\w.e-]+)", text)]
    found: Budget = _BUDGETS[text.partition("(")[0]](*amounts)
    return found


def close(ours: list[Any], theirs: list[float]) -> bool:
    """Tell whether numbers agree; the vectors were rounded to doubles."""
    pairs = zip(ours, theirs, strict=False)
    return len(ours) == len(theirs) and all(
        math.isclose(float(one), other, rel_tol=1e-12) for one, other in pairs
    )


@sampled(57)
@for_each("place", sorted(set(range(len(ROWS))) - set(ABSENT)))
def test_noise_is_that_of_the_vectors_or_differs_for_a_reason(place: int) -> None:
    """Every scale, variance and rate is equal, or stands in the table with a reason."""
    row = ROWS[place]
    known = [parameter for _, parameter in row.get("noise", [])]
    reason, expected = DEVIATIONS.get(place, ("equal", known))
    if isinstance(expected, list):
        found = numbers(priced(row).noise.get("a", ()))
        assert close(found, expected), (reason, row, found)
        return
    with pytest.raises(expected):
        priced(row)


def test_each_deviation_is_one() -> None:
    for place, (reason, expected) in DEVIATIONS.items():
        known = [parameter for _, parameter in ROWS[place].get("noise", [])]
        same = "error" in ROWS[place] if reason == REFUSED else expected == known
        assert same == (reason in {REFUSED, NO_NOISE}), place


def test_what_has_no_equal_is_not_asked() -> None:
    for place in ABSENT:
        row = ROWS[place]
        known = row["protects"] in UNITS
        assert not known or asked(row["query"], budget_of(row["budget"])) is None
