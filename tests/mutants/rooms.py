"""What is changed, the tests that concern it, and how many changes may survive.

Each room is a table in `tests/mutants/errors`, with the errors that are planted in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

TABLES: Final[dict[str, dict[str, Any]]] = {
    path.stem: tomllib.loads(path.read_text("utf-8"))
    for path in sorted(Path(__file__).with_name("errors").glob("*.toml"))
}


@final
@dataclass(frozen=True)
class Room:
    """Files that one set of tests concerns."""

    files: tuple[str, ...]
    """Patterns beneath src/sordino."""
    tests: tuple[str, ...]
    """The quickest to notice come first."""
    survivors: float
    """The most survivors that are not explained, as a share of the changes tried."""

    def paths(self, tree: Path) -> Iterator[Path]:
        """Return the files, in order."""
        for pattern in self.files:
            yield from sorted((tree / "src" / "sordino").glob(pattern))


ROOMS: Final = {
    name: Room(tuple(table["files"]), tuple(table["tests"]), table["survivors"])
    for name, table in TABLES.items()
}
