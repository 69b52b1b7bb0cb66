"""What `sordino demo` does: it shows Sordino, or writes an example to try it on."""

import argparse
from pathlib import Path
from typing import Final

from sordino.cli.terminal import note
from sordino.demo import start
from sordino.demo.example import write_example

EXAMPLE: Final = "sordino demo clinic"
WHAT: Final = (
    "Show Sordino at work on an invented hospital; or, with a folder, write an "
    "invented table and a job file there, to be tried by hand."
)


def add_demo_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=show_demo)
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="FOLDER", help="a new folder"
    )


def show_demo(arguments: argparse.Namespace) -> None:
    """Run the scenes, or write the example."""
    if arguments.folder is None:
        start.main()
        return
    written = write_example(arguments.folder)
    note(
        f"Wrote {', '.join(map(str, written))} (invented visits).\n"
        f"Next: cd {arguments.folder} && sordino check"
    )
