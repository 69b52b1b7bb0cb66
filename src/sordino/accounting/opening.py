"""Opening a ledger: the one that is meant, unspent only where it is made."""

import logging
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sordino.accounting import ledger_file
from sordino.accounting.anchor import Anchor
from sordino.accounting.entries import DATASET, text_of
from sordino.accounting.guarded import Guarded
from sordino.accounting.ledger_file import Fields, World
from sordino.accounting.ledger_schema import VERSION
from sordino.accounting.limits import Limit
from sordino.accounting.log import Log
from sordino.accounting.verifying import checked_head
from sordino.errors import InvalidParameter, LedgerDamaged
from sordino.sampling.bits import Bits

if TYPE_CHECKING:
    from sordino.losses.base import Budget

_IDENTITY_BYTES = 16


def wanted(limit: "Limit | Budget | None") -> Limit | None:
    """Return a limit of what was given, None for whatever is recorded."""
    return limit if limit is None or isinstance(limit, Limit) else Limit.of(limit)


def made(path: Any, limit: Limit | None, about: str, anchor: Any, world: World) -> None:
    """Make a ledger, unless there is one."""
    place = ledger_file.located(path, create=True)
    if place.exists():
        return
    if limit is None:
        raise InvalidParameter(
            "limit", limit, "is what a new ledger is made of", "Try sd.PureDP(1)."
        )
    identity = _identity()
    kept = _anchor(anchor, identity)
    if kept is not None and kept.path.exists():
        raise LedgerDamaged(path, f"it is gone, and its anchor {kept.path} is there")
    fields = _first_records(identity, limit, text_of("about", about), world)

    def ready(number: int, newest: str) -> None:
        if kept is not None:
            kept.create(number, newest)

    ledger_file.create(place, world, fields, ready)


def made_in_memory(limit: "Limit | Budget", about: str, world: World) -> Guarded:
    """Make a ledger in memory, and say once that it ends with the process."""
    _say_once()
    given = limit if isinstance(limit, Limit) else Limit.of(limit)
    fields = _first_records(_identity(), given, text_of("about", about), world)
    connection = ledger_file.in_memory(world, fields)
    return Guarded(connection, None, world.reached)


def found(
    path: Any, limit: Limit | None, about: str, anchor: Any, world: World
) -> Guarded:
    """Open a ledger and check it."""
    place = ledger_file.located(path, create=False)
    connection = ledger_file.opened(place, world)
    checked = Guarded(connection, place, world.reached)
    try:
        with checked.reading() as log:
            kept = _checked(log, limit, about, anchor)
    except BaseException:
        checked.close()
        raise
    return checked.anchored_by(kept)


def _checked(log: Log, limit: Limit | None, about: str, anchor: Any) -> Anchor | None:
    """Refuse a ledger that is not whole, or not the one that is meant."""
    ledger_file.structure(log)
    checked_head(log)
    _refuse_other(log, limit, about)
    kept = _anchor(anchor, log.opened().fields["identity"])
    _refuse_rolled_back(log, kept)
    return kept


def _first_records(identity: str, limit: Limit, about: str, world: World) -> Fields:
    """Return the bodies of the first records."""
    when = world.clock().isoformat()
    opened = {
        "about": about,
        "format": VERSION,
        "identity": identity,
        "library": f"sordino {version('sordino')}",
        "when": when,
    }
    budget = {"budget": DATASET, "limit": limit.written, "when": when}
    return [("opened", opened), ("budget", budget)]


def _refuse_other(log: Log, limit: Limit | None, about: str) -> None:
    """Refuse a ledger that was made with another limit, or for other data."""
    recorded = log.limits()[DATASET]
    if limit is not None and limit.stated != recorded.stated:
        raise InvalidParameter(
            "limit",
            limit.stated,
            f"differs from that of the ledger, {recorded.stated}",
            "A limit is for ever: give the recorded one, or make another ledger.",
        )
    if about and about != log.opened().fields["about"]:
        raise InvalidParameter(
            "about",
            about,
            f"differs from that of the ledger, {log.opened().fields['about']!r}",
            "A ledger is for one set of tables: make another one.",
        )


def _refuse_rolled_back(log: Log, anchor: Anchor | None) -> None:
    """Refuse a ledger that is behind its anchor, or beside it."""
    if anchor is None:
        return
    if not anchor.path.is_file():
        raise InvalidParameter(
            "anchor", str(anchor.path), "does not exist", "Look for it."
        )
    number, newest = anchor.newest(log.path)
    record = log.record("number = ?", number)
    if record is None or record.hash != newest:
        raise log.damaged(f"it was rolled back: its anchor saw record {number}")


def _anchor(path: Any, identity: str) -> Anchor | None:
    """Return the anchor of a ledger."""
    return None if path is None else Anchor(Path(path).absolute(), identity)


def _identity() -> str:
    """Return a name that no other ledger has."""
    return f"{Bits().word(_IDENTITY_BYTES):032x}"


@cache
def _say_once() -> None:
    """Say that a budget in memory ends with the process."""
    logging.getLogger("sordino").info(
        "This budget is kept in memory and ends with the process. Give the session a "
        "ledger file to keep it."
    )
