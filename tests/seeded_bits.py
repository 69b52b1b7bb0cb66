"""By day and in the evening a test draws noise from its name: a run can be repeated.

A failure by chance, or a planted error that lives by chance, is the same the next time.
The night draws from the operating system, and so does each process that a test makes:
after a fork the library must not draw what its parent draws.
"""

import os
import random
from types import SimpleNamespace

from sordino.noise.sampling import bits
from tests.effort import PROFILE, SEED

_SYSTEM = os.urandom


def begin(name: str) -> None:
    """Draw what follows in this process from the name of a test and SORDINO_SEED."""
    if PROFILE == "night":
        return
    here, stream = os.getpid(), random.Random(f"{SEED} {name}")

    def drawn(size: int) -> bytes:
        if os.getpid() != here or os.urandom is not _SYSTEM:
            return os.urandom(size)  # a test may have put another in its place
        return stream.randbytes(size)

    vars(bits)["os"] = SimpleNamespace(urandom=drawn)
