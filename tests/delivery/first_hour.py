"""What a user does in the first hour, with nothing but the wheel and what it needs.

Run by the Python of an environment that has no source, no pytest and no index:

    python first_hour.py VERSION
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import sordino as sd

EXTRAS = {"plots": ("matplotlib",), "demo": ("rich",)}
"""Packages of the extras: here they are missing, and an error must say so."""


def main(version: str) -> None:
    """Fail unless the installed package is whole."""
    home = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(sd.__file__).resolve().is_relative_to(home), sd.__file__
    assert sd.__version__ == version, sd.__version__
    released()
    refused()
    commanded(version)
    sys.stdout.write(f"{documented()} docstrings ran, one release\n")


def released() -> None:
    """Release a table, and draw noise for a number."""
    table = {"ward": ["North", "South"] * 500, "days": [2, 9] * 500}
    private = sd.PrivateTable(table, protects=sd.AddOneRow())
    session = sd.Session(tables={"visits": private}, budget=sd.PureDP(1))
    query = sd.table("visits").group_by(sd.KeySet.from_dict({"ward": ["North"]}))
    asked = query.agg(n=sd.count(), days=sd.sum("days", 0, 30))
    release = session.release(asked, sd.PureDP(1))
    assert release["ward"].to_pylist() == ["North"], release
    assert session.remaining == sd.PureDP(0), session.remaining
    assert isinstance(sd.Laplace(10)(3.5), float)


def refused() -> None:
    """Ask for what an extra brings: the error says which one."""
    for call in (sd.PureDP(1).curve().plot, importlib.import_module):
        words = () if call is not importlib.import_module else ("sordino.demo",)
        try:
            call(*words)
        except sd.errors.MissingDependency as error:
            assert "pip install 'sordino[" in str(error), error
        else:
            raise AssertionError(call)


def commanded(version: str) -> None:
    """Run the command."""
    command = Path(sysconfig.get_path("scripts")) / "sordino"
    said = subprocess.run(
        [str(command), "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"sordino {version}", said.stdout


def documented() -> int:
    """Run every docstring of the package; return how many have examples."""
    count = 0
    for found in pkgutil.walk_packages(sd.__path__, "sordino."):
        if found.name.startswith("sordino.demo") or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        told = doctest.testmod(module)
        assert not told.failed, f"{told.failed} examples of {found.name} fail"
        count += told.attempted > 0
    return count


if __name__ == "__main__":
    main(sys.argv[1])
