"""The kernel stands alone: one file, the standard library, hostile input refused."""

import ast
import json
import shutil
import subprocess
import sys
from contextlib import suppress
from decimal import ROUND_DOWN, Context, Inexact, Rounded, localcontext
from pathlib import Path
from typing import Any, Final

import pytest

from sordino import kernel
from sordino.auditing.dice import Dice
from sordino.kernel import checker
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often
from tests.underpriced import COUNT, underpriced

_FILE: Final = Path(checker.__file__)
HONEST: Final = json.dumps({
    "certificate": 1,
    "charge": {"delta": "1/1000000", "epsilon": "1/1"},
    "releases": [
        {
            "by": ["ward"],
            "known": 3,
            "measurements": [
                {
                    "noise": "geometric",
                    "of": "sum",
                    "scale": "6",
                    "totals": [{"cell": {"is": 1}, "factor": 1, "shift": 0}],
                },
                {
                    "noise": "gaussian",
                    "of": "distinct",
                    "columns": ["person"],
                    "scale": ["sqrt", "4000"],
                },
            ],
            "rows": {
                "do": "keep_rows",
                "limit": 3,
                "of": {
                    "columns": ["person", "ward"],
                    "do": "table",
                    "leaves_out": ["without id"],
                    "table": "visits",
                },
                "per": ["person"],
            },
            "unknown": [],
        }
    ],
    "tables": {
        "visits": {"column": "person", "id_space": "p", "protects": "AddRowsWithID"}
    },
})


def test_it_imports_the_standard_library_alone() -> None:
    """Whoever reads this file has read all that a price must be believed by."""
    imported = set()
    for node in ast.walk(ast.parse(_FILE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(node.module or "")
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_it_is_small() -> None:
    """It is read in an afternoon; it never grows unseen."""
    assert len(_FILE.read_text(encoding="utf-8").splitlines()) < 2_250


@for_each("how", ["module", "copied file"])
def test_files_are_checked_alone(how: str, tmp_path: Path) -> None:
    """Exit 0 if all are accepted, 1 if one is refused: of the module and of a copy."""
    copied = tmp_path / "alone.py"
    shutil.copy(_FILE, copied)
    command = ["-m", "sordino.kernel"] if how == "module" else ["-I", str(copied)]
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text(HONEST + "\n" + HONEST, encoding="utf-8")
    bad.write_text(HONEST + "\n" + HONEST.replace('"6"', '"1"'), encoding="utf-8")

    def run(*files: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *command, *map(str, files)],
            capture_output=True,
            text=True,
            check=False,
        )

    assert run(good).returncode == 0
    refused = run(good, bad)
    assert refused.returncode == 1
    assert f"{bad}:2 refused: " in refused.stdout
    assert refused.stdout.count("accepted") == 3
    assert run().returncode == 1
    assert run(tmp_path / "none").returncode == 1


@for_each(
    "hostile",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 100_000,
        '{"certificate": 1}',
        '{"certificate": true, "charge": {}, "tables": {}, "releases": []}',
        HONEST.replace('"6"', '"6e9"'),
        HONEST.replace('"6"', "6.0"),
        HONEST.replace('"6"', '"0"'),
        HONEST.replace('"scale": "6"', '"scale": "1", "scale": "6"'),
        HONEST.replace('"6"', '"-6"'),
        HONEST.replace('"6"', '"6/0"'),
        HONEST.replace('"6"', '"' + "9" * 5_000 + '"'),
        HONEST.replace('"6"', '["sqrt", "-36"]'),
        HONEST.replace('"1/1"', '"-1/1"'),
        HONEST.replace('"1/1"', '"inf"'),
        HONEST.replace('"epsilon"', '"mu"'),
        HONEST.replace('"limit": 3', '"limit": true'),
        HONEST.replace('"limit": 3', '"limit": 1e308'),
        HONEST.replace('"do": "keep_rows"', '"do": "rows"'),
        HONEST.replace('"do": "keep_rows"', '"do": "_rows"'),
        HONEST.replace('"without id"', '"nobody"'),
        HONEST.replace('"certificate": 1', '"certificate": 2'),
        HONEST.replace('"releases": [', '"releases": [{}, '),
        HONEST.replace('"by": ["ward"]', '"by": ["ward", "ward"]'),
        HONEST.replace('"unknown": []', '"unknown": ["ward"]'),
        "9" * (2**24 + 1),
    ],
)
def test_hostile_certificates_are_refused(hostile: str) -> None:
    """Whatever is wrong with one, it is refused, and by no other error."""
    with pytest.raises(kernel.Refused):
        kernel.check(hostile)


