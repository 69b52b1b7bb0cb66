"""A line on stderr that says what takes so long, in terminals and in notebooks.

It is written over while work goes on, and wiped away at its end. No library draws it: a
widget needs a package that the kernel of a notebook may not have.
"""

import sys
from typing import Final, final

PATIENCE: Final = 2.0
"""Seconds of silence."""
_KERNEL: Final = "ipykernel"


def is_watched() -> bool:
    """Tell whether somebody sees stderr at once: a terminal, or a notebook."""
    stream = sys.stderr
    kernel = type(stream).__module__.partition(".")[0] == _KERNEL
    return kernel or bool(stream and stream.isatty())


@final
class Line:
    """One line, shown where somebody watches.

    >>> with_nobody = Line()
    >>> with_nobody.say("half"), with_nobody.wipe()
    (None, None)
    """

    def __init__(self) -> None:
        """Show nothing yet."""
        self._width = 0

    def say(self, text: str) -> None:
        """Show a text in place of the last one."""
        if is_watched():
            self._write(text)
            self._width = len(text)

    def wipe(self) -> None:
        """Leave nothing behind."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()
            self._width = 0

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
