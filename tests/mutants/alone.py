"""Which planted errors the kernel refuses alone: `python -m tests.mutants.alone`.

    python -m tests.mutants.alone --rooms contribution prices --seeds 200

Prices are drawn with an error and without it, all laws and tests switched off. Of those
that differ the kernel of the true tree says whether they are charged too little. An
error that changes no drawn price is said to change none.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from sordino.kernel import Refused, check
from tests.dice import rolled
from tests.drawn_prices import prices
from tests.mutants.planted import PLANTED

TREE: Final = Path(__file__).resolve().parents[2]
ROOMS: Final = ["contribution", "joins", "keys", "margins", "prices", "sums"]
_FIRST: Final = 300_000
_PATIENCE: Final = 1_200.0
Drawn: TypeAlias = dict[str, str]
"""Certificates by what was drawn."""


def main(words: list[str]) -> int:
    """Try each planted error of some rooms; return 1 if one is never refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.alone")
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--draw", action="store_true", help="print drawn certificates")
    asked = parser.parse_args(words)
    if asked.draw:
        return _print_drawn(asked.seeds)
    missed = 0
    with tempfile.TemporaryDirectory(prefix="alone-") as place:
        copy = Path(place)
        for name in ("src", "tests"):
            shutil.copytree(TREE / name, copy / name)
        honest = draw_prices(copy, asked.seeds)
        wrong = refused_prices(honest)
        _say(f"{len(honest)} prices drawn, {wrong} refused without an error")
        for error in (each for each in PLANTED if each.room in asked.rooms):
            path = copy / error.file
            source = path.read_text(encoding="utf-8")
            path.write_text(source.replace(error.before, error.after), encoding="utf-8")
            drawn = draw_prices(copy, asked.seeds)
            path.write_text(source, encoding="utf-8")
            changed = {name: t for name, t in drawn.items() if t != honest.get(name)}
            refused = refused_prices(changed)
            missed += bool(changed) and not refused
            _say(
                f"{refused:4d} of {len(changed):4d} refused  {error.room}: {error.says}"
            )
    return int(missed > 0)


def draw_prices(tree: Path, seeds: int) -> Drawn:
    """Return what a tree draws, in a process of its own."""
    places = [str(tree / "src"), str(tree)]
    run = subprocess.run(
        [sys.executable, "-m", "tests.mutants.alone", "--draw", f"--seeds={seeds}"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    lines = (line.partition("\t") for line in run.stdout.splitlines())
    return {name: text for name, _, text in lines}


def _print_drawn(seeds: int) -> int:
    for name, text in drawn_here(range(_FIRST, _FIRST + seeds)).items():
        _say(f"{name}\t{text}")
    return 0


def drawn_here(seeds: Iterable[int], kinds: Sequence[str] = ()) -> Drawn:
    """Draw prices by this tree."""
    drawn: Drawn = {}
    for seed in seeds:
        try:
            for place, (kind, text) in enumerate(prices(rolled(seed), kinds)):
                drawn[f"{seed} {place} {kind}"] = text
        except Exception as error:  # noqa: BLE001 an error that is planted may raise any
            sys.stderr.write(f"{seed}: {error!r}\n")
    return drawn


def refused_prices(drawn: Drawn) -> int:
    return sum(map(_is_refused, drawn.values()))


def _is_refused(text: str) -> bool:
    try:
        check(text)
    except Refused:
        return True
    return False


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
