"""The block table: domination, and decisions that equal the exact ones bit for bit."""

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
from flint import ctx
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sordino.noise.gaussian import GaussianShape
from sordino.noise.laplace import LaplaceShape
from sordino.noise.sampling.bits import Uniform
from sordino.noise.sampling.blocks import AbstractShape, BlockTable, Draws, block_table
from sordino.numbers import fraction
from tests.batches import for_each, sampled
from tests.planned_bits import PlannedBits

F = Fraction
TABLES: dict[str, tuple[AbstractShape, int | None]] = {
    "Laplace 1/1000 on points": (LaplaceShape(F(1, 1000)), 0),
    "Laplace 1 on points": (LaplaceShape(F(1)), 0),
    "Laplace 63 on points": (LaplaceShape(F(63)), 0),
    "Laplace 100 on a grid": (LaplaceShape(F(100)), 3),
    "Laplace 64 on the reals": (LaplaceShape(F(64)), None),
    "Laplace 127.9 on the reals": (LaplaceShape(F(1279, 10)), None),
    "Gaussian 1/16 on points": (GaussianShape(F(1, 16)), 0),
    "Gaussian 9 on points": (GaussianShape(F(9)), 0),
    "Gaussian 100**2 on a fine grid": (GaussianShape(F(100**2)), 70),
    "Gaussian 64**2 on the reals": (GaussianShape(F(64**2)), None),
    "Gaussian 127.9**2 on the reals": (GaussianShape(F(1279, 10) ** 2), None),
}
tables = for_each(("shape", "depth"), TABLES.values(), ids=list(TABLES))


def exponent(shape: Any, distance: Any) -> Any:
    """Return phi(distance) to 60 digits, by an independent library."""
    if isinstance(shape, LaplaceShape):
        return distance / rational(shape.scale)
    return distance**2 / (2 * rational(shape.variance))


def rational(value: Any) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def curve(table: BlockTable, distance: Any) -> Any:
    return mp.mpf(table.gain) * mp.exp(-exponent(table.shape, distance))


def share(table: BlockTable, outcome: int) -> Any:
    """Return the exact weight of a residual outcome, in entries of the table."""
    residue = 2**16 - table.core_count
    return mp.mpf(int(table.weights[outcome])) * residue / mp.mpf(2) ** 62


@sampled(4)
@tables
def test_core_lies_under_the_curve_and_weights_dominate_it(
    shape: AbstractShape, depth: int | None
) -> None:
    table = block_table(shape, depth)
    with mp.workdps(60):
        for outcome in range(2 * table.reach):
            ends = [
                table.start[outcome] + table.rest[outcome] + table.turn[outcome] * place
                for place in (0, 1)
            ]
            heights = [curve(table, mp.mpf(float(end))) for end in ends]
            floor = int(table.floor[outcome])
            assert floor <= min(heights)
            assert floor + share(table, outcome) >= max(heights)


@tables
def test_tail_weights_dominate_every_block_beyond(
    shape: AbstractShape, depth: int | None
) -> None:
    table = block_table(shape, depth)
    with mp.workdps(60):
        slope = mp.mpf(1)
        slope *= mp.diff(lambda t: exponent(shape, t), table.reach)
        for outcome in (2 * table.reach, 2 * table.reach + 1):
            first = share(table, outcome) * (1 - mp.exp(-slope))
            for k in (0, 1, 2, 10, 1000):
                height = first * mp.exp(-slope * k)
                assert height >= curve(table, table.reach + k) * (1 - mp.mpf(10) ** -40)


@given(
    st.fractions(F(1, 10**6), 128),
    st.sampled_from([LaplaceShape, GaussianShape]),
    st.booleans(),
)
def test_weights_fit_for_every_scale(
    spread: Fraction,
    kind: Any,
    on_points: bool,  # noqa: FBT001 drawn by Hypothesis
) -> None:
    spread = spread if on_points else 64 + spread / 2
    shape = kind(spread if kind is LaplaceShape else spread**2)
    table = block_table(shape, 0 if on_points else None)
    assert 0 < table.core_count < 2**16
    assert (table.weights > 0).all()
    assert int(table.edges[-1]) <= 2**62
    assert table.core_count == int(table.floor.sum())
    counts = np.bincount(table.core[: table.core_count] + table.reach)
    assert (counts == table.floor[: counts.size]).all()


def boundary_words(table: BlockTable, outcome: int, place: int) -> NDArray[np.uint64]:
    """Return acceptance words at, near and far from the boundary of a decision."""
    with mp.workdps(60):
        turn = mp.mpf(place) / mp.mpf(2) ** 64 * int(table.turn[outcome])
        distance = int(table.start[outcome]) + int(table.rest[outcome]) + turn
        level = curve(table, distance) - int(table.floor[outcome])
        edge = int(mp.floor(level / share(table, outcome) * mp.mpf(2) ** 64))
    offsets = [0, 1, -1, 5, -5, 2**20, -(2**20), 2**44, -(2**44), 2**50, -(2**50)]
    words = [min(max(edge + offset, 0), 2**64 - 1) for offset in offsets]
    return np.array([*words, 0, 2**64 - 1], np.uint64)


