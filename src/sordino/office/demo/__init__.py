"""The demonstration: `python -m sordino.demo` shows Sordino on invented data."""

from sordino.office.demo.start import main

__all__ = ["main"]
