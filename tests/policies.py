"""Policies that are signed, clocks that are set, and sessions that obey."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sordino as sd
from sordino.ledger.file_format import World

OFFICER: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STRANGER: Final = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
HALF: Final = sd.ApproxDP("0.5", "1e-7")
ROWS: Final[dict[str, list[Any]]] = {
    "patient": list(range(240)),
    "ward": ["A", "B", "A"] * 80,
    "days": [1, 2, 3] * 80,
    "age": [30, 40, 50] * 80,
    "codes": [["x", "y"], ["z"], []] * 80,
}
ALL_RULES: Final = """
serial = 7
title = "Ä"
[release]
epsilon = 0.5
delta = "1e-7"
[year]
epsilon = 1
delta = "1e-6"
[person]
epsilon = 5
delta = "1e-5"
[groups]
least = 20
[tables."a b"]
keys = ["x", "<b>"]
filters = []
[tables.c]
values = ["days"]
[functions]
aggregations = ["count", "sum"]
python = false
[people]
who = ["Ana"]
analysts = []
"""
"""A policy that says everything that one can say."""
LENGTHS: Final = {"days": [1, 2], "z": [1, 2]}
REGIONS: Final = {"age": [30, 40, 50], "decade": ["thirties", "forties", "fifties"]}


def signed(path: Path, text: str, key: Ed25519PrivateKey = OFFICER) -> Path:
    path.write_text(text, encoding="utf-8")
    sd.Policy.sign(path, key)
    return path


def policy_of(text: str, key: Ed25519PrivateKey = OFFICER) -> sd.Policy:
    public = key.public_key().public_bytes_raw().hex()
    return sd.Policy(text, public, key.sign(text.encode()).hex())


@final
@dataclass
class Clock:
    """A clock that is set."""

    now: datetime = datetime(2026, 12, 30, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        """Set it forward, or back."""
        self.now += timedelta(**by)


def ledger_under(text: str, limit: Any = None, clock: Any = None) -> sd.Ledger:
    world = World() if clock is None else World(clock=clock)
    ledger = sd.Ledger.in_memory(limit or sd.ApproxDP(1000, "0.1"), world=world)
    ledger.obey(policy_of(text))
    return ledger


def clinic(ledger: Any = None, budget: Any = None, **more: Any) -> sd.Session:
    """Return a session over visits, another table of the same people, and regions."""
    visits = sd.PrivateTable(ROWS, protects=sd.AddRowsWithID("patient"))
    others = {name: ROWS[name] for name in ("patient", "age")}
    tables: dict[str, Any] = {
        "visits": visits,
        "people": sd.PrivateTable(others, protects=sd.AddRowsWithID("patient")),
        "regions": sd.PublicTable(REGIONS),
        "lengths": sd.PublicTable(LENGTHS),
    }
    return sd.Session(tables, budget, ledger=ledger, engine="memory", **more)
