"""The way in: it says first which packages are missing."""

import sys
from importlib.util import find_spec

from sordino.errors import MissingDependency


def main() -> None:
    """Show every scene, if what draws them is installed."""
    for package in ("rich", "matplotlib"):
        if find_spec(package) is None:
            raise MissingDependency("The demonstration", package, "demo")
    from sordino.office.demo import scenes  # noqa: PLC0415 it draws with these packages

    scenes.main()


def show_demonstration() -> None:
    """Show every scene, or say in a sentence what is missing."""
    try:
        main()
    except MissingDependency as error:
        sys.exit(f"sordino: {error}")
