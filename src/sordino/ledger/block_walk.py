"""What was seen of blocks on the way through the records of a ledger."""

from typing import TYPE_CHECKING, Any, final

from sordino.budgets.limits import Limit
from sordino.budgets.table_blocks import MOST, WHOLE, Blocks
from sordino.ledger.block_charges import spread_runs
from sordino.ledger.log import Log
from sordino.ledger.records import Record

if TYPE_CHECKING:
    from sordino.budgets.charge import Charge


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

    def fit(self, limit: Limit) -> bool:
        """Say whether a limit holds of what each block was charged."""
        return all(limit.rule.holds(total) for total in self.sums.values())

    def _follow(self, periods: list[str]) -> bool:
        """Say whether periods follow the newest one, or begin with the first."""
        assert self.division is not None  # noqa: S101 asked where there are blocks
        if self.division.start is None:
            return True
        return periods == self.division.periods_behind(self.newest, len(periods))
