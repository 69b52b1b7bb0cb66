"""How the cells of text files are read: by one rule each, on both engines alike."""

import csv
import datetime as dt
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from sordino.auditing.dice import Dice
from tests.batches import for_each, sampled
from tests.dice import rolled
from tests.text_files import column

SEED: Final = 20_261_122


def test_longest_records_are_read(tmp_path: Path) -> None:
    """Records up to the limit are read, wherever blocks end; long texts are missing."""
    texts = ["x" * size for size in (1 << 20, (1 << 20) + 1, (1 << 22) - 4, 7)] * 3
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{text},1\n" for text in texts))
    sizes = [None if one is None else len(one) for one in column(path, "a", "text")]
    assert (
        sizes == [None] * 6 + [7] * 3 + [1 << 20] * 3
        or sorted((size or 0) for size in sizes) == [0] * 6 + [7] * 3 + [1 << 20] * 3
    )


@pytest.mark.slow
def test_a_cell_is_read_by_its_own_rule(tmp_path: Path) -> None:
    """Both engines read drawn cells of every type and spelling alike."""
    dice, path = rolled(SEED), tmp_path / "t.csv"
    texts = [*CELLS, *(_changed(dice, dice.one(CELLS)) for _ in range(1500))]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["c", "n"], *([one, "1"] for one in texts)])
    for kind in ("i64", "f64", "bool", "date", "time"):
        for spelled in SPELLINGS:
            values = column(path, "c", kind, **spelled)
            assert len(values) == len(texts)
            assert any(one is not None for one in values)


SPELLINGS: Final[Sequence[Mapping[str, Any]]] = (
    {},
    {"decimal": ",", "date": "%d.%m.%Y", "time": "%d.%m.%Y %H:%M"},
    {
        "true": "wahr",
        "false": "falsch",
        "date": "%Y%m%d",
        "time": "%m/%d/%Y %H:%M:%S.%f %z",
    },
    {"decimal": ",", "thousands": ".", "currency": ("\u20ac", "Fr.")},
    {"thousands": " "},
    {"thousands": "'", "currency": "EUR"},
)
CELLS: Final = (
    "1",
    "1.0",
    "1,0",
    "-7.",
    "+5",
    "1e3",
    "9223372036854775807",
    "9223372036854775808",
    "7.5",
    "inf",
    "-Inf",
    "NaN",
    "nan",
    "-nan",
    "+INFINITY",
    "1_0",
    "1,5",
    "1.5",
    ".5",
    ",5",
    "1e400",
    "-0.0",
    "true",
    "TRUE",
    "T",
    "Yes",
    "0",
    "n",
    "Wahr",
    "falsch",
    "x",
    "2025-02-29",
    "2024-02-29",
    "01.06.2025",
    "1.6.2025",
    "31.4.2025",
    "20250601",
    "2025061",
    "2025-06-01",
    "2025-06-01 12:00:00+02:00",
    "2025-06-01T12:00:00.1234565Z",
    "1969-12-31 23:59:59.1234565",
    "1969-12-31 23:59:59.1234575",
    "9999-12-31 23:59:59.9999995",
    "0001-01-01 00:00:00+02:00",
    "0001-01-01 00:00:00-02:00",
    "2025-06-01 12:00 UTC",
    "2025-06-01 24:00",
    "2025-06-01 12:00:60",
    "01.06.2025 7:05",
    "6/1/2025 1:2:3.5 -05:30",
    "6/31/2025 1:2:3.5 Z",
    "\u0661",
    "\u00e9",
    "1.234.567,5",
    "12.34,5",
    "1234.567",
    ".234,5",
    "-1 234.5",
    "1\u202f234\u00a0567",
    "1'234'567.0",
    "1'23",
    "\u20ac -1.234,5",
    "-\u20ac5",
    "5,5 Fr.",
    "5EUR",
    "EUR 1'000 EUR",
    "\u20ac",
    "1e3 EUR",
    "9.223.372.036.854.775.807",
    "9.223.372.036.854.775.808 \u20ac",
    "1" + ".000" * 111,
)


