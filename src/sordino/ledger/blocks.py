"""What each block was charged; the people in several.

Blocks in a ledger: which are open, in what order, and what each was charged.

A charge has one amount, for each of its blocks. They are named by their places in the
order of opening, in runs of neighbours with the same sum after it.

Each release that read one of their blocks counts once; people of few blocks lost no
more than these were charged (docs/proofs/filters.md, section 9).

Blocks of a ledger in words: what each was charged, and what a person in several is.

>>> left_text({"2026-01": "nothing", "2026-02": "mu = 0.1", "2026-03": "mu = 0.1"})
'nothing in 2026-01; mu = 0.1 in 2026-02 and 2026-03'

Kernel: charge.
"""

import heapq
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from fractions import Fraction
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias, final

from sordino.errors import BudgetExceeded, InvalidParameter, UnknownName
from sordino.ledger import clocks
from sordino.ledger.clocks import SaidDay, time_after, trusted_time
from sordino.ledger.file_format import Record
from sordino.ledger.log import Log
from sordino.ledger.policy_enforcement import AbstractKeeping
from sordino.ledger.record_kinds import DATASET, Claim
from sordino.losses.budgets.blocks import MOST, WHOLE, Blocks, blocks_text
from sordino.losses.budgets.charge import Amount, Charge, add_amounts
from sordino.losses.budgets.limits import Limit
from sordino.losses.loss import Loss, headline
from sordino.numbers import INFINITE, arguments

Sums: TypeAlias = dict[int, Charge]
"""What blocks were charged, by place."""
_SHOWN: Final = 10
"""Blocks that a refusal names."""


def division(log: Log) -> Blocks | None:
    """Division of a ledger into blocks; None: it has none."""
    record = log.newest_about("divided")
    return None if record is None else Blocks.read(record.fields)


def block_names(log: Log) -> tuple[str, ...]:
    """Return the blocks that are open, in the order of opening."""
    return tuple(
        name for record in log.every("block") for name in record.fields["blocks"]
    )


def open_blocks(
    log: Log, named: Sequence[str], by: tuple[datetime, SaidDay], *, whole: bool
) -> tuple[str, ...]:
    """Open the periods that are over, and some names; return all that are open.

    With `whole` the block of tables without blocks is opened, too.
    """
    blocks, limit = division(log), log.limit_of(DATASET)
    if blocks is None:
        raise InvalidParameter(
            "blocks",
            list(named),
            "differ from those of the ledger: it has none",
            "Leave them out, or make another ledger.",
        )
    if named and blocks.start is not None:
        raise InvalidParameter(
            "names",
            list(named),
            f"cannot be opened by name: {blocks.text} opens when it is over",
            "Leave them out.",
        )
    wanted = Blocks(names=named).names if named else ()
    names = block_names(log)
    periods = [name for name in names if name != WHOLE]
    newest = periods[-1] if periods else None
    due = [WHOLE] if whole and WHOLE not in names else []
    due += _periods_over(log, blocks, newest, by)
    due += [name for name in wanted if name not in names]
    if len(names) + len(due) > MOST:
        raise InvalidParameter(
            "blocks",
            f"{len(names) + len(due):,} of them",
            f"must be at most {MOST:,}",
            "Make blocks of longer periods, or fewer names, in another ledger.",
        )
    # a closed budget opens no block, which would be a budget anew
    if due and not log.is_closed(DATASET):
        log.add(
            "block",
            {
                "blocks": due,
                "first": len(names),
                "limit": limit.fields,
                "when": time_after(log, by[0]).isoformat(),
            },
        )
        return (*names, *due)
    return names


def _periods_over(
    log: Log, blocks: Blocks, newest: str | None, by: tuple[datetime, SaidDay]
) -> tuple[str, ...]:
    """Return the periods that are over and not open; a clock in doubt opens none."""
    now, word = by
    if word.on is not None:
        now = datetime.combine(word.on, time(), UTC)
    if blocks.start is None or not blocks.due(now, newest):
        return ()
    return blocks.due(trusted_time(log, by[0], word, blocks.every), newest)


def places_of(log: Log, names: Iterable[str]) -> list[int]:
    """Return the places of blocks that are open, in order."""
    wanted = tuple(names)
    if len(wanted) > _SHOWN:
        known = {name: place for place, name in enumerate(block_names(log))}
        places = [known.get(name) for name in wanted]
    else:
        places = [_place(log, name) for name in wanted]
    for name, place in zip(wanted, places, strict=True):
        if place is None:
            raise UnknownName("block", name, list(block_names(log))[-_SHOWN:])
    return sorted(place for place in places if place is not None)


