"""What an error is that is planted for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class Planted:
    """An error, and what it does."""

    room: str
    file: str
    before: str
    after: str
    says: str
