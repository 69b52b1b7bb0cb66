"""What is published is what was tested: the wheel, alone, in an empty environment."""

import sys
import zipfile
from pathlib import Path

import pytest

from tests.delivery import places
from tests.delivery.__main__ import tried
from tests.delivery.building import built
from tests.effort import by_night

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


@by_night
@pytest.mark.slow
def test_the_wheel_works_without_the_source(tmp_path: Path) -> None:
    """Built from the archive, with what it declares and no more, it does all it says.

    Every docstring that needs no extra runs, a table is released, the command runs, and
    what an extra brings is refused with its name.
    """
    wheel = built(tmp_path / "dist").wheel
    python = places.linked(wheel, tmp_path / "environment")
    assert "one release" in tried(python, wheel)


@pytest.mark.slow
def test_a_wheel_that_lacks_a_file_is_caught(tmp_path: Path) -> None:
    wheel = built(tmp_path / "dist").wheel
    poorer = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(poorer, "w") as written:
        for name in whole.namelist():
            if name != "sordino/__init__.pyi":
                written.writestr(name, whole.read(name))
    python = places.linked(poorer, tmp_path / "environment")
    with pytest.raises(SystemExit, match=r"__init__\.pyi"):
        tried(python, poorer)


def test_a_python_is_found_or_is_not() -> None:
    assert HERE in places.versions()
    assert places.interpreter("3.2") is None


def test_a_shim_is_no_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "python3.77"
    shim.write_text("#!/bin/sh\necho 3.76\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert places.interpreter("3.77") is None
    shim.write_text("#!/bin/sh\necho 3.77\n")
    assert places.interpreter("3.77") == shim
