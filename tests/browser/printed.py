"""Whether printed pages hold anything, read from a PDF as Chromium writes it."""

import re
import zlib
from typing import Final

_OBJECT: Final = re.compile(rb"(\d+) 0 obj(.*?)endobj", re.DOTALL)
_STREAM: Final = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
_PAGE: Final = re.compile(rb"/Type\s*/Page\b(?!s)")
_CONTENTS: Final = re.compile(rb"/Contents\s+(\d+) 0 R")
_WRITES: Final = re.compile(rb"\b(?:Tj|TJ|Do)\b")
"""Letters are shown, or a part that was drawn apart is placed."""


def printed_pages(pdf: bytes) -> tuple[bool, ...]:
    """Tell of each page whether anything is written on it.

    >>> printed_pages(b"1 0 obj<</Type /Pages>>endobj 2 0 obj<</Type /Page>>endobj")
    (False,)
    """
    parts = {int(number): body for number, body in _OBJECT.findall(pdf)}
    pages = [body for body in parts.values() if _PAGE.search(body)]
    return tuple(_is_written(page, parts) for page in pages)


def _is_written(page: bytes, parts: dict[int, bytes]) -> bool:
    """Tell whether the content of a page shows letters."""
    named = _CONTENTS.search(page)
    stream = _STREAM.search(parts[int(named[1])]) if named else None
    packed = stream[1] if stream else b""
    return _WRITES.search(zlib.decompressobj().decompress(packed)) is not None
