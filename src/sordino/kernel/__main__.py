"""`python -m sordino.kernel FILE` checks certificates, one a line."""

import sys

from sordino.kernel.checker import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
