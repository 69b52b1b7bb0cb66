"""Both checkers of certificates judge the published corpus alike (needs node).

docs/proofs/checker.mjs was written from the documents, the kernel by others: a rule
that both have wrong is wrong in the document.
"""

import json
import random
import shutil
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import sordino as sd
from sordino.kernel import Refused, check
from tests.batches import for_each, sampled
from tests.dice import rolled
from tests.drawn_prices import prices, weakened
from tests.effort import by_night, often
from tests.proof_corpus import (
    SECOND,
    SIZE,
    Judged,
    altered,
    first_verdict,
    read_corpus,
    second_verdicts,
)
from tests.underpriced import COUNT, underpriced

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None,
    reason="NO NODE: the second checker is not run (apt-get install nodejs)",
)

_corpus = cache(read_corpus)


def _disagreements(judged: Sequence[Judged], checker: Path = SECOND) -> list[str]:
    """Certificates whose verdict is not the one that a second checker comes to."""
    found = second_verdicts([text for text, _ in judged], checker)
    pairs = zip(judged, found, strict=True)
    return [text for (text, verdict), second in pairs if verdict != second]


def _sample(size: int) -> list[Judged]:
    """A sample of the corpus, another one each day."""
    day = random.Random(datetime.now(UTC).date().isoformat())
    return day.sample(_corpus(), size)


def test_corpus_holds_every_kind() -> None:
    """Honest and altered, about half of each, and all kinds that the format has."""
    accepted = sum(verdict == "accepted" for _, verdict in _corpus())
    assert len(_corpus()) == SIZE
    assert SIZE // 3 < accepted < SIZE * 2 // 3
    for kind in (
        *('"parts":', '"blocks":', '"margins":', '"rounds":', '"first":', '"choices":'),
        *('"coverage":', '"presence":', '"of":"running"', '"of":"centred"'),
        *('"of":"together"', '"of":"bins"', '"of":"distinct"', '"do":"part"'),
        *('"AddOneRow"', '"AddMaxRows"', '"AddMaxRowsInMaxGroups"', '"ChangeOneRow"'),
        *('"AddMaxTotal"', '"AddRowsWithID"', '"do":"one_per"', '"do":"join"'),
        *('"charge":{"epsilon"', '"charge":{"rho"', '"charge":{"mu_squared"'),
    ):
        verdicts = {verdict for text, verdict in _corpus() if kind in text}
        assert verdicts == {"accepted", "refused"}, kind


def test_both_checkers_agree() -> None:
    """A sample of each day: the kernel and the second checker say what is published."""
    sample = _sample(often(100, 1_000))
    assert [text for text, verdict in sample if first_verdict(text) != verdict] == []
    assert _disagreements(sample) == []


@by_night
def test_both_checkers_agree_on_all() -> None:
    """The whole corpus, and prices that were never published."""
    assert [t for t, verdict in _corpus() if first_verdict(t) != verdict] == []
    assert _disagreements(_corpus()) == []
    seed = datetime.now(UTC).date().toordinal() * 1_000
    dice = rolled(seed)
    drawn = [text for n in range(300) for _, text in prices(rolled(seed + n))]
    worse = [text for text in (altered(text, dice) for text in drawn) if text]
    judged = [(text, first_verdict(text)) for text in (*drawn, *worse)]
    unlike = _disagreements(judged)
    # composed curves may differ by a hair
    assert [text for text in unlike if not _is_composed(text)] == []


def _is_composed(text: str) -> bool:
    try:
        return "composed" in check(text)
    except Refused as refusal:
        return refusal.is_loose


_HONEST: Final = json.dumps(COUNT)