def test_what_would_cost_more_is_refused() -> None:
    """Rules that are easily forgotten, each with a certificate that needs it."""
    assert kernel.check(json.dumps(COUNT)) == "sums of epsilons and deltas"
    accepted = []
    for text in underpriced():
        with suppress(kernel.Refused):
            accepted.append((kernel.check(text), text))
    assert accepted == []


def test_ids_under_two_names_may_be_written_anew_under_one() -> None:
    """A price that was refused once of 18,000 that were drawn."""
    body = json.loads(HONEST)
    (release,) = body["releases"]
    table = release["rows"]["of"]
    twice = {"person": {"is": "person"}, "copy": {"is": "person"}}
    twice["ward"] = {"is": "ward"}
    both = {"do": "project", "of": table, "columns": twice}
    for makes in (["copy"], ["person"], ["copy", "person"]):
        made = {"do": "flat_map", "of": both, "makes": makes, "limit": 2}
        per = ["person"] if makes == ["copy"] else ["copy"]
        release["rows"] = {"do": "keep_rows", "limit": 3, "of": made, "per": per}
        release["measurements"][1]["columns"] = per
        verdict = _verdict(json.dumps(body))
        assert (verdict == "the ids are gone") == (len(makes) == 2), verdict
        assert len(makes) == 2 or verdict == "the curve of Gaussian noise"


def test_mutated_certificates_cost_no_more_than_they_charge() -> None:
    """Drawn changes of an honest one: refused, or the same plan with more noise."""
    dice, refused = rolled(5), 0
    tried = often(1_500, 10_000)
    for _ in range(tried):
        body = json.loads(HONEST)
        _mutate(body, dice)
        try:
            kernel.check(json.dumps(body))
        except kernel.Refused:
            refused += 1
    assert refused > tried // 2


def test_settings_of_the_process_change_nothing() -> None:
    """The caller's decimals may have one digit, and round any way: no verdict moves.

    A computation that leaned on them would fail here, as every rounding is trapped. Of
    an epsilon of 150 less than its mu was enough, where 1 - 10**-42 became 1.
    """
    texts = [HONEST, HONEST.replace('"6"', '"2"')]
    for limit, noise in (("mu_squared", "laplace"), ("rho", "geometric")):
        body = json.loads(HONEST)
        body["releases"][0]["measurements"] = body["releases"][0]["measurements"][:1]
        body["releases"][0]["measurements"][0] |= {"noise": noise, "scale": "1/50"}
        charges = ({"charge": {limit: most}} for most in ("140", "900", "2000"))
        texts += [json.dumps(body | charge) for charge in charges]

    def verdicts() -> list[str]:
        checker.check.cache_clear()
        checker.composed_delta.cache_clear()
        return [_verdict(text) for text in texts]

    plain = verdicts()
    hostile = Context(prec=1, rounding=ROUND_DOWN, traps=[Inexact, Rounded])
    with localcontext(hostile):
        assert verdicts() == plain
    accepted = [verdict.startswith(("sums", "the curve")) for verdict in plain]
    assert accepted == [True, False, False, False, True, False, True, True]


def _verdict(text: str) -> str:
    try:
        return checker.check(text)
    except kernel.Refused as refusal:
        return str(refusal)


_ODD: Final[tuple[Any, ...]] = (
    *(None, True, -1, 0, 1, 2**70, 0.5, "", "1/0", "1/3", "x", [], {}, [[]], {"a": 1}),
    *(["sqrt", "0"], "9" * 2_000, "__class__"),
)


def _mutate(part: Any, dice: Dice) -> None:
    """Change, drop or move one thing in it, somewhere."""
    while True:
        keys = list(range(len(part))) if isinstance(part, list) else list(part)
        if not keys:
            return
        key = dice.one(keys)
        inner = part[key]
        if isinstance(inner, (dict, list)) and inner and dice.chance(3, 4):
            part = inner
            continue
        if isinstance(part, dict) and dice.chance(1, 4):
            del part[key]
        else:
            part[key] = dice.one(_ODD)
        return
