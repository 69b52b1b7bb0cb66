"""Where an engine is, so that it need not be imported before it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final


@final
@dataclass(frozen=True)
class Settings:
    """What a user may say of an engine; one that has no such thing takes no notice."""

    memory_limit: str | None = None
    threads: int | None = None
    progress: bool = False


@final
@dataclass(frozen=True)
class Door:
    """Where an engine is, and what it needs; places are written module:name."""

    engine: str
    """A function that makes an engine of settings."""
    package: str = "sordino"
    """What has to be installed for it, by the extra of the engine's name."""
    at_address: str = ""
    """What makes one for the server at an address, where there are servers."""
    reads: Mapping[str, str] = field(default_factory=dict)
    """What makes sources of what lives in the engine, by its kind (`readers`)."""
    chosen: bool = False
    """Whether private tables that live in it choose it, where no engine is named."""
