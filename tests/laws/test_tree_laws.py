"""Paths through the tree over records: every true one holds, and no other.

The peer here walks from the leaf up by the bits of places, as readers of RFC 9162 do;
the library walks from the root down. For all sizes up to 130 all paths are asked.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Final

from sordino.ledger import merkle
from sordino.ledger.merkle import (
    WrongPath,
    growth_path,
    inclusion_path,
    leaf_hash,
    root_by_path,
    roots_by_growth,
    tree_root,
)
from tests.effort import often

MOST: Final = 130
LEAVES: Final = [
    sha256(b"\0" + sha256(b"%d" % n).digest()).digest() for n in range(MOST)
]


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def roots() -> list[bytes]:
    """Return the root of the first n leaves for each n from 1 on, leaf by leaf."""
    whole: list[bytes] = []
    found = []
    for count, leaf in enumerate(LEAVES, 1):
        whole.append(leaf)
        for _ in range((count & -count).bit_length() - 1):
            right, left = whole.pop(), whole.pop()
            whole.append(node(left, right))
        root = whole[-1]
        for left in reversed(whole[:-1]):
            root = node(left, root)
        found.append(root)
    return found


ROOTS: Final = roots()


def climbed(place: int, count: int, path: Sequence[bytes], leaf: bytes) -> bytes | None:
    """Return the root at the end of a path, from its leaf up by bits of its place."""
    last, root = count - 1, leaf
    for beside in path:
        if last == 0:
            return None
        if place & 1 or place == last:
            root = node(beside, root)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            root = node(root, beside)
        place, last = place >> 1, last >> 1
    return root if last == 0 else None


def grown(
    earlier: int, count: int, path: Sequence[bytes], root: bytes
) -> tuple[bytes, bytes] | None:
    """Return both roots at the end of a path between trees, from below up."""
    if earlier == count:
        return None if path else (root, root)
    steps = [root, *path] if earlier & (earlier - 1) == 0 else list(path)
    if not steps:
        return None
    place, last = earlier - 1, count - 1
    while place & 1:
        place, last = place >> 1, last >> 1
    before = after = steps[0]
    for beside in steps[1:]:
        if last == 0:
            return None
        if place & 1 or place == last:
            before, after = node(beside, before), node(beside, after)
            while place and not place & 1:
                place, last = place >> 1, last >> 1
        else:
            after = node(after, beside)
        place, last = place >> 1, last >> 1
    return (before, after) if last == 0 else None


def changes(draw: random.Random, path: list[bytes]) -> list[list[bytes]]:
    """Return twins of a path: by day two of them, by night all."""
    twins = list(twins_of(draw, path))
    return draw.sample(twins, min(len(twins), often(2, len(twins))))


def twins_of(draw: random.Random, path: list[bytes]) -> Iterator[list[bytes]]:
    """Yield what a path is not: longer, shorter, in another order, one bit off."""
    stray = draw.randbytes(32)
    yield [*path, stray]
    yield [stray, *path]
    if path:
        place = draw.randrange(len(path))
        bit = 1 << draw.randrange(256)
        flipped = (int.from_bytes(path[place], "big") ^ bit).to_bytes(32, "big")
        yield [*path[:place], flipped, *path[place + 1 :]]
        yield path[:place] + path[place + 1 :]
        yield [*path[: place + 1], *path[place:]]
    if len(path) > 1:
        yield path[::-1]


def answered(ask: Callable[..., object], *of: object) -> object:
    try:
        return ask(*of)
    except WrongPath:
        return None


def test_each_path_shows_its_record_and_no_other_does() -> None:
    draw = random.Random(264)
    for count in range(1, MOST + 1):
        leaves, root = LEAVES[:count], ROOTS[count - 1]
        assert tree_root(leaves) == root
        for place, leaf in enumerate(leaves):
            path = inclusion_path(leaves, place)
            assert root_by_path(leaf, place, count, path) == root
            assert climbed(place, count, path, leaf) == root
            other = draw.randrange(count)
            twins = [(leaf, place, twin) for twin in changes(draw, path)]
            if other != place:
                twins += [(leaf, other, path), (LEAVES[other], place, path)]
            for told, where, twin in twins:
                found = answered(root_by_path, told, where, count, twin)
                assert found != root
                assert found == climbed(where, count, twin, told)


def test_each_path_shows_how_a_tree_grew_and_no_other_does() -> None:
    draw = random.Random(265)
    for count in range(1, MOST + 1):
        leaves, root = LEAVES[:count], ROOTS[count - 1]
        for earlier in range(1, count + 1):
            before = ROOTS[earlier - 1]
            path = growth_path(leaves, earlier)
            assert roots_by_growth(before, earlier, count, path) == (before, root)
            assert grown(earlier, count, path, before) == (before, root)
            rewritten = (draw.randbytes(32), earlier, path)
            twins = [(before, earlier, twin) for twin in changes(draw, path)]
            twins.append((ROOTS[draw.randrange(count)], earlier, path))
            for told, size, twin in (rewritten, *twins):
                known = (told, root)
                found = answered(roots_by_growth, told, size, count, twin)
                assert found == grown(size, count, twin, told)
                assert found != known or (told, twin) == (before, path)


def test_no_node_passes_for_a_record() -> None:
    """Leaves and nodes are hashed apart, by their first byte and so by their length."""
    assert leaf_hash(b"r" * 32) == sha256(b"\0" + b"r" * 32).digest()
    both = merkle.node_hash(LEAVES[0], LEAVES[1])
    assert both == node(LEAVES[0], LEAVES[1])
    assert leaf_hash(LEAVES[0] + LEAVES[1]) != both
