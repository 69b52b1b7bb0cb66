"""Bad inputs from outside: files, SQL, jobs, bodies, forms, ledgers, certificates.

    well formed ── spoiled from a seed ── a door of ours ── an answer, or our refusal

`python -m tests.hostile --count 1000` tries so many of each kind, and prints what came
of them; with `--calls 100000` also so many distinct calls with odd values, which
`tests/malformed.py` draws.
"""

import argparse
import json
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple, final
from urllib.parse import urlencode

import pyarrow as pa
import pyarrow.parquet as pq

import sordino as sd
from sordino.auditing.dice import Dice
from sordino.data.toml import parse_toml
from sordino.errors import InvalidJob, SordinoError
from sordino.kernel import Refused, check
from sordino.ledger.policy_file import read_rules
from sordino.office.form.page import reply_to_form
from sordino.office.job.job import job_of
from sordino.office.job.running import open_to_draft
from sordino.office.service.wire import write_json
from tests.dice import rolled
from tests.malformed import ENGINES, Calls, session, wrong_calls
from tests.policies import ALL_RULES
from tests.served import BUDGET, BY_WARD, COUNT, Office, fields_of, tables

LONGEST: Final = 10.0
"""Seconds of one bad input; a machine may be loaded."""
MOST: Final = 2_000
"""Letters of a refusal."""
_SQL: Final = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(CLAMP(days, 0, 8)) AS d FROM visits GROUP BY ward",
    "SELECT ward, SUM(CASE WHEN days > 3 THEN 1 ELSE 0 END) FROM visits GROUP BY 1",
    (
        "SELECT v.ward, beds, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward "
        "WHERE born < DATE '1980-02-29' AND ward IN ('A', 'B') GROUP BY 1, 2 "
        "HAVING COUNT(*) > 2 ORDER BY 3 DESC LIMIT 5"
    ),
    (
        "WITH s AS (SELECT patient, ward, SUM(days) AS t FROM visits GROUP BY 1, 2) "
        "SELECT ward, MEDIAN(CLAMP(t, 0, 99)) FROM s GROUP BY ROLLUP(ward)"
    ),
    (
        "SELECT EXTRACT(MONTH FROM born) AS m, COUNT(DISTINCT patient) FROM visits "
        "WHERE ward LIKE 'A%' OR REGEXP_MATCHES(ward, '^[a-z]+$') GROUP BY m"
    ),
)
_WITH_OPTIONS: Final = (
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6, "
    "max_groups_contributed = 2, privacy_unit_column = patient) ward, "
    "COUNT(*) AS n FROM visits GROUP BY ward"
)
_JOB: Final = """
schema = 1
[tables.visits]
source = "visits.csv"
format = { delimiter = ",", date = "%Y-%m-%d", null = ["NA"] }
protects = { id = "patient" }
[tables.visits.columns]
"patient" = "i64"
"ward" = "text"
"born" = "date"
[public.wards]
source = "wards.parquet"
[ledger]
path = "x.ledger"
limit = { epsilon = "1", delta = 1e-6 }
[engine]
name = "duckdb"
[releases.wards]
sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
limits.max_groups_per_id = { ward = 2 }
limits.max_rows_per_group_per_id = { ward = 3 }
keys = { ward = ["A", "B"] }
budget = { epsilon = "1/12", delta = "1e-7" }
confidence = 0.9
schedule = "monthly"
out = ["parquet", "csv"]
"""
_CSV: Final = (
    'patient,ward,days,born\n1,A,3,1950-01-01\n2,"B, ""b""",NA,x\n3,,1.5,\n' * 9
)
_ODD: Final = (
    *(b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n\n", b"\t", b'"', b"'", b"\\"),
    *(b"`", b";", b"--", b"/*", b"*/", b"(", b")", b"[", b"]", b"{", b"}", b",", b"="),
    *(b"NULL", b"NaN", b"-1", b"1e999", b"9" * 400, b"0x10", b"1/0", b"true", b"*"),
    *(b"SELECT", b"FROM", b"GROUP BY", b" UNION ALL ", b"OVER ()", b"$$", b"::", b"?"),
    *("\u202e\U0001f600\u00e9".encode(), b"\xc3\x28", b"\\ud800", b"%s", b"{{7*7}}"),
    *(b"../../etc/passwd", b"<script>", b"[tables]", b"inf", b"2026-02-30", b"lambda"),
)


@final
class BadInput(NamedTuple):
    """What is tried, and where it is put in."""

    kind: str
    content: bytes
    put: Callable[[], object]


_WORD: Final = re.compile(rb"[\w.]+|[^\w\s]")


def spoil(content: bytes, dice: Dice) -> bytes:
    """Return a content with a few things wrong in it, most often one."""
    for _ in range(dice.one((1, 1, 1, 2, 4))):
        wrong = _spoil_words if dice.below(2) else _spoil_bytes
        content = wrong(content, dice)[:200_000]
    return content


def _spoil_words(content: bytes, dice: Dice) -> bytes:
    """Put a word in the place of another: one of the same text, or an odd one."""
    places = [match.span() for match in _WORD.finditer(content)] or [(0, 0)]
    begin, end = dice.one(places)
    first, last = dice.one(places)
    word = content[first:last] if dice.below(2) else dice.one(_ODD)
    kept = content[begin:end] if dice.below(3) == 0 else b""
    return content[:begin] + kept + word + content[end:]


def _spoil_bytes(content: bytes, dice: Dice) -> bytes:
    begin = dice.below(len(content) + 1)
    end = min(len(content), begin + dice.one((1, 1, 4, 16, 64)))
    before, piece, after = content[:begin], content[begin:end], content[end:]
    return dice.one((
        before + dice.one(_ODD) + after,
        before + after,
        before + piece * dice.one((2, 3, 200)) + after,
        before + bytes(255 - each for each in piece) + after,
        before or b" ",
    ))


@final
@dataclass(frozen=True)
class Doors:
    """Doors through which something comes from outside, and what is well formed."""

    folder: Path
    session: sd.Session
    office: Office
    whole: dict[str, tuple[bytes, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path) -> "Doors":
        """Open each over invented tables."""
        session = sd.Session(tables(), BUDGET, engine="memory")
        doors = cls(folder, session, Office.open(folder, "ana"))
        doors.whole.update(doors._well_formed())
        return doors

    def _well_formed(self) -> Iterator[tuple[str, tuple[bytes, ...]]]:
        rows = pa.table({
            "patient": [1, 2, None],
            "ward": ["A", "B", None],
            "born": [date(1950, 1, 1)] * 3,
        })
        sink = pa.BufferOutputStream()
        pq.write_table(rows, sink)
        (self.folder / "visits.csv").write_text(_CSV)
        pq.write_table(rows, self.folder / "wards.parquet")
        ledger = self.folder / "whole.ledger"
        with sd.Session(tables(), BUDGET, ledger=ledger, engine="memory") as paid:
            price = paid.price(BY_WARD, sd.ApproxDP(1, "1e-6"))
            paid.release(COUNT, sd.PureDP(1), key="first")
        asked_for = fields_of(self.connection(), BY_WARD, sd.ApproxDP(1, "1e-6"))
        in_text = {"sql": _WITH_OPTIONS, "dialect": "bigquery"}
        form = {
            "file": "visits.csv",
            "of": "visits.csv",
            "id": "patient",
            "group": "ward",
        }
        numbers = {
            "epsilon": "1",
            "delta": "1e-6",
            "groups": "2",
            "rows": "3",
            "part": "9",
        }
        yield "text file", (_CSV.encode(),)
        yield "Parquet file", (sink.getvalue().to_pybytes(),)
        yield "SQL", tuple(text.encode() for text in _SQL)
        yield "job", (_JOB.encode(),)
        yield "policy", (ALL_RULES.encode(),)
        yield "body", (write_json(asked_for), write_json(in_text))
        yield "form", (urlencode(form | numbers | {"count": "yes"}).encode(),)
        yield "ledger", (ledger.read_bytes(),)
        yield "certificate", (price.proof.encode(),)

    def connection(self) -> Any:
        """Return a connection that plans, and sends nothing."""
        import pytest  # noqa: PLC0415 only here

        with pytest.MonkeyPatch.context() as patch:
            return self.office.connect("ana", patch)

    def draw(self, kind: str, dice: Dice) -> BadInput:
        """Draw a bad input of a kind."""
        content = spoil(dice.one(self.whole[kind]), dice)
        verb = dice.one((
            "price",
            "release",
            "what_if",
            "sql",
            "history",
            "answer",
            "x",
        ))
        return self.put(kind, content, verb)

    def put(self, kind: str, content: bytes, verb: str) -> BadInput:
        """Return a content as it is put in; a body is of a verb."""
        act = getattr(self, f"_put_{kind.replace(' ', '_').lower()}")
        return BadInput(kind, content, lambda: act(content, verb))

    def _put_text_file(self, content: bytes, _: str) -> object:
        return self._put_file("bad.csv", content)

    def _put_parquet_file(self, content: bytes, _: str) -> object:
        return self._put_file("bad.parquet", content)

    def _put_file(self, name: str, content: bytes) -> object:
        path = self.folder / name
        path.write_bytes(content)
        rows = sd.PrivateTable(str(path), protects=sd.AddOneRow())
        sd.inspect(str(path))
        with sd.Session({"t": rows}, sd.PureDP(1)) as opened:
            return opened.release(sd.table("t").agg(n=sd.count()), sd.PureDP(1))

    def _put_sql(self, content: bytes, _: str) -> object:
        limits = [sd.MaxGroupsPerID("ward", 2), sd.MaxRowsPerGroupPerID("ward", 2)]
        request = self.session.sql(content.decode(errors="replace"), limits=limits)
        if isinstance(request, dict):
            return self.session.price_all(request, sd.ApproxDP(1, "1e-6"))
        return self.session.price(request, sd.ApproxDP(1, "1e-6"))

    def _put_job(self, content: bytes, _: str) -> object:
        text = content.decode(errors="replace")
        values = parse_toml(text, "the job", InvalidJob, "an example")
        job = job_of(values, self.folder / "job.toml")
        desk = open_to_draft(job)
        with desk.session:
            return [desk.price(plan) for plan in job.releases.values()]

    def _put_policy(self, content: bytes, _: str) -> object:
        return read_rules(content.decode(errors="replace"))

    def _put_body(self, content: bytes, verb: str) -> object:
        spent = self.office.session.spent
        reply = self.office.ask("ana", verb, content)
        if reply.status != 200:
            assert self.office.session.spent == spent, "charged, and refused"
            refusal = json.loads(reply.content)["refusal"]
            assert refusal["kind"] != "EngineFailure", "what is not ours"
        return reply

    def _put_form(self, content: bytes, _: str) -> object:
        reply = reply_to_form(self.folder, content)
        assert reply.status in {200, 400}
        return reply

    def _put_ledger(self, content: bytes, _: str) -> object:
        path = self.folder / "bad.ledger"
        path.write_bytes(content)
        with sd.Ledger.read(path) as ledger:
            return ledger.verify()

    def _put_certificate(self, content: bytes, _: str) -> object:
        return check(content.decode(errors="replace"))


@final
@dataclass(frozen=True)
class Tally:
    """What came of the bad inputs of a kind."""

    tried: int
    refused: int
    slowest: float
    """Seconds of one, by the process's own clock."""
    faults: tuple[str, ...]


def try_bad_inputs(doors: Doors, kind: str, count: int, seed: int = 0) -> Tally:
    """Put so many different bad inputs of a kind in, and say what came of each."""
    seen: set[bytes] = set()
    refused, slowest, faults = 0, 0.0, list[str]()
    place = seed * 1_000_003
    while len(seen) < count:
        place += 1
        bad = doors.draw(kind, rolled(place))
        if bad.content in seen:
            continue
        seen.add(bad.content)
        charged, began = len(doors.session.history()), time.process_time()
        outcome = fault_of(bad)
        seconds = time.process_time() - began
        refused, slowest = refused + (outcome is not None), max(slowest, seconds)
        told = outcome or ""
        if seconds > LONGEST:
            told = f"{seconds:.1f} seconds"
        if len(doors.session.history()) != charged:
            told = "something was charged"
        faults += [f"{kind} {place}: {told}"] if told else []
    return Tally(len(seen), refused, slowest, tuple(faults))


def try_calls(count: int, seed: int) -> Tally:
    """Make so many distinct calls with odd values, on the two engines in turn."""
    refused, slowest, faults, made = 0, 0.0, list[str](), 0
    for place, engine in enumerate(ENGINES):
        calls = Calls(session(engine), 2 * seed + place)
        while len(calls.made) < count // len(ENGINES):
            began = time.process_time()
            faults += wrong_calls(calls, 1)
            slowest = max(slowest, time.process_time() - began)
        refused, made = refused + calls.refused, made + len(calls.made)
    return Tally(made, refused, slowest, tuple(faults))


def fault_of(bad: BadInput) -> str | None:
    """Say what is wrong with a refusal, "" if nothing is; None for an answer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bad.put()
    except (SordinoError, Refused) as refusal:
        length = len(str(refusal))
        return f"a refusal of {length} letters" if length > MOST else ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 a panic of a library is no Exception
        return traceback.format_exc(limit=-4)
    return None


def main(words: list[str]) -> int:
    """Try each kind, and print a line of JSON: how many, how slow, what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile")
    parser.add_argument("--count", type=int, default=1000, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", default=[])
    parser.add_argument("--out", type=Path, help="a file for the figures")
    arguments = parser.parse_args(words)
    warnings.simplefilter("ignore")  # budgets that promise little
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        doors = Doors.open(Path(place))
        tallies = {
            kind: try_bad_inputs(doors, kind, arguments.count, arguments.seed)
            for kind in arguments.kinds or doors.whole
        }
    if arguments.calls:
        tallies["call"] = try_calls(arguments.calls, arguments.seed)
    for tally in tallies.values():
        for fault in tally.faults:
            sys.stderr.write(f"{fault}\n")
    figures: dict[str, Any] = {
        "command": f"python -m tests.hostile --count {arguments.count} "
        f"--seed {arguments.seed}"
        + (f" --kinds {' '.join(arguments.kinds)}" if arguments.kinds else "")
        + (f" --calls {arguments.calls}" if arguments.calls else ""),
        "tried": {kind: tally.tried for kind, tally in tallies.items()},
        "refused": {kind: tally.refused for kind, tally in tallies.items()},
        "slowest": round(max(tally.slowest for tally in tallies.values()), 3),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "faults": Counter(
            kind for kind, tally in tallies.items() for _ in tally.faults
        ),
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(figures), encoding="utf-8")
    return int(any(tally.faults for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
