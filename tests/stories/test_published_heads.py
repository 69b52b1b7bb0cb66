"""Heads of a ledger, published: what readers see who have files and heads alone."""

import json
import shutil
from collections.abc import Iterator
from contextlib import chdir, suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sordino as sd
from sordino.errors import InvalidLabel
from sordino.ledger.heads import PublishedHead, Standing, gap_between
from tests.jobs import fill_folder, logged, ran

FILES = ("published/wards-2026-11.csv", "published/wards-2026-11.parquet")
SHOWN = "clinic.ledger"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two files that stand under `first.json`."""
    folder = tmp_path_factory.mktemp("published")
    with chdir(folder):
        fill_folder(folder)
        logged("wards", "--on", "2026-11-03")
        assert published("first.json")
        for file in FILES:
            assert stood(file, "first.json")[0] == 0
    return folder


@pytest.fixture(name="folder")
def copied_folder(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(original, folder)
    monkeypatch.chdir(folder)
    return folder


def published(name: str, *more: str, ledger: str = SHOWN) -> str:
    """Publish a head, and return its 64 digits."""
    code, text, error = ran("ledger", "head", ledger, "-o", name, *more)
    assert code == 0, error
    digest: str = json.loads(Path(name).read_text("utf-8"))["digest"]
    assert text.splitlines()[-1] == digest
    return digest


def stood(file: str, head: str, ledger: str = SHOWN) -> tuple[int, str, str]:
    """Write beside a file what shows that it stands under a head."""
    return ran("label", file, "--ledger", ledger, "--head", head)


def resealed(fields: dict[str, Any], **changes: str) -> dict[str, Any]:
    """Return the fields of a head that says something else, by its own digest."""
    fields = {**fields, **changes}
    names = ("ledger", "number", "root", "signed_by")
    text = "\n".join(("sordino head", "1", *(str(fields[name]) for name in names)))
    return {**fields, "digest": sha256(text.encode()).hexdigest()}


def changed(value: Any, kept: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield a JSON value with each of its parts in turn changed, or gone."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in kept:
                yield {key: value[key] for key in value if key != name}
            yield from ({**value, name: twin} for twin in changed(part))
    elif isinstance(value, list):
        yield value[:-1]
        yield [*value, *value[-1:]]
        for place, part in enumerate(value):
            rest = (value[:place], value[place + 1 :])
            yield from ([*rest[0], twin, *rest[1]] for twin in changed(part))
    else:
        yield from (None, True, -1, 2**70, [], {}, "x", "\ud800")
        if isinstance(value, str):
            yield from (value + "0", value[:-1], value.replace("0", "1", 1) + "!")
        if isinstance(value, int):
            yield from (value + 1, value - 1)


def test_a_file_stands_without_the_ledger(folder: Path) -> None:
    digest = json.loads((folder / "first.json").read_text("utf-8"))["digest"]
    (folder / SHOWN).unlink()
    for file in FILES:
        code, text, _ = ran("label", file)
        assert code == 0
        assert "stands in its ledger" in text
        assert "Compare that with the heads" in " ".join(text.split())
        for known in (digest, "first.json"):
            code, text, _ = ran("label", file, "--head", known)
            assert code == 0
            assert f"published head {digest[:8]}" in " ".join(text.split())
        code, _, error = ran("label", file, "--head", digest[::-1])
        assert code == 1
        assert "is of another head" in error
        for at in (-5, 40):
            whole = (folder / file).read_bytes()
            spoiled = bytearray(whole)
            spoiled[at] ^= 1
            (folder / file).write_bytes(spoiled)
            assert ran("label", file)[0] == 1
            (folder / file).write_bytes(whole)
    (folder / f"{FILES[0]}-ledger.json").unlink()
    assert "is not there" in ran("label", FILES[0], "--head", digest)[2]
    # what shows that another file stands shows nothing of this one
    shutil.copy(f"{FILES[1]}-ledger.json", f"{FILES[0]}-ledger.json")
    assert "is of another file" in ran("label", FILES[0])[2]


def test_nothing_in_a_standing_can_be_changed(folder: Path) -> None:
    """Whatever is read says the same of fewer files, or of none, under one head."""
    document = json.loads((folder / f"{FILES[0]}-ledger.json").read_text("utf-8"))
    honest = Standing.read("x", document)
    others = []
    for record in document["records"]:
        for name, value in (("charge", 1), ("size", 1), ("sha256", "0" * 64)):
            body = json.dumps(json.loads(record["body"]) | {name: value})
            others.append({**document, "records": [{**record, "body": body}]})
    twins = [*changed(document), *others]
    assert len(twins) > 200
    for twin in twins:
        with suppress(InvalidLabel):
            standing = Standing.read("x", twin)
            assert replace(standing.head, since=None) == honest.head
            assert standing.charges.items() <= honest.charges.items()


def forked() -> None:
    """Have a ledger and its older copy go on, each with a head since the first."""
    shutil.copy(SHOWN, "older.ledger")
    for ledger, names in ((SHOWN, "ab"), ("older.ledger", "cde")):
        for name in names:
            assert ran("ledger", "allot", ledger, name, "--epsilon", "0.01")[0] == 0
    published("second.json", "--since", "first.json")
    published("forked.json", "--since", "first.json", ledger="older.ledger")


@pytest.mark.usefixtures("folder")
def test_an_older_copy_that_goes_on_is_seen() -> None:
    """By the heads alone: what goes on follows, and nothing else does."""
    forked()
    code, text, _ = ran("ledger", "heads", "first.json", "second.json")
    assert code == 0
    assert "not signed" in text
    code, _, error = ran("ledger", "head", "older.ledger", "--since", "second.json")
    assert code == 5
    assert "other records than the head of" in error
    for pair, problem in {
        ("second.json", "first.json"): "older copy",
        ("second.json", "forked.json"): "has no path from that one",
    }.items():
        code, text, _ = ran("ledger", "heads", *pair)
        assert code == 1
        assert problem in text


@pytest.mark.usefixtures("folder")
def test_no_path_between_heads_is_made_up() -> None:
    """That from the first head is none from the second, and none is changed."""
    forked()
    read = {
        name: json.loads(Path(f"{name}.json").read_text("utf-8"))
        for name in ("first", "second", "forked")
    }
    first, second = (
        PublishedHead.read("x", read[name]) for name in ("first", "second")
    )
    beside = PublishedHead.read("x", resealed(read["first"], root="0" * 64))
    assert gap_between(first, beside) == "has other records"
    twins = list(changed(read["second"]["since"]))
    assert len(twins) > 30
    for twin in (*twins, read["forked"]["since"]):
        fields = {**read["second"], "since": twin}
        with suppress(InvalidLabel):
            assert gap_between(first, PublishedHead.read("x", fields))
    since = {**read["forked"]["since"], "number": second.number, "root": second.root}
    made_up = PublishedHead.read("x", {**read["forked"], "since": since})
    assert gap_between(second, made_up) == "does not go on from that one"


@pytest.mark.usefixtures("folder")
def test_a_second_ledger_is_seen() -> None:
    sd.Ledger.at("second.ledger", sd.PureDP(1), create=True).close()
    published("other.json", ledger="second.ledger")
    code, text, _ = ran("ledger", "heads", "first.json", "other.json")
    assert code == 1
    assert "another ledger" in text
    code, _, error = stood(FILES[0], "other.json")
    assert code == 1
    assert "is of another ledger" in error
    assert stood(FILES[0], "first.json", "second.ledger")[0] == 1


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_younger_than_the_head_is_refused() -> None:
    with sd.Ledger.at(SHOWN) as ledger:
        ledger.answer("wards/2026-11").to_parquet("late.parquet")
        ledger.publish("wards/2026-11", "late.parquet")
    code, _, error = stood("late.parquet", "first.json")
    assert code == 1
    assert "must be younger" in error


def test_heads_of_a_signed_ledger_are_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keys = [Ed25519PrivateKey.generate() for _ in range(2)]
    for name, key in zip(("own.pem", "other.pem"), keys, strict=True):
        Path(name).write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
    sd.Ledger.at("signed", sd.PureDP(1), create=True, signer=keys[0]).close()
    digest = published("head.json", "--sign", "own.pem", ledger="signed")
    # who has no key can still compare the 32 bytes
    assert ran("ledger", "head", "signed")[1].splitlines()[-1] == digest
    code, _, error = ran("ledger", "head", "signed", "-o", "bare.json")
    assert code == 1
    assert "--sign must be given" in error
    assert (
        "not the key of this ledger"
        in ran("ledger", "head", "signed", "--sign", "other.pem")[2]
    )
    fields = json.loads(Path("head.json").read_text("utf-8"))
    for name in ("signature", "signed_by"):
        with pytest.raises(InvalidLabel, match="not signed"):
            PublishedHead.read("x", resealed(fields, **{name: "0" * len(fields[name])}))
    signed_by = f"signed by {fields['signed_by']}"
    assert signed_by in " ".join(ran("ledger", "heads", "head.json")[1].split())
    for twin in changed(fields):
        with suppress(InvalidLabel):
            # that it follows nothing is all that can be said of it without the key
            assert PublishedHead.read("x", twin).digest == digest
