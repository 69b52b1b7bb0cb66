"""What a ledger says beside its releases: budgets, and by what it can be checked."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from sordino.ledger.entries import DATASET, Entry
from sordino.ledger.ledger import Ledger
from sordino.ledger.records import Record
from sordino.ledger.verification import Verified
from sordino.numbers import Extended
from sordino.pages.amounts import main_name
from sordino.pages.story import Accounts, Division, Purse, Trail

_SEVERAL: Final = (1, 2, 6, 12)
"""Blocks that somebody may be in."""


def accounts_of(
    ledger: Ledger, entries: Iterable[Entry], records: Iterable[Record], seen: Verified
) -> Accounts:
    """Return the budgets of a ledger, and the trail of its records."""
    kinds = {record.kind for record in records}
    closed = {record.fields["budget"] for record in records if record.kind == "closed"}
    purses = tuple(
        purse_of(ledger, name, is_closed=name in closed) for name in ledger.limits()
    )
    first = next(iter(records)).fields
    policy = ledger.policy()
    division = None if ledger.division is None else division_of(ledger)
    trail = Trail(
        head=seen.head,
        records=seen.records,
        releases=seen.releases,
        answers=seen.answers,
        has_witness="witnessed" in kinds,
        signed_by=seen.signed_by,
        library=first["library"],
        rule=ledger.first_limit().rule.rule,
        policy="" if policy is None else policy.sha256,
        officer="" if policy is None else policy.officer,
    )
    shares = () if division else _shares(purses[0], entries)
    return Accounts(purses, shares, trail, division)


def purse_of(ledger: Ledger, name: str, *, is_closed: bool) -> Purse:
    """Return a budget as far as it is made of amounts that add up."""
    limit = ledger.limit(name)
    promise, left = limit.rule.promise, ledger.remaining(name)
    whole, spent = dict(promise.sums), dict(ledger.spent(name).sums)
    rest = dict(left.sums)
    return Purse(
        name=name,
        whole=whole,
        spent=spent,
        left=rest,
        aside=_set_aside(ledger, name),
        is_closed=is_closed,
        is_lowered=ledger.first_limit(name) != limit,
    )


def _set_aside(ledger: Ledger, name: str) -> dict[str, Fraction]:
    """Return what is set aside of a budget, by the name of the amount."""
    amounts = [
        pair
        for earmark in ledger.earmarks()
        if name in {DATASET, earmark.budget}
        for pair in earmark.left.sums.items()
    ]
    aside: dict[str, Fraction] = {}
    for part, amount in amounts:
        if isinstance(amount, Fraction):
            aside[part] = aside.get(part, Fraction(0)) + amount
    return aside


def _shares(purse: Purse, entries: Iterable[Entry]) -> tuple[tuple[int, Fraction], ...]:
    """Return which part of the limit each release took."""
    name = main_name(purse)
    whole = Fraction(0) if name is None else purse.whole[name]
    if name is None or not isinstance(whole, Fraction):
        return ()
    taken = ((entry.number, taken_of(entry).get(name)) for entry in entries)
    return tuple(
        (number, amount / whole)
        for number, amount in taken
        if isinstance(amount, Fraction)
    )


def division_of(ledger: Ledger) -> Division:
    """Return the blocks of a ledger, and what people in several of them lose."""
    blocks = ledger.blocks()
    purses = tuple(
        Purse(
            block.name,
            dict(block.limit.sums),
            dict(block.spent.sums),
            dict(block.remaining.sums),
        )
        for block in blocks
    )
    counts = sorted({
        count for count in (*_SEVERAL, len(blocks)) if 0 < count <= len(blocks)
    })
    bounds = tuple((count, ledger.exposure(count).promise) for count in counts)
    return Division(purses, bounds)


def taken_of(entry: Entry) -> dict[str, Extended]:
    """Return what a release took from the limit, or from that of each block."""
    charge = entry.charges.get(DATASET) or entry.each
    if charge is None:
        return {}
    return dict(zip(charge.coordinates, charge.amounts, strict=True))
