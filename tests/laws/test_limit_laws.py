"""What a suggestion measures moves by no more than it is priced for."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pytest

import sordino as sd
from sordino.query.limit_grid import ABOVE, UNITS, clamped_name, kept_name
from sordino.session.suggestion import suggest
from tests.batches import for_each, sampled

Row = tuple[str, str, int]
PAIRS: Final = tuple(product((1, 2), (1, 3)))
ENDS: Final = (0, 4)
LIMITS: Final[dict[str, Any]] = {"groups": [2, 1], "rows": [1, 3], "x": [ENDS]}
ENDLESS: Final = sd.PureDP(10**13)


def drawn(seed: int) -> list[Row]:
    """Return rows of a few people, some of whom have many in few groups."""
    dice = random.Random(seed)
    return [
        (dice.choice("aaab"), dice.choice("UVW"), dice.randint(-2, 6))
        for _ in range(dice.randint(1, 14))
    ]


def told(rows: list[Row], engine: Any = "memory") -> dict[str, float]:
    """Return what the request behind a suggestion says of rows, without noise."""
    table = {name: [row[place] for row in rows] for place, name in enumerate("pgx")}
    columns = {"p": "text", "g": "text", "x": "i64"}
    private = sd.PrivateTable(table, protects=sd.AddRowsWithID("p"), columns=columns)
    keys = sd.KeySet.from_dict({"g": ["U", "V", "W"]})
    query = sd.table("t").group_by(keys).agg(x=sd.sum("x"), n=sd.count())
    with sd.Session({"t": private}, sd.PureDP(10**14), engine=engine) as session:
        desk = session._desk
        found = suggest(desk, query, (ENDLESS, None, LIMITS, "0.5", None), None).release
        assert found is not None
        return {name: float(found[name][0].as_py()) for name in found.names}


def counted(rows: list[Row]) -> dict[str, float]:
    """Return the same by definition: an average over which groups are kept."""
    people: dict[str, Counter[str]] = {}
    for person, group, _ in rows:
        people.setdefault(person, Counter())[group] += 1
    found = {
        kept_name(groups, most): sum(
            min(1, groups / len(held)) * sum(min(most, n) for n in held.values())
            for held in people.values()
        )
        for groups, most in PAIRS
    }
    low, high = ENDS
    outside = {person for person, _, x in rows if not low <= x <= high}
    above = [
        held for held in people.values() if len(held) > 2 or max(held.values()) > 3
    ]
    return found | {
        UNITS: len(people),
        ABOVE: len(above),
        clamped_name("x", ENDS): len(outside),
    }


def most_moved(told: Callable[[list[Row]], dict[str, float]], rows: list[Row]) -> bool:
    """Tell whether all numbers move by at most their bounds when a person leaves."""
    limits = {kept_name(*pair): pair[0] * pair[1] for pair in PAIRS}
    with_them, without = told(rows), told([row for row in rows if row[0] != "a"])
    return all(
        abs(with_them[name] - without.get(name, 0.0)) <= limits.get(name, 1) + 1e-9
        for name in with_them
    )


@sampled(4)
@for_each("seed", range(40))
def test_effects_are_those_of_the_limits(seed: int) -> None:
    """They are what limits keep on average, and a person moves each by its bound."""
    rows = [*drawn(seed), ("b", "U", 1)]
    assert told(rows) == pytest.approx(counted(rows), abs=1e-5)
    assert most_moved(counted, rows)


def test_sums_without_a_cap_are_caught() -> None:
    """Rows that are counted in all groups of a person move further than priced."""

    def loose(rows: list[Row]) -> dict[str, float]:
        held = Counter((row[0], row[1]) for row in rows)
        return {
            kept_name(groups, most): sum(min(most, n) for n in held.values())
            for groups, most in PAIRS
        }

    caught = [seed for seed in range(40) if not most_moved(loose, drawn(seed))]
    assert len(caught) > 10


def test_every_engine_tells_the_same() -> None:
    rows = drawn(3)
    assert told(rows, "duckdb") == pytest.approx(told(rows), abs=1e-5)
