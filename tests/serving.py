"""`sordino serve` as a process of its own, and where it listens."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import IO, NamedTuple, final


@final
class Server(NamedTuple):
    """A running server."""

    process: subprocess.Popen[str]
    address: str

    @property
    def output(self) -> IO[str]:
        assert self.process.stdout is not None
        return self.process.stdout

    def kill(self) -> None:
        """Kill it; nothing is finished."""
        self.process.kill()
        self.process.wait(60)
        self.output.close()

    def stop(self) -> None:
        """Ask it to stop: what was begun is finished."""
        self.process.terminate()
        assert self.process.wait(60) in {0, -signal.SIGTERM}
        self.output.close()


def start_serving(
    line: str, *, program: tuple[str, ...] = ("-m",), errors: Path | None = None
) -> Server:
    """Start a server by its command line, at any free port."""
    words = [sys.executable, *program, *line.split(), "--port", "0"]
    with _open_errors(errors) as where:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=where, text=True
        )
    assert process.stdout is not None
    told = process.stdout.readline()
    assert told.startswith("serving "), told
    return Server(process, told.split()[1])


@contextlib.contextmanager
def _open_errors(path: Path | None) -> Generator[IO[str] | int]:
    if path is None:
        yield subprocess.DEVNULL
        return
    with path.open("a", encoding="utf-8") as file:
        yield file
