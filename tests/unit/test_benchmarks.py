"""The frame of the benchmarks: verdicts, absent peers, and fair turns."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from benchmarks.__main__ import rows, table
from benchmarks.frame import Action, Figure, Measured, Race
from benchmarks.page import PAGE, rewrite_page, row_of_page
from benchmarks.reached import Accuracy, reached
from benchmarks.utility import Error
from tests.batches import for_each


class Clock:
    """CPU time that passes only when a stand-in works."""

    now = 0.0

    def work(self, seconds: float) -> Action:

        def act() -> None:
            self.now += seconds

        return act


@pytest.fixture(name="clock")
def clock_of_the_frame(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Put the frame on a clock of ours, so that its answers are exact."""
    clock = Clock()
    monkeypatch.setattr("benchmarks.frame.time.process_time", lambda: clock.now)
    return clock


def absent() -> Action:
    raise ImportError


def race(clock: Clock, **changes: Any) -> Race:
    """Return a race that we lose by four to one, changed as told."""
    fields: dict[str, Any] = {
        "what": "work",
        "ours": lambda: clock.work(0.004),
        "peer": lambda: clock.work(0.001),
        "against": "a peer",
        "floor": 4.5,
    }
    return Race(**(fields | changes))


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "floor"),
        ({"goal": 4.2}, "goal"),
        ({"goal": 0.5}, "floor"),
        ({"floor": 0.5}, "below floor"),
        ({"better": "more"}, "below floor"),
        ({"better": "more", "floor": 0.2}, "floor"),
        ({"peer": absent}, "peer absent"),
    ],
)
def test_a_race_gets_its_verdict(
    clock: Clock, changes: dict[str, Any], verdict: str
) -> None:
    result = race(clock, **changes).measure()
    assert result.verdict == verdict
    assert (result.ratio is None) == (verdict == "peer absent")


def test_the_ratio_is_that_of_the_work(clock: Clock) -> None:
    """Each side is called often enough, and its time is that of one call."""
    result = race(clock, items=4).measure()
    assert result.ratio == pytest.approx(4)
    assert (result.ours, result.peer) == ("1 ms", "a peer 250 us")


def test_a_figure_has_a_ceiling() -> None:
    result = Figure(what="size", figure=lambda: 2.5, unit="x", floor=3).measure()
    assert (result.ours, result.peer, result.verdict) == ("2.5 x", "", "floor")


def test_the_table_says_what_an_absent_peer_leaves_open(clock: Clock) -> None:
    results: list[Measured] = [
        race(clock).measure(),
        race(clock, peer=absent).measure(),
    ]
    console = Console(file=io.StringIO(), width=160)
    console.print(table(results))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    for word in ("what", "ours", "peer", "ratio", "floor", "goal", "verdict"):
        assert word in text
    assert "a peer -" in text
    assert "<= 4.5" in text
    assert "peer absent" in text


def test_every_file_brings_its_rows() -> None:
    everything = [row.what for row in rows([])]
    assert len(everything) == len(set(everything))
    assert [row.what for row in rows(["import"])] == [
        w for w in everything if "import" in w
    ]


def test_every_accuracy_has_what_was_reached() -> None:
    kept = (row for row in rows([]) if isinstance(row, Accuracy | Error))
    listed = {row.what for row in kept}
    assert listed == set(reached())
    for one in reached().values():
        assert one["value"] > 0
        assert re.fullmatch(r"[0-9a-f]{7,}", one["commit"])


@for_each(
    ("better", "found", "verdict"),
    [
        ("less", 1.05, "floor"),
        ("less", 1.2, "worse than abc1234"),
        ("less", 0.5, "goal"),
        ("more", 0.9, "worse than abc1234"),
        ("more", 2.0, "floor"),
    ],
)
def test_accuracy_that_was_lost_says_since_when(
    monkeypatch: pytest.MonkeyPatch, better: Any, found: float, verdict: str
) -> None:
    """A number worse than it was, by more than measuring differs, is no floor met."""
    held = {"row": {"value": 1.0, "commit": "abc1234"}}
    monkeypatch.setattr("benchmarks.reached.reached", lambda: held)
    row = Accuracy(
        what="row",
        ours=lambda: found,
        unit="",
        floor=1.5 if better == "less" else 0.5,
        goal=0.6 if better == "less" else 3.0,
        better=better,
    )
    assert row.measure().verdict == verdict


def test_an_absent_peer_of_an_accuracy_says_so() -> None:
    what = next(iter(reached()))
    absent_peer: Any = absent
    row = Accuracy(what=what, ours=lambda: 1e-9, unit="", floor=1.0, peer=absent_peer)
    assert row.measure().peer == " absent"


def test_what_was_measured_stands_on_the_page(clock: Clock) -> None:
    ours, other = (race(clock, what=what).measure() for what in ("work", "more work"))
    page = "# Page\n| work | 9 ms | - | 9.00 | ≤ 1 | - | below floor |\n| work | 1 |\n"
    text, homeless = rewrite_page(page, [ours, other])
    assert text == f"# Page\n{row_of_page(ours)}\n| work | 1 |\n"
    assert row_of_page(ours).startswith("| work | 4 ms | a peer ")
    assert row_of_page(ours).endswith(" | 4.00 | ≤ 4.5 | - | floor |")
    assert homeless == [row_of_page(other)]


def test_every_row_of_the_page_is_one_that_is_measured() -> None:
    text = PAGE.read_text("utf-8")
    named = [row.what for row in rows([]) if f"| {row.what} |" in text]
    assert len(named) > 30
