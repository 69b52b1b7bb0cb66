"""`sordino open` in a browser: from a file to a job by the keyboard alone."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from sordino.office.cli.main import main
from tests.browser.devtools import browser
from tests.browser.sight import Tab, look_at, open_page
from tests.serving import start_serving
from tests.unit.form.test_form import fill, send

pytestmark = pytest.mark.slow


GUIDE: Final = Path(__file__).parents[2] / "docs/guides/open.md"


def choose(tab: Tab) -> str:
    """Choose file, person, groups and a mean, as somebody without a mouse does.

    Return how many keys it takes.
    """
    tab.reach("#of-file")
    tab.press("ArrowDown")
    tab.reach("button")
    tab.follow("#look")
    tab.reach("#of-id")
    tab.press("ArrowDown")
    tab.reach("button")
    # without any further choice there is a job already: of all rows
    tab.follow("#job")
    first = len(tab.strokes)
    tab.reach("#of-group")
    tab.press("ArrowDown", times=2)
    tab.reach("#of-column")
    tab.press("ArrowDown")
    tab.reach("#of-low")
    tab.type("0")
    tab.reach("#of-high")
    tab.type("2000")
    # Enter in a field shows what it means, as the button below it does
    tab.follow("#job")
    keys = len(tab.strokes)
    enters = tab.strokes.count("Enter")
    means = f"{keys} to one with a mean in each group"
    return f"{first} keys to a first job, {means}, {enters} of them Enter"


def download(tab: Tab, folder: Path) -> str:
    """Press the last button, and return the file that the browser keeps."""
    running, place = browser(), str(folder)
    running.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=place)
    tab.reach("#job button")
    tab.press("Enter", "\r")
    until = time.monotonic() + 60
    while not (folder / "job.toml").exists() and time.monotonic() < until:
        time.sleep(0.05)
    return (folder / "job.toml").read_text("utf-8")


def test_the_keyboard_alone_brings_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = fill(tmp_path / "data")
    server = start_serving(f"sordino open {folder}")
    with ExitStack() as after:
        after.callback(server.stop)
        tab = after.enter_context(open_page(server.address))
        keys = choose(tab)
        assert keys in GUIDE.read_text("utf-8"), keys
        tab.reach(".best button")
        tab.follow("#job")
        sight = tab.look()
        assert sight.problems == ()
        assert "AVG(CLAMP(cost, 0, 2000)) AS mean_cost" in sight.words
        job = download(tab, tmp_path / "kept")
    (folder / "job.toml").write_text(job, "utf-8")
    assert main(["check", str(folder / "job.toml")]) == 0
    assert "mean_cost" in capsys.readouterr().out


def test_nothing_is_wrong_with_a_refusal(tmp_path: Path) -> None:
    sight = look_at(send(fill(tmp_path), low="").content)
    assert sight.problems == ()
