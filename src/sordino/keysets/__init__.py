"""Public sets of group keys, and their algebra.

On the way of the keys: `sources` opens what a user hands over, `columns` and `objects`
read its columns exactly, `canonical` sorts the keys. `keyset` is what users hold: a
tree of `key_nodes`, whose `product` is listed only when somebody asks.
"""

from sordino.keysets.keyset import KeySet

__all__ = ["KeySet"]
