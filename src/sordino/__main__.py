"""Runs the command line: `python -m sordino`."""

import sys

from sordino.office.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
