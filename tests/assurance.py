"""The page of figures: `python -m tests.assurance` writes docs/assurance.md.

    python -m tests.assurance build/audit.json          # by `sordino audit --facts`
    python -m tests.assurance build/inputs.json inputs  # by `python -m tests.hostile`
    python -m tests.assurance build/calls.json calls    # by its `--calls`
    python -m tests.assurance build/nets.json nets      # by `tests.mutants.nets`
    python -m tests.assurance build/drawn.json drawn    # by its `--drawn`

It is made of docs/assurance.json, which keeps these figures, each with the commit of
its run (`--commit`, or the present one) and what else the machine did, and of what is
counted in the tree.
"""

import argparse
import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from sordino import __version__
from tests.effort import EXAMPLES
from tests.ledgers import POINTS
from tests.mutants.nets import NETS, REVIEWED, slips
from tests.mutants.planted import PLANTED
from tests.proof_corpus import CERTIFICATES
from tests.underpriced import underpriced

DOCS: Final = Path(__file__).parents[1] / "docs"
FACTS: Final = DOCS / "assurance.json"
PAGE: Final = DOCS / "assurance.md"
MAKEFILE: Final = DOCS.parent / "Makefile"
LEAST: Final = re.compile(r"^LEAST \?= (\d+)$", re.MULTILINE)
_HEAD: Final = """# Figures of assurance

What was tried to prove Sordino wrong, and what came of it. Written by
`python -m tests.assurance` from [the figures of the last run](assurance.json), which
`make audit` and `make nets` make. A figure without a finding proves nothing; it says
how hard was looked. The audit is of version {version}; {beside}.

| figure | value | command | commit |
|---|---|---|---|
"""
_FOOT: Final = """
What a run looks at, and what it cannot see, stands in [the guide](guides/audit.md);
what was found before, and how to report what you find, in
[SECURITY.md](../SECURITY.md).
"""


def page(facts: Mapping[str, Any]) -> str:
    """Return the page of some figures."""
    meter, commit = facts["meter"], facts["commit"]
    command = f"`{facts['command']}`"
    honest = [each for each in facts["audits"] if not each["planted"]]
    accused = sum(each["is_broken"] for each in honest)
    smallest = facts["smallest_error"]
    found = f"{float(smallest):.0%} less noise" if smallest else "none"
    rows = [
        ("pairs of neighbours measured", f"{meter['pairs']:,}", command),
        ("requests among them", f"{meter['requests']:,}", command),
        ("losses above the charge", str(len(meter["findings"])), command),
        ("largest loss seen to loss charged", f"{meter['largest']:.9f}", command),
        ("median of what moved", f"{meter['median']:.3f}", command),
        ("requests that came nearer than 0.9", f"{meter['near']:.0%}", command),
        *(
            (f"largest, {kind}", f"{row['largest']:.9f}", command)
            for kind, row in meter["kinds"].items()
        ),
        ("honest mechanisms audited, accused", f"{len(honest)}, {accused}", command),
        ("smallest planted error found on answers", found, command),
    ]
    lines = [f"| {name} | {value} | {how} | {commit} |\n" for name, value, how in rows]
    now = facts.get("counted", commit)
    lines += [
        f"| {name} | {count:,} | `{how}` | {now} |\n" for name, count, how in counted()
    ]
    inputs = [*_input_lines(facts.get("inputs")), *_input_lines(facts.get("calls"))]
    nets = [*_net_lines(facts.get("nets")), *_drawn_lines(facts.get("drawn"))]
    head = _HEAD.format(
        version=facts.get("version", ""), beside=facts.get("beside", "")
    )
    return head + "".join([*lines, *inputs, *nets]) + _FOOT


