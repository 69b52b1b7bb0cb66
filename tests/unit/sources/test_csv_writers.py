"""What writers of text files write by default is read without loss."""

import datetime as dt
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd
import polars as pl

import sordino as sd
from tests.batches import for_each
from tests.text_files import Rows, read

MOMENTS: Final = [
    dt.datetime(2025, 6, 1, 10, 0, 0, 123456, dt.UTC),
    None,
    dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC),
]
TRUTH: Final[Mapping[str, tuple[str, list[Any]]]] = {
    "whole": ("i64", [1, None, -(2**53)]),
    "real": ("f64", [0.1, None, -1e300]),
    "word": ("text", ["a,b", None, 'line\nbreak "q" \u00e9']),
    "ok": ("bool", [True, None, False]),
    "day": ("date", [dt.date(2025, 6, 1), None, dt.date(1901, 1, 1)]),
    "when": ("time", [one and one.replace(tzinfo=None) for one in MOMENTS]),
}
KINDS: Final = {name: kind for name, (kind, _) in TRUTH.items()}
WANTED: Final = [
    {name: values[place] for name, (_, values) in TRUTH.items()} for place in range(3)
]


def told(rows: Rows) -> list[str]:
    return sorted(map(repr, rows))


def frame() -> pd.DataFrame:
    """Return the rows as pandas holds them: integers with a missing one are floats."""
    made = pd.DataFrame({name: values for name, (_, values) in TRUTH.items()})
    made["whole"] = made["whole"].astype("float64")
    made["day"] = pd.to_datetime(made["day"])
    zoned = pd.to_datetime(pd.Series(MOMENTS), utc=True)
    made["when"] = zoned.dt.tz_convert("Europe/Berlin")
    return made


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    """Floats for integers, True and False, zoned times: nothing is lost."""
    frame().to_csv(tmp_path / "t.csv", index=False)
    assert "+02:00" in (tmp_path / "t.csv").read_text(encoding="utf-8")
    assert told(read(sd.Csv(tmp_path / "t.csv", KINDS))) == told(WANTED)


def test_what_pandas_writes_for_excel_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame().to_csv(path, index=False, sep=";", decimal=",", encoding="utf-8-sig")
    table = sd.Csv(path, KINDS, delimiter=";", decimal=",")
    assert told(read(table)) == told(WANTED)


@for_each("zone", ["Europe/Berlin", None])
def test_what_polars_writes_is_read(zone: str | None, tmp_path: Path) -> None:
    frame = pl.DataFrame({name: values for name, (_, values) in TRUTH.items()})
    if zone is not None:
        when = pl.col("when").dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        frame = frame.with_columns(when)
    frame.write_csv(tmp_path / "t.csv")
    assert told(read(sd.Csv(tmp_path / "t.csv", KINDS))) == told(WANTED)


EXCEL: Final = (
    "Nr;Preis;Name;Tag;Zeit;Stammkunde\r\n"
    "1;1234,5;K\u00f6ln;01.06.2025;01.06.2025 10:30;WAHR\r\n"
    ';;"""M\u00fcller"" & Co; Bonn \u20ac";;;FALSCH\r\n'
)
"""What Excel writes in Germany as CSV, Windows-1252: by its published rules."""
EXCEL_ROWS: Final[Rows] = [
    {
        "Nr": 1,
        "Preis": 1234.5,
        "Name": "K\u00f6ln",
        "Tag": dt.date(2025, 6, 1),
        "Zeit": dt.datetime(2025, 6, 1, 10, 30),  # noqa: DTZ001 UTC
        "Stammkunde": True,
    },
    {
        "Nr": None,
        "Preis": None,
        "Name": '"M\u00fcller" & Co; Bonn \u20ac',
        "Tag": None,
        "Zeit": None,
        "Stammkunde": False,
    },
]
R: Final = (
    '"","id","x","name","ok","day"\n'
    '"1",1,0.1,"NA",TRUE,2025-06-01\n'
    '"2",NA,Inf,NA,FALSE,NA\n'
    '"3",3,NaN,"",NA,1901-01-01\n'
)
"""What write.csv of R writes of a data frame, row names in front."""
R_ROWS: Final[Rows] = [
    {"id": 1, "x": 0.1, "name": "NA", "ok": True, "day": dt.date(2025, 6, 1)},
    {"id": None, "x": math.inf, "name": None, "ok": False, "day": None},
    {"id": 3, "x": math.nan, "name": "", "ok": None, "day": dt.date(1901, 1, 1)},
]


def test_what_excel_writes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(EXCEL.encode("cp1252"))
    kinds = dict(
        zip(EXCEL_ROWS[0], ("i64", "f64", "text", "date", "time", "bool"), strict=True)
    )
    table = sd.Csv(
        path,
        kinds,
        delimiter=";",
        encoding="cp1252",
        decimal=",",
        date="%d.%m.%Y",
        time="%d.%m.%Y %H:%M",
        true="wahr",
        false="falsch",
    )
    assert told(read(table)) == told(EXCEL_ROWS)


def test_what_r_writes_is_read(tmp_path: Path) -> None:
    """NA without quotes is missing, with quotes it is a text."""
    path = tmp_path / "t.csv"
    path.write_text(R, encoding="utf-8")
    kinds = dict(zip(R_ROWS[0], ("i64", "f64", "text", "bool", "date"), strict=True))
    assert told(read(sd.Csv(path, kinds, null="NA"))) == told(R_ROWS)
