"""What is in a public table counts, whatever the order and the door of its rows."""

import itertools
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv

import sordino as sd
from sordino.session.charging import rows_digest
from tests.batches import for_each
from tests.worded import said

COLUMNS: Final[dict[str, list[Any]]] = {
    "ward": ["A", None, "B", "", "A"],
    "beds": [1, 2, None, 4, 1],
    "rate": [0.5, float("nan"), None, -0.0, 0.5],
    "open": [True, None, False, True, True],
    "since": [date(1900, 1, 1), None, date(2026, 1, 31), date(1, 1, 1), None],
    "seen": [datetime(2026, 1, 31), None, None, None, None],  # noqa: DTZ001 UTC it is
    "codes": [["a"], [], None, ["a", "b"], ["a"]],
}


def table(**changed: list[Any]) -> pa.Table:
    return pa.table(COLUMNS | changed)


def session(rows: Any, engine: Any = "memory", **declared: Any) -> sd.Session:
    visits = sd.PrivateTable({"ward": ["A"]}, protects=sd.AddOneRow())
    public = sd.PublicTable(rows, **declared)
    return sd.Session({"visits": visits, "wards": public}, sd.PureDP(9), engine=engine)


def fingerprint(rows: Any, engine: Any = "memory", **declared: Any) -> str:
    query = sd.table("visits").join_public("wards", on="ward").agg(n=sd.count())
    return said(session(rows, engine, **declared), query, sd.PureDP(1)).fingerprint


def test_the_order_of_rows_and_columns_does_not_count() -> None:
    known = "0e159aae42889aabcc0bbe68ac7d891665a7415077a892a6c12117f7805d40fb"
    assert rows_digest(table()) == known, "ledgers keep it, and find answers by it"
    for order in itertools.permutations(range(5)):
        assert rows_digest(table().take(list(order))) == known
    assert rows_digest(table().select(list(COLUMNS)[::-1])) == known
    pieces = pa.concat_tables([table().slice(0, 2), table().slice(2)])
    assert rows_digest(pieces) == known


def changes() -> dict[str, pa.Table]:
    """Return tables that each differ in one thing."""
    others: dict[str, Any] = {
        "ward": "C",
        "beds": 5,
        "rate": 0.25,
        "open": None,
        "since": date(1900, 1, 2),
        "seen": datetime(2026, 1, 31, 0, 0, 0, 1),  # noqa: DTZ001 UTC it is
        "codes": ["b"],
    }
    found = {
        name: table(**{name: [other, *COLUMNS[name][1:]]})
        for name, other in others.items()
    }
    moved = {
        f"{name} of another row": table(**{name: [values[1], values[0], *values[2:]]})
        for name, values in COLUMNS.items()
    }
    return (
        found
        | moved
        | {
            "a row less": table().slice(1),
            "a row twice": pa.concat_tables([table(), table().slice(0, 1)]),
            "no rows": table().slice(0, 0),
            "empty for missing": table(ward=["A", "", "B", "", "A"]),
            "zero for missing": table(beds=[1, 2, 0, 4, 1]),
            "zero for NaN": table(rate=[0.5, 0.0, None, -0.0, 0.5]),
            "missing for NaN": table(rate=[0.5, None, None, -0.0, 0.5]),
            "a list for missing": table(codes=[["a"], [], [], ["a", "b"], ["a"]]),
        }
    )


def test_every_cell_counts() -> None:
    told = {name: rows_digest(made) for name, made in changes().items()}
    assert len({*told.values(), rows_digest(table())}) == len(told) + 1


def test_zeros_and_nans_are_one_value() -> None:
    """Bits that no value has do not count."""
    assert rows_digest(table()) == rows_digest(
        table(rate=[0.5, -float("nan"), None, 0.0, 0.5])
    )


def test_the_door_does_not_count(tmp_path: Path) -> None:
    rows = pa.table({name: COLUMNS[name] for name in ("ward", "beds")}).slice(0, 1)
    pa.parquet.write_table(rows, tmp_path / "wards.parquet")
    pa.csv.write_csv(rows, tmp_path / "wards.csv")
    declared = {"columns": {"ward": "text", "beds": "i64"}}
    known = fingerprint(rows)
    assert fingerprint(rows.to_pydict()) == known
    assert fingerprint(rows, "duckdb") == known
    assert fingerprint(str(tmp_path / "wards.parquet"), "duckdb") == known
    assert fingerprint(str(tmp_path / "wards.csv"), "duckdb", **declared) == known


@for_each("engine", ["memory", "duckdb"])
def test_engines_agree_on_every_type(engine: Any) -> None:
    columns = {name: values for name, values in COLUMNS.items() if name != "codes"}
    assert fingerprint(pa.table(columns), engine) == fingerprint(pa.table(columns))
