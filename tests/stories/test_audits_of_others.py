"""Audits of other libraries, and of what documents state, end as the guide says.

A claim that is false is told apart by 9 deviations or more; one that holds is accused
once in a billion runs.
"""

import runpy
from pathlib import Path
from typing import Any, Final

import pytest

from tests.batches import for_each

ROOT: Final = Path(__file__).parents[2]
EXAMPLE: Final = runpy.run_path(str(ROOT / "examples/audits/other_libraries.py"))
AUDITS: Final[dict[str, Any]] = EXAMPLE["AUDITS"]
DOCUMENTS: Final = [name for name in AUDITS if name.endswith("as documented")]


@for_each("name", DOCUMENTS)
def test_what_documents_state_is_found_false(name: str) -> None:
    assert EXAMPLE["audit"](name).is_broken


@pytest.mark.slow
@for_each("name", [name for name in AUDITS if name not in DOCUMENTS])
def test_libraries_are_audited_where_they_are_installed(name: str) -> None:
    if not EXAMPLE["is_installed"](name):
        pytest.skip(f"{name} IS NOT INSTALLED: its claim was not audited")
    assert EXAMPLE["audit"](name).is_broken is AUDITS[name].is_broken


def test_the_guide_tells_what_comes_of_each() -> None:
    guide = (ROOT / "docs/guides/audit.md").read_text("utf-8")
    for name, audited in AUDITS.items():
        assert f"| {name} " in guide
        assert audited.because in guide
