"""A worker is killed in the middle of a release, and no answer shows it."""

import json
import subprocess
import sys
from functools import cache
from typing import Any, Final

import pytest

from tests.batches import for_each
from tests.spark_here import refuse_missing

pytestmark = pytest.mark.slow
HONEST: Final = (
    "killed between questions",
    "killed while rows are read",
    "killed behind a shuffle",
    "shuffle.partitions 1",
    "adaptive.enabled false",
    "upside down, in three partitions",
    "killed in the last stage",
    "a second copy",
)
"""Releases that are those of an undisturbed run."""
MUTANTS: Final = ("with noise in tasks", "with an order of attempts")


@cache
def outcomes() -> dict[str, dict[str, Any]]:
    """Return what became of each release on two worker processes, or skip."""
    refuse_missing()
    ended = subprocess.run(
        [sys.executable, "-m", "tests.dying_executors"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=3600,
        check=True,
    )
    lines = map(json.loads, ended.stdout.splitlines())
    return {line.pop("name"): line for line in lines}


def test_who_dies_changes_no_answer() -> None:
    """Exact totals and release are those of an undisturbed run, and charged once.

    Killed while rows are read, behind a shuffle whose files go with the worker, in the
    last stage, or between two questions over rows it kept; in other partitions, orders
    and plans; or with two attempts of a task at once.
    """
    undisturbed = outcomes()["undisturbed"]
    assert undisturbed["charges"] == "1"
    assert sum(undisturbed["answer"]["n"]) == 1200  # three rows of each of 400 ids
    assert {name: outcomes()[name] for name in HONEST} == dict.fromkeys(
        HONEST, undisturbed
    )


def test_who_dies_changes_no_answer_of_several() -> None:
    """All at once, of the rows of two blocks, rows that are kept and rows of people."""
    undisturbed, killed = (
        outcomes()[f"{how} with several questions"] for how in ("undisturbed", "killed")
    )
    assert killed == undisturbed
    assert killed["charges"] == "1"
    assert sum(killed["answer"]["wards"]["n"]) == 1200
    assert killed["answer"]["people"]["rows"] == [4000]


@for_each("mutant", MUTANTS)
def test_what_changes_with_the_attempt_is_found_out(mutant: str) -> None:
    """Two planted errors answer alike undisturbed, and otherwise where a worker dies.

    So a task did run again, and its other answer would be seen.
    """
    undisturbed, killed = (
        outcomes()[f"{how} {mutant}"] for how in ("undisturbed", "killed")
    )
    assert undisturbed["answer"]["n"] != killed["answer"]["n"]
    if mutant == "with noise in tasks":
        assert undisturbed == outcomes()["undisturbed"]
    else:
        assert sum(undisturbed["answer"]["n"]) == sum(killed["answer"]["n"])


@for_each("end", ["killed each time", "stopped"])
def test_a_cluster_that_is_gone_is_told(end: str) -> None:
    """After the charge, for rows may have been read; nothing is told of the cause."""
    name, told, is_bare = outcomes()[end]["answer"]
    assert (name, is_bare, outcomes()[end]["charges"]) == ("EngineFailure", True, "1")
    assert "could not finish this query" in told


def test_a_spark_that_stopped_is_told_before_the_charge() -> None:
    outcome = outcomes()["asked of a Spark that stopped"]
    name, told, is_bare = outcome["answer"]
    assert (name, is_bare, outcome["charges"]) == ("EngineUnavailable", True, "0")
    assert "was stopped" in told
