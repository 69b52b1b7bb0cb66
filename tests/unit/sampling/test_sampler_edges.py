"""Samplers at their edges: words of zeros, far tails, and no bits at all."""

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sordino as sd
from sordino.errors import EntropyUnavailable
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling.bits import Bits, Uniform, fresh_secret
from sordino.noise.sampling.blocks import Point, block_table
from sordino.noise.sampling.choice import _Trial
from sordino.noise.sampling.floats import F32, F64, FloatSampler, Nearest, Threshold
from sordino.noise.sampling.integers import Tail
from sordino.numbers import INFINITE
from tests.batches import for_each
from tests.planned_bits import PlannedBits

SHAPE = LaplaceShape(Fraction(40))


class Scripted(PlannedBits):
    """Bits whose first single words are given."""

    def __init__(self, *first: int) -> None:
        super().__init__()
        self._first = list(first)

    def word(self, size: int) -> int:
        return self._first.pop(0) if self._first else super().word(size)


def test_a_draw_beyond_all_blocks_is_a_rejection() -> None:
    """What rounding left over belongs to no block."""
    table, bits = block_table(SHAPE, None), PlannedBits()
    beyond = 2 * table.reach + 2
    place, v = Uniform(bits, 0, 64), Uniform(bits, 0, 64)
    assert table._settle(beyond, place, v, bits) is None


@for_each("left", [True, False])
def test_a_word_of_zeros_is_drawn_further(*, left: bool) -> None:
    """Its logarithm has no end: more digits say how many blocks it means."""
    table = block_table(SHAPE, None)
    bits = Scripted(0, 2**63)
    place, v = Uniform(bits, 2**63, 64), Uniform(bits, 0, 64)
    point = table._settle(2 * table.reach + (not left), place, v, bits)
    assert point is not None
    # U lies near 2**-65: 65 ln 2 / slope blocks beyond the last
    further = int(65 * np.log(2) * 40)
    start = abs(point.block) - (table.reach + left)
    assert abs(start - further) <= 1


def test_one_residual_draw_in_a_tail_is_settled() -> None:
    """The first words choose the tail; what follows decides as balls do."""
    table = block_table(SHAPE, None)
    words = [int(edge) << 2 for edge in table.edges]
    tail = next(
        place
        for place in range(len(words) - 1)
        if table._is_tail(place + 1) and words[place] < words[place + 1]
    )
    bits = Scripted(words[tail], 0, 2**63)
    point = table._residual_one(Uniform(bits, 2**63, 64), bits)
    assert point is not None
    assert point.block >= table.reach or point.block < -table.reach


def test_without_any_noise_a_worse_candidate_is_never_taken() -> None:
    """However small V is: its true weight is 0, that of the best is not."""
    trial = _Trial(
        INFINITE,
        gaps=np.array([3, 0]),
        sizes=np.array([1, 1]),
        repeats=np.array([1, 1]),
        whole=np.array([1, 1]),
        unit=np.array([1.0, 1.0]),
    )
    bits = PlannedBits()
    assert not trial._settle(0, Uniform(bits, 0, 64))
    assert trial._settle(1, Uniform(bits, 0, 64))


@for_each("upward", [True, False])
def test_a_sum_on_a_level_is_drawn_until_a_side_is_sure(*, upward: bool) -> None:
    """The first digits leave both sides open; those that follow lie on one."""
    sampler = FloatSampler(SHAPE, None, -4, F64)
    for word, above in ((0, False), (2**64 - 1, True)):
        # the sum lies in [0, 1/16); the level in its middle
        point = Point(0, Uniform(Scripted(word), 0, 0))
        level = Threshold(Fraction(1, 32), upward)
        assert sampler._reaches(0.0, point, level) is (above is upward)


@for_each("target", [F32, F64])
def test_without_noise_values_are_compared_themselves(target: object) -> None:
    nearest = Nearest(target)  # type: ignore[arg-type]
    values = np.array([-1.0, 0.3, 0.5])
    for level, up, down in (
        (Fraction(1, 2), [False, False, True], [True, True, True]),
        (Fraction(3, 10), [False, False, True], [True, True, False]),
    ):
        bits = PlannedBits()
        reached = nearest.compare(values, Threshold(level, upward=True), bits).reached
        assert reached.tolist() == up
        reached = nearest.compare(values, Threshold(level, upward=False), bits).reached
        assert reached.tolist() == down


def test_a_tail_of_a_word_of_zeros_is_drawn_further() -> None:
    """The excess has no end until more digits are known."""
    tail = Tail(Fraction(1), None)
    assert tail.steps(Fraction(1), Scripted(0, 2**63)) == int(65 * np.log(2))
    far = tail.nearest(Fraction(2), F64, Scripted(0, 2**63, 0, 0))
    assert abs(far - 2 - 65 * np.log(2)) < 1e-9


@for_each("error", [OSError, NotImplementedError])
def test_no_entropy_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    table = sd.PrivateTable({"n": [1, 2]}, protects=sd.AddOneRow())
    query, tenth = sd.table("t").agg(n=sd.count()), sd.PureDP("0.1")

    def session(name: str) -> sd.Session:
        return sd.Session(
            {"t": table}, sd.PureDP(1), ledger=tmp_path / name, engine="memory"
        )

    def fail(size: int) -> bytes:
        raise error(size)

    asked = session("a")
    acts: list[Callable[[], Any]] = [
        lambda: asked.release(query, tenth, key="k"),
        lambda: session("b"),
        lambda: Bits().words(1000),
        fresh_secret,
    ]
    with monkeypatch.context() as patched:
        patched.setattr(os, "urandom", fail)
        for act in acts:
            with pytest.raises(EntropyUnavailable):
                act()
    assert asked.release(query, tenth, key="k").names == ("n",)
    assert asked.remaining == sd.PureDP("0.9")
    assert not (tmp_path / "b").exists()
