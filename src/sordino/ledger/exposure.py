"""What was charged to the people of some blocks, and what holds for them.

Each release that read one of their blocks counts once; people of few blocks lost no
more than these were charged (docs/proofs/filters.md, section 9).
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import accumulate
from typing import final

from sordino import _validate
from sordino.budgets.charge import Amount, Charge, add_amounts
from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import MOST, WHOLE
from sordino.ledger import block_charges
from sordino.ledger.entries import DATASET
from sordino.ledger.log import Log
from sordino.losses.base import Loss
from sordino.numbers import INFINITE


@final
@dataclass(frozen=True)
class Block:
    """A block that is open: its limit, and what is left of it."""

    name: str
    opened: datetime
    """By the clock of whoever opened it."""
    limit: Loss
    spent: Loss
    remaining: Loss


@final
@dataclass(frozen=True)
class Exposure:
    """What people of a few blocks lost, at most.

    `charged` is bookkeeping, for charges follow answers; what holds is `promise`.
    """

    blocks: tuple[str, ...]
    """Neighbours in the order of opening, whose people lost most."""
    charged: Loss
    """Of any so many neighbours: each release that reads one of them once."""
    promise: Loss
    """The limits of as many blocks, whatever is asked yet."""


def list_blocks(log: Log) -> tuple[Block, ...]:
    """Return the blocks that are open, in the order of opening."""
    if block_charges.division(log) is None:
        return ()
    rule = log.limit_of(DATASET).rule
    sums = block_charges.all_sums(log, log.limit_of(DATASET))
    closed = log.is_closed(DATASET)
    blocks: list[Block] = []
    for record in log.every("block"):
        fields = record.fields
        opened = datetime.fromisoformat(fields["when"])
        promise = Limit.read(fields["limit"]).rule.promise
        for name in fields["blocks"]:
            spent = sums[len(blocks)]
            left = rule.loss_of(rule.zero) if closed else rule.remainder(spent)
            blocks.append(Block(name, opened, promise, rule.loss_of(spent), left))
    return tuple(blocks)


def worst_exposure(log: Log, window: int, few: int | None) -> Exposure:
    """Return what people of so many neighbouring blocks lost, at most.

    Those who are in a few of them lost no more than so many of the greatest sums. The
    block of tables without blocks counts beside.
    """
    size = _validate.integer(window=window, least=1, most=MOST)
    few = size if few is None else _validate.integer(blocks=few, least=1, most=MOST)
    limit, first = log.limit_of(DATASET), log.first_limit(DATASET).rule
    if block_charges.division(log) is None:
        spent = limit.rule.loss_of(log.sum_of_charges(DATASET, limit))
        return Exposure((), spent, first.promise)
    names = block_charges.block_names(log)
    beside = names.index(WHOLE) if WHOLE in names else None
    order = [place for place in range(len(names)) if place != beside]
    windows = _Windows(order, min(size, len(order)) or 1, beside)
    charge, start = _worst(log, limit, windows, few)
    shown = tuple(names[place] for place in order[start : start + windows.size])
    count = min(size, few) + (beside is not None)
    return Exposure(shown, limit.rule.loss_of(charge), first.times(count).promise)


def _worst(log: Log, limit: Limit, windows: "_Windows", few: int) -> tuple[Charge, int]:
    """Return the greatest amounts of any window, and where the worst one begins."""
    sums = block_charges.all_sums(log, limit)
    releases = [
        (
            [place for place, _ in block_charges.spread_runs(record.fields["blocks"])],
            log.read_charge(limit, record.fields["each"]),
        )
        for record in log.every("charged")
    ]
    worst, start = [], 0
    for at in range(len(limit.rule.coordinates)):
        once = windows.once([(places, each.amounts[at]) for places, each in releases])
        greatest = windows.greatest([sums[place].amounts[at] for place in sums], few)
        totals = [min(pair) for pair in zip(once, greatest, strict=True)]
        worst.append(max(totals))
        start = totals.index(worst[0]) if at == 0 else start
    return Charge(limit.rule.coordinates, tuple(worst)), start


@final
@dataclass(frozen=True)
class _Windows:
    """All runs of so many neighbours, by where they begin."""

    order: Sequence[int]
    """The places of blocks but for `*`, in order."""
    size: int
    beside: int | None
    """The place of `*`, which every window has beside."""

    @property
    def count(self) -> int:
        """Return how many there are; one, if there are no blocks yet."""
        return max(1, len(self.order) - self.size + 1)

    def once(self, releases: Iterable[tuple[list[int], Amount]]) -> list[Amount]:
        """Return for each window the sum over the releases that read a block of it."""
        position = {place: at for at, place in enumerate(self.order)}
        steps: list[Fraction] = [Fraction(0)] * (self.count + 1)
        unknown = [0] * (self.count + 1)
        for places, amount in releases:
            if self.beside in places:
                starts = [(0, self.count - 1)]
            else:
                starts = list(self._starts([position[place] for place in places]))
            for first, last in starts:
                if amount is INFINITE:
                    unknown[first] += 1
                    unknown[last + 1] -= 1
                else:
                    steps[first] += amount
                    steps[last + 1] -= amount
        pairs = zip(accumulate(steps), accumulate(unknown), strict=True)
        totals: list[Amount] = [INFINITE if lost else total for total, lost in pairs]
        return totals[: self.count]

    def greatest(self, sums: Sequence[Amount], few: int) -> list[Amount]:
        """Return for each window a few of the greatest sums of its blocks, added up."""
        own: Amount = Fraction(0) if self.beside is None else sums[self.beside]
        totals = []
        for start in range(self.count):
            window = self.order[start : start + self.size]
            total = own
            for amount in heapq.nlargest(few, (sums[place] for place in window)):
                total = add_amounts(total, amount)
            totals.append(total)
        return totals

    def _starts(self, positions: list[int]) -> Iterator[tuple[int, int]]:
        """Yield where windows begin that hold one of some blocks, each start once."""
        done = -1
        for position in sorted(positions):
            first = max(position - self.size + 1, done + 1, 0)
            last = min(position, self.count - 1)
            if first <= last:
                yield first, last
                done = last
