"""A label read from outside: what is none is refused, and nothing is believed."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from sordino.errors import InvalidLabel
from sordino.office.label.facts import read_facts
from sordino.office.label.files import FACTS, LABEL, label_of_file
from sordino.office.label.views import Label
from tests.batches import for_each
from tests.releases import RELEASES, few

HOSTILE: Final = "<script>alert(1)</script>\u202e\x1b[31m"
WRITERS: Final[dict[str, Callable[[Any, Path], None]]] = {
    "out.csv": lambda release, path: release.to_csv(path),
    "out.parquet": lambda release, path: release.to_parquet(path),
}
FACTS_OF_FEW: Final = few().label().facts.fields


def as_read(facts: Any) -> Any:
    return json.loads(json.dumps(facts))


@for_each("name", WRITERS)
@for_each("release", RELEASES.values(), ids=RELEASES)
def test_what_was_written_is_read(release: Any, name: str, tmp_path: Path) -> None:
    WRITERS[name](release, tmp_path / name)
    stated = label_of_file(tmp_path / name).facts
    written = release.label().facts
    assert stated.found == written.found
    assert stated.confidence == written.confidence
    assert len(stated.reaches) == len(written.reaches)
    assert Label(stated).texts.parts == release.label().texts.parts


def with_facts(stated: Any) -> bytes:
    return stated if isinstance(stated, bytes) else json.dumps(stated).encode()


def changed(**facts: Any) -> dict[str, Any]:
    return {**as_read(FACTS_OF_FEW), **facts}


REFUSED: Final[dict[str, Any]] = {
    "nothing": b"",
    "no text": b"\xff\xfe",
    "no JSON": b"{",
    "another thing": b"[1]",
    "deep": b"[" * 200_000,
    "a fact too few": {"form": 1},
    "a fact too many": changed(colour="red"),
    "a later form": changed(form=2),
    "a form of text": changed(form="1"),
    "a truth for a number": changed(numbers=True),
    "more than all": changed(found=101),
    "less than none": changed(found=-1),
    "a huge number": changed(numbers=2**70),
    "no number": changed(shown_from=float("nan")),
    "no share": changed(confidence="2"),
    "a share whose digits no memory holds": changed(confidence="1e-999999999"),
    "a division by zero": changed(confidence="1/0"),
    "a share of many digits": changed(confidence=f"1/{'9' * 5000}"),
    "another kind of groups": changed(groups="label.title"),
    "a list of another kind": changed(noise="Laplace"),
    "too many": changed(noise=["Laplace"] * 20_000),
    "no day": changed(
        paid_by={"ledger": "a", "number": 1, "hash": "b", "when": "yesterday"}
    ),
}


@for_each("stated", REFUSED.values(), ids=REFUSED)
def test_what_is_no_label_is_refused(stated: Any, tmp_path: Path) -> None:
    table = pa.table({"n": [1]}).replace_schema_metadata({LABEL: with_facts(stated)})
    parquet.write_table(table, tmp_path / "out.parquet")
    with pytest.raises(InvalidLabel, match=r"^out\.parquet "):
        label_of_file(tmp_path / "out.parquet")
    few().to_csv(tmp_path / "out.csv")
    beside = tmp_path / "out.csv-metadata.json"
    document = json.loads(beside.read_text("utf-8"))
    for each in document["schema:additionalProperty"]:
        if each.get("schema:propertyID") == FACTS:
            each["schema:value"] = with_facts(stated).decode("latin-1")
    beside.write_text(json.dumps(document), "utf-8")
    with pytest.raises(InvalidLabel, match=r"^out\.csv"):
        label_of_file(tmp_path / "out.csv")


def spoil(change: Callable[[Path], object], tmp_path: Path) -> None:
    few().to_csv(tmp_path / "out.csv")
    change(tmp_path)
    label_of_file(tmp_path / "out.csv")


def make_folder(at: Path) -> None:
    (at / "out.csv").unlink()
    (at / "out.csv").mkdir()


SPOILED: Final[dict[str, tuple[Callable[[Path], object], str]]] = {
    "no label": (lambda at: (at / "out.csv-metadata.json").unlink(), "not beside it"),
    "another file's": (
        lambda at: (at / "out.csv").write_text("n\n1\n"),
        "belongs to another file",
    ),
    "no JSON": (
        lambda at: (at / "out.csv-metadata.json").write_text("{"),
        "is no JSON",
    ),
    "a list": (
        lambda at: (at / "out.csv-metadata.json").write_text("[]"),
        "no object of JSON",
    ),
    "without facts": (
        lambda at: (at / "out.csv-metadata.json").write_text("{}"),
        "holds no facts",
    ),
    "too large": (
        lambda at: (at / "out.csv-metadata.json").write_bytes(b" " * (2**24 + 2)),
        "too large",
    ),
    "a folder": (
        make_folder,
        "carries no label",
    ),
}


@for_each(("change", "problem"), SPOILED.values(), ids=SPOILED)
def test_a_label_that_does_not_belong_is_refused(
    change: Callable[[Path], object], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidLabel, match=problem):
        spoil(change, tmp_path)


@for_each(
    ("content", "problem"),
    [
        (b"PAR1", "cannot be read"),
        (b"PAR1" + b"\0" * 50 + b"PAR1", "no Parquet file"),
        (b"PAR1" + b"\0" * 50 + b"\xff\xff\xff\x7fPAR1", "too large"),
        (b"PAR1" + b"\x15" * 300 + b"\x00\x01\x00\x00PAR1", "no Parquet file"),
    ],
)
def test_a_broken_parquet_file_is_refused(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "out.parquet").write_bytes(content)
    with pytest.raises(InvalidLabel, match=problem):
        label_of_file(tmp_path / "out.parquet")


def test_parquet_of_others_has_no_label(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"n": [1]}), tmp_path / "out.parquet")
    with pytest.raises(InvalidLabel, match="carries no label"):
        label_of_file(tmp_path / "out.parquet")


def leaves(facts: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(facts, dict):
        return [one for name in facts for one in leaves(facts[name], (*path, name))]
    if isinstance(facts, list):
        return [
            one
            for place in range(len(facts))
            for one in leaves(facts[place], (*path, place))
        ]
    return [path] if isinstance(facts, str) else []


def full_facts() -> dict[str, Any]:
    return changed(
        units=[{"table": "v", "verb": "AddRowsWithID", "column": "c", "most": []}],
        limits=[{"verb": "MaxGroupsPerID", "most": 2, "columns": ["w"]}],
        bounds=[{"name": "days", "low": 0.0, "high": 30.0}],
        left_out=[
            {"kind": "clamped", "what": "w", "counted": "ids", "count": 3, "low": 0.0,
             "high": 9.0}
        ],
        noise=["Laplace"],
        paid_by={"ledger": "a", "number": 1, "hash": "b", "when": "2026-11-22"},
    )  # fmt: skip


@for_each("place", leaves(full_facts()), ids=str)
def test_markup_in_any_fact_is_text_or_refused(place: tuple[Any, ...]) -> None:
    """No text of a file becomes markup, an escape of a terminal, or a direction."""
    facts = copy.deepcopy(full_facts())
    inner: Any = facts
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = HOSTILE
    try:
        read = read_facts("out.csv", json.dumps(facts))
    except InvalidLabel:
        return
    label = Label(read, f"{HOSTILE}.csv", "claimed")
    for shown in (label.html, label._repr_html_(), str(label), label.json):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    for page in (label.html, label._repr_html_()):
        assert "<script" not in page


def test_long_texts_are_cut() -> None:
    facts = changed(noise=["x" * 10**6], price="y" * 10**6)
    label = Label(read_facts("out.csv", json.dumps(facts)))
    assert len(str(label)) < 5000


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.sampled_from(sorted(FACTS_OF_FEW)), JSON)
def test_any_fact_may_be_anything(name: str, value: Any) -> None:
    """Facts are refused by the one type, or shown in every form."""
    try:
        read = read_facts("out.csv", json.dumps(changed(**{name: value})))
    except InvalidLabel:
        return
    label = Label(read)
    assert label.html
    assert label.json
    assert str(label)
