"""Where the memory engine is."""

from typing import Final

from sordino.engines.door import Door

DOOR: Final = Door("sordino.engines.memory.engine:memory_of_settings")
