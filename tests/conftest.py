"""How hard tests try: SORDINO_PROFILE is dev, ci or night; `make check` takes part.

A test that fails shows what the server of this process has logged last: what a server
says is in no failure of ours.
"""

import gc
import hashlib
import signal
import sys
from collections import defaultdict
from collections.abc import Generator

import pytest
from hypothesis import settings

from tests import seeded_bits
from tests.effort import EXAMPLES, PROFILE

SPARK = "frame of Spark"
"""Cases of this name start Spark, which takes seconds."""

for name, examples in EXAMPLES.items():
    settings.register_profile(
        name, max_examples=examples, deadline=None, derandomize=name in {"trial", "ci"}
    )
settings.load_profile(PROFILE)

# in a shell's background Ctrl-C is ignored, and what tests start would inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what is slow
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Call slow what is beyond the sample of a law: `@pytest.mark.sampled(4)`.

    The sample is drawn by the names of the cases, so it stays when files move, and
    cases that are added hardly change it. `make test` runs every case.
    """
    laws = defaultdict(list)
    for item in items:
        if SPARK in item.name:
            item.add_marker(pytest.mark.slow)
        laws[item.nodeid.partition("[")[0]].append(item)
    for cases in laws.values():
        if (sample := cases[0].get_closest_marker("sampled")) is not None:
            for case in sorted(cases, key=_lot)[sample.args[0] :]:
                case.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Look for garbage less often, and never in what was read and collected.

    Each look at all modules and tests was a sixth of the computing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)  # before what a test needs is made
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw the noise of a test from its name."""
    seeded_bits.begin(item.nodeid)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Add the end of the log of PostgreSQL, where a server was started."""
    report = yield
    server = sys.modules.get("tests.postgres_server")
    if report.failed and server is not None and (end := server.log_end()):
        report.sections.append(("PostgreSQL says", end))
    return report


def _lot(case: pytest.Item) -> str:
    """Return what decides whether a case is in the sample."""
    return hashlib.sha256(case.name.encode()).hexdigest()
