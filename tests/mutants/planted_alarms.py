"""Errors by which a whole ledger would be called damaged, or looking would write."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

_HANDLE: Final = "src/sordino/ledger/log.py"
_STORE: Final = "src/sordino/ledger/file_store.py"

PLANTED_ALARMS: Final[tuple[Planted, ...]] = (
    Planted(
        "alarms",
        _HANDLE,
        "        except LedgerDamaged:\n            self.refuse_strangers()\n",
        "        except LedgerDamaged:\n            raise\n",
        "an alarm that no fresh look confirms",
    ),
    Planted(
        "alarms",
        _HANDLE,
        "        if not added:\n            return act()\n",
        "        return act()\n",
        "a charge that is made again because its record was not read back",
    ),
    Planted(
        "alarms",
        _HANDLE,
        "return self.use(lambda log: log.store.newest(subject) > 0)",
        "return self._run(lambda: self._store.newest(subject) > 0)",
        "lines asked while nobody has read them to their end",
    ),
    Planted(
        "alarms",
        _HANDLE,
        "        if self._busy:\n",
        "        if False:\n",
        "a signal handler that acts within a transaction of its own thread",
    ),
    Planted(
        "alarms",
        "src/sordino/ledger/file_format.py",
        " and _nests_deeper(text):",
        " and False:",
        "the depth of a file taken for the caller's",
    ),
    Planted(
        "alarms",
        "src/sordino/ledger/record_kinds.py",
        "    except (ValueError, OverflowError):  # of times",
        "    except (ValueError, OverflowError, RecursionError):  # of times",
        "the caller's depth taken for the file's",
    ),
    Planted(
        "alarms",
        "src/sordino/session/charging.py",
        "        probe_room()\n",
        "",
        "a charge without room for its answer",
    ),
    Planted(
        "alarms",
        _STORE,
        "self._hash_of(lines, known.number) != known.hash",
        "False",
        "a file put back while it was closed, and gone on with",
    ),
    Planted(
        "alarms",
        _STORE,
        "        if first != second or len(first) != size:\n",
        "        if False:\n",
        "a byte that a disk told wrongly, written for ever",
    ),
    Planted(
        "alarms",
        _STORE,
        "        if lines.end < size and not self._reading:",
        "        if lines.end < size:",
        "a file cut by who only looks",
    ),
    Planted(
        "alarms",
        _STORE,
        'backup: tuple[Role, ...] = ("backup",) if self._reading else ()',
        'backup: tuple[Role, ...] = ("backup",)',
        "a backup that is charged",
    ),
    Planted(
        "alarms",
        "src/sordino/ledger/opening.py",
        '        if seen.numbers("charged"):\n',
        "        if False:\n",
        "an unspent ledger made beside a witness that saw charges",
    ),
    Planted(
        "alarms",
        "src/sordino/ledger/verification.py",
        "sound and pays_what_it_says(fields, self._rules(fields))",
        "sound",
        "a charge smaller than what it says",
    ),
)