def _changed(dice: Dice, cell: str) -> str:
    """Return a cell with a sign or two changed or put in."""
    signs = list(cell)
    for _ in range(dice.between(1, 2)):
        place = dice.below(len(signs) + 1)
        signs[place : place + dice.below(2)] = dice.one("0123456789.,-+:TZ e/'\u20ac")
    return "".join(signs)


@sampled(5)
@for_each(
    ("cell", "kind", "spelled", "value"),
    [
        ("1.0", "i64", {}, 1),
        ("1,0", "i64", {"decimal": ","}, 1),
        ("1.5", "i64", {}, None),
        ("1e3", "i64", {}, None),
        ("1.5", "f64", {"decimal": ","}, None),
        ("-1,25", "f64", {"decimal": ","}, -1.25),
        ("1.234.567,5", "f64", {"decimal": ",", "thousands": "."}, 1234567.5),
        ("1234567,5", "f64", {"decimal": ",", "thousands": "."}, 1234567.5),
        ("1.5", "f64", {"decimal": ",", "thousands": "."}, None),
        ("1.234.56", "i64", {"decimal": ",", "thousands": "."}, None),
        ("1.234", "f64", {}, 1.234),
        ("1.234", "i64", {"decimal": ",", "thousands": "."}, 1234),
        ("1\u202f234", "i64", {"thousands": " "}, 1234),
        ("-$1,234.50", "f64", {"thousands": ",", "currency": "$"}, -1234.5),
        ("5 \u20ac", "i64", {"currency": ("\u20ac", "EUR")}, 5),
        ("EUR 5 EUR", "i64", {"currency": ("\u20ac", "EUR")}, None),
        ("$5", "i64", {}, None),
        ("-Inf", "f64", {}, -math.inf),
        ("Yes", "bool", {}, True),
        ("0", "bool", {}, False),
        ("WAHR", "bool", {"true": "wahr", "false": "falsch"}, True),
        ("01.06.2025", "date", {"date": "%d.%m.%Y"}, dt.date(2025, 6, 1)),
        ("6/1/2025", "date", {"date": "%m/%d/%Y"}, dt.date(2025, 6, 1)),
        ("20250601", "date", {"date": "%Y%m%d"}, dt.date(2025, 6, 1)),
        ("2025-06-31", "date", {}, None),
        ("2025-06-01 12:00:00+02:00", "time", {}, (10, 0, 0, 0)),
        ("2025-06-01 12:00:00+0200", "time", {}, (10, 0, 0, 0)),
        ("2025-06-01T12:00:00Z", "time", {}, (12, 0, 0, 0)),
        ("2025-06-01 12:00:00.123456789", "time", {}, (12, 0, 0, 123457)),
        ("2025-06-01 12:00:00.1234565", "time", {}, (12, 0, 0, 123457)),
        ("2025-06-01", "time", {}, (0, 0, 0, 0)),
        ("01.06.2025 7:05", "time", {"time": "%d.%m.%Y %H:%M"}, (7, 5, 0, 0)),
        ("2025-06-01 24:00", "time", {}, None),
        (
            "20250601120000.5+0200",
            "time",
            {"time": "%Y%m%d%H%M%S.%f%z"},
            (10, 0, 0, 500_000),
        ),
        ("1.6.2025 9:05Z", "time", {"time": "%d.%m.%Y %H:%M%z"}, (9, 5, 0, 0)),
        ("NA", "text", {"null": "NA"}, None),
        ('"NA"', "text", {"null": "NA"}, "NA"),
        ("", "text", {}, None),
        ('""', "text", {}, ""),
        ('"a ""b"""', "text", {}, 'a "b"'),
    ],
)
def test_what_a_cell_means(
    cell: str, kind: str, spelled: Any, value: Any, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"n;c\n1;{cell}\n")
    if isinstance(value, tuple):
        value = dt.datetime(2025, 6, 1, *value)  # noqa: DTZ001 UTC without a zone
    assert column(path, "c", kind, delimiter=";", **spelled) == [value]
