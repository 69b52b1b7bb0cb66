"""What a user does in the first hour, with nothing but the wheel and what it needs.

Run by the Python of an environment that has no source, no pytest and no index:

    python first_hour.py VERSION
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib.metadata import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import sordino as sd
from sordino.office import demo

EXTRAS = {"anyio", "matplotlib", "psycopg", "pyspark", "rich", "starlette", "uvicorn"}
"""What only pictures, the demonstration and some engines import: not the wheel's."""


def main(version: str) -> None:
    """Fail unless the installed package is whole."""
    home = Path(sysconfig.get_path("purelib")).resolve()
    assert Path(sd.__file__).resolve().is_relative_to(home), sd.__file__
    assert sd.__version__ == version, sd.__version__
    released()
    refused()
    commanded(version)
    introduced()
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
    calls: dict[str, Callable[[], object]] = {
        "plots": sd.PureDP(1).curve().plot,
        "demo": demo.main,
    }
    for extra, call in calls.items():
        told = ""
        try:
            call()
        except sd.errors.MissingDependency as error:
            told = str(error)
        assert f"pip install '.[{extra}]'" in told, (extra, told)


def commanded(version: str) -> None:
    command = Path(sysconfig.get_path("scripts")) / "sordino"
    said = subprocess.run(
        [str(command), "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"sordino {version}", said.stdout


def introduced() -> None:
    """Run what README shows, in a folder of its own, with what the wheel brings."""
    page = str(metadata("sordino").json["description"])
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    session = "\n".join(blocks)
    examples = doctest.DocTestParser().get_doctest(session, {}, "README", None, 0)
    assert examples.examples, page[:80]
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with TemporaryDirectory() as folder:
        home = Path.cwd()
        os.chdir(folder)
        outcome = doctest.DocTestRunner(optionflags=options).run(examples)
        os.chdir(home)
    assert not outcome.failed, outcome


def documented() -> int:
    """Run every docstring that needs no extra; return how many have examples."""
    found = pkgutil.walk_packages(sd.__path__, "sordino.")
    modules = [one.name for one in found if not one.name.endswith("__main__")]
    count, failing = 0, list[str]()
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRAS:
                raise
            continue
        told = doctest.testmod(module, optionflags=doctest.ELLIPSIS)
        failing += [name] * bool(told.failed)
        count += bool(told.attempted)
    if failing:
        raise SystemExit(f"examples fail: {', '.join(failing)}")
    return count


if __name__ == "__main__":
    main(sys.argv[1])