@sampled(5)
@tables
def test_fast_decisions_equal_exact_ones_bit_for_bit(
    shape: AbstractShape, depth: int | None
) -> None:
    """Fed the same words, also aimed at boundaries, doubles and balls agree."""
    table = block_table(shape, depth)
    random = np.random.default_rng(7)
    outcomes = random.integers(0, 2 * table.reach, 60)
    decided = 0
    mask = 0 if depth == 0 else 2**64 - (1 << max(0, 64 - (depth or 64)))
    for outcome in np.append(outcomes, [0, table.reach, 2 * table.reach - 1]):
        place = int(random.integers(0, 2**64, dtype=np.uint64)) & mask
        words = boundary_words(table, int(outcome), place)
        size = words.size
        edge = int(table.edges[outcome - 1]) if outcome else 0
        draws = Draws(np.zeros(size, np.int16), np.full(size, place, np.uint64), {})
        planned = PlannedBits([np.full(size, edge << 2, np.uint64), words])
        rejected = set(table._residual(np.arange(size), draws, planned).tolist())
        for i, word in enumerate(words.tolist()):
            verdicts = completions(table, int(outcome), place, word)
            if len(verdicts) == 1:
                decided += 1
                assert verdicts == {i not in rejected}
                assert i in rejected or draws.block[i] == outcome - table.reach
    assert decided > 500


def completions(table: BlockTable, outcome: int, place: int, word: int) -> set[bool]:
    """Return the exact verdicts at all ends of what is not yet known."""
    depth = 128 if table.depth is None else table.depth
    bits = PlannedBits()
    return {
        table._settle(
            outcome,
            Uniform(bits, place << 64 | first, 128, depth),
            Uniform(bits, word << 64 | second, 128, 128),
            bits,
        )
        is not None
        for first in (0, 2**64 - 1)
        for second in (0, 2**64 - 1)
    }


@tables
def test_exact_decisions_agree_with_another_library(
    shape: AbstractShape, depth: int | None
) -> None:
    """Ball decisions equal comparisons carried out to 60 digits elsewhere."""
    table = block_table(shape, depth)
    random = np.random.default_rng(11)
    for outcome in random.integers(0, 2 * table.reach, 20):
        place = 0 if depth == 0 else int(random.integers(2**40)) << 24
        place = place >> max(0, 64 - (depth or 64)) << max(0, 64 - (depth or 64))
        for word in boundary_words(table, int(outcome), place)[3:].tolist():
            bits = PlannedBits(seed=int(word) % 1000)
            point = table._settle(
                int(outcome),
                Uniform(bits, place, 64, 64 if depth is None else depth),
                Uniform(bits, word, 64, 64),
                bits,
            )
            with mp.workdps(60):
                turn = mp.mpf(place) / mp.mpf(2) ** 64 * int(table.turn[outcome])
                distance = int(table.start[outcome]) + int(table.rest[outcome]) + turn
                proposal = int(table.floor[outcome])
                proposal += mp.mpf(word) / mp.mpf(2) ** 64 * share(table, int(outcome))
                expected = proposal < curve(table, distance)
            assert (point is not None) == expected


def far_verdict(table: BlockTable, words: tuple[int, int, Any], *, left: bool) -> Any:
    """Return how many blocks beyond the last are proposed, and whether one is kept."""
    with mp.workdps(60):
        u, v, within = (mp.mpf(word) / mp.mpf(2) ** 64 for word in words)
        slope = rational(fraction(table.shape.slope(table.reach).mid()))
        further = int(mp.floor(-mp.log(u) / slope))
        distance = table.reach + further + (1 - within if left else within)
        weight = share(table, 2 * table.reach + (not left))
        proposal = v * weight * (1 - mp.exp(-slope)) * mp.exp(-slope * further)
        return further, proposal < curve(table, distance)


@tables
@for_each("left", [True, False])
def test_tails_are_decided_as_another_library_does(
    shape: AbstractShape, depth: int | None, *, left: bool
) -> None:
    """Far blocks: the distance is seen from 0, and the place counts from the left."""
    table, random = block_table(shape, depth), np.random.default_rng(5)
    digits = 64 if depth is None else min(depth, 64)
    for seed in range(60):
        place, word = (int(random.integers(2**62)) << 2 for _ in range(2))
        place = place >> (64 - digits) << (64 - digits)
        words = PlannedBits(seed=seed).word(8), word, place
        bits = PlannedBits(seed=seed)
        known = Uniform(bits, place >> (64 - digits), digits, digits)
        settled = Uniform(bits, word, 64, 64)
        point = table._settle(2 * table.reach + (not left), known, settled, bits)
        further, kept = far_verdict(table, words, left=left)
        assert (point is not None) == kept
        if point is not None:
            start = table.reach + further
            assert point.block == (-1 - start if left else start)


SCALES = [F(1, 300), F(1, 50), F(1, 3), F(1), F(7, 3), F(128)]


@for_each("digits", [12, 53, 300])
@for_each("scale", SCALES, ids=str)
def test_profiles_err_by_what_lemma_3_says(scale: F, digits: int) -> None:
    """At any scale, and at any precision that others set, no product errs by more."""
    unit, found = mp.mpf(2) ** -53, ctx.prec
    shapes: list[AbstractShape] = [LaplaceShape(scale), GaussianShape(scale**2)]
    ctx.prec = digits
    try:
        profiles = [shape.profile(shape.reach() + 1).tolist() for shape in shapes]
        assert ctx.prec == digits
    finally:
        ctx.prec = found
    with mp.workdps(60):
        for shape, profile, square in zip(shapes, profiles, (0, 2), strict=True):
            for k, height in enumerate(profile):
                exact = mp.exp(-exponent(shape, mp.mpf(k)))
                doubt = (square * k * k + (3 + square / 2) * k) * unit * exact
                assert abs(mp.mpf(height) - exact) <= doubt + mp.mpf(2) ** -1000
