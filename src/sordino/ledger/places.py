"""Where a ledger or a witness lies: the file or the address that somebody names.

Kernel: charge.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, final

from sordino.errors import InvalidParameter, LedgerUnavailable, MissingDependency
from sordino.ledger import file_format
from sordino.ledger.file_format import Contents, Role, World
from sordino.ledger.file_store import FileStore
from sordino.ledger.file_system import is_local
from sordino.ledger.log import AbstractPlace, Unreached

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_PASSWORD: Final = re.compile(r"\bpassword\s*=", re.IGNORECASE)
_WRITES: Final = os.R_OK | os.W_OK


@final
class FilePlace(AbstractPlace):
    """A file of this machine."""

    def __init__(self, path: Any, name: str, wanted: int, world: World) -> None:
        """Refuse a path that can hold none."""
        self.path = file_format.locate_file(path, name, wanted)
        self.shown = str(self.path)
        self._name = name
        self._world = world

    def exists(self) -> bool:
        return self.path.exists()

    def open(self, role: Role, *, reading: bool = False) -> FileStore:
        return FileStore(self.path, self._world, role, reading=reading)

    def create(self, role: Role, contents: Contents) -> bool:
        return file_format.create_file(self.path, self._world, role, contents)

    def is_same(self, other: AbstractPlace) -> bool:
        """Say whether both are one file, by whatever names."""
        return isinstance(other, FilePlace) and self.path.samefile(other.path)

    def refuse_unfit(self, *, witnessed: bool, reading: bool) -> None:
        """Refuse a file system on which a lock may not keep every other writer out."""
        del witnessed
        if reading:
            return
        path = self.path
        kind = self._world.disk.kind(path if path.exists() else path.parent)
        if not is_local(kind):
            raise InvalidParameter(
                self._name,
                self.shown,
                f"must lie on a disk of this machine, and it lies on {kind}, where "
                "locks may not keep other writers out",
                "Choose another folder: sordino doctor FOLDER tries one. Or promise "
                "that no other process opens it meanwhile: sd.Ledger.at(path, "
                "only_writer=True), [ledger] only_writer = true, or --only-writer.",
            )


def is_address(value: Any) -> bool:
    """Say whether this is meant as the address of a server, not as a path.

    >>> is_address("postgresql://db/clinic"), is_address("clinic.ledger")
    (True, False)
    """
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else ""
    text = text if isinstance(text, str) else ""
    return bool(_SCHEME.match(text)) or bool(_PASSWORD.search(text))


def locate(
    value: Any, name: str, world: World, *, reading: bool = False
) -> AbstractPlace:
    """Return the place that is meant; what is wrong with an address is not shown."""
    if not is_address(value):
        return FilePlace(value, name, os.R_OK if reading else _WRITES, world)
    if str(value).startswith(("https://", "http://")):
        from sordino.ledger.http_witness import HttpPlace  # noqa: PLC0415 brings ssl

        return HttpPlace(value, name, world)
    if not str(value).startswith(("postgresql://", "postgres://")):
        raise InvalidParameter(
            name,
            "an address",
            "must be a path, or begin with postgresql:// (it is not shown, for it may "
            "hold a password)",
            f'Try {name}="postgresql://role@host/database".',
        )
    if find_spec("psycopg") is None:
        raise MissingDependency(f"a {name} on a server", "psycopg", "postgres")
    from sordino.ledger.server_store import ServerPlace  # noqa: PLC0415 see below

    # imported where it is needed: the package may not be installed, and takes time
    return ServerPlace(value, name, world)


def refuse_password(value: Any, name: str) -> None:
    """Refuse an address with a password, where it is written down for others.

    So does one that cannot be read: nobody knows what is in it.
    """
    if is_address(value) and not locate(value, name, World()).is_open_word:
        raise InvalidParameter(
            name,
            "an address with a password",
            "must have none here: what is written there is kept",
            "Give it in PGPASSFILE (~/.pgpass) or PGPASSWORD.",
        )


def _is_there(place: AbstractPlace) -> bool:
    try:
        return place.exists()
    except Unreached as failure:
        problem = str(failure)
    raise LedgerUnavailable(
        place.shown, problem, "Nothing was charged: try again later."
    )


def is_there(value: Any) -> bool:
    """Say whether something is at a place; what is wrong with it, opening says."""
    if is_address(value):
        return _is_there(locate(value, "ledger", World(), reading=True))
    try:
        return Path(value).exists()
    except (OSError, ValueError):
        return False
