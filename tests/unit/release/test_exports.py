"""Files of a release: everything is in them, whole, and described beside CSV."""

import hashlib
import json
import os
import re
import stat
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from sordino.errors import InvalidParameter, MissingDependency
from sordino.office import pictures
from sordino.office.label import files
from sordino.office.label.files import column_name
from sordino.release.release import Release
from sordino.release.text import side_by_side
from tests.batches import for_each
from tests.csvw_rules import broken_rules
from tests.releases import RELEASES, few, made

each_release = for_each("release", RELEASES.values(), ids=RELEASES)
FORMATS = ["to_csv", "to_parquet"]


def write(release: Release, how: str, path: Any) -> None:
    {"to_csv": release.to_csv, "to_parquet": release.to_parquet}[how](path)


@each_release
def test_parquet_holds_everything(release: Release, tmp_path: Path) -> None:
    release.to_parquet(tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    wanted = side_by_side(release.table, release.errors, len(release.keys))
    assert table.equals(wanted)
    told = json.loads(table.schema.metadata[files.METADATA])
    assert told["loss"] == repr(release.loss)
    assert told["plan"] == release.plan
    assert told["notes"] == list(release.notes)
    assert told["keys"] == list(release.keys)
    assert told["confidence"] == "19/20"
    assert all(value >= 0 for value in told["guarantees"].values())


@each_release
def test_csv_holds_values_and_errors(release: Release, tmp_path: Path) -> None:
    release.to_csv(str(tmp_path / "out.csv"))
    wanted = side_by_side(release.table, release.errors, len(release.keys))
    read = csv.read_csv(
        tmp_path / "out.csv",
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=wanted.schema,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=[""],
        ),
    )
    assert read.equals(wanted)


@for_each("how", FORMATS)
def test_a_file_is_replaced_whole(how: str, tmp_path: Path) -> None:
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_text("old", encoding="utf-8")
    (tmp_path / "same").hardlink_to(old)
    for target in (old, tmp_path / "gone"):
        link.symlink_to(target)
        with pytest.raises(InvalidParameter, match="is a symbolic link"):
            write(few(), how, link)
        link.unlink()
    if how == "to_csv":
        (tmp_path / "old-metadata.json").symlink_to(tmp_path / "same")
        with pytest.raises(InvalidParameter, match="is a symbolic link"):
            write(few(), how, old)
        (tmp_path / "old-metadata.json").unlink()
    assert old.read_text(encoding="utf-8") == "old"
    write(few(), how, old)
    assert (tmp_path / "same").read_text(encoding="utf-8") == "old"
    assert old.stat().st_size > 100
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(old.stat().st_mode) == 0o666 & ~mask
    beside = {"old-metadata.json"} if how == "to_csv" else set()
    names = {place.name for place in tmp_path.iterdir()}
    assert names == {"old", "same"} | beside


@for_each("how", FORMATS)
def test_a_failure_leaves_the_old_file(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_table: object, target: str) -> None:
        Path(target).write_text("half", encoding="utf-8")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv, "write_csv", full)
    monkeypatch.setattr(parquet, "write_table", full)
    target = tmp_path / "out"
    target.write_text("old", encoding="utf-8")
    with pytest.raises(InvalidParameter, match=r"path cannot be written there.*out"):
        write(few(), how, target)
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


@for_each("how", FORMATS)
@for_each(
    ("path", "problem"),
    [
        (".", "path is a folder"),
        ("", "path is a folder"),
        ("no/such/folder/out", "lies in a folder that does not exist, got 'no/such"),
        ("/dev/null", "path is no ordinary file, got '/dev/null'"),
        ("/proc/out", "path cannot be written there, got '/proc/out'"),
        ("a\0b", "path is no path of a file"),
        (b"out", "path is no path of a file"),
        (3, "path is no path of a file, got 3"),
        (None, "path is no path of a file"),
    ],
)
def test_bad_paths_are_refused(
    how: str, path: Any, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidParameter, match=problem):
        write(few(), how, path)
    assert not list(tmp_path.iterdir())


