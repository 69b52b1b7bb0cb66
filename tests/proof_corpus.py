"""The published corpus of certificates: `python -m tests.proof_corpus` writes it anew.

Drawn prices of every kind, each honest and altered once: less noise, less charge, a
larger limit, rows that are not left out, a block that does not pay. Verdicts are the
kernel's; both checkers are asked for each, and certificates that they judge unlike are
printed and left out: of composed curves alone, by a hair.
"""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import count as count_from
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

from sordino.auditing.dice import Dice
from sordino.kernel import Refused, check
from tests.dice import rolled
from tests.drawn_prices import prices, weakened

ROOT: Final = Path(__file__).parent.parent
SECOND: Final = ROOT / "docs" / "proofs" / "checker.mjs"
FOLDER: Final = ROOT / "docs" / "proofs" / "corpus"
CERTIFICATES: Final = FOLDER / "certificates.jsonl.gz"
VERDICTS: Final = FOLDER / "verdicts.txt.gz"
SIZE: Final = 10_000
_SEED: Final = 470_000
_LONGEST: Final = 1_500
_FACTORS: Final = (
    Fraction(1, 2),
    Fraction(9, 10),
    Fraction(98, 100),
    Fraction(1001, 1000),
)

Json: TypeAlias = Any
Judged: TypeAlias = tuple[str, str]
"""A certificate, and `accepted` or `refused`."""


def read_corpus() -> list[Judged]:
    """The published certificates with their verdicts."""
    texts, verdicts = (
        gzip.decompress(path.read_bytes()).decode().splitlines()
        for path in (CERTIFICATES, VERDICTS)
    )
    return [*zip(texts, verdicts, strict=True)]


def first_verdict(text: str) -> str:
    """What the kernel says of a certificate."""
    try:
        check(text)
    except Refused:
        return "refused"
    return "accepted"


def second_verdicts(texts: Iterable[str], checker: Path = SECOND) -> list[str]:
    """What the second checker says of certificates; needs node."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificates"
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        run = subprocess.run(
            ["node", str(checker), str(path)],  # noqa: S607 wherever node is installed
            capture_output=True,
            check=False,
            encoding="utf-8",
        )
    return [line.split(" ")[1].rstrip(":") for line in run.stdout.splitlines()]


def altered(text: str, dice: Dice) -> str | None:
    """One thing of a certificate changed, mostly for the worse; None if it has none."""
    way = dice.one([_less_noise] * 6 + [_less_charge, _more_rows, _nobody_left_out])
    changed = way(text, dice)
    return None if changed is None else _short(json.loads(changed))


def _less_noise(text: str, dice: Dice) -> str | None:
    return weakened(text, dice, dice.one(_FACTORS))


def _less_charge(text: str, dice: Dice) -> str | None:
    body = json.loads(text)
    charge = body["charge"]
    name = dice.one([name for name, amount in charge.items() if amount != "inf"])
    charge[name] = str(Fraction(charge[name]) * Fraction(99, 100))
    return json.dumps(body)


def _more_rows(text: str, dice: Dice) -> str | None:
    """Raise a limit of a step or of a unit by one."""
    body = json.loads(text)
    names = {
        "limit",
        "max_rows",
        "max_total",
        "max_groups",
        "max_rows_per_group",
        "most",
    }
    places = [
        (part, name)
        for part in _objects(body)
        for name in sorted(names & {*part})
        if isinstance(part[name], int)
    ]
    if not places:
        return None
    part, name = dice.one(places)
    part[name] += 1
    return json.dumps(body)


def _nobody_left_out(text: str, dice: Dice) -> str | None:
    body = json.loads(text)
    tables = [part for part in _objects(body) if part.get("leaves_out")]
    if not tables:
        return None
    dice.one(tables)["leaves_out"] = []
    return json.dumps(body)


def in_blocks(text: str, dice: Dice, *, all_pay: bool) -> str | None:
    """The same certificate over tables that lie in blocks of the column h."""
    body = json.loads(text)
    if "parts" in body:
        return None
    ends = [[str(n), ["i64", str(n)], ["i64", str(n)]] for n in range(3)]
    layouts: Json = {}
    for name in body["tables"]:
        in_one = dice.chance(1, 3)
        layouts[name] = None if in_one else {"column": "h", "ends": ends}
    for release in body["releases"]:
        release["rows"] = _only_open(release["rows"], layouts)
        for count in release.get("coverage", []):
            if "rows" in count:
                count["rows"] = _only_open(count["rows"], layouts)
    blocks = {
        n for each in layouts.values() for n in (["*"] if each is None else "012")
    }
    paying = sorted(blocks)
    if not all_pay:
        paying.remove(dice.one(paying))
    body["blocks"] = {"tables": layouts, "charged": paying}
    return _short(body)


def _only_open(node: Json, layouts: Json) -> Json:
    """Return a plan whose tables are filtered to their open blocks."""
    if node["do"] in {"table", "unreadable"} and layouts.get(node["table"]):
        values = [["i64", str(n)] for n in range(3)]
        test = {"test": "in", "column": "h", "starts": [], "values": values}
        return {"do": "filter", "of": node, "reads": ["h"], "condition": test}
    sides = {"of", "left", "right"} & {*node}
    return node | {side: _only_open(node[side], layouts) for side in sides}


def _objects(part: Json) -> Iterator[dict[str, Json]]:
    values = part.values() if isinstance(part, dict) else part
    if isinstance(part, dict):
        yield part
    if isinstance(part, dict | list):
        for each in values:
            yield from _objects(each)


def _short(body: Json) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"))


def _drawn() -> Iterator[str]:
    """Draw certificates, each with an altered one after it."""
    for seed in count_from(_SEED):
        dice = rolled(-seed)
        for _, text in prices(rolled(seed)):
            if len(text) > _LONGEST:
                continue
            yield text
            if dice.chance(1, 12):
                others = [in_blocks(text, dice, all_pay=pay) for pay in (True, False)]
            else:
                others = [altered(text, dice)]
            yield from filter(None, others)


def _judged() -> Iterator[Judged]:
    """Judge what is drawn by both checkers, some hundreds at a time."""
    drawn = _drawn()
    while batch := [*islice(drawn, 500)]:
        for text, second in zip(batch, second_verdicts(batch), strict=True):
            if (first := first_verdict(text)) == second:
                yield text, first
            else:
                sys.stdout.write(
                    f"left out: {first}, and {second} by the other: {text}\n"
                )


def main() -> None:
    """Write the corpus."""
    judged = [*islice(_judged(), SIZE)]
    FOLDER.mkdir(exist_ok=True)
    for path, place in ((CERTIFICATES, 0), (VERDICTS, 1)):
        lines = "".join(f"{each[place]}\n" for each in judged)
        path.write_bytes(gzip.compress(lines.encode(), mtime=0))
    accepted = sum(verdict == "accepted" for _, verdict in judged)
    sys.stdout.write(f"{accepted} accepted, {len(judged) - accepted} refused\n")


if __name__ == "__main__":
    main()
