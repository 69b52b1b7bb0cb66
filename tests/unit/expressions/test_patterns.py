"""Patterns of texts mean the same everywhere, and none takes long."""

import random
import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sordino.errors import InvalidParameter
from sordino.expressions.language import col
from sordino.expressions.regular import least_letters, read_pattern
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
_FLAGS: Final = re.DOTALL | re.ASCII
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


@for_each("seed", range(150))
def test_the_part_that_fits_is_that_of_python(seed: int) -> None:
    """For any drawn pattern: the first part, each group of it, and all parts."""
    dice = random.Random(seed)
    ends = dice.choice(["^", ""]), dice.choice(["$", ""])
    body = f"({drawn(dice, 3)})({dice.choice(_ATOMS)}|b)?"
    theirs = re.compile(ends[0] + body + ends[1].replace("$", r"\Z"), _FLAGS)
    try:
        ours = [
            col("x").extract("".join((ends[0], body, ends[1])), n) for n in range(3)
        ]
    except InvalidParameter:  # of nothing, again and again: tests/refused has it
        return
    texts = ["".join(dice.choice("ab.1é]x c") for _ in range(9)) for _ in range(20)]
    for text in texts:
        found = theirs.search(text)
        told = [(found and found[n]) or "" for n in range(3)]
        assert [one.value({"x": text}) for one in ours] == told, (body, text)
    if least_letters(read_pattern(body)):
        made = col("x").replace_matches("".join((ends[0], body, ends[1])), "-")
        for text in texts:
            assert made.value({"x": text}) == theirs.sub("-", text), (body, text)


def test_no_pattern_takes_long() -> None:
    """A pattern at which going back would take a lifetime."""
    assert not col("x").extract("(?:a|aa)+b").value({"x": "a" * 2000})
    for nothing in ("", "a{0}"):
        repeated = f"b(((({nothing}){{100}}){{100}}){{100}}){{100}}"
        assert col("x").matches(repeated).value({"x": "b"})
    with pytest.raises(InvalidParameter, match="more than 100 deep"):
        col("x").matches("(" * 400 + "a" + ")" * 400)
    assert col("x").matches("(a|a?)*(a*)*b").value({"x": "a" * 2000}) is False
