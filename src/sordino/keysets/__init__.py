"""Public sets of group keys, and their algebra."""

from sordino.keysets.keyset import KeySet

__all__ = ["KeySet"]
