"""Tables and blocks that do not fit each other, or their ledger: refused at once."""

from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidParameter, SordinoError
from tests.batches import for_each

MONTHS: Final = sd.Blocks(start="2026-01", every="month")


@for_each(
    ("tables", "blocks", "problem"),
    [
        ({"v": sd.PrivateTable({"m": ["a"]}, sd.AddOneRow())}, MONTHS, "need a table"),
        (
            {"v": sd.PrivateTable({"m": ["a"]}, sd.AddOneRow(), blocks="m")},
            None,
            "must say what the blocks",
        ),
        (
            {"v": sd.PrivateTable({"m": [1.5]}, sd.AddOneRow(), blocks="m")},
            MONTHS,
            "cannot be the type",
        ),
        (
            {"v": sd.PrivateTable({"m": [1]}, sd.AddOneRow(), blocks="m")},
            MONTHS,
            "cannot be the type",
        ),
        (
            {"v": sd.PrivateTable({"m": [1]}, sd.AddOneRow(), blocks="m")},
            sd.Blocks(names=["pilot"]),
            "must be a whole number",
        ),
        (
            {"v": sd.PrivateTable({"m": [1]}, sd.AddOneRow(), blocks="m")},
            sd.Blocks(names=["9223372036854775808"]),
            "must be a whole number",
        ),
        (
            {"v": sd.PrivateTable({"m": ["a"]}, sd.AddOneRow(), blocks="n")},
            MONTHS,
            "no column",
        ),
        (
            {"v": sd.PrivateTable({"m": ["a"]}, sd.ChangeOneRow(), blocks="m")},
            MONTHS,
            "as if the number of rows were fixed",
        ),
        (
            {"v": sd.PrivateTable({"m": [1]}, sd.AddMaxTotal("m", 3), blocks="m")},
            sd.Blocks(names=[1]),
            "what people add to",
        ),
        (
            {"v": sd.PrivateTable({"m": ["a"]}, sd.AddOneRow(), blocks="m")},
            "month",
            "must be blocks",
        ),
    ],
)
def test_tables_that_do_not_lie_in_blocks_are_refused(
    tables: Any, blocks: Any, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.ledger"
    with pytest.raises(SordinoError, match=problem):
        sd.Session(tables, sd.PureDP(1), ledger=path, blocks=blocks)
    assert not path.exists()


def test_a_session_of_other_blocks_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.ledger"
    rows = {"m": ["2026-01"], "n": ["2026-01"]}

    def opened(column: str | None, blocks: sd.Blocks | None) -> sd.Session:
        table = sd.PrivateTable(rows, sd.AddOneRow(), blocks=column)
        return sd.Session({"v": table}, sd.PureDP(1), ledger=path, blocks=blocks)

    opened("m", MONTHS).close()
    opened("m", None).close()
    assert caplog.text.count("a new ledger, with nothing spent") == 1
    refused: list[tuple[str | None, sd.Blocks | None]] = [
        ("m", sd.Blocks(start="2026-02", every="month")),
        ("n", MONTHS),
        (None, MONTHS),
        (None, None),
    ]
    for column, blocks in refused:
        with pytest.raises(InvalidParameter):
            opened(column, blocks)
    plain = tmp_path / "b.ledger"
    sd.Ledger.at(plain, sd.PureDP(1), create=True).close()
    table = sd.PrivateTable(rows, sd.AddOneRow(), blocks="m")
    for blocks in (MONTHS, None):
        with pytest.raises(InvalidParameter):
            sd.Session({"v": table}, ledger=plain, blocks=blocks)
