"""What makes two requests the same, and two sessions of one ledger the same."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from sordino.accounting.entries import budget_text
from sordino.expressions.language import Expression
from sordino.expressions.tree import Literal, Operation
from sordino.keysets import KeySet
from sordino.query.batch import Batch
from sordino.query.price import Price
from sordino.query.tables import PrivateTable
from sordino.schema import Column, Schema

TABLES: Final = "tables "
"""How a ledger that a session made begins to say what it is for."""


def fingerprint(found: Price) -> str:
    """Return the SHA-256 of what a request asks, of which rows, with which noise.

    The same request over the same rows, budget and public keys has the same one, in
    every process; a Python function counts by its name.
    """
    return _digest(_asked(found))


def fingerprint_all(batch: Batch) -> str:
    """Return the SHA-256 of requests planned together, by their names in order."""
    return _digest(_asked_together(batch))


def whose(tables: Mapping[str, Any]) -> str:
    """Return whom the private tables of a session protect, as a ledger records it."""
    named = sorted(
        f"{name!r}: {table.protects!r}"
        for name, table in tables.items()
        if isinstance(table, PrivateTable)
    )
    return TABLES + "; ".join(named)


def _asked(found: Price) -> Iterator[str]:
    """Yield everything that a request asks, nothing cut short."""
    request = found.request
    yield from (repr(request), found.plan, budget_text(found.budget))
    yield from _spelled((found.relation.node, request.columns, request.keyset))
    yield from _spelled((request.by, request.noise, request.weights))


def _asked_together(batch: Batch) -> Iterator[str]:
    """Yield the budget, and the name and the request of each."""
    yield from ("together", budget_text(batch.budget))
    for name, found in batch.prices.items():
        yield name
        yield from _asked(found)


def _spelled(value: Any) -> Iterator[str]:
    """Yield what a value is made of: what people read may be cut to a length."""
    for kinds, texts in _KINDS:
        if isinstance(value, kinds):
            yield from texts(value)
            return
    if is_dataclass(value):
        yield type(value).__name__
        yield from _listed([getattr(value, one.name) for one in fields(value)])
    elif callable(value):
        yield getattr(value, "__qualname__", type(value).__qualname__)
    else:
        yield repr(value)


def _listed(values: Collection[Any]) -> Iterator[str]:
    """Yield how many values there are, and what each is made of."""
    yield f"{len(values)} of"
    for one in values:
        yield from _spelled(one)


_KINDS: Final[tuple[tuple[Any, Callable[[Any], Iterable[str]]], ...]] = (
    ((tuple, list), _listed),
    (Mapping, lambda value: _listed(value.items())),
    # facts of columns follow from the tables and from what is done to them
    ((Schema, Column), lambda _: ()),
    (KeySet, lambda value: (value.fingerprint,)),
    (Literal, lambda value: (f"{value.type} {value.constant!r}",)),
    (Expression, lambda value: _spelled(value.tree)),
    (Operation, lambda value: (value.name,)),
)


def _digest(texts: Iterator[str]) -> str:
    """Return the hash of some texts, each after its length."""
    known = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "backslashreplace")
        known.update(len(data).to_bytes(8, "big") + data)
    return known.hexdigest()
