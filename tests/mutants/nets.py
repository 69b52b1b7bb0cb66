"""Which nets catch each planted error: `python -m tests.mutants.nets`.

    python -m tests.mutants.nets --minutes 30 --out FILE
    python -m tests.mutants.nets --drawn 7 --minutes 30 --out FILE
    python -m tests.mutants.nets --laws build/laws.txt --out FILE

| net | what it is here |
|---|---|
| checker | the kernel of the true tree, on certificates drawn with the error |
| loss meter | drawn requests at drawn neighbours, by what reaches the noise |
| black box | audits of answers: of mechanisms, of releases, of groups of one person |
| laws | the fast tests of the room: what `python -m tests.mutants --planted` printed |

The first three share no test with the laws, and see prices, noise and answers alone: an
error that changes none of them is for the laws. Errors that reviews planted come first,
then all others in an order drawn by their names. With `--drawn` errors are made, not
taken: small changes of lines of the kernel, in an order drawn by a seed, of which all
four nets are asked at once. One that slips through all of them ends the run with 1,
unless `explained.py` says why nobody can notice it.
"""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from operator import methodcaller
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import sordino as sd
from sordino.auditing.suite import (
    HONEST,
    SuiteTally,
    audit_trick,
    measure_worlds,
)
from tests.laws.test_query_audits import ATTACKS, KINDS, answers, is_above, shown
from tests.mutants.alone import Drawn, drawn_here, refused_prices
from tests.mutants.changes import Change, changes
from tests.mutants.explained import EXPLAINED, is_explained
from tests.mutants.planted import PLANTED
from tests.mutants.rooms import ROOMS as ALL_ROOMS
from tests.mutants.trial import PLAIN, Copy

TREE: Final = Path(__file__).resolve().parents[2]
NETS: Final = ("checker", "loss meter", "black box", "laws")
ROOMS: Final = (
    *("contribution", "joins", "keys", "kept", "margins", "mechanisms", "prices"),
    *("sampling", "statistics", "sums"),
)
REVIEWED: Final = {
    "bounds of finer groups taken for those of coarser ones": "con1",
    "rows that come counted, and those that leave forgotten": "con2",
    "one row of a group that meets a single row of the other table": "joi2",
    "a weighed column that a join multiplies": "joi3",
    "half a part that is charged to nobody": "parts1",
    "rows that meet their own, charged as if each were by itself": "parts3",
    "values of both signs taken for counts": "top3",
    "groups that a person touches, left out of what their centre moves": "cen1",
    "own keys keep the weight of the first round": "kr1",
    "the cheapest case of a block taken for all of them": "kr2",
    "the rounding of squares of wide integers not paid for": "sq1",
    "rest of change dropped": "lap1",
}
"""Planted by reviews, with the names that they have there."""
_CHEAP: Final = ("release", "keys", "over time", "margins", "part")
_ATTACKS: Final = (
    "count, Gaussian",
    "sum below 0",
    "mean",
    "variance",
    "median",
    "distinct",
)
_ALONE: Final = ("keys alone", "counts", "counts, Gaussian", "sums")
_FIRST: Final = 700_000
_SAMPLES: Final = 100_000
_SURE: Final = "0.999999999"
_PATIENCE: Final = 900.0
_KERNEL: Final = "\nKernel: "
"""What a file of the kernel says of itself."""
_SEEN: Final = re.compile(r"(killed|SURVIVED|UNDECIDED)  (\S+)  (.+)  \d+ s .*")


def main(words: list[str]) -> int:
    """Try planted errors of some rooms, for so many minutes."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.nets")
    parser.add_argument("--rooms", nargs="+", default=ROOMS)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--drawn", type=int, metavar="SEED", help="make errors")
    parser.add_argument("--look", action="store_true", help="look at the tree here")
    parser.add_argument("--laws", type=Path, help="what the laws said, into FILE")
    arguments = parser.parse_args(words)
    if arguments.look:
        return _look(arguments.seeds)
    if arguments.laws is not None:
        return _write_laws(arguments.laws, arguments.out)
    until = time.monotonic() + 60 * arguments.minutes
    seed = "" if arguments.drawn is None else f"--drawn {arguments.drawn} "
    facts: dict[str, Any] = {
        "command": f"python -m tests.mutants.nets {seed}"
        f"--minutes {arguments.minutes:g} --seeds {arguments.seeds}",
        "errors": [],
    }
    if arguments.drawn is not None:
        facts["changes"] = len(_ranked_changes(arguments))
    slipped = 0
    with tempfile.TemporaryDirectory(prefix="nets-") as place:
        for row in _rows(Copy(TREE, Path(place)).place, arguments, until):
            facts["errors"].append(row)
            _say(" ".join(f"{net}: {row[net]};" for net in NETS) + f" {row['says']}")
            slipped += arguments.drawn is not None and slips(row)
            if arguments.out is not None:
                arguments.out.write_text(json.dumps(facts, indent=1) + "\n")
    return int(slipped > 0)


def slips(row: Mapping[str, str]) -> bool:
    """Tell whether no net notices an error that somebody could notice."""
    if row.get("reason"):
        return False
    noticed = ("caught", "raises", "undecided")  # caught, or by a test made since
    return not any(row[net].startswith(noticed) for net in NETS)


def _rows(copy: Path, arguments: Any, until: float) -> Iterator[dict[str, str]]:
    honest = _seen(copy, arguments.seeds)
    if honest is None or "caught" in honest.values():
        raise SystemExit(f"a net catches something where nothing is planted: {honest}")
    made = arguments.drawn is not None
    for error in _drawn_errors(arguments) if made else _planted_errors(arguments):
        if time.monotonic() > until:
            return
        row = {"room": error.room, "says": error.says, "laws": "not asked"}
        if error.reason:
            yield row | dict.fromkeys(NETS, "-") | {"reason": error.reason}
            continue
        path = copy / error.file
        source = path.read_text(encoding="utf-8")
        path.write_text(error.change(source), encoding="utf-8")
        seen = _seen(copy, arguments.seeds)
        if made:
            row["laws"] = _ask_laws(copy, error)
        path.write_text(source, encoding="utf-8")
        if seen is None:
            yield row | dict.fromkeys(NETS[:3], "undecided")
            continue
        checker = _checker(honest["prices"], seen.pop("prices"))
        yield row | {"checker": checker} | seen


@final
class PlantedError(NamedTuple):
    """An error to be tried, and the room whose tests should notice it."""

    room: str
    says: str
    file: str
    change: Callable[[str], str]
    reason: str = ""
    """Why nobody can notice it."""


def _planted_errors(arguments: Any) -> Iterator[PlantedError]:
    chosen = [each for each in PLANTED if each.room in arguments.rooms]
    for each in sorted(chosen, key=lambda each: _rank(each.says)):
        put = methodcaller("replace", each.before, each.after)
        yield PlantedError(each.room, each.says, each.file, put)


def _ranked_changes(arguments: Any) -> list[tuple[str, Change]]:
    """Return rooms with changes of the kernel's lines, all in one drawn order."""
    paths = {
        path: room for room in arguments.rooms for path in ALL_ROOMS[room].paths(TREE)
    }
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    every = [
        (paths[path], change)
        for path, text in texts.items()
        if _KERNEL in text
        for change in changes(str(path.relative_to(TREE)), text)
    ]
    return sorted(every, key=lambda pair: pair[1].rank(arguments.drawn))