def _input_lines(inputs: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what came of bad inputs and calls, as rows."""
    if inputs is None:
        return
    command, commit = f"`{inputs['command']}`", inputs["commit"]
    tried, refused = sum(inputs["tried"].values()), sum(inputs["refused"].values())
    kinds = ", ".join("distinct call" if k == "call" else k for k in inputs["tried"])
    for name, value in (
        (f"bad inputs tried ({kinds})", f"{tried:,}"),
        ("of them refused by an exception of ours, others answered", f"{refused:,}"),
        ("a foreign error, a charge or too long", f"{sum(inputs['faults'].values())}"),
        ("slowest bad input, CPU seconds", f"{inputs['slowest']:.1f}"),
    ):
        yield f"| {name} | {value} | {command} | {commit} |\n"


_NETS: Final = """
## Which net catches which planted error

Of the errors that are planted for ever in the rooms of prices, rows and mechanisms,
{reviewed} that reviews planted first, then others drawn by their names, as far as the
time went (`{command}`, {commit}): {caught}; slipped through all: {missed}. "No price"
says that no drawn price changed, so that there is nothing for the checker to refuse;
"raises", that a drawn request could not be asked. What the kernel refuses is not sold,
so that neither the meter nor an attacker meets it in this table, and each error met
{seeds} draws of the meter's, where an audit has thousands. The laws are the tests of
the room ({laws}).

| planted error | room | {nets} |
|---|---|{lines}|
"""


def _net_lines(nets: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the table of the nets."""
    if nets is None:
        return
    errors = nets["errors"]
    missed = sum(map(slips, errors))
    listed, lines = " | ".join(NETS), "|".join("---" for _ in NETS)
    yield _NETS.format(
        command=nets["command"],
        commit=nets["commit"],
        laws=nets.get("laws", "`make mutants`"),
        seeds=nets["command"].split()[-1],
        reviewed=sum(row["says"] in REVIEWED for row in errors),
        caught=_caught_words(errors),
        missed=missed or "none",
        nets=listed,
        lines=lines,
    )
    for row in sorted(errors, key=itemgetter("room", "says")):
        verdicts = " | ".join(row[net] for net in NETS)
        yield f"| {row['says']} | {row['room']} | {verdicts} |\n"


_DRAWN: Final = """
Errors that nobody thought of: of the {lines} small changes of lines of the kernel in
these rooms the first {count} in the order of a seed were made, and all four nets asked
of each (`{command}`, {commit}): {caught}; slipped through all: {missed}.
"Caught since" is one that did, and has a test now.

| drawn error | room | {nets} |
|---|---|{marks}|
"""


def _drawn_lines(drawn: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the table of errors that a seed drew."""
    if drawn is None:
        return
    errors = drawn["errors"]
    yield _DRAWN.format(
        lines=f"{drawn['changes']:,}",
        count=len(errors),
        command=drawn["command"],
        commit=drawn["commit"],
        caught=_caught_words(errors),
        missed=sum(map(slips, errors)) or "none",
        nets=" | ".join(NETS),
        marks="|".join("---" for _ in NETS),
    )
    for row in errors:
        verdicts = " | ".join(row[net] for net in NETS)
        reason = f" ({row['reason']})" if row.get("reason") else ""
        yield f"| {row['says']}{reason} | {row['room']} | {verdicts} |\n"


def _caught_words(errors: Sequence[Mapping[str, str]]) -> str:
    counts = {net: sum(row[net] == "caught" for row in errors) for net in NETS}
    return ", ".join(f"{net} {count} of {len(errors)}" for net, count in counts.items())


def counted() -> list[tuple[str, int, str]]:
    """Return what is counted in the tree, and how it is tried."""
    with gzip.open(CERTIFICATES) as lines:
        certificates = sum(1 for _ in lines)
    return [
        (
            "certificates that two checkers agree on",
            certificates,
            "python -m pytest tests/test_second_checker.py",
        ),
        (
            "certificates that cost more than they charge",
            len(underpriced()),
            "python -m pytest tests/test_kernel_alone.py",
        ),
        ("errors planted for ever", len(PLANTED), "make mutants"),
        (
            "points at which a process with a ledger is killed, each three times",
            len(POINTS),
            "python -m pytest tests/unit/ledger/test_ledger_crashes.py",
        ),
        (
            "drawn questions that two engines answer alike, in a night",
            EXAMPLES["night"],
            "python -m pytest tests/laws/test_engine_laws.py",
        ),
        (
            "per cent of lines of losses, noise and ledger that fast tests must reach",
            int(LEAST.findall(MAKEFILE.read_text("utf-8"))[0]),
            "make coverage",
        ),
    ]


def main(words: list[str]) -> None:
    """Keep the figures of a run, of a part or of the audit, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance")
    parser.add_argument("source", type=Path)
    parser.add_argument("part", nargs="?", default="")
    parser.add_argument("--commit", default="", help="of the run, if it is not this")
    parser.add_argument("--beside", default="nothing else ran", help="on the machine")
    given = parser.parse_args(words)
    commit = _commit_of(given.commit or "HEAD")
    fresh = json.loads(given.source.read_text("utf-8")) | {"commit": commit}
    if not given.part:
        fresh |= {"version": __version__, "beside": given.beside}
    before = json.loads(FACTS.read_text("utf-8"))
    facts = before | ({given.part: fresh} if given.part else fresh)
    facts["counted"] = _commit_of("HEAD")
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(facts), encoding="utf-8")


def _commit_of(name: str) -> str:
    git = ["git", "-C", str(DOCS), "rev-parse", "--short=10", name]
    return subprocess.run(
        git, check=True, capture_output=True, text=True
    ).stdout.strip()


if __name__ == "__main__":
    main(sys.argv[1:])
