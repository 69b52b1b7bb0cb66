"""The index of decision records, which `python -m tests.decisions` writes."""

import re
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent.parent / "docs" / "adr"
HEAD: Final = """# Decision records

What was decided, when there was a choice, and why: history, in the words of its day.
Paths in older records are those of then. What holds now stands in
[the guides](../guides), [the proofs](../proofs) and
[CONTRIBUTING](../../CONTRIBUTING.md); nobody needs the records to understand the house.
Written by `python -m tests.decisions`.

| number | decision | status |
|---|---|---|
"""


def index() -> str:
    """Return the index: number, title and status of each record."""
    rows = []
    for path in sorted(FOLDER.glob("[0-9]*.md")):
        text = path.read_text(encoding="utf-8")
        number, title = re.findall(r"^# (\d+)\. (.*)$", text, re.MULTILINE)[0]
        told = re.findall(r"^Status: (.*?)\.?\n\n", text, re.MULTILINE | re.DOTALL)
        status = " ".join(told[0].split()) if told else "accepted"
        rows.append(f"| {number} | [{title}]({path.name}) | {status} |\n")
    return HEAD + "".join(rows)


if __name__ == "__main__":
    (FOLDER / "README.md").write_text(index(), encoding="utf-8")