def test_hostile_input_is_refused() -> None:
    """Nothing that is no certificate is accepted, or takes long, or is rounded."""
    large = 2**53 + 1
    hostile = [
        *("", "null", "[]", "{}", "[" * 100_000, '{"a":' * 100_000, "\ufeff" + _HONEST),
        *(_HONEST + "x", _HONEST[:-1], _HONEST[:-1] + ', "certificate": 1}'),
        _HONEST.replace('"max_rows": 2', '"max_rows": 2.0'),
        _HONEST.replace('"max_rows": 2', '"max_rows": 2e0'),
        _HONEST.replace('"max_rows": 2', '"max_rows": true'),
        _HONEST.replace('"max_rows": 2', '"max_rows": "1"'),
        _HONEST.replace('"max_rows": 2', f'"max_rows": {large}'),
        _HONEST.replace('"max_rows": 2', f'"max_rows": {"9" * 100_000}'),
        _HONEST.replace('"max_rows": 2', '"max_rows": 3'),
        _HONEST.replace('"1/1"', f'"1/{large}"'),
        _HONEST.replace('"1/1"', '"1/0"'),
        _HONEST.replace('"1/1"', '"-1"'),
        _HONEST.replace('"1/1"', '"１"'),
        _HONEST.replace('"1/1"', '"NaN"'),
        _HONEST.replace('"scale": "2"', '"scale": "0"'),
        _HONEST.replace('"scale": "2"', f'"scale": "1/{"9" * 1_400}"'),
        _HONEST.replace('"sum"', '"__proto__"'),
        _HONEST.replace('"do": "table"', '"do": "constructor"'),
    ]
    assert second_verdicts([_HONEST]) == ["accepted"]
    assert second_verdicts(hostile) == ["refused"] * len(hostile)


def test_what_would_cost_more_is_refused() -> None:
    """Rules that are easily forgotten, each with a certificate that needs it."""
    texts = underpriced()
    assert second_verdicts(texts) == ["refused"] * len(texts)


def test_checker_runs_without_node() -> None:
    """In a browser: nothing of node is touched where the file is imported."""
    script = f"""
        globalThis.process = undefined;
        const {{ check }} = await import({json.dumps(SECOND.as_uri())});
        console.log(check({json.dumps(_HONEST)}));
    """
    run = subprocess.run(
        ["node", "--input-type=module", "--eval", script],  # noqa: S607 wherever it is
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert run.stdout == "sums of epsilon\n"


def test_sums_over_a_public_number_of_rows() -> None:
    """Sums of a table whose number of rows is public, which no drawn world has."""
    pay = sd.Column("i64", nullable=False)
    table = sd.PrivateTable(
        {"pay": [31, 44, 52] * 9}, protects=sd.ChangeOneRow(), columns={"pay": pay}
    )
    texts = []
    for budget in (sd.PureDP(1), sd.ZCDP("1/10"), sd.GaussianDP("1/2")):
        session = sd.Session({"staff": table}, budget=budget)
        for number in (sd.mean("pay", 0, 100), sd.variance("pay", 0, 100)):
            query = sd.table("staff").agg(n=sd.count(), pay=number)
            proof = session.price(query, budget).proof
            assert proof is not None
            worse = weakened(proof, rolled(1), Fraction(98, 100))
            assert worse is not None
            texts += [proof, worse]
    assert any('"sized"' in text for text in texts)
    verdicts = [first_verdict(text) for text in texts]
    assert verdicts == ["accepted", "refused"] * 6
    assert second_verdicts(texts) == verdicts


@sampled(8, 16)
@for_each(
    "rule",
    [
        ("Bounds(2n), each: 1n", "Bounds(1n), each: 1n", '"ChangeOneRow"'),
        ("product(this.n, m), this.groups", "this.n, this.groups", '"flat_map"'),
        ("move.squares.over(variance)", "move.l1.over(variance)", '"gaussian"'),
        ("steps = far.ceil();", "steps = far.ceil() + 2n;", '"presence"'),
        ("rowMove(this.by).times(whole(m), m)", "rowMove(this.by)", '"do":"part"'),
        ("isWithin(bestCover(covers).blocks, charged)", "true", '"blocks"'),
        ("let width = largest.times(TWO)", "let width = largest", '"first"'),
    ],
)
def test_changed_rules_are_noticed(rule: tuple[str, str, str], tmp_path: Path) -> None:
    """Planted: a second checker with one rule changed is not the same."""
    old, new, kind = rule
    text = SECOND.read_text(encoding="utf-8")
    assert text.count(old) == 1
    changed = tmp_path / "checker.mjs"
    changed.write_text(text.replace(old, new), encoding="utf-8")
    assert _disagreements(
        [each for each in _corpus() if kind in each[0]][:120], changed
    )
