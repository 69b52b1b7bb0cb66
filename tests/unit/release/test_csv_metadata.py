"""What lies beside a CSV file is metadata by the W3C, of this very file."""

import hashlib
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from sordino.office.label.files import column_name
from sordino.release.release import Release
from tests.batches import for_each
from tests.csvw_rules import broken_rules
from tests.releases import RELEASES, made

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