@each_release
def test_frames_hold_the_table(release: Release) -> None:
    wide = side_by_side(release.table, release.errors, len(release.keys))
    for errors, wanted in ((False, release.table), (True, wide)):
        frame = release.to_pandas(errors=errors)
        assert list(frame.columns) == wanted.column_names
        assert len(frame) == len(release)
        assert release.to_polars(errors=errors).to_dict(as_series=False) == (
            wanted.to_pydict()
        )


def test_integers_stay_integers() -> None:
    """A missing number or bool does not make doubles of its neighbours in pandas."""
    keys = pa.array([True, None])
    numbers = pa.array([2**53 + 1, None])
    release = Release(**{
        **vars(few()),
        "table": pa.table({"seen": keys, "n": numbers}),
        "errors": pa.table({
            "seen": keys,
            **{f"n {x}": [1.0, None] for x in ("sd", "low", "high")},
        }),
        "keys": ("seen",),
    })
    frame = release.to_pandas()
    assert (str(frame["n"].dtype), str(frame["seen"].dtype)) == ("Int64", "boolean")
    assert frame["n"][0] == 2**53 + 1
    assert isinstance(few().to_pandas(), pd.DataFrame)
    assert isinstance(few().to_polars(), pl.DataFrame)


@for_each("package", ["pandas", "polars", "matplotlib"])
def test_absent_packages_are_named(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few().plot()  # so that all that draws is there, and is put back afterwards
    for name, module in list(sys.modules.items()):
        is_drawing = name.startswith(f"{pictures.__name__}.")
        if is_drawing:
            monkeypatch.setattr(pictures, name.rpartition(".")[2], module)
        if is_drawing or name.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    calls: dict[str, Any] = {
        "pandas": few().to_pandas,
        "polars": few().to_polars,
        "matplotlib": few().plot,
    }
    extra = "plots" if package == "matplotlib" else package
    told = re.escape(f"needs {package}. Install the extra {extra}: ")
    with pytest.raises(MissingDependency, match=told):
        calls[package]()
    if package == "matplotlib":
        with pytest.raises(MissingDependency, match=told):
            few().plot(ax=[1, 2])


KEYS: dict[str, Any] = {
    "_day": [date(2026, 1, 31), None],
    "at~noon": [datetime(2026, 1, 31, 12, tzinfo=UTC), None],
    "Größe, 1.": ['a "quoted", text\nof two lines', ""],
    "yes": [True, None],
    "place": [-3, None],
}


@for_each("release", RELEASES.values(), ids=RELEASES)
def test_metadata_keep_the_rules(release: Release, tmp_path: Path) -> None:
    """The rules of the recommendation hold for every release, hostile ones as well."""
    file = tmp_path / "out 1.csv"
    release.to_csv(file)
    assert list(broken_rules(file)) == []


def test_every_type_of_key_is_described(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    made(KEYS, {"n": ([1.5, float("inf")], 2.0)}).to_csv(file)
    assert list(broken_rules(file)) == []
    document = json.loads((tmp_path / "out.csv-metadata.json").read_text("utf-8"))
    kinds = [column["datatype"] for column in document["tableSchema"]["columns"]][:5]
    assert kinds == [
        "date",
        {"base": "dateTimeStamp", "format": "yyyy-MM-dd HH:mm:ss.SSSSSSX"},
        "string",
        "boolean",
        "long",
    ]
    assert document["schema:sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


@for_each(
    "change",
    [
        {"@context": "http://example.org"},
        {"url": "other.csv"},
        {"colour": "red"},
        {"dc:title": {"plain": 1}},
    ],
)
def test_the_rules_can_be_broken(change: dict[str, Any], tmp_path: Path) -> None:
    """A property of ours without a prefix, or another file's name, would be noticed."""
    file = tmp_path / "out.csv"
    made(KEYS, {"n": ([1, 2], 2.0)}).to_csv(file)
    beside = tmp_path / "out.csv-metadata.json"
    document = json.loads(beside.read_text("utf-8"))
    beside.write_text(json.dumps(document | change), "utf-8")
    assert list(broken_rules(file))


def test_different_titles_have_different_names() -> None:
    titles = [
        "n",
        "n sd",
        "n%20sd",
        "_n",
        "%5Fn",
        "n.",
        "n-",
        "n~",
        "é",
        "e\u0301",
        "名",
    ]
    assert len(set(map(column_name, titles))) == len(titles)
