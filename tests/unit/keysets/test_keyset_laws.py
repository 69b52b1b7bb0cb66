"""A key set is a set of tuples, however it was made."""

import hashlib
import json
import pickle
from datetime import date, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sordino.data import KeySet
from sordino.expressions.schema import arrow_type
from tests.batches import for_each, sampled
from tests.unit.keysets.models import (
    STEPS,
    Among,
    Model,
    Pair,
    keys_of,
    listed,
    made,
    of_model,
)

ALIKE = st.shared(listed(), key="types").flatmap(lambda pair: listed(pair[1].types))
"""Key sets with the same columns, when drawn several times for one test."""


@given(made())
def test_keyset_is_its_model(pair: Pair) -> None:
    keys, model = pair
    assert keys_of(keys) == model.listed()
    assert keys.columns == keys.schema.names == model.columns
    arrows = {name: arrow_type(kind) for name, kind in model.types}
    table = keys.table()
    assert dict(zip(table.column_names, table.schema.types, strict=True)) == arrows


@given(made())
def test_facts_hold_of_the_listed_keys(pair: Pair) -> None:
    keys, model = pair
    bound, shown = keys.at_most, repr(keys)
    assert keys.size == len(model.keys) <= bound
    assert ("at most" in shown) or keys.size == bound
    for place, (name, kind) in enumerate(model.types):
        assert keys.schema[name].type == kind
        if not keys.schema[name].nullable:
            assert all(key[place] is not None for key in model.keys)


@sampled(1)
@for_each("step", STEPS)
@given(st.data())
def test_each_step_keeps_its_model(step: Any, data: st.DataObject) -> None:
    keys, model = step(data.draw, data.draw(made(most=2)))
    assert keys_of(keys) == model.listed()


@given(made())
def test_equality_is_that_of_sets(pair: Pair) -> None:
    keys, model = pair
    if not model.keys:
        return
    turned = of_model(model.only(model.columns[::-1]))
    for same in (of_model(model), turned, pickle.loads(pickle.dumps(keys))):
        assert keys == same
        assert keys.is_equivalent(same)
        assert hash(keys) == hash(same)
        assert keys.fingerprint == same.fingerprint


@given(ALIKE, ALIKE)
def test_different_sets_differ(one: Pair, other: Pair) -> None:
    """Equality and fingerprints tell sets apart exactly where their models differ."""
    same = one[1].keys == other[1].keys
    assert (one[0] == other[0]) is same
    assert (one[0].fingerprint == other[0].fingerprint) is same


@given(ALIKE, ALIKE, ALIKE)
def test_algebra_of_sets(first: Pair, second: Pair, third: Pair) -> None:
    a, b, c = first[0], second[0], third[0]
    assert (a | b) | c == a | (b | c)
    assert a | b == b | a
    assert a | a == a
    assert (a - a).size == 0
    assert a - (b | c) == (a - b) - c
    assert (a - b) | a.join(b) == a
    assert a.join(a) == a


@given(made(most=2), made(most=2), made(most=2))
def test_algebra_of_products(first: Pair, second: Pair, third: Pair) -> None:
    a, b, c = (
        pair[0].rename({name: f"{name}{place}" for name in pair[0].columns})
        for place, pair in enumerate((first, second, third))
    )
    assert (a * b) * c == a * (b * c)
    assert (a * b).size == a.size * b.size
    if b.size:
        assert (a * b)[a.columns] == a
    else:
        assert (a * b)[a.columns].size == 0


@given(made(), st.data())
def test_filters_part_a_set(pair: Pair, data: st.DataObject) -> None:
    keys, model = pair
    values = sorted({(key[0],) for key in model.keys if key[0] is not None}, key=str)
    if not values:
        return
    chosen = data.draw(st.frozensets(st.sampled_from(values)))
    passed = keys.filter(Among(model.columns[:1], chosen))
    assert passed.size + (keys - passed).size == keys.size
    assert passed.filter(Among(model.columns[:1], chosen)) == passed


def plain_fingerprint(model: Model) -> str:
    """Return the documented hash, written anew without Arrow and NumPy."""
    ordered = model.only(sorted(model.columns))
    keys = ordered.listed()
    head = {"columns": [list(pair) for pair in ordered.types], "keys": len(keys)}
    data = json.dumps(head, separators=(",", ":")).encode() + b"\n"
    for place, (_, kind) in enumerate(ordered.types):
        values = [key[place] for key in keys]
        data += bytes(value is not None for value in values)
        numbers = [
            0 if value is None else plain_number(kind, value) for value in values
        ]
        data += b"".join(one.to_bytes(8, "little", signed=True) for one in numbers)
        if kind == "text":
            data += "".join(value or "" for value in values).encode()
    return hashlib.sha256(data).hexdigest()


def plain_number(kind: str, value: Any) -> int:
    if kind == "text":
        return len(str(value).encode())
    if kind == "date":
        return int((value - date(1970, 1, 1)).days)
    if kind == "time":
        passed: timedelta = value - datetime.fromisoformat("1970-01-01")
        return passed // timedelta(microseconds=1)
    return int(value)


@given(made())
def test_fingerprint_is_the_documented_one(pair: Pair) -> None:
    assert pair[0].fingerprint == plain_fingerprint(pair[1])


def test_fingerprint_never_changes() -> None:
    keys = KeySet.from_dict({"ward": ["A", None], "year": [2025]})
    assert keys.fingerprint == (
        "45808f79f059490f33d8c8d517b6795c4aa31e2086ad9f652a0564760438fb09"
    )
