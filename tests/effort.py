"""How hard tests try, by SORDINO_PROFILE.

dev by hand and in `make check`, trial for errors that are planted, ci in `make test`,
evening for the sample of the night that CI takes, night in `make audit`.
"""

import os
from typing import Final

import pytest

PROFILE: Final = os.environ.get("SORDINO_PROFILE", "dev")

EXAMPLES: Final = {"dev": 10, "trial": 30, "ci": 30, "evening": 200, "night": 5_000}
"""How many examples a law draws."""

SEED: Final = int(os.environ.get("SORDINO_SEED", "0"))
"""Moves what laws of their own dice draw: 0 by day, the date in the evening."""

LATE: Final = {"evening", "night"}
"""Profiles in which what takes long is asked."""

by_night = pytest.mark.skipif(PROFILE not in LATE, reason="takes long: `make audit`")
"""A test that only the night has time for; a shorter one asks the same by day."""


def often(day: int, night: int) -> int:
    """Return how often a law is tried: by day, or by night."""
    return night if PROFILE in LATE else day
