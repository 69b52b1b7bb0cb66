"""The demonstration: `python -m sordino.demo` shows Sordino on invented data."""

from sordino.demo.show import main

__all__ = ["main"]
