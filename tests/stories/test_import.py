"""What an import brings along, in a fresh interpreter."""

import subprocess
import sys

from tests.batches import for_each

HEAVY = (
    "cryptography",
    "flint",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
)
NEVER_FOR_NOISE = ("matplotlib", "pandas", "rich", "scipy")


@for_each(
    ("work", "absent"),
    [
        ("import sordino", HEAVY),
        ("import sordino; sordino.Laplace(10)(3.5)", NEVER_FOR_NOISE),
    ],
)
def test_heavy_packages_wait_until_they_are_needed(
    work: str, absent: tuple[str, ...]
) -> None:
    """`import sordino` costs nothing, and noise needs no tables and no pictures."""
    script = f"{work}; import sys; print(*{set(absent)} & set(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert loaded.split() == []
