"""Runs the demonstration: `python -m sordino.demo`."""

from sordino.demo.show import main

main()
