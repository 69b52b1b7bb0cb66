"""The label of a folder of files: it names each of them, and is believed in nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidLabel
from sordino.office.label.facts import LabelFacts
from sordino.office.label.files import (
    FOLDER_LABEL,
    files_in,
    folder_label,
    label_of_file,
    vouching_file,
)
from tests.sessions import LIMIT, QUESTIONS, TENTH, session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "wards"
    place.mkdir()
    for name in ("a.parquet", "b.parquet"):
        (place / name).write_bytes(name.encode())
    (place / "_SUCCESS").touch()
    (place / ".a.crc").write_bytes(b"a sum")
    (place / FOLDER_LABEL).write_text(folder_label(facts(), files_in(place)), "utf-8")
    return place


def facts() -> LabelFacts:
    release = session(None, LIMIT).release(QUESTIONS["sums by ward"], TENTH)
    return release.label().facts


def test_a_label_names_its_files(folder: Path) -> None:
    for place in (folder, folder / "a.parquet", folder / "b.parquet"):
        stated = label_of_file(place)
        assert stated.facts.units == facts().units
        assert stated.place == stated.published == folder / FOLDER_LABEL
        assert vouching_file(place) == folder / FOLDER_LABEL
    assert [file.name for file in files_in(folder)] == ["a.parquet", "b.parquet"]


def test_the_same_facts_and_files_have_the_same_label(folder: Path) -> None:
    """It holds no time, no path and no name of a machine."""
    files, stated = files_in(folder), facts()
    assert folder_label(stated, files) == folder_label(stated, files[::-1])
    assert str(folder) not in folder_label(stated, files)


def edit(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    def edited(folder: Path) -> None:
        place = folder / FOLDER_LABEL
        document = json.loads(place.read_text("utf-8"))
        change(document)
        place.write_text(json.dumps(document), "utf-8")

    return edited


def parts(value: Any) -> Callable[[Path], object]:
    return edit(lambda document: document.update({"schema:hasPart": value}))


SPOILED: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "a file is gone": (lambda at: (at / "b.parquet").unlink(), "is not as"),
    "one more": (lambda at: (at / "c.parquet").touch(), "is not as"),
    "changed": (lambda at: (at / "a.parquet").write_bytes(b"A.parquet"), "is not as"),
    "renamed": (lambda at: (at / "a.parquet").rename(at / "c.parquet"), "is not as"),
    "a folder in it": (lambda at: (at / "more").mkdir(), "cannot be read"),
    "no label": (lambda at: (at / FOLDER_LABEL).unlink(), "carries no label"),
    "no text": (lambda at: (at / FOLDER_LABEL).write_bytes(b"\xff"), "no text"),
    "no JSON": (lambda at: (at / FOLDER_LABEL).write_text("{"), "is no JSON"),
    "a list": (lambda at: (at / FOLDER_LABEL).write_text("[]"), "no object"),
    "no facts": (edit(lambda document: document.clear()), "no facts"),
    "no files": (parts(None), "is not as"),
    "a number": (parts(7), "names no files"),
    "texts": (parts(["a.parquet"]), "names no files"),
    "without end": (
        parts([{"schema:name": "a", "schema:contentSize": float("inf")}]),
        "names no files",
    ),
}


@pytest.mark.parametrize(("change", "problem"), SPOILED.values(), ids=SPOILED)
def test_what_does_not_belong_is_refused(
    change: Callable[[Path], object], problem: str, folder: Path
) -> None:
    change(folder)
    with pytest.raises(InvalidLabel, match=problem):
        label_of_file(folder)


def test_a_file_of_another_folder_is_not_vouched_for(folder: Path) -> None:
    (folder / "c.parquet").write_bytes(b"another")
    with pytest.raises(InvalidLabel, match="is not as"):
        vouching_file(folder / "c.parquet")
    alone = folder.parent / "a.parquet"
    (folder / "a.parquet").rename(alone)
    assert vouching_file(alone) == alone
    with pytest.raises(sd.errors.InvalidLabel):
        label_of_file(alone)
