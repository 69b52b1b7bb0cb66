"""The page of figures: `python -m tests.assurance` writes docs/assurance.md.

    python -m tests.assurance build/audit.json          # by `sordino audit --facts`
    python -m tests.assurance build/inputs.json inputs  # by `python -m tests.hostile`
    python -m tests.assurance build/nets.json nets      # by `tests.mutants.nets`

It is made of docs/assurance.json, which keeps these figures, each with its commit, and
of what is counted in the tree.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any, Final

from tests.mutants.nets import NETS
from tests.mutants.planted import PLANTED
from tests.proof_corpus import CERTIFICATES
from tests.underpriced import underpriced

DOCS: Final = Path(__file__).parents[1] / "docs"
FACTS: Final = DOCS / "assurance.json"
PAGE: Final = DOCS / "assurance.md"
_HEAD: Final = """# Figures of assurance

What was tried to prove Sordino wrong, and what came of it. Written by
`python -m tests.assurance` from [the figures of the last run](assurance.json), which
`make audit` and `make nets` make. A figure without a finding proves nothing; it says
how hard was looked.

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
    inputs, nets = _input_lines(facts.get("inputs")), _net_lines(facts.get("nets"))
    return _HEAD + "".join([*lines, *inputs, *nets]) + _FOOT


def _input_lines(inputs: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what came of bad inputs, as rows."""
    if inputs is None:
        return
    command, commit = f"`{inputs['command']}`", inputs["commit"]
    tried, refused = sum(inputs["tried"].values()), sum(inputs["refused"].values())
    kinds = ", ".join(inputs["tried"])
    for name, value in (
        (f"bad inputs tried ({kinds})", f"{tried:,}"),
        ("of them refused by an exception of ours, others answered", f"{refused:,}"),
        ("a foreign error, a charge or too long", f"{sum(inputs['faults'].values())}"),
        ("slowest bad input, CPU seconds", f"{inputs['slowest']:.1f}"),
    ):
        yield f"| {name} | {value} | {command} | {commit} |\n"


_NETS: Final = """
## Which net catches which planted error

Of the errors that are planted for ever in the rooms of prices and mechanisms, drawn by
their names as far as the time went (`{command}`, {commit}): {caught}. The fourth net is
the laws, which must notice each (`make mutants`). "No price" says that no drawn price
changed, so that there is nothing for the checker to refuse.

| planted error | room | {nets} |
|---|---|{lines}|
"""


def _net_lines(nets: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the table of the nets."""
    if nets is None:
        return
    errors = nets["errors"]
    counts = {net: sum(row[net] == "caught" for row in errors) for net in NETS}
    caught = ", ".join(
        f"the {net} catches {count} of {len(errors)}" for net, count in counts.items()
    )
    listed, lines = " | ".join(NETS), "|".join("---" for _ in NETS)
    yield _NETS.format(
        command=nets["command"],
        commit=nets["commit"],
        caught=caught,
        nets=listed,
        lines=lines,
    )
    for row in sorted(errors, key=itemgetter("room", "says")):
        verdicts = " | ".join(row[net] for net in NETS)
        yield f"| {row['says']} | {row['room']} | {verdicts} |\n"


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
    ]


def main(source: Path, part: str = "") -> None:
    """Keep the figures of a run, of a part or of the audit, and write the page."""
    git = ["git", "-C", str(DOCS), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    fresh = json.loads(source.read_text("utf-8")) | {"commit": commit.strip()}
    before = json.loads(FACTS.read_text("utf-8"))
    facts = before | ({part: fresh} if part else fresh) | {"counted": commit.strip()}
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(facts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
