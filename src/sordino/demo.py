"""Runs the demonstration: `python -m sordino.demo`."""

from sordino.office.demo.start import show_demonstration

if __name__ == "__main__":
    show_demonstration()
