"""Keys that fill a box: the place that is computed is the place that a key has."""

from itertools import product

import pyarrow as pa

from sordino.auditing.dice import Dice
from sordino.engines.statements.totals import Side, box_of
from tests.batches import for_each
from tests.dice import rolled

SEEDS = 300
FAR = 2**63 - 3


def drawn_keys(dice: Dice) -> pa.Table:
    """Draw keys that fill a box, or lack one, or have one that is elsewhere."""
    sizes = [dice.between(1, 4) for _ in range(dice.between(1, 3))]
    starts = [dice.one([0, -2, 7, -FAR, FAR - 4]) for _ in sizes]
    ranges = [range(low, low + n) for low, n in zip(starts, sizes, strict=True)]
    rows = list(product(*ranges))
    match dice.between(0, 4):
        case 0 if len(rows) > 1:
            rows.pop(dice.between(0, len(rows) - 1))
        case 1:
            place = dice.between(0, len(rows) - 1)
            rows[place] = (rows[place][0] - 1, *rows[place][1:])
        case 2 if len(rows) > 1:
            rows.reverse()
        case 3 if len(rows) > 1:
            rows[0] = rows[1]
        case _:
            pass
    columns = list(zip(*rows, strict=True))
    return pa.table({f"k{n}": pa.array(c, pa.int64()) for n, c in enumerate(columns)})


def misplaced(sides: tuple[Side, ...], keys: pa.Table) -> list[int]:
    rows = zip(*(column.to_pylist() for column in keys.columns), strict=True)
    return [
        place
        for place, row in enumerate(rows)
        if place != sum(s.step * (x - s.least) for s, x in zip(sides, row, strict=True))
    ]


def groups_within(sides: tuple[Side, ...]) -> int:
    count = 1
    for side in sides:
        count *= side.greatest - side.least + 1
    return count


def test_a_place_in_a_box_is_that_of_its_key() -> None:
    """And nothing between the ends of a box is no key, for a draw of keys."""
    boxes = 0
    for seed in range(SEEDS):
        keys = drawn_keys(rolled(seed))
        sides = box_of(keys)
        if sides is not None:
            boxes += 1
            assert not misplaced(sides, keys)
            assert groups_within(sides) == keys.num_rows
    assert SEEDS // 5 < boxes < SEEDS


@for_each(
    "keys",
    [
        pa.table({"g": pa.array([], pa.int64())}),
        pa.table({"g": [0, None]}),
        pa.table({"g": [0.0, 1.0]}),
        pa.table({"g": ["0", "1"]}),
        pa.table({"g": [0, 2]}),
        pa.table({"g": [1, 0]}),
        pa.table({"g": [0, 0, 2]}),
        pa.table({"g": [0, 1, 0, 1], "h": [0, 0, 1, 1]}),
        pa.table({"g": [-(2**63), 2**63 - 1]}),
    ],
    ids=lambda keys: str(keys.to_pylist()),
)
def test_other_keys_are_joined(keys: pa.Table) -> None:
    assert box_of(keys) is None
