"""Case studies: the programs run, and print what their pages say.

A page shows a run with many rows, the test makes one with few: what does not depend on
rows or chance must be the same, letter by letter.
"""

import re
import runpy
from pathlib import Path
from typing import Final

import pytest

from tests.batches import for_each

ROOT: Final = Path(__file__).parents[2]
STEADY: Final = {
    "births": ["epsilon", "delta"],
    "census": [
        "state, sd",
        "county, sd",
        "tract, sd",
        "tracts miss a state by",
        "states miss totals by",
    ],
    "clinic": [
        "sd of a count of a month",
        "advantage, a patient of one month",
        "advantage, of every month",
        "job: March again, under its key",
        "job: March under another key",
        "Ana: March, within her budget",
        "Ana: March, once more",
    ],
    "hiring": ["protected", "sd of the noise", "an employer shows from"],
    "mobility": ["scale of the noise"],
    "page_views": ["sd of the noise", "epsilon at delta 1e-7"],
}
"""Rows whose last column is the same in every run."""
LABEL: Final = 38


def last_columns(lines: list[str]) -> dict[str, str]:
    return {line[:LABEL].strip(): line.split()[-1] for line in lines[1:]}


@pytest.mark.slow
@for_each("name", STEADY)
def test_a_case_study_prints_what_its_page_says(name: str) -> None:
    page = ROOT / f"docs/cases/{name.replace('_', '-')}.md"
    (shown,) = re.findall(r"```text\n(.*?)\n```", page.read_text(), re.DOTALL)
    told = last_columns(shown.splitlines())
    ran = last_columns(
        runpy.run_path(str(ROOT / f"examples/cases/{name}.py"))["main"](2000)
    )
    assert list(ran) == list(told)
    assert {row: ran[row] for row in STEADY[name]} == {
        row: told[row] for row in STEADY[name]
    }


def test_every_program_is_a_case() -> None:
    assert {path.stem for path in (ROOT / "examples/cases").glob("*.py")} == set(STEADY)
    assert {path.stem for path in (ROOT / "docs/cases").glob("*.md")} == {
        name.replace("_", "-") for name in STEADY
    }
