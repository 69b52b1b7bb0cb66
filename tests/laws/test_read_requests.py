"""Words that are read back are those of what was read: of every request there is."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.drawn_queries import draw_request as asked
from sordino.auditing.worlds import world
from sordino.engines.memory import MemoryEngine
from sordino.errors import InvalidParameter, InvalidQuery, SordinoError
from sordino.numbers.canonical import canonical_text
from sordino.office.service.wire import keyset_columns, keysets_of, read_keysets
from sordino.query import request_reader
from sordino.query.request_reader import read_told
from sordino.session.charging import Identity, batch_identity, request_identity
from tests import worded
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often

VECTORS: Final = json.loads(
    (Path(__file__).parents[1] / "vectors/request_words.json").read_text("utf-8")
)["requests"]
CASES: Final = worded.requests()
TOGETHER: Final = {"one": CASES["query agg"], "two": CASES["query group_by keys"]}


def sent(questions: Iterable[Any]) -> dict[str, sd.KeySet]:
    """Return the key sets of questions as they arrive: as JSON, by their digests."""
    listed = [keyset_columns(keys) for each in questions for keys in keysets_of(each)]
    return read_keysets(json.loads(json.dumps(listed)))


def again(words: Any, catalog: Any, keysets: Mapping[str, sd.KeySet]) -> Identity:
    """Return the identity of what words are read as."""
    told = read_told(words, keysets)
    question: Any = told.question
    if isinstance(question, dict):
        shares = None if told.weights is None else words[1]["weights"]
        return batch_identity(question, catalog, told.budget, "key", shares)
    question = replace(question, confidence=told.confidence)
    return request_identity(question, catalog, told.budget, "key")


def names_a_function(words: Any) -> bool:
    return '"function":' in canonical_text(words)


def test_the_words_of_every_vector_are_read_back() -> None:
    """For any line of the file: what is read has its words, or it is a function."""
    catalog = worded.session()._desk.catalog
    keysets = sent([*CASES.values(), TOGETHER])
    functions = 0
    for line in VECTORS:
        if names_a_function(line["words"]):
            functions += 1
            with pytest.raises(InvalidQuery, match="does not travel"):
                read_told(line["words"], keysets)
            continue
        found = again(line["words"], catalog, keysets)
        assert (found.fingerprint, line["name"]) == (line["sha256"], line["name"])
    assert functions == 10


@for_each("seed", range(often(3, 40)))
def test_the_words_of_drawn_requests_are_read_back(seed: int) -> None:
    """For any drawn query, at any confidence: the same words."""
    dice = rolled(seed)
    catalog = world(dice).catalog(MemoryEngine(), world(dice).private)
    read = 0
    for _ in range(60):
        try:
            request = replace(asked(drawn(dice, catalog)), confidence=Fraction(3, 7))
        except SordinoError:
            continue
        before = request_identity(request, catalog, worded.BUDGET, "key")
        words = json.loads(before.words)
        if names_a_function(words):
            continue
        assert again(words, catalog, sent([request])) == before
        read += 1
    assert read > 15


WRONG: Final[dict[str, Any]] = {
    "nothing": None,
    "a number": 3,
    "no verb": [],
    "another verb": ["partition", {}],
    "no arguments": ["release", None],
    "a list that never ends": ["release", {"request": [[[[[]]]]]}],
}


@for_each("words", WRONG.values(), ids=WRONG)
def test_what_is_no_request_is_refused(words: Any) -> None:
    with pytest.raises(InvalidParameter, match="words must be those of a request"):
        read_told(words, {})


def test_operations_without_a_method_are_not_asked_for() -> None:
    """What the library makes for itself (`read`, `steps`) has no door from outside."""
    column = ["col", {"name": "days"}]
    for name in ("read", "steps", "portion", "double_bin", "_repr_html_", "words"):
        with pytest.raises(LookupError):
            request_reader.read_expression([name, {"of": [column]}])


def test_keys_must_come_beside_the_words() -> None:
    words = next(v for v in VECTORS if v["name"] == "query group_by keys")["words"]
    with pytest.raises(InvalidParameter, match="come beside"):
        read_told(words, {})


def test_keys_of_every_type_arrive() -> None:
    """Missing ones, too; and a list that is none is refused."""
    rows: dict[str, Any] = {name: worded._ROWS[name] for name in ("born", "seen")}
    keys = sd.KeySet.from_tuples(
        [(True, None, "a", *cells) for cells in zip(*rows.values(), strict=True)],
        columns=("yes", "none", "text", *rows),
        types={"none": "i64"},
    )
    (read,) = read_keysets(json.loads(json.dumps([keyset_columns(keys)]))).values()
    assert read.table() == keys.table()
    lists: tuple[Any, ...] = (
        3,
        [3],
        [[["a", "i64", ["x"]]]],
        [[["a", "date", ["x"]]]],
        [[]],
    )
    for wrong in lists:
        with pytest.raises(InvalidParameter):
            read_keysets(wrong)
