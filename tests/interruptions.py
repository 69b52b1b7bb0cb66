"""KeyboardInterrupt wherever Python looks for signals, one place after another."""

import dis
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LOOKS = {
    "CALL",
    "CALL_FUNCTION_EX",
    "CALL_KW",
    "JUMP_BACKWARD",
    "RESUME",
}
"""Instructions after which Python looks for signals."""


class Interruption:
    """A KeyboardInterrupt at the k-th place where Python looks for signals."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self._last: dict[FrameType, str] = {}

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        """Raise where the instruction before this one was such a place."""
        frame.f_trace_opcodes = True
        if event == "opcode":
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            # where a call has raised Python does not look; to raise there as well would
            # leave its exception the one at hand for all tests that follow
            if self._last.get(frame) in LOOKS and name != "PUSH_EXC_INFO":
                self.count += 1
                if self.count == self.at:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            self._last[frame] = name
        if event == "return":
            self._last.pop(frame, None)
        return self.trace

    @contextmanager
    def armed(self) -> Generator[None]:
        before = sys.gettrace()
        sys.settrace(self.trace)
        try:
            yield
        finally:
            sys.settrace(before)
