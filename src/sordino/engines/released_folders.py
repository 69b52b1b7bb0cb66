"""The folders that released files lie in: on this machine, or where workers write."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import final

from sordino.numbers.views import office
from sordino.release.released_files import WrittenFile


class AbstractFolders(ABC):
    """A file system, as far as released files need one."""

    @abstractmethod
    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        """Return the files of a folder, as they are now."""

    @abstractmethod
    def write_label(self, folder: str, name: str, text: str) -> None:
        """Write a text into a folder, unless a file of this name is there."""


@final
class FoldersHere(AbstractFolders):
    """The folders of this machine."""

    def files_in(self, folder: str) -> Sequence[WrittenFile]:
        shown: Sequence[WrittenFile] = office.files_in(Path(folder))
        return shown

    def write_label(self, folder: str, name: str, text: str) -> None:
        office.write_label(Path(folder, name), text)
