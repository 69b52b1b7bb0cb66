"""A tree of hashes over the records of a ledger, and paths that show what is in it.

leaf n = SHA-256(0x00, hash of record n); node = SHA-256(0x01, left, right), where left
has the largest power of two of leaves that is less than all. So a tree that grows keeps
its whole subtrees, and a path of one hash a level shows that a record is in a tree, or
that a tree begins with an earlier one. The standard library alone is used.

>>> leaves = [leaf_hash(bytes([n]) * 32) for n in range(5)]
>>> root = tree_root(leaves)
>>> root_by_path(leaves[3], 3, 5, inclusion_path(leaves, 3)) == root
True
>>> roots_by_growth(tree_root(leaves[:3]), 3, 5, growth_path(leaves, 3)) == (
...     tree_root(leaves[:3]), root)
True
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import final


@final
class WrongPath(ValueError):
    """A path that is too long or too short for its tree."""


def leaf_hash(record: bytes) -> bytes:
    """Hash of a leaf, by the hash of its record."""
    return sha256(b"\0" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash of a node; its first byte keeps it from passing for a leaf."""
    return sha256(b"\1" + left + right).digest()


def _left_size(count: int) -> int:
    """Leaves of the left child: the largest power of two below all of several."""
    return 1 << (count - 1).bit_length() - 1


def tree_root(leaves: Sequence[bytes]) -> bytes:
    """Root of the tree over some leaves, of which there is one at least."""
    if len(leaves) == 1:
        return leaves[0]
    left = _left_size(len(leaves))
    return node_hash(tree_root(leaves[:left]), tree_root(leaves[left:]))


def inclusion_path(leaves: Sequence[bytes], place: int) -> list[bytes]:
    """Roots beside the way from a leaf to the root, the lowest first."""
    if len(leaves) == 1:
        return []
    left = _left_size(len(leaves))
    if place < left:
        return [*inclusion_path(leaves[:left], place), tree_root(leaves[left:])]
    return [*inclusion_path(leaves[left:], place - left), tree_root(leaves[:left])]


def root_by_path(leaf: bytes, place: int, count: int, path: Sequence[bytes]) -> bytes:
    """Root of the tree of so many leaves that has this leaf at a place, by its path."""
    if count == 1:
        if path:
            raise WrongPath
        return leaf
    *below, beside = path or (None,)
    if beside is None:
        raise WrongPath
    left = _left_size(count)
    if place < left:
        return node_hash(root_by_path(leaf, place, left, below), beside)
    return node_hash(beside, root_by_path(leaf, place - left, count - left, below))


def growth_path(leaves: Sequence[bytes], earlier: int) -> list[bytes]:
    """What shows that the tree begins with that of its first leaves, the lowest first.

    Of the whole subtrees that make up the earlier tree, and of those beside them.
    """
    return _growth(leaves, earlier, is_begun=True)


def _growth(leaves: Sequence[bytes], earlier: int, *, is_begun: bool) -> list[bytes]:
    """Path within a subtree; the root of one that is the earlier tree is known."""
    if earlier == len(leaves):
        return [] if is_begun else [tree_root(leaves)]
    left = _left_size(len(leaves))
    if earlier <= left:
        below = _growth(leaves[:left], earlier, is_begun=is_begun)
        return [*below, tree_root(leaves[left:])]
    below = _growth(leaves[left:], earlier - left, is_begun=False)
    return [*below, tree_root(leaves[:left])]


def roots_by_growth(
    root: bytes, earlier: int, count: int, path: Sequence[bytes]
) -> tuple[bytes, bytes]:
    """Roots of an earlier tree and of the one that it has grown to, by a path.

    The first must be the root of the earlier tree, and the second that of the later.
    """
    return _both_roots(root, (earlier, count), path, is_begun=True)


def _both_roots(
    root: bytes, sizes: tuple[int, int], path: Sequence[bytes], *, is_begun: bool
) -> tuple[bytes, bytes]:
    earlier, count = sizes
    if earlier == count and is_begun:
        if path:
            raise WrongPath
        return root, root
    *below, last = path or (None,)
    if last is None:
        raise WrongPath
    if earlier == count:
        if below:
            raise WrongPath
        return last, last
    left = _left_size(count)
    if earlier <= left:
        before, after = _both_roots(root, (earlier, left), below, is_begun=is_begun)
        return before, node_hash(after, last)
    sizes = (earlier - left, count - left)
    before, after = _both_roots(root, sizes, below, is_begun=False)
    # the left subtree is whole in both: here the two trees are held together
    return node_hash(last, before), node_hash(last, after)
