"""What makes two requests the same, and two sessions of one ledger the same."""

import hashlib
from collections.abc import Mapping
from typing import Any

from sordino.accounting.entries import budget_text
from sordino.query.price import Price
from sordino.query.tables import PrivateTable


def fingerprint(*prices: Price) -> str:
    """Return the SHA-256 of what requests ask, of which rows, with which noise.

    The same request over the same plan, budget and public keys has the same one; a
    Python function counts by its name.
    """
    known = hashlib.sha256()
    for one in prices:
        keyset = one.request.keyset
        keys = "" if keyset is None else keyset.fingerprint
        for text in (repr(one.request), one.plan, budget_text(one.budget), keys):
            known.update(text.encode("utf-8", "backslashreplace") + b"\0")
    return known.hexdigest()


def whose(tables: Mapping[str, Any]) -> str:
    """Return whom the private tables of a session protect, as a ledger records it."""
    named = sorted(
        f"{name!r}: {table.protects!r}"
        for name, table in tables.items()
        if isinstance(table, PrivateTable)
    )
    return "; ".join(named)
