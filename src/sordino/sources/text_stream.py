"""A file of text as a stream of UTF-8, whatever its encoding, unpacked on the way."""

import codecs
import io
from typing import Any, Final, final

import pyarrow as pa

ENCODINGS: Final = (
    "utf-8",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "latin-1",
    "iso-8859-2",
    "iso-8859-15",
    "cp1250",
    "cp1251",
    "cp1252",
    "cp437",
    "cp850",
    "mac-roman",
    "cp932",
    "gb18030",
    "big5",
    "euc-kr",
)
_MARK: Final = "\ufeff"


@final
class TextStream(io.RawIOBase):
    """The bytes of a text in UTF-8, without a byte order mark.

    At bytes that are none of the encoding it is broken: what is before them can still
    be read, then `readinto` raises.
    """

    def __init__(self, path: str, encoding: str, block: int) -> None:
        """Open a file, unpacked by its ending; so many bytes are read at a time."""
        super().__init__()
        self._file = pa.input_stream(path, compression="detect")
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._block = block
        self._rest = b""
        self._begun = self._ended = False
        self.broken = False
        self.line = 1
        """The line in which the next block begins."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def next_block(self) -> bytes:
        """Return the next bytes, none at the end and where the stream is broken."""
        while not self._ended:
            text = self._decode(self._file.read(self._block))
            if not self._begun:
                text = text.removeprefix(_MARK)
                self._begun = bool(text)
            if text:
                self.line += text.count("\n")
                return text.encode()
        return b""

    def readinto(self, room: Any) -> int:
        """Fill some room and return how much was filled, 0 at the end."""
        self._rest = self._rest or self.next_block()
        if self.broken and not self._rest:
            raise UnicodeError
        size = min(len(room), len(self._rest))
        room[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
        super().close()

    def _decode(self, read: bytes) -> str:
        """Return the text of the next bytes, up to the first invalid ones."""
        before = self._decoder.getstate()
        self._ended = not read
        try:
            return self._decoder.decode(read, final=self._ended)
        except UnicodeDecodeError as error:
            self._ended = self.broken = True
            self._decoder.setstate(before)
            good = max(0, error.start - len(before[0]))
            return self._decoder.decode(read[:good])
