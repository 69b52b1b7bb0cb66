"""What each dependency costs on disk: `python -m tests.delivery.sizes`.

Counted are the files that the packages of this environment have installed, compiled
ones included, so no index is asked.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution

from tests.delivery.places import needed

MEGABYTE = 1 << 20


def core() -> dict[str, float]:
    """Return the megabytes of all that Sordino needs, without itself."""
    return {one.name: size(one) for one in needed(distribution("sordino"))}


def extras() -> dict[str, float | None]:
    """Return the megabytes that each extra adds; None if it is not installed here."""
    root, known = distribution("sordino"), core()
    names = root.metadata.get_all("Provides-Extra") or []
    return {name: _added(root, name, known) for name in names}


def _added(root: Distribution, extra: str, known: dict[str, float]) -> float | None:
    try:
        more = needed(root, extra)
    except ModuleNotFoundError:
        return None
    return sum(size(one) for one in more if one.name not in known)


def size(found: Distribution) -> float:
    """Return the megabytes of a distribution's files."""
    paths = (found.locate_file(file) for file in found.files or ())
    return sum(path.stat().st_size for path in paths if path.exists()) / MEGABYTE  # type: ignore[attr-defined]


def _lines() -> Iterator[str]:
    sizes = core()
    for name, cost in sorted(sizes.items(), key=lambda one: -one[1]):
        yield f"| {name} | {cost:.0f} |"
    yield f"| **the core** | **{sum(sizes.values()):.0f}** |"
    for name, added in extras().items():
        told = "not installed here" if added is None else f"+ {added:.0f}"
        yield f"| `sordino[{name}]` | {told} |"


if __name__ == "__main__":
    sys.stdout.write("\n".join(_lines()) + "\n")
