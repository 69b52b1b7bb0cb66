"""The server of the tests goes with the process that started it, however that ends."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from tests.postgres_server import cluster

_PATIENCE: Final = 60
_STARTS: Final = """
import sys, time
from tests.postgres_server import start_cluster
server = start_cluster()
print(server.number, server.folder, flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_a_server_outlives_nobody() -> None:
    cluster()  # so that where there are no programs for one, this is skipped
    process = subprocess.Popen([sys.executable, "-c", _STARTS], stdout=subprocess.PIPE)
    assert process.stdout is not None
    number, folder = process.stdout.readline().decode().split(maxsplit=1)
    os.kill(int(number), 0)  # it is there
    process.kill()
    process.communicate()
    last = time.monotonic() + _PATIENCE
    while Path(folder.strip()).exists():
        assert time.monotonic() < last
        time.sleep(0.02)
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), 0)
