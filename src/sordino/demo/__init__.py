"""The demonstration: `python -m sordino.demo` shows Sordino on invented data."""

from sordino.demo.start import main

__all__ = ["main"]
