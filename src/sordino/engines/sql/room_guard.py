"""A process that removes folders once this one is gone, however it ended.

A process that is killed removes nothing itself. So a shell waits at the end of a pipe
that only this process holds, is told each folder, and removes what is left of them when
the pipe closes. It is nobody's child, so that who waits for children does not meet it.
"""

import os
from contextlib import suppress
from typing import Final

_SHELL: Final = "/bin/sh"
_WAITS: Final = (
    '(while IFS= read -r path; do set -- "$@" "$path"; done; rm -rf -- "$@") <&3 3<&- &'
)
_pipes: dict[int, int] = {}
"""The end of the pipe that is written to, by the process that holds it."""


def guard_folder(path: str) -> None:
    """Have a folder removed when this process is gone; where there is no shell, not."""
    if "\n" in path:
        return  # the shell reads lines, and would take it for two folders
    with suppress(OSError, AttributeError, NotImplementedError):
        process = os.getpid()
        if process not in _pipes:
            _pipes[process] = _waiting_shell()
        os.write(_pipes[process], os.fsencode(path) + b"\n")


def _waiting_shell() -> int:
    """Start a shell, and return where it is told folders."""
    reading, writing = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, null, place) for place in (0, 1, 2)]
    try:
        started = os.posix_spawn(
            _SHELL,
            [_SHELL, "-c", _WAITS],
            {"PATH": os.defpath},
            file_actions=[*actions, (os.POSIX_SPAWN_DUP2, reading, 3)],
            setsid=True,
        )
    finally:
        os.close(reading)
        os.close(null)
    os.waitpid(started, 0)
    return writing


def _let_go() -> None:
    """Close the pipes of the process that this one was forked from."""
    while _pipes:
        os.close(_pipes.popitem()[1])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
