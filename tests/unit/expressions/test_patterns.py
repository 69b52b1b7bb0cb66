"""Patterns of texts mean the same everywhere, and none takes long."""

import random
import re
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from sordino.expressions.language import col
from tests.batches import for_each

LETTERS = st.text("ab%_\\", max_size=9)


def by_backtracking(text: str, pattern: str) -> bool:
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


_ATOMS: Final = (
    *("a", "b", ".", "[ab]", "[^a]", "é"),
    *(r"\d", r"\W", r"\.", r"[\]x-]", r"[a-c\s]"),
)
_TIMES: Final = ("", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}")


def drawn(dice: random.Random, depth: int) -> str:
    if depth <= 0 or dice.random() < 0.3:
        return dice.choice(_ATOMS)
    parts = [drawn(dice, depth - 1) for _ in range(dice.randint(1, 3))]
    if dice.random() < 0.3:
        return f"({'|'.join(parts)}){dice.choice(_TIMES)}"
    return "".join(f"({one}){dice.choice(_TIMES)}" for one in parts)


@for_each("seed", range(150))
def test_a_pattern_means_what_python_says(seed: int) -> None:
    dice = random.Random(seed)
    pattern = drawn(dice, 3)
    theirs = re.compile(pattern, re.DOTALL | re.ASCII)
    ours = col("x").matches(pattern)
    for _ in range(40):
        text = "".join(dice.choice("ab.1é]x c") for _ in range(dice.randint(0, 5)))
        found = ours.value({"x": text})
        assert found == (theirs.fullmatch(text) is not None), (pattern, text)


def test_no_pattern_takes_long() -> None:
    """A pattern at which going back would take a lifetime."""
    assert col("x").matches("(a|a?)*(a*)*b").value({"x": "a" * 2000}) is False
