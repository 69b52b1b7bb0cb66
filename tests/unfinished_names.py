"""Names that have not been given their final form yet; the list only shrinks.

One line for each: the file beneath `src/sordino`, and the name.
"""

from typing import Final

UNFINISHED: Final = ()
