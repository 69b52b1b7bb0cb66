"""Which nets besides the laws catch each planted error: `python -m tests.mutants.nets`.

    python -m tests.mutants.nets --minutes 30 --out FILE

| net | what it is here |
|---|---|
| checker | the kernel of the true tree, on certificates drawn with the error |
| loss meter | drawn requests at drawn neighbours, by what reaches the noise |
| black box | audits of answers of honest mechanisms, and of one release |

The laws are the fourth: `make mutants` fails if the fast tests miss a planted error.
These three are asked without any test of ours, and see prices and noise alone: an error
that changes neither is for the laws. Errors are tried in an order drawn by their names.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from sordino.auditing.suite import (
    HONEST,
    SuiteTally,
    audit_trick,
    measure_worlds,
)
from tests.mutants.alone import Drawn, draw_prices, refused_prices
from tests.mutants.planted import PLANTED

TREE: Final = Path(__file__).resolve().parents[2]
NETS: Final = ("checker", "loss meter", "black box")
_FIRST: Final = 700_000
_SAMPLES: Final = 50_000
_PATIENCE: Final = 600.0


def main(words: list[str]) -> int:
    """Try planted errors of some rooms, for so many minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.nets")
    parser.add_argument(
        "--rooms", nargs="+", default=["contribution", "mechanisms", "prices"]
    )
    parser.add_argument("--seeds", type=int, default=15)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--look", action="store_true", help="look at the tree here")
    arguments = parser.parse_args(words)
    if arguments.look:
        return _look(arguments.seeds)
    until = time.monotonic() + 60 * arguments.minutes
    facts: dict[str, Any] = {
        "command": f"python -m tests.mutants.nets --minutes {arguments.minutes:g} "
        f"--seeds {arguments.seeds}",
        "errors": [],
    }
    with tempfile.TemporaryDirectory(prefix="nets-") as place:
        for row in _rows(Path(place), arguments, until):
            facts["errors"].append(row)
            _say(" ".join(f"{net}: {row[net]};" for net in NETS) + f" {row['says']}")
            if arguments.out is not None:
                arguments.out.write_text(json.dumps(facts, indent=1) + "\n")
    return 0


def _rows(copy: Path, arguments: Any, until: float) -> Iterator[dict[str, str]]:
    for name in ("src", "tests"):
        shutil.copytree(TREE / name, copy / name)
    shutil.copy(TREE / "pyproject.toml", copy)
    honest = draw_prices(copy, arguments.seeds)
    chosen = [each for each in PLANTED if each.room in arguments.rooms]
    for error in sorted(chosen, key=lambda each: sha256(each.says.encode()).digest()):
        if time.monotonic() > until:
            return
        path = copy / error.file
        source = path.read_text(encoding="utf-8")
        path.write_text(source.replace(error.before, error.after), encoding="utf-8")
        drawn = draw_prices(copy, arguments.seeds)
        yield {
            "room": error.room,
            "says": error.says,
            "checker": _checker(honest, drawn),
            **_seen(copy, arguments.seeds),
        }
        path.write_text(source, encoding="utf-8")


def _checker(honest: Drawn, drawn: Drawn) -> str:
    changed = {name: text for name, text in drawn.items() if text != honest.get(name)}
    return "caught" if refused_prices(changed) else "-" if changed else "no price"


def _seen(copy: Path, seeds: int) -> dict[str, str]:
    ended = _run(copy, ["-m", "tests.mutants.nets", "--look", "--seeds", str(seeds)])
    if ended is None:
        return {"loss meter": "undecided", "black box": "undecided"}
    if ended.returncode:
        # what cannot even be drawn is noticed by whoever runs it
        return {"loss meter": "caught", "black box": "-"}
    verdicts: dict[str, str] = json.loads(ended.stdout.splitlines()[-1])
    return verdicts


def _run(copy: Path, words: list[str]) -> subprocess.CompletedProcess[str] | None:
    places = os.pathsep.join([str(copy / "src"), str(copy)])
    try:
        return subprocess.run(
            [sys.executable, *words],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": places, "SORDINO_PROFILE": "trial"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return None


def _look(seeds: int) -> int:
    tally = SuiteTally()
    measure_worlds(tally, iter(range(_FIRST, _FIRST + 2 * seeds)), math.inf)
    accused = [audit_trick(make(), _SAMPLES)["is_broken"] for make in HONEST]
    _say(
        json.dumps({
            "loss meter": "caught" if tally.findings else "-",
            "black box": "caught" if any(accused) else "-",
        })
    )
    return 0


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
