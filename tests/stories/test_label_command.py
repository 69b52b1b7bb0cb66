"""The label of a published file: what it says of itself, and what a ledger confirms."""

import contextlib
import json
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sordino as sd
from tests.jobs import fill_folder, logged, ran

FILES = ("published/wards-2026-11.csv", "published/wards-2026-11.parquet")
LEDGER = ("--ledger", "clinic.ledger")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which a job has run once."""
    place = fill_folder(tmp_path_factory.mktemp("released"))
    with contextlib.chdir(place):
        logged("wards", "--on", "2026-11-03")
    return place


@pytest.fixture
def folder(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a copy of that folder."""
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(released, tmp_path, dirs_exist_ok=True)


@pytest.mark.parametrize("file", FILES)
def test_a_file_tells_its_own_label(folder: Path, file: str) -> None:
    (folder / "clinic.ledger").unlink()
    code, text, _ = ran("label", file)
    assert code == 0
    assert "what the file says of itself" in text
    assert "all rows with the same “patient”" in text
    assert "at most 3" in text
    assert "no: a public list" in text


@pytest.mark.parametrize("file", FILES)
def test_the_ledger_confirms_it(folder: Path, file: str) -> None:
    code, text, _ = ran("label", file, *LEDGER)
    assert code == 0
    assert "The ledger confirms it" in text
    assert "at most 14 of 100" in text
    changed = (folder / file).read_bytes()
    (folder / file).write_bytes(changed.replace(b"n high", b"n hihg"))
    if file.endswith("parquet"):
        code, text, _ = ran("label", file, *LEDGER)
        assert code == 1
        assert "The ledger does not know this file." in text
    else:
        code, _, error = ran("label", file, *LEDGER)
        assert code == 1
        assert "belongs to another file" in error


def test_a_label_beside_a_file_must_be_published_as_well(folder: Path) -> None:
    """Whoever changes the metadata beside a file is found out by the ledger alone."""
    beside = folder / f"{FILES[0]}-metadata.json"
    softer = beside.read_text("utf-8").replace('\\"numbers\\":', '\\"numbers\\":1')
    assert softer != beside.read_text("utf-8")
    beside.write_text(softer, "utf-8")
    code, text, _ = ran("label", FILES[0], *LEDGER)
    assert code == 1
    assert "but not the label beside it" in text


def test_the_odds_of_everything_are_the_ledgers(folder: Path) -> None:
    """A file that the ledger saw cannot say them smaller than the limit does."""
    label = sd.Ledger.at("clinic.ledger").answer("wards/2026-11")
    path = folder / "published" / "soft.parquet"
    label.to_parquet(path)
    table = pq.read_table(path)
    metadata = dict(table.schema.metadata)
    soft = json.loads(metadata[b"sordino.label"]) | {"found_by_all": 6}
    metadata[b"sordino.label"] = json.dumps(soft).encode()
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with sd.Ledger.at("clinic.ledger") as ledger:
        ledger.publish("wards/2026-11", path)
    assert "at most 6 of 100" in ran("label", str(path))[1]
    confirmed = ran("label", str(path), *LEDGER)[1]
    assert "at most 6 of 100" not in confirmed
    assert "at most 14 of 100" in confirmed


def test_a_file_of_another_record_is_refused(folder: Path) -> None:
    """A ledger that paid for it by another record than it names is told."""
    logged("wards", "--on", "2026-12-03")
    with sd.Ledger.at("clinic.ledger") as ledger:
        ledger.publish("wards/2026-12", folder / FILES[1])
    code, _, error = ran("label", FILES[1], *LEDGER)
    assert code == 1
    assert "names another record" in error


@pytest.mark.parametrize("form", ["html", "png", "json", "text"])
def test_every_form_is_written(folder: Path, form: str) -> None:
    ending = {"text": "txt"}.get(form, form)
    assert ran("label", FILES[0], "-o", f"card.{ending}")[0] == 0
    assert (folder / f"card.{ending}").stat().st_size > 500


def test_a_picture_is_no_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder
    monkeypatch.setattr("sordino.office.cli.publishing.is_terminal", lambda _: True)
    code, _, error = ran("label", FILES[0], "--format", "png")
    assert code == 2
    assert "-o" in error
    assert sys.stdout


def test_it_speaks_other_languages(folder: Path) -> None:
    assert folder
    assert "höchstens 3" in ran("label", FILES[0], "--language", "de")[1]
    assert "3 au plus" in ran("label", FILES[0], "--language", "fr")[1]


@pytest.mark.parametrize("file", ["visits.parquet", "wards.csv", "missing.csv", "."])
def test_what_carries_none_is_refused(folder: Path, file: str) -> None:
    assert folder
    code, text, error = ran("label", file)
    assert (code, text) == (1, "")
    assert "Traceback" not in error


def test_a_private_table_is_not_read(folder: Path) -> None:
    pq.write_table(pa.table({"secret": [41]}), folder / "mine.parquet")
    _, text, error = ran("label", "mine.parquet")
    assert "41" not in text + error
    assert "secret" not in text + error
