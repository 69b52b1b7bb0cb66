"""The order in which the memory engine keeps rows: by a keyed hash."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from sordino.sources.plain_values import sort_values

Order: TypeAlias = Callable[[list[tuple[Any, ...]], tuple[str, ...]], Sequence[Any]]
"""Returns, for tuples of values of some types, by what they are put in order."""


def keyed_order(salt: int) -> Order:
    """Return the order of a keyed hash of the values."""
    key = salt.to_bytes(8, "little")

    def order(rows: list[tuple[Any, ...]], kinds: tuple[str, ...]) -> list[bytes]:
        del kinds
        texts = (
            repr(sort_values(row)).encode("utf-8", "backslashreplace") for row in rows
        )
        return [hashlib.blake2b(text, key=key).digest() for text in texts]

    return order