def _drawn_errors(arguments: Any) -> Iterator[PlantedError]:
    for room, change in _ranked_changes(arguments):
        if not change.is_python((TREE / change.file).read_text(encoding="utf-8")):
            continue
        before, after = change.before.strip(), change.after.strip()
        says = f"{Path(change.file).name}: `{before}` => `{after}`".replace("|", "or")
        reason = EXPLAINED[change.file, before, after] if is_explained(change) else ""
        yield PlantedError(room, says, change.file, change.applied, reason)


def _ask_laws(copy: Path, error: PlantedError) -> str:
    """Run the tests of a room where the error lies, until one of them notices it."""
    # a process that has loaded nothing of ours: what is loaded would be the true tree
    tests = (error.file, *ALL_ROOMS[error.room].tests)
    try:
        ended = _run(copy, ["pytest", "-x", *PLAIN, *tests])
    except subprocess.TimeoutExpired:
        return "undecided"
    if ended.returncode not in {0, 1}:
        raise RuntimeError(f"the tests did not run: {ended.stdout[-2000:]}")
    return "caught" if ended.returncode else "-"


def _run(copy: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    places = os.pathsep.join([str(copy / "src"), str(copy)])
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": places, "SORDINO_PROFILE": "trial"},
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )


def _rank(says: str) -> tuple[bool, bytes]:
    return says not in REVIEWED, sha256(says.encode()).digest()


def _checker(honest: Drawn, drawn: Drawn) -> str:
    changed = {name: text for name, text in drawn.items() if text != honest.get(name)}
    return "caught" if refused_prices(changed) else "-" if changed else "no price"


def _seen(copy: Path, seeds: int) -> dict[str, Any] | None:
    look = ["tests.mutants.nets", "--look", f"--seeds={seeds}"]
    try:
        ended = _run(copy, look)
    except subprocess.TimeoutExpired:
        return None
    if ended.returncode:
        # what cannot even be asked is noticed by whoever runs it
        return {"prices": {}, "loss meter": "raises", "black box": "raises"}
    seen: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return seen


def _look(seeds: int) -> int:
    warnings.simplefilter("ignore")  # budgets that promise little
    drawn = drawn_here(range(_FIRST, _FIRST + 4 * seeds), _CHEAP)
    drawn |= drawn_here(range(_FIRST, _FIRST + seeds // 8), ["batch", "first few"])
    tally = SuiteTally()
    measure_worlds(tally, iter(range(_FIRST, _FIRST + seeds)), math.inf)
    _say(
        json.dumps({
            "prices": drawn,
            "loss meter": "caught" if tally.findings else "-",
            "black box": "caught" if any(_accusations()) else "-",
        })
    )
    return 0


def _accusations() -> Iterator[bool]:
    """Audit what is honest unless an error is planted; one may raise what it likes."""
    for make in HONEST:
        yield audit_trick(make(), _SAMPLES)["is_broken"]
    for name in _ATTACKS:
        attack = ATTACKS[name]
        without, loss = answers(attack, ())
        with_, _ = answers(attack, attack.added[:1])
        yield sd.audit(without, with_, loss, confidence=_SURE).is_broken
    for name in _ALONE:
        request, noise = KINDS[name]
        yield is_above(shown(1, "0.01", request, noise))


def _write_laws(said: Path, out: Path) -> int:
    """Write what the laws said of each error into the file of the other nets."""
    verdicts = {
        (match[2], match[3]): match[1]
        for match in map(_SEEN.fullmatch, said.read_text("utf-8").splitlines())
        if match
    }
    files = {(each.room, each.says): each.file for each in PLANTED}
    words = {"killed": "caught", "SURVIVED": "-", "UNDECIDED": "undecided"}
    facts = json.loads(out.read_text("utf-8"))
    for row in facts["errors"]:
        verdict = verdicts.get((files[row["room"], row["says"]], row["says"]))
        row["laws"] = words.get(verdict or "", "not asked")
    out.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return 0


def _say(words: str) -> None:
    sys.stdout.write(words + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