def _place(log: Log, name: str) -> int | None:
    """Return the place of one block, None if it is not open."""
    record = log.newest_about(f"block {name}")
    if record is None:
        return None
    place: int = record.fields["first"] + record.fields["blocks"].index(name)
    return place


def sums_of_blocks(log: Log, limit: Limit, places: Iterable[int]) -> Sums:
    """Charges of some blocks so far, by place."""
    newest = {place: log.store.newest(f"sum {place}") for place in places}
    known: dict[int, Mapping[int, Any]] = {0: {}}
    for number in set(newest.values()) - {0}:
        known[number] = dict(spread_runs(log.record(number).fields["blocks"]))
    sums = {}
    for place, number in newest.items():
        texts = known[number].get(place)
        sums[place] = (
            limit.rule.zero if texts is None else log.read_charge(limit, texts)
        )
    return sums


def all_sums(log: Log, limit: Limit) -> Sums:
    """Charges of all blocks so far, in the order of opening."""
    return sums_of_blocks(log, limit, range(len(block_names(log))))


def block_fields(log: Log, claim: Claim) -> dict[str, Any]:
    """Fields of a charge about its blocks; it fits in all of them, or is refused."""
    limit = log.chargeable(DATASET)
    names = claim.blocks or ()
    spent = sums_of_blocks(log, limit, places_of(log, names))
    whole = limit.rule.charge_for(claim.asked, claim.loss)
    each = _shorten_for_all(whole, spent.values())
    after = {place: charge.plus(each) for place, charge in spent.items()}
    # of every block before any is charged: all of them pay, or none
    lacking = [place for place, total in after.items() if not limit.rule.holds(total)]
    if lacking:
        _refuse(log, limit, each, {place: spent[place] for place in lacking})
    runs = [[*ends, charge.texts()] for ends, charge in runs_of(after)]
    return {"blocks": runs, "each": each.texts()}


def _shorten_for_all(charge: Charge, sums: Iterable[Charge]) -> Charge:
    """Return one charge for all blocks, rounded up if any sum would grow long."""
    each = charge
    for spent in sums:
        fitted = charge.shorten(spent)
        pairs = zip(each.amounts, fitted.amounts, strict=True)
        # the largest: one charge for all must be too small for none
        each = Charge(charge.coordinates, tuple(max(pair) for pair in pairs))
    return each


def _refuse(log: Log, limit: Limit, each: Charge, lacking: Sums) -> None:
    """Refuse a charge for which some blocks have not enough left."""
    names = block_names(log)
    left = [
        f"{limit.rule.remainder(spent)!r} of {names[place]}"
        for place, spent in list(lacking.items())[:_SHOWN]
    ]
    more = len(lacking) - len(left)
    beside = f", and less than that of {more} more" if more else ""
    raise BudgetExceeded(
        f"this costs {limit.rule.loss_of(each)!r} in each block that it reads, and of "
        f"some there is less left: {', '.join(left)}{beside}. Ask for less, or leave "
        "these blocks out by a filter; nothing was charged."
    )


def runs_of(sums: Sums) -> Iterator[tuple[tuple[int, int], Charge]]:
    """Yield runs of neighbours with one sum: their first and last place."""
    numbered = enumerate(sorted(sums.items()))
    # place less rank: alike sums make one run only where their places are neighbours
    for (_, charge), run in groupby(
        numbered, lambda pair: (pair[1][0] - pair[0], pair[1][1])
    ):
        places = [place for _, (place, _) in run]
        yield (places[0], places[-1]), charge


