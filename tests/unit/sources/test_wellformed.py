"""Which text files are well-formed, and that what passes is read right."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.data import csv as wellformed
from sordino.data.csv import CSVSource, Shape, first_fault
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter
from tests.batches import for_each, sampled
from tests.dice import rolled

Patch = pytest.MonkeyPatch

ENGINES: Final = (MemoryEngine, duckdb_engine)
SEED: Final = 20_261_122
THREE: Final = Shape(",", '"', 3)
FILES: Final = 400


def strict(data: bytes) -> list[list[str]] | None:
    """Return the records that Python's strict reader finds, None for a bad file."""
    try:
        text = io.StringIO(data.decode(), newline="")
        rows = [row for row in csv.reader(text, strict=True) if row]
    except (UnicodeDecodeError, csv.Error):
        return None
    return rows if all(len(row) == 3 for row in rows) else None


FIELDS: Final = (b"a", b"", b'"a"', b'"a,b"', b'"a""b"', b'"a\nb"', b'""', b"1")
HOSTILE: Final = (
    *FIELDS,
    b'""""',
    b'a"b',
    b'"a',
    b'a"',
    b'"a"b',
    b"\xff",
    b"\xc3\xa9",
    b"\xe2\x82",
    b" ",
    b'" "',
    b"a\r",
    b'"\r\n"',
    b"\x00",
    b'"',
    b'"a" ',
    b"\xef\xbb\xbf",
)
ENDS: Final = (b"\n", b"\n", b"\n", b"\r\n", b"\n\n")


def drawn(dice: Dice) -> bytes:
    """Draw a file, well-formed or not."""
    records = [b"x,y,z\n"]
    for _ in range(dice.between(0, 5)):
        width = 3 if dice.chance(19, 20) else dice.between(1, 4)
        pool = HOSTILE if dice.chance(1, 8) else FIELDS
        record = b",".join(dice.one(pool) for _ in range(width))
        records.append(record + dice.one(ENDS))
    data = b"".join(records)
    return data if dice.chance(2, 3) else data.rstrip(b"\r\n")


def blocks(data: bytes, size: int) -> Any:
    return iter([data[place : place + size] for place in range(0, len(data), size)])


def accepted_wrongly() -> list[bytes]:
    """Return drawn files that pass for well-formed and that Python refuses."""
    found = []
    for seed in range(4 * FILES):
        dice = rolled(SEED + seed)
        data = drawn(dice)
        size = dice.one((3, 8, 64, 1 << 20))
        if first_fault(blocks(data, size), THREE) is None and strict(data) is None:
            found.append(data)
    return [data for data in found if is_text(data)]


def is_text(data: bytes) -> bool:
    """Tell whether bytes are UTF-8, which the stream sees to before."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_what_passes_is_what_a_strict_reader_takes() -> None:
    """No drawn file is taken that Python's strict reader refuses, in any blocks."""
    assert not accepted_wrongly()


@sampled(1)
@for_each(
    ("name", "mutant"),
    [
        ("_outside", lambda *given: given[0]),
        ("_torn_quotes", lambda *_: iter(())),
        ("_lone", lambda *_: iter(())),
        ("_ragged_records", lambda *_: iter(())),
    ],
)
def test_a_check_left_out_is_caught(name: str, mutant: Any, monkeypatch: Patch) -> None:
    """Without one of the checks a file is taken that must not be, or blocks matter."""
    monkeypatch.setattr(wellformed, name, mutant)
    seeds = range(SEED, SEED + 4 * FILES)
    torn = any(
        (first_fault(blocks(drawn(rolled(seed)), 8), THREE) is None)
        != (first_fault(iter([drawn(rolled(seed))]), THREE) is None)
        for seed in seeds
    )
    assert torn or accepted_wrongly()


def test_rows_are_those_of_a_strict_reader(tmp_path: Path) -> None:
    """What is taken has Python's rows, on both engines, whatever columns are read."""
    tried = 0
    for seed in range(SEED, SEED + FILES):
        dice = rolled(seed)
        path = tmp_path / f"{seed}.csv"
        path.write_bytes(drawn(dice))
        expected = strict(path.read_bytes())
        names = dice.several("xyz", 0, 3)
        table = sd.Csv(path, dict.fromkeys(names, "text"), null="\x01")
        try:
            source = CSVSource(table, {})
        except InvalidParameter:
            continue
        assert expected is not None
        wanted = [[row["xyz".index(name)] for name in names] for row in expected[1:]]
        held = source.read(["xyz".index(name) for name in names])
        assert held.num_rows == len(wanted)
        if names:
            assert [list(row.values()) for row in held.to_pylist()] == wanted
            tried += 1
    assert tried > FILES // 4


FAULTS: Final[Mapping[str, tuple[bytes, int, str]]] = {
    "short": (b"a,b\n1,2\n1\n1,2\n", 3, "has 1 field, where the header has 2"),
    "long": (b"a,b\n1,2,3\n", 2, "has 3 fields"),
    "after a line break": (b'a,b\n"x\ny",2\n1\n', 4, "has 1 field"),
    "open quote": (b'a,b\n1,2\n"x,2\n1,2\n', 3, "a quote that is never closed"),
    "open, closed later": (b'a,b\n1,"x\n1,"y"\n', 2, "not closed where a field ends"),
    "quote inside": (b'a,b\n1,2\nx"y,2\n', 3, "has a quote within a field"),
    "after a quote": (b'a,b\n"x"y,2\n', 2, "not closed where a field ends"),
    "not UTF-8": (b"a,b\n1,2\n\xff,2\n", 3, "has bytes that are no utf-8"),
    "cut UTF-8": (b"a,b\n1,2\n1,\xe2\x82", 3, "has bytes that are no utf-8"),
    "lone return": (b"a,b\r\n1,2\r1,2\n", 2, "a carriage return that ends no line"),
    "long record": (
        b"a,b\n1,2\n1," + b"x" * (1 << 22) + b"\n1,2\n",
        3,
        "a record of more than 4 MiB",
    ),
    "no header": (b"", 1, "has no header"),
    "blank header": (b"\na,b\n", 1, "has no header"),
}


@for_each("name", FAULTS)
def test_a_malformed_file_is_refused(name: str, tmp_path: Path) -> None:
    data, line, why = FAULTS[name]
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    for engine in ENGINES:
        with pytest.raises(InvalidParameter, match=f"line {line} .*{why}") as refused:
            engine().open("t", path, {"a": sd.Column("i64")})
        assert refused.value.value == str(path)
