"""Tables of one `release_all`, made to agree."""

from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidQuery
from tests.batches import for_each

BUDGET: Final = sd.PureDP(1)
PLACES: Final = sd.KeySet.from_tuples(
    [("n", "a"), ("n", "b"), ("s", "c")], columns=("state", "town")
)
MONTHS: Final = sd.KeySet.from_dict({"month": [1, 2, None]})
ROWS: Final = {
    "state": ["n", "n", "s"] * 20,
    "town": ["a", "b", "c"] * 20,
    "month": [1, None, 2, 2] * 15,
}
VISITS: Final = sd.table("visits")


def released(requests: Any, budget: Any = BUDGET) -> Any:
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    session = sd.Session({"visits": table}, budget, engine="memory")
    return session.release_all(requests, budget, weights="cells")


def counts(table: Any) -> dict[tuple[Any, ...], float]:
    columns = [column.to_pylist() for column in table.columns]
    return {key[:-1]: key[-1] for key in zip(*columns, strict=True)}


def test_tables_of_a_hierarchy_agree() -> None:
    """Which column lies in which is seen in the keys."""
    sets = VISITS.group_by_sets(PLACES * MONTHS, PLACES, PLACES["state"], MONTHS, ())
    releases = released(sets.agg(n=sd.count(), m=sd.count()))
    assert issubclass(type(releases), dict)
    assert list(releases.adjusted) == list(releases)
    for tables in (releases.adjusted, releases.adjusted.integers):
        cells = counts(tables["state, town, month"])
        assert min(cells.values()) >= 0
        towns, months = counts(tables["state, town"]), counts(tables["month"])
        for (state, town), count in towns.items():
            parts = [n for key, n in cells.items() if key[:2] == (state, town)]
            assert sum(parts) == pytest.approx(count)
        for (month,), count in months.items():
            parts = [n for key, n in cells.items() if key[2] == month]
            assert sum(parts) == pytest.approx(count)
        (total,) = counts(tables["all"]).values()
        assert sum(months.values()) == pytest.approx(total)
    for name, release in releases.items():
        assert releases.adjusted[name].column_names == [*release.keys, "n"]


def test_exact_tables_stay() -> None:
    sets = VISITS.group_by_sets(PLACES * MONTHS, PLACES["town"], MONTHS)
    releases = released(sets.agg(n=sd.count()), sd.PureDP(10**6))
    for name, release in releases.items():
        assert releases.adjusted.integers[name].equals(
            release.table.select([*release.keys, "n"])
        )


def test_one_table_measured_twice_is_merged() -> None:
    one = VISITS.group_by(PLACES["town"] * MONTHS).agg(n=sd.count())
    other = VISITS.group_by(MONTHS * PLACES["town"]).agg(n=sd.count())
    releases = released({"one": one, "other": other})
    first, second = (counts(releases.adjusted[name]) for name in ("one", "other"))
    assert {(month, town): n for (town, month), n in first.items()} == second


def test_tables_without_a_common_one_agree() -> None:
    """Towns and months alone: both add up to one total."""
    releases = released(VISITS.group_by_sets(PLACES["town"], MONTHS).agg(n=sd.count()))
    sums = [sum(counts(releases.adjusted[name]).values()) for name in releases]
    assert sums[0] == pytest.approx(sums[1])


GROUPED: Final = VISITS.group_by(MONTHS).agg(n=sd.count())
WRONG: Final = {
    "other rows": (
        {"a": GROUPED, "b": VISITS.filter(sd.col("month") == 1).agg(n=sd.count())},
        "other rows",
    ),
    "no common count": ({"a": GROUPED, "b": VISITS.agg(m=sd.count())}, "no count"),
    "no count": ({"a": VISITS.group_by(MONTHS).agg(n=sd.sum("month", 0, 3))}, "count"),
    "other keys": (
        {
            "a": GROUPED,
            "b": VISITS.group_by(MONTHS * PLACES["town"]).agg(n=sd.count()),
            "c": VISITS.group_by(sd.KeySet.from_dict({"month": [1, 2]})).agg(
                n=sd.count()
            ),
        },
        "same 'month'",
    ),
    "keys with gaps": (
        {
            "a": VISITS.group_by(
                sd.KeySet.from_tuples(
                    [("a", 1), ("b", 2), ("a", 2)], columns=("town", "month")
                )
            ).agg(n=sd.count())
        },
        "every combination",
    ),
    "small groups left out": ({"a": GROUPED.suppress_below(3)}, "as it was measured"),
    "the first few": (
        {"a": VISITS.group_by(MONTHS).top(2, by=sd.count(), n=sd.count())},
        "as it was measured",
    ),
    "processed": ({"a": GROUPED.sort("n")}, "as it was measured"),
    "no groups": ({"a": VISITS.agg(n=sd.count())}, "no groups"),
}


@for_each(("requests", "message"), WRONG.values(), ids=WRONG)
def test_tables_that_cannot_agree_are_refused(requests: Any, message: str) -> None:
    releases = released(requests)
    with pytest.raises(InvalidQuery, match=message):
        _: Any = releases.adjusted
