"""The page of figures: `python -m tests.assurance` writes docs/assurance.md.

It is made of docs/assurance.json, which `sordino audit --facts` wrote, and of what is
counted in the tree; the commit is that of the figures.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.mutants.planted import PLANTED
from tests.proof_corpus import CERTIFICATES
from tests.underpriced import underpriced

DOCS: Final = Path(__file__).parents[1] / "docs"
FACTS: Final = DOCS / "assurance.json"
PAGE: Final = DOCS / "assurance.md"
_HEAD: Final = """# Figures of assurance

What was tried to prove Sordino wrong, and what came of it. Written by
`python -m tests.assurance` from [the figures of the last run](assurance.json), which
`make audit` makes. A figure without a finding proves nothing; it says how hard was
looked.

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
        *((name, f"{count:,}", f"`{how}`") for name, count, how in counted()),
    ]
    lines = [f"| {name} | {value} | {how} | {commit} |\n" for name, value, how in rows]
    return _HEAD + "".join(lines) + _FOOT


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


def main(source: Path) -> None:
    """Keep the figures of a run, and write the page."""
    git = ["git", "-C", str(DOCS), "rev-parse", "--short=10", "HEAD"]
    commit = subprocess.run(git, check=True, capture_output=True, text=True).stdout
    facts = json.loads(source.read_text("utf-8")) | {"commit": commit.strip()}
    FACTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(facts), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
