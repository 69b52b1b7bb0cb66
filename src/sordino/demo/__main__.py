"""Runs the demonstration: `python -m sordino.demo`."""

import sys

from sordino.demo import main
from sordino.errors import MissingDependency

try:
    main()
except MissingDependency as error:
    sys.exit(f"sordino: {error}")
