"""Errors that once survived, or nearly did: each must be noticed by the fast tests.

Each is a text in a file, and what takes its place: a line under `planted` in the table
of its room, `tests/mutants/errors`. `make mutants` says if the text is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from tests.mutants.rooms import TABLES


@final
@dataclass(frozen=True)
class Planted:
    """An error, and what it does."""

    room: str
    file: str
    before: str
    after: str
    says: str


PLANTED: Final = tuple(
    Planted(room, file, before, after, says)
    for room, table in TABLES.items()
    for file, errors in table.get("planted", {}).items()
    for says, (before, after) in errors.items()
)
