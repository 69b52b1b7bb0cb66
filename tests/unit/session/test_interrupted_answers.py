"""An answer that is too large for a ledger, whose writing is interrupted."""

from pathlib import Path

import pytest

from sordino.ledger import file_format
from sordino.session import files
from tests.unit.session.test_large_answers import (
    BUDGET,
    GROUPS,
    LEAST,
    LIMIT,
    UNKNOWN,
    refused,
    session,
)


def test_an_interruption_leaves_nothing_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked again, the session writes what it drew into the folder it names."""
    monkeypatch.setattr(file_format, "LARGEST", LEAST)
    opened = session(tmp_path / "l", LIMIT)

    def interrupted(path: Path, _: object) -> None:
        path.touch()
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped:
        stopped.setattr(files, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            opened.release(UNKNOWN, BUDGET, key="k")
    folder = refused(lambda: opened.release(UNKNOWN, BUDGET, key="k")).folder
    assert len(opened.release_files(UNKNOWN, BUDGET, folder, key="k")) == GROUPS
    assert opened.spent == BUDGET
