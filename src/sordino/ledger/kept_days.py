"""What a ledger does by the calendar: its blocks, and the day that is believed."""

import logging
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Final

from sordino.ledger import clocks
from sordino.ledger.block_charges import open_blocks
from sordino.ledger.clocks import SaidDay
from sordino.ledger.exposure import Block, Exposure, list_blocks, worst_exposure
from sordino.ledger.kept_texts import AbstractKeeping
from sordino.ledger.log import Log

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
        """Return what people of so many neighbouring blocks lost, at most.

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
