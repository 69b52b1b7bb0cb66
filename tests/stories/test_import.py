"""What an import brings along, in a fresh interpreter."""

import subprocess
import sys

from tests.batches import for_each

HEAVY = (
    "cryptography",
    "flint",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
)
NEVER_FOR_NOISE = ("jinja2", "matplotlib", "pandas", "rich", "scipy")

RELEASE = """import sordino as sd
visits = sd.PrivateTable({"person": [1, 2]}, protects=sd.AddRowsWithID("person"))
session = sd.Session({"visits": visits}, sd.PureDP(1))
query = sd.table("visits").enforce(sd.MaxRowsPerID(1)).agg(n=sd.count())
str(session.release(query, sd.PureDP(1)))"""


@for_each(
    ("work", "absent"),
    [
        ("import sordino", HEAVY),
        ("import sordino; sordino.Laplace(10)(3.5)", NEVER_FOR_NOISE),
        (RELEASE, ("jinja2", "matplotlib", "pyarrow.parquet", "rich", "scipy", "ssl")),
    ],
)
def test_heavy_packages_wait_until_they_are_needed(
    work: str, absent: tuple[str, ...]
) -> None:
    """`import sordino` costs nothing, and noise needs no tables, a release no page."""
    script = f"{work}; import sys; print(*{set(absent)} & set(sys.modules))"
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True)
    assert loaded.split() == []
