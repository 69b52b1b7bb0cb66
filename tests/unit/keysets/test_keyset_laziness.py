"""Nothing is listed before it must be, and nothing too long is listed at all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import pytest
from hypothesis import given

from sordino.data import KeySet
from sordino.data.key_columns import MOST_KEYS, MOST_TEXT, count_text, refuse_long_text
from sordino.data.key_tree import AbstractKeys, ListedKeys
from sordino.errors import InvalidParameter
from sordino.expressions.schema import Column, Schema
from sordino.expressions.tree import AbstractExpression
from sordino.numbers.canonical import Words
from tests.batches import for_each, sampled
from tests.unit.keysets.models import Among, Pair, keys_of, made

NAMES = [f"c{place}" for place in range(10)]
HUGE = KeySet.from_dict({name: range(1000) for name in NAMES})
SMALL = Among(("c3",), frozenset([(1,), (7,)]))


@final
@dataclass(frozen=True)
class Counting(AbstractExpression):
    """SMALL, which remembers what it was asked."""

    asked: list[Any]

    def names(self) -> frozenset[str]:
        return SMALL.names()

    def column(self, schema: Schema) -> Column:
        return SMALL.column(schema)

    @property
    def words(self) -> Words:
        return None

    def value(self, row: Mapping[str, Any]) -> bool | None:
        self.asked.append(row)
        return row["c3"] in (1, 3)


def listings(keys: AbstractKeys) -> int:
    here = "table" in vars(keys) and not isinstance(keys, ListedKeys)
    return here + sum(map(listings, keys.inputs))


def test_a_huge_product_is_described_but_not_listed() -> None:
    """Ten lists of a thousand values: counted exactly, and refused as a table."""
    assert HUGE.size == HUGE.at_most == 10**30
    assert repr(HUGE) == "KeySet(1e30 keys of c0, c1, c2, c3, ... (10 columns))"
    with pytest.raises(
        InvalidParameter, match=r"^keys must be at most .*got 1e30 keys of c0"
    ):
        HUGE.table()
    assert listings(HUGE.tree) == 0


LATER: dict[str, tuple[Callable[[], KeySet], int]] = {
    "product": (lambda: HUGE * KeySet.from_dict({"z": [1, 2]}), 2 * 10**30),
    "projection": (lambda: HUGE[["c9", "c0"]], 10**6),
    "projection twice": (lambda: HUGE[["c9", "c0"]]["c0"], 10**3),
    "filter": (lambda: HUGE.filter(SMALL), 2 * 10**27),
    "filter, projection": (lambda: HUGE.filter(SMALL)["c3"], 2),
    "filter, other columns": (lambda: HUGE.filter(SMALL)[["c0"]], 1000),
    "filter of two": (
        lambda: HUGE.filter(Among(("c1", "c2"), frozenset([(1, 2)]))),
        10**24,
    ),
    "empty filter": (lambda: HUGE.filter(Among(("c1",), frozenset()))["c0"], 0),
    "rename": (lambda: HUGE.rename({"c0": "c1", "c1": "c0"}), 10**30),
    "join": (
        lambda: HUGE.join(KeySet.from_tuples([(1, 2)], columns=("c4", "new"))),
        10**27,
    ),
    "join of two": (lambda: HUGE.join(HUGE[["c4", "c0"]]), 10**30),
}


@sampled(1)
@for_each("case", LATER)
def test_what_is_done_to_some_columns_lists_only_those(case: str) -> None:
    """Counting a changed huge product lists at most the columns that changed."""
    make, size = LATER[case]
    keys = make()
    assert listings(keys.tree) == 0
    assert keys.size == size <= keys.at_most


def test_unions_and_differences_wait() -> None:
    """They are made at once, bounded at once, and refused when they must be listed."""
    one = HUGE[["c0", "c1", "c2"]]
    two = KeySet.from_dict({name: [1, 2] for name in ("c0", "c1", "c2")})
    assert (one | two).at_most == 10**9 + 8
    assert (one - two).at_most == 10**9
    assert repr(two - one) == "KeySet(at most 8 keys of c0, c1, c2)"
    for keys in (one | two, one - two, two - one):
        assert listings(keys.tree) == 0
        with pytest.raises(InvalidParameter, match="got 1,000,000,000 keys"):
            keys.table()


def test_pairs_are_counted_before_they_are_listed() -> None:
    """Two short columns can have too many pairs."""
    ones = KeySet.from_dict({"one": [1], "left": range(10_000)})
    others = KeySet.from_dict({"one": [1, 2], "right": range(10_000)})
    lists = ones[["left", "one"]] | ones[["left", "one"]]
    with pytest.raises(InvalidParameter, match="got 100,000,000 keys of left, one, r"):
        lists.join(others).table()


def test_the_longest_table_is_allowed() -> None:
    assert MOST_KEYS == 10_000_000
    half = KeySet.from_dict({"a": range(10), "b": range(MOST_KEYS // 10 + 1)})
    with pytest.raises(InvalidParameter, match="got 10,000,010 keys"):
        half.table()


def test_too_much_text_is_refused() -> None:
    """A product whose text Arrow cannot hold is refused before it is made."""
    refuse_long_text("x", MOST_TEXT)
    long = KeySet.from_dict({"x": ["a" * 1000], "y": range(2_200_000)})
    with pytest.raises(InvalidParameter, match=r"^column 'x' must hold at most 2,147"):
        long.table()


def test_equality_of_huge_products() -> None:
    turned = KeySet.from_dict({name: range(1000) for name in NAMES[::-1]})
    assert turned == HUGE
    assert KeySet.from_dict({name: range(999) for name in NAMES}) != HUGE
    assert KeySet.from_dict({name: range(1, 1001) for name in NAMES}) != HUGE
    assert HUGE.rename({"c0": "d"}) != HUGE
    assert HUGE.filter(SMALL) == HUGE.filter(SMALL)
    assert HUGE.filter(SMALL) != HUGE


def test_an_empty_factor_empties_whatever_is_left_of_the_product() -> None:
    """A dropped factor that turns out empty still counts, through every operation."""
    b = KeySet.from_dict({"b": [1, 2]})
    c = KeySet.from_dict({"c3": [3]})
    known = c
    for _ in range(100):  # in so many steps that it is listed, and known to be empty
        known -= c
    assert repr(known) == "KeySet(0 keys of c3)"
    for none in (c.filter(SMALL), known):
        left = (KeySet.from_dict({"a": [1]}) * none)["a"]
        pairs = KeySet.from_dict({"a": [1], "d": [1]})
        made = (left * b, b * left, left.join(pairs), pairs.join(left), left | left)
        for keys in (left, *made, left.rename({"a": "e"}), (b * left)["b"]):
            assert keys.size == keys.table().num_rows == 0
        assert b * none == KeySet.from_dict({"b": [7, 8]}) * none
        assert b * none != b * c
    assert ((b * known)["b"]).at_most == 0


def test_long_chains_do_not_overflow() -> None:
    """A set built in a long loop, or doubled often, is listed like any other."""
    keys = KeySet.from_dict({"x": [0]})
    for number in range(1, 1500):
        keys |= KeySet.from_dict({"x": [number]})
    assert keys.size == 1500
    for _ in range(200):
        keys |= keys
    assert keys.size == 1500
    for _ in range(200):
        keys = keys.rename({"x": "y"}).rename({"y": "x"})["x"] - keys.rename({"x": "x"})
    assert keys.size == 0


def test_each_part_is_listed_once() -> None:
    """Asking for the size, the table and the size again asks the condition once."""
    asked: list[Any] = []
    keys = KeySet.from_dict({"c3": range(5)}).filter(Counting(asked))
    assert (keys.size, keys.table().num_rows, keys["c3"].size) == (2, 2, 2)
    assert len(asked) == 5


@given(made())
def test_showing_and_bounding_list_nothing(pair: Pair) -> None:
    """`repr`, `at_most`, `schema` and `hash` never list a key."""
    keys, model = pair
    before = listings(keys.tree)
    shown = repr(keys), keys.at_most, keys.schema, hash(keys)
    assert listings(keys.tree) == before
    assert len(shown[0]) < 100
    assert keys_of(keys) == model.listed()


@for_each(
    ("text", "count"),
    [("0", 0), ("12,000", 12_000), ("999,999,999,999,999", 10**15 - 1),
     ("1e15", 10**15), ("1e30", 10**30), ("1.23e22", 123 * 10**20),
     ("1.2e22", 120 * 10**20), ("1e5000", 10**5000)],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_numbers_of_keys_are_readable(text: str, count: int) -> None:
    """Exact while short, then three digits and an exponent."""
    assert count_text(count) == text
