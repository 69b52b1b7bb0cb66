"""A worker is killed while it draws noise, and no file shows it."""

import json
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from tests.batches import for_each
from tests.spark_here import refuse_missing

pytestmark = pytest.mark.slow


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    """Return what became of each release on two worker processes, or skip."""
    refuse_missing()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.dying_noise"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=3600,
        check=True,
    )
    lines = map(json.loads, ended.stdout.splitlines())
    return {line.pop("name"): line for line in lines}


def attempts(name: str) -> list[list[str]]:
    drew = outcomes()[name]["drew"].values()
    return [each for each in drew if len(each) > 1]


@for_each("how", ["killed while rows are read", "killed with noise"])
def test_who_dies_changes_no_file(how: str) -> None:
    """Rows, noise and price are those of an undisturbed run with the same secret."""
    undisturbed, killed = outcomes()["undisturbed"], outcomes()[how]
    assert undisturbed["charges"] == "PureDP(epsilon=1)"
    assert len(undisturbed["answer"]["n"]) == 7
    assert killed["answer"] == undisturbed["answer"]
    assert killed["charges"] == undisturbed["charges"]


def test_each_attempt_draws_the_same() -> None:
    """What died had drawn, and what ran after it drew the same, bit for bit.

    A planted error, noise of its own for each attempt, is seen by the same comparison.
    """
    assert attempts("killed with noise")
    assert all(len(set(each)) == 1 for each in attempts("killed with noise"))
    assert any(len(set(each)) > 1 for each in attempts("killed with fresh noise"))


def test_totals_that_are_lost_are_not_computed_again() -> None:
    """Where they were with one worker alone the release ends, and stays charged."""
    lost = outcomes()["killed with all there was"]
    assert lost["answer"] == "EngineFailure"
    assert lost["charges"] == "PureDP(epsilon=1)"
