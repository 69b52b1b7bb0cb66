"""Patterns with wildcards mean what they say, for any text, in any time."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.language import col
from sordino.expressions.schema import Column, Schema
from tests.batches import for_each

LETTERS = st.text("ab%_\\", max_size=9)


def by_backtracking(text: str, pattern: str) -> bool:
    """Return what Python's own regular expressions find."""
    wild = {"%": ".*", "_": "."}
    meant = "".join(wild.get(letter, re.escape(letter)) for letter in pattern)
    return re.fullmatch(meant, text, re.DOTALL) is not None


@given(LETTERS, LETTERS)
def test_a_pattern_is_a_regular_expression(text: str, pattern: str) -> None:
    found = col("x").like(pattern).value({"x": text})
    assert found == by_backtracking(text, pattern)


@given(st.text("ab%_!", max_size=9))
def test_what_is_escaped_means_itself(text: str) -> None:
    escaped = re.sub(r"([%_!])", r"!\1", text)
    exact = col("x").like(escaped, escape="!")
    assert exact.value({"x": text})
    assert not exact.value({"x": text + "a"})


def test_a_pattern_is_read_back_as_it_is_shown() -> None:
    for pattern, escape in (("a%_", None), ("a!%!!\\", "!"), ("\\", None)):
        asked = col("x").like(pattern, escape)
        again = eval(repr(asked), {"col": col})  # noqa: S307 our own text
        assert asked.same(again)


def test_many_wildcards_take_no_longer_than_both_lengths() -> None:
    """A pattern at which backtracking would take a lifetime."""
    assert col("x").like("%a" * 300 + "b").value({"x": "a" * 3000}) is False


@for_each(
    ("pattern", "escape"),
    [(5, None), ("a" * 1001, None), ("a", "ab"), ("a", 5), ("a!", "!"), ("!a", "!")],
)
def test_what_is_no_pattern_is_refused(pattern: Any, escape: Any) -> None:
    with pytest.raises(InvalidParameter, match=r"Shorten|Try|Escape"):
        col("x").like(pattern, escape)


def test_only_texts_have_patterns() -> None:
    with pytest.raises(InvalidQuery, match="cast"):
        col("x").like("1%").column(Schema.of([("x", Column("i64"))]))