def spread_runs(runs: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Yield each place of some runs, with what is said of it."""
    for first, last, texts in runs:
        for place in range(first, last + 1):
            yield place, texts


def spent_at_most(log: Log, budget: str, limit: Limit) -> Charge:
    """Charge to a budget so far; with blocks, at least that of each of them."""
    if budget != DATASET or division(log) is None:
        return log.sum_of_charges(budget, limit)
    return worst_sum(limit, all_sums(log, limit).values())


def worst_sum(limit: Limit, sums: Iterable[Charge]) -> Charge:
    """Return the greatest amount of each coordinate: no block was charged more."""
    worst = limit.rule.zero
    for charge in sums:
        pairs = zip(worst.amounts, charge.amounts, strict=True)
        worst = Charge(charge.coordinates, tuple(max(pair) for pair in pairs))
    return worst


@final
class BlockWalk:
    """The blocks that are open so far, and what each was charged."""

    def __init__(self, log: Log) -> None:
        """Begin without blocks."""
        self.log = log
        self.division: Blocks | None = None
        self.newest: str | None = None
        """The newest period."""
        self.places: dict[str, int] = {}
        self.sums: dict[int, Charge] = {}

    def divide(self, record: Record, fields: dict[str, Any]) -> bool:
        """Say whether blocks were made right after the first limit."""
        self.division = Blocks.read(fields)
        return record.number == 3  # behind the ledger and its limit

    def open_blocks(self, fields: dict[str, Any], limit: Limit) -> bool:
        """Say whether new blocks were opened in order, with the limit of then."""
        names: list[str] = fields["blocks"]
        if self.division is None or fields["first"] != len(self.places):
            return False
        fresh = self.places.keys().isdisjoint(names)
        periods = [name for name in names if name != WHOLE]
        sound = fresh and self._follow(periods)
        sound = sound and len(self.places) + len(names) <= MOST
        self.newest = periods[-1] if periods else self.newest
        for name in names:
            self.sums[len(self.places)] = limit.rule.zero
            self.places[name] = len(self.places)
        return sound and fields["limit"] == limit.fields

    def charge(self, fields: dict[str, Any], limit: Limit) -> bool:
        """Say whether each block was charged as much, and its sum is that, and fits."""
        runs = fields.get("blocks")
        if runs is None or self.division is None:
            return runs is None and self.division is None
        each = self.log.read_charge(limit, fields["each"])
        sound = True
        for place, texts in spread_runs(runs):
            if place not in self.sums:
                return False
            after = self.sums[place].plus(each)
            recorded = self.log.read_charge(limit, texts)
            sound = sound and recorded == after and limit.rule.holds(after)
            self.sums[place] = after
        return sound

    def _follow(self, periods: list[str]) -> bool:
        """Say whether periods follow the newest one, or begin with the first."""
        assert self.division is not None  # noqa: S101 asked where there are blocks
        if self.division.start is None:
            return True
        return periods == self.division.periods_behind(self.newest, len(periods))


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
    if division(log) is None:
        return ()
    rule = log.limit_of(DATASET).rule
    sums = all_sums(log, log.limit_of(DATASET))
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
    """Largest loss of anybody who is in `window` neighbouring blocks.

    Those who are in a few of them lost no more than so many of the greatest sums. The
    block of tables without blocks counts beside.
    """
    size = arguments.integer(window=window, least=1, most=MOST)
    few = size if few is None else arguments.integer(blocks=few, least=1, most=MOST)
    limit, first = log.limit_of(DATASET), log.first_limit(DATASET).rule
    if division(log) is None:
        spent = limit.rule.loss_of(log.sum_of_charges(DATASET, limit))
        return Exposure((), spent, first.promise)
    names = block_names(log)
    beside = names.index(WHOLE) if WHOLE in names else None
    order = [place for place in range(len(names)) if place != beside]
    windows = _Windows(order, min(size, len(order)) or 1, beside)
    charge, start = _worst(log, limit, windows, few)
    shown = tuple(names[place] for place in order[start : start + windows.size])
    count = min(size, few) + (beside is not None)
    return Exposure(shown, limit.rule.loss_of(charge), first.times(count).promise)


def _worst(log: Log, limit: Limit, windows: "_Windows", few: int) -> tuple[Charge, int]:
    """Return the greatest amounts of any window, and where the worst one begins."""
    sums = all_sums(log, limit)
    releases = [
        (
            [place for place, _ in spread_runs(record.fields["blocks"])],
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


_LOG: Final = logging.getLogger("sordino")
_AHEAD: Final = (
    "the newest record of the ledger %s lies %d days after the clock of this machine: "
    "one of two clocks was wrong. Until a person says which day it is (--on DATE, or "
    "sd.Ledger.at(path, on=...)), no block opens and nothing that is due is made."
)


class AbstractCalendar(AbstractKeeping):
    """A ledger, as far as time decides something."""

    _clock: Callable[[], datetime]
    _said: SaidDay
    days_ahead: int
    """By how many days the newest record lay after the clock, 0 for up to one."""

    def open_blocks(
        self, names: Sequence[str] = (), *, whole: bool = False
    ) -> tuple[str, ...]:
        """Open the periods that are over and some names; return all that are open.

        A session does it. `whole` is the block of tables without blocks.
        """
        return self._guarded.use(
            lambda log: open_blocks(
                log, names, (self._clock(), self._said), whole=whole
            )
        )

    def trusted_day(self, every: str) -> date:
        """Return the day by which periods are over, or refuse a clock in doubt.

        `every` is the kind of period, such as "month".
        """
        return self._guarded.use(
            lambda log: clocks.trusted_time(log, self._clock(), self._said, every)
        ).date()

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks that are open, with what each was charged."""
        return self._guarded.look(list_blocks)

    def exposure(self, window: int, blocks: int | None = None) -> Exposure:
        """Largest loss of anybody who is in `window` neighbouring blocks.

        With `blocks`, those of them who are in no more than so many.
        """
        return self._guarded.look(lambda log: worst_exposure(log, window, blocks))

    def _warn_of_clock(self) -> None:
        """Say that the ledger is ahead of the clock, if it is."""
        self.days_ahead = self._guarded.use(
            lambda log: clocks.days_ahead(log, self._clock())
        )
        if self.days_ahead:
            _LOG.warning(_AHEAD, self._guarded.title, self.days_ahead)

    def _when(self, log: Log) -> str:
        """Return the time as it is recorded: it never goes back."""
        return clocks.time_after(log, self._clock()).isoformat()


Windows: TypeAlias = tuple[tuple[int, Exposure], ...]
"""How many blocks in a row, and what people of so many lost at most."""
WINDOWS: Final[Mapping[str, tuple[int, ...]]] = {
    "year": (1, 3, 12),
    "quarter": (1, 4, 12),
    "month": (1, 3, 12),
    "week": (1, 4, 52),
    "day": (1, 30, 365),
    "name": (1, 2),
}
"""How many blocks in a row are told of, for each kind."""
BLOCK_HEADING: Final = ("block", "opened", "limit", "spent", "left")
PERSON_HEADING: Final = ("one person in a row of", "charged so far", "at most, ever")


def worst_exposures(
    division: Blocks | None, exposure: Callable[[int], Exposure]
) -> Windows:
    """Return how many blocks in a row, and what a person in them is charged."""
    sizes = () if division is None else WINDOWS[division.every]
    return tuple((size, exposure(size)) for size in sizes)


def block_rows(blocks: Iterable[Block]) -> Iterator[tuple[str, ...]]:
    """Yield the row of each block."""
    for block in blocks:
        yield (
            blocks_text((block.name,)),
            f"{block.opened:%Y-%m-%d}",
            headline(block.limit),
            sum_text(block.spent),
            sum_text(block.remaining),
        )


def exposure_rows(
    exposures: Windows, blocks: Iterable[Block]
) -> Iterator[tuple[str, ...]]:
    """Largest loss of a person in 1, 2, ... neighbouring blocks, and its bound."""
    beside = f" + {blocks_text((WHOLE,))}"
    too = beside if any(block.name == WHOLE for block in blocks) else ""
    for size, exposure in exposures:
        noun = "block" if size == 1 else "blocks"
        yield (
            f"{size} {noun}{_worst_text(exposure.blocks)}{too}",
            sum_text(exposure.charged),
            headline(exposure.promise),
        )


def _worst_text(names: tuple[str, ...]) -> str:
    """Return the neighbours whose people lost most; none before any is open."""
    if not names:
        return ""
    return f" (worst: {' to '.join(dict.fromkeys([names[0], names[-1]]))})"


def left_in(blocks: Iterable[Block], names: tuple[str, ...]) -> dict[str, str]:
    """Text of the rest of some blocks, by name."""
    return {
        block.name: sum_text(block.remaining) for block in blocks if block.name in names
    }


def left_text(left: Mapping[str, str]) -> str:
    """One text for the rests of blocks; neighbours with equal rests are joined."""
    return "; ".join(
        f"{rest} in {blocks_text(tuple(name for name, _ in run))}"
        for rest, run in groupby(left.items(), itemgetter(1))
    )


def sum_text(loss: Loss) -> str:
    """Return a sum of charges, which may be nothing."""
    return headline(loss) if any(loss.sums.values()) else "nothing"


def in_a_row(size: int) -> str:
    """Return how many blocks in a row.

    >>> in_a_row(1), in_a_row(12)
    ('1 block', '12 blocks in a row')
    """
    return "1 block" if size == 1 else f"{size} blocks in a row"
