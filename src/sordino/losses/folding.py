"""Pieces of losses, counted: what comes apart again when releases are added up."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TypeAlias, TypeVar

Piece = TypeVar("Piece")
Chances: TypeAlias = dict[Fraction, int]
"""Chances of total breach, and how often each occurs."""


def add_pieces(
    parts: Iterable[tuple[int, Mapping[Piece, int], Chances]],
) -> tuple[dict[Piece, int], Chances]:
    """Return how often each piece and each chance occurs in all, so many times each.

    >>> add_pieces([(2, {"a": 1}, {}), (1, {"a": 3, "b": 1}, {Fraction(1, 9): 1})])
    ({'a': 5, 'b': 1}, {Fraction(1, 9): 1})
    """
    pieces: dict[Piece, int] = {}
    chances: Chances = {}
    for times, own, reserves in parts:
        if times == 1 and not pieces:
            # a copy does not hash the pieces again
            pieces.update(own)
        else:
            _count(own, times, pieces)
        _count(reserves, times, chances)
    return pieces, chances


def _count(own: Mapping[Piece, int], times: int, counts: dict[Piece, int]) -> None:
    """Add pieces, so many times, to those counted."""
    for piece, often in own.items():
        counts[piece] = counts.get(piece, 0) + often * times
