"""Whatever leaves by any door is searched for what is private.

A job is checked, priced, released, shown, verified, labelled and reported of, as on a
terminal, over a table whose private facts can be recognised: how many rows and people
it has, its greatest value, a column that nobody asked for, a cell that cannot be read.
None may be in what is printed, or in a file that is written: a footer, a sniffed type,
a progress line that counts rows and a traceback would each betray some.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest
from pyarrow import parquet

from sordino.office.cli import jobs, main

ROWS = 7_919
PEOPLE = 2_003
OUTLIER = 86_753_09
UNASKED = "Zerbst-Adler"
UNREADABLE = "quuxplugh"
TEXTS = (f"{OUTLIER}", f"{OUTLIER:,}", UNASKED, UNREADABLE, "Traceback")
COUNTS = re.compile(
    r"(?<![0-9a-f.,])(?:{})(?![0-9a-f,])".format(
        "|".join(f"{n}|{n:,}" for n in (ROWS, ROWS + 1, PEOPLE))
    )
)
"""Numbers that stand by themselves: no part of a hash, nor of a second's fraction.

By chance none is published: counts lie near 1,130 and sums of days near 2,640, and
either would have to err by 20 times the scale of its noise (under 1e-8 in all).
"""
JOB = """
schema = 1
[tables.visits]
source = "visits.csv"
protects = { id = "patient" }
columns = { patient = "i64", ward = "text", days = "i64", name = "text" }
[ledger]
path = "clinic.ledger"
limit = { epsilon = 2 }
[releases.wards]
sql = "SELECT ward, COUNT(*) AS n, SUM(days) AS days FROM visits GROUP BY ward"
limits = { max_rows_per_id = 4 }
bounds = { days = [0, 3] }
keys = { ward = ["A", "B", "C", "D", "E", "F", "G"] }
budget = { epsilon = "1" }
out = ["parquet", "csv", "html"]
"""
COMMANDS = (
    ("check", "clinic.toml"),
    ("price", "clinic.toml", "wards", "--within", "n=10"),
    ("release", "clinic.toml", "wards", "--key", "2026-11", "--yes"),
    ("release", "clinic.toml", "wards", "--key", "2026-11", "--json"),
    ("release", "clinic.toml", "wards", "--key", "b", "--yes", "--out", "clinic.toml"),
    ("sql", "clinic.toml", "SELECT COUNT(name) AS n FROM visits", "--like", "wards"),
    ("ledger", "show", "clinic.ledger"),
    ("ledger", "verify", "clinic.ledger"),
    ("ledger", "export", "clinic.ledger"),
    ("ledger", "answer", "clinic.ledger", "wards/2026-11"),
    ("label", "published/wards-2026-11.csv", "--ledger", "clinic.ledger"),
    ("label", "published/wards-2026-11.parquet", "-o", "label.html"),
    ("verify", "published/wards-2026-11.parquet", "--ledger", "clinic.ledger"),
    ("report", "clinic.ledger", "--language", "de"),
    ("report", "clinic.ledger", "-o", "missing/report.html"),
    ("report", "visits.csv"),
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run every command as on a terminal; return the folder, and all that was told."""
    folder = tmp_path_factory.mktemp("clinic")
    lines = [
        f"{row % PEOPLE},{'ABCDEFG'[row % 7]},{row % 9},{UNASKED}\n"
        for row in range(ROWS - 1)
    ]
    lines += [f"5,A,{OUTLIER},{UNASKED}\n", f"6,G,{UNREADABLE},{UNASKED}\n"]
    (folder / "visits.csv").write_text("patient,ward,days,name\n" + "".join(lines))
    (folder / "clinic.toml").write_text(JOB)
    told = io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
    ):
        patch.setattr(jobs, "is_terminal", lambda stream: stream is not None)
        codes = [main.main(words) for words in COMMANDS]
    assert codes.count(0) >= len(COMMANDS) - 4, codes
    return folder, told.getvalue()


def secrets_in(text: str) -> list[str]:
    return [secret for secret in TEXTS if secret in text] + COUNTS.findall(text)


def test_nothing_that_is_printed_is_private(clinic: tuple[Path, str]) -> None:
    _, told = clinic
    assert secrets_in(told) == []
    assert "wrote report.html" in told


def test_nothing_in_any_file_is_private(clinic: tuple[Path, str]) -> None:
    folder, _ = clinic
    written = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"visits.csv", "clinic.toml"}
    ]
    assert {".parquet", ".csv", ".html", ".ledger"} <= {path.suffix for path in written}
    for path in written:
        content = path.read_bytes().decode("latin-1")
        is_text = path.suffix in {".csv", ".html", ".json"}
        hidden = [text for text in TEXTS if text in content]
        assert (path.name, secrets_in(content) if is_text else hidden) == (
            path.name,
            [],
        )


def test_footers_tell_of_published_numbers_alone(clinic: tuple[Path, str]) -> None:
    """What a Parquet file says of itself, the statistics of its columns included."""
    folder, _ = clinic
    (path,) = (folder / "published").glob("*.parquet")
    footer = parquet.read_metadata(path)
    groups = [footer.row_group(place) for place in range(footer.num_row_groups)]
    told = [footer.to_dict(), footer.metadata, [group.to_dict() for group in groups]]
    assert secrets_in(str(told)) == []
    assert footer.num_rows == 7


def test_a_secret_would_be_noticed(clinic: tuple[Path, str]) -> None:
    folder, _ = clinic
    content = (folder / "visits.csv").read_text(encoding="utf-8")
    assert {UNASKED, UNREADABLE, str(OUTLIER)} <= set(secrets_in(content))
    assert secrets_in(f"read {ROWS:,} rows of {PEOPLE} people") == ["7,919", "2003"]
    assert secrets_in(f"2026-11-22 15:17:23.{ROWS}00, hash ab{ROWS}ff") == []
