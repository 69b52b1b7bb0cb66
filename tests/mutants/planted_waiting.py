"""Planted errors of databases that wait, and of numbers without pandas."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

_FILE: Final = "src/sordino/engines/duckdb/session.py"

PLANTED_WAITING: Final[tuple[Planted, ...]] = (
    Planted(
        "waiting",
        _FILE,
        "paths, progress, tempfile.gettempdir()))\n",
        "paths, progress))\n",
        "rows spilled to a disk that the session was not to use",
    ),
    Planted(
        "waiting",
        _FILE,
        "_waiting[0].mark == mark and _waiting[0].room.is_as_made:\n",
        "_waiting[0].mark == mark:\n",
        "rows spilled to a folder that others may enter",
    ),
    Planted(
        "waiting",
        _FILE,
        "        return not (left or spilled)\n",
        "        return not spilled\n",
        "tables of a session left to the next one",
    ),
    Planted(
        "waiting",
        _FILE,
        "        return not (left or spilled)\n",
        "        return not left\n",
        "spilled rows left on the disk",
    ),
    Planted(
        "waiting",
        _FILE,
        "            self._cursors.pop().close()\n",
        "            self._cursors.pop()\n",
        "rows of a session registered in the next one",
    ),
    Planted(
        "waiting",
        _FILE,
        "        self.spoiled = bool(paths) or alone\n",
        "        self.spoiled = alone\n",
        "a database left to others that has read a file",
    ),
    Planted(
        "waiting",
        _FILE,
        "_waiting[0].mark == mark and _waiting[0].room.is_as_made:\n",
        "_waiting[0].room.is_as_made:\n",
        "a database of other limits",
    ),
    Planted(
        "waiting",
        _FILE,
        "    _LOCK.acquire(timeout=_LONGEST)\n    _close_waiting()\n",
        "    _LOCK.acquire(timeout=_LONGEST)\n",
        "a database in two processes",
    ),
    Planted(
        "waiting",
        _FILE,
        "                return _waiting.pop()\n",
        "                return _waiting[0]\n",
        "a database of two sessions",
    ),
    Planted(
        "waiting",
        _FILE,
        "        self.spoiled = True\n",
        "        self.spoiled = False\n",
        "a database left to others in which something failed",
    ),
    Planted(
        "sums",
        "src/sordino/numbers/arrays.py",
        'bitorder="little"',
        'bitorder="big"',
        "truths in the wrong order",
    ),
    Planted(
        "sums",
        "src/sordino/numbers/arrays.py",
        "np.from_dlpack(column.combine_chunks()).copy()",
        "np.from_dlpack(column.combine_chunks())",
        "numbers of a column that others change",
    ),
    Planted(
        "sums",
        "src/sordino/data/arrow.py",
        "return pc.add(array.cast(pa.float64()), _ZERO)",
        "return pc.add(array.cast(pa.float64()), 0.0)",
        "pandas imported with the first release",
    ),
)
