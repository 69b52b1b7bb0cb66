"""Machine-checked lemmas: `python -m tests.machine_checked`, or `make proofs`.

Each statement of proofs/*.v is proved by coqc on a copy, and rests on no axiom. Where
coqc is missing nothing is checked, and that is said.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parents[1] / "proofs"
COQC: Final = shutil.which("coqc")
_CLOSED: Final = "Closed under the global context"


def statements(text: str) -> list[str]:
    """Return the names of the lemmas and theorems of a file, helpers aside."""
    return re.findall(r"^(?:Lemma|Theorem) (\w+)", text, re.MULTILINE)


def check(text: str) -> str:
    """Return what is wrong with a file of proofs, or nothing."""
    assert COQC is not None
    names = statements(text)
    # all at once: asked one by one, Coq takes nearly three times as long
    every = ", ".join(f"@{name}" for name in names)
    asked = f"Definition every := ({every}).\nPrint Assumptions every.\n"
    with tempfile.TemporaryDirectory() as place:
        copied = Path(place) / "checked.v"
        copied.write_text(f"{text}\n{asked}", encoding="utf-8")
        command = [COQC, "-q", copied.name]
        run = subprocess.run(
            command, cwd=place, capture_output=True, text=True, check=False, timeout=600
        )
    if run.returncode:
        return run.stderr.strip()
    told = run.stdout.strip()
    return "" if told == _CLOSED else f"rests on an axiom:\n{told}"


def main() -> int:
    """Check all files, and say how many statements hold."""
    if COQC is None:
        sys.stdout.write("coqc is not installed: the lemmas were NOT machine-checked\n")
        return 0
    wrong = total = 0
    for path in sorted(FOLDER.glob("*.v")):
        text = path.read_text(encoding="utf-8")
        found = check(text)
        if found:
            wrong += 1
            sys.stdout.write(f"proofs/{path.name}: {found}\n")
        else:
            total += len(statements(text))
    sys.stdout.write(f"{total} statements of proofs/*.v hold, without an axiom\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
