"""The way in: what draws the demonstration may not be installed."""

from importlib.util import find_spec

from sordino.errors import MissingDependency


def main() -> None:
    """Show every scene, if what draws them is installed."""
    for package in ("rich", "matplotlib"):
        if find_spec(package) is None:
            raise MissingDependency("The demonstration", package, "demo")
    from sordino.demo import show  # noqa: PLC0415 it draws with these packages

    show.main()
