"""On what kind of file system a file lies, and whether its locks reach everybody.

Known are the kinds whose files belong to one machine, and whose locks hold through each
of their mounts. Any other kind, named below or not, is doubtful (ADR 236).

Kernel: charge.
"""

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, Final

_KINDS: Final = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x2FC12FC1: "zfs",
    0xCA451A4E: "bcachefs",
    0xF2F52010: "f2fs",
    0x3153464A: "jfs",
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x794C7630: "overlay",
    0x65735546: "FUSE",
    0x01021997: "9p",
    0x6969: "NFS",
    0x517B: "SMB",
    0xFE534D42: "SMB",
    0xFF534D42: "CIFS",
    0x786F4256: "vboxsf",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
    0x01161970: "GFS2",
    0x7461636F: "OCFS2",
    0x5346414F: "AFS",
    0x6B414653: "AFS",
    0x73757245: "Coda",
}
"""What Linux calls file systems by number (linux/magic.h); virtiofs is a FUSE."""
_LOCAL: Final = frozenset({
    *("ext4", "xfs", "btrfs", "zfs", "bcachefs", "f2fs", "jfs"),
    *("tmpfs", "ramfs", "overlay"),
    *("apfs", "hfs"),
})
_ROOM: Final = 4096
"""Bytes for what statfs answers: more than any system writes."""
_MAC_NAME: Final = 72
"""Where the name of a kind stands in that of macOS, with 64-bit inodes."""


def file_system_of(path: Path) -> str | None:
    """Return the kind of file system that a path lies on; None if none can be told."""
    answer = ctypes.create_string_buffer(_ROOM)
    try:
        ask = _statfs()
        if ask is None or ask(os.fsencode(path), answer) != 0:
            return None
    except (OSError, AttributeError, ValueError):
        return None
    if sys.platform == "darwin":
        return answer.raw[_MAC_NAME:].split(b"\0")[0].decode("ascii", "replace")
    number = int.from_bytes(answer.raw[: _word_size()], sys.byteorder) & 0xFFFFFFFF
    return _KINDS.get(number, f"kind {number:#x}")


def is_local(kind: str | None) -> bool:
    """Say whether locks hold on a kind, or nothing is known of it.

    >>> is_local("xfs"), is_local("FUSE"), is_local("kind 0x1234")
    (True, False, False)
    """
    return kind is None or kind in _LOCAL


def _statfs() -> Any:
    """Return the function of the system, None where its answer is not known."""
    if not sys.platform.startswith(("linux", "darwin")):
        return None
    library = ctypes.CDLL(None)
    if sys.platform == "darwin" and hasattr(library, "statfs$INODE64"):
        return getattr(library, "statfs$INODE64")
    return library.statfs


def _word_size() -> int:
    """Return the bytes of the first field, the kind: a long, but on s390."""
    return 4 if os.uname().machine == "s390x" else ctypes.sizeof(ctypes.c_long)
