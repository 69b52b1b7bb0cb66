"""Planted errors of where a ledger lies, and of what it believes of clocks."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

_OPENING: Final = "src/sordino/ledger/opening.py"
_CLOCKS: Final = "src/sordino/ledger/clocks.py"
_BLOCKS: Final = "src/sordino/ledger/blocks.py"
_LEDGER: Final = "src/sordino/ledger/blocks.py"

PLANTED_CLOCKS: Final[tuple[Planted, ...]] = (
    Planted(
        "clocks",
        _OPENING,
        "        if not is_local(kind):\n",
        "        if False:\n",
        "a ledger opened where locks do not hold",
    ),
    Planted(
        "clocks",
        _OPENING,
        '        ("witness", terms.witness),\n',
        "",
        "a witness opened where locks do not hold",
    ),
    Planted(
        "clocks",
        "src/sordino/ledger/file_system.py",
        "    return kind is None or kind in _LOCAL\n",
        '    return kind is None or kind in _LOCAL or kind.startswith("kind ")\n',
        "a kind of file system that nobody knows taken for a disk of this machine",
    ),
    Planted(
        "clocks",
        _CLOCKS,
        "    return max(now, newest_time(log))\n",
        "    return now\n",
        "a record that is earlier than one before it",
    ),
    Planted(
        "clocks",
        "src/sordino/ledger/opening.py",
        "    when = max(terms.world.clock(), ",
        "    when = min(terms.world.clock(), ",
        "a restored ledger that goes back in time",
    ),
    Planted(
        "clocks",
        _CLOCKS,
        "    if word.on is None and days_ahead(log, now):\n",
        "    if False:\n",
        "a clock believed that contradicts the ledger",
    ),
    Planted(
        "clocks",
        _CLOCKS,
        "    if not word.catch_up and (len(leapt) >= _LEAP or doubted):\n",
        "    if not word.catch_up and doubted:\n",
        "a leap of the clock over months believed",
    ),
    Planted(
        "clocks",
        _CLOCKS,
        "(len(leapt) >= _LEAP or doubted)",
        "(len(leapt) >= _LEAP)",
        "a clock that is not synchronised believed as any other",
    ),
    Planted(
        "clocks",
        _BLOCKS,
        "    return blocks.due(trusted_time(log, by[0], word, blocks.every), newest)\n",
        "    return blocks.due(now, newest)\n",
        "blocks opened ahead by a clock in doubt",
    ),
    Planted(
        "clocks",
        "src/sordino/office/job/running.py",
        "        if files.newest >= datetime.combine(end, time_of_day(), UTC):\n",
        "        if True:\n",
        "a month charged whose files have not come",
    ),
    Planted(
        "clocks",
        "src/sordino/office/job/running.py",
        "    if due:\n        _refuse_doubtful_clock(job, ledger)\n",
        "",
        "what is due made by a clock in doubt",
    ),
    Planted(
        "clocks",
        _LEDGER,
        "        if self.days_ahead:\n",
        "        if False:\n",
        "a ledger of the future that nobody is told of",
    ),
)
