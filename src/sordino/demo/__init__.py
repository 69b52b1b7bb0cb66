"""The demonstration: `python -m sordino.demo` shows Sordino on invented data.

`start` asks for what is needed, `show` runs the scenes: `clinic` invents the data,
`hospital` asks about it, `beneath` opens the noise; `pages` sets what is printed.
"""

from sordino.demo.start import main

__all__ = ["main"]
