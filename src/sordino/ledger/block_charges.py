"""Blocks in a ledger: which are open, in what order, and what each was charged.

A charge has one amount, for each of its blocks. They are named by their places in the
order of opening, in runs of neighbours with the same sum after it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, time
from itertools import groupby
from typing import Any, Final, TypeAlias

from sordino.budgets.charge import Charge
from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import MOST, WHOLE, Blocks
from sordino.errors import BudgetExceeded, InvalidParameter, UnknownName
from sordino.ledger.clocks import SaidDay, time_after, trusted_time
from sordino.ledger.entries import DATASET, Claim
from sordino.ledger.log import Log

Sums: TypeAlias = dict[int, Charge]
"""What blocks were charged, by place."""
_SHOWN: Final = 10
"""Blocks that a refusal names."""


def division(log: Log) -> Blocks | None:
    """Return what the blocks of a ledger are, None if it has none."""
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
    """Return what each of some blocks was charged so far."""
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
    """Return what each block was charged so far, in the order of opening."""
    return sums_of_blocks(log, limit, range(len(block_names(log))))


def block_fields(log: Log, claim: Claim) -> dict[str, Any]:
    """Return what a charge says of its blocks, or refuse it: all of them, or none."""
    limit = log.chargeable(DATASET)
    names = claim.blocks or ()
    spent = sums_of_blocks(log, limit, places_of(log, names))
    whole = limit.rule.charge_for(claim.asked, claim.loss)
    each = _shorten_for_all(whole, spent.values())
    after = {place: charge.plus(each) for place, charge in spent.items()}
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
    """Return what was charged to a budget; of blocks, no less than to any of them."""
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
