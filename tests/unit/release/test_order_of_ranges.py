"""Groups that are ranges come in the order of their edges, whatever they are called."""

from typing import Any, Final

import sordino as sd
from tests.batches import for_each

AGES: Final = [5 * number for number in range(24)] * 50
ROWS: Final = {
    "id": [*range(len(AGES))],
    "age": AGES,
    "ward": ["B"] * (len(AGES) // 2) + ["A"] * (len(AGES) // 2),
}
BINS: Final = {
    "edges": sd.Bins([0, 5, 10, 100, 120]),
    "names": sd.Bins([0, 18, 65, 120], names=["young", "grown", "aged"]),
    "doubles": sd.Bins([-0.5, 2.25, 1e3]),
}


def released(request: Any, **given: Any) -> sd.Release:
    table = sd.PrivateTable(ROWS, protects=sd.AddOneRow())
    session = sd.Session({"t": table}, sd.ApproxDP(2000, "1e-3"), **given)
    return session.release(request, sd.ApproxDP(100, "1e-5"), key="once")


@for_each("name", BINS)
@for_each("keys", ["known", "unknown"])
@for_each("engine", ["duckdb", "memory"])
def test_ranges_come_by_their_edges(name: str, keys: str, engine: str) -> None:
    """Beside another column, renamed, each with the numbers that are its own."""
    bins = BINS[name]
    binned = (
        sd.table("t").with_columns(r=sd.col("age").bin(bins)).rename({"r": "range"})
    )
    wanted: list[Any] = [(label, ward) for label in bins.labels for ward in "AB"]
    if keys == "known":
        known = {"range": [*bins.labels], "ward": ["A", "B"]}
        asked = binned.group_by(sd.KeySet.from_dict(known)).agg(n=sd.count())
    else:
        asked = binned.group_by("range", "ward").agg(n=sd.count())
        there = {bins.label(age) for age in AGES}
        missing = [(None, "A"), (None, "B")] if None in there else []
        wanted = [*missing, *(each for each in wanted if each[0] in there)]
    release = released(asked, engine=engine)
    cells = [*zip(map(bins.label, AGES), ROWS["ward"], strict=True)]
    for table in (release.table, release.errors):
        rows = table.select(["range", "ward"]).to_pylist()
        assert [(row["range"], row["ward"]) for row in rows] == wanted
    assert release["n"].to_pylist() == [cells.count(each) for each in wanted]


def test_rows_in_no_range_come_first() -> None:
    """A value that is missing has no place among edges."""
    bins = sd.Bins([0, 5, 10, 50])
    binned = sd.table("t").with_columns(r=sd.col("age").bin(bins))
    shown = released(binned.group_by("r").agg(n=sd.count()))["r"].to_pylist()
    assert shown == [None, "[0, 5)", "[5, 10)", "[10, 50]"]


def test_the_first_few_groups_keep_their_ranks() -> None:
    """They are in the order in which they were chosen."""
    bins = sd.Bins([0, 5, 10, 120])
    keys = sd.KeySet.from_dict({"r": [*bins.labels]})
    binned = sd.table("t").with_columns(r=sd.col("age").bin(bins))
    few = binned.group_by(keys).top(2, sd.count())
    release = released(few)
    assert release["rank"].to_pylist() == [1, 2]
    assert release["r"].to_pylist()[0] == "[10, 120]"
