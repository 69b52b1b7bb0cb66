"""The examples of README and the guides as files, so that type checkers read them.

python -m tests.typing.pages build/pages
"""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

from tests.test_docs import BLOCK, PAGES, ROOT


def main(folder: Path) -> None:
    """Write what a page runs into a file of its name; what it shows is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for page in PAGES:
        blocks = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
        examples = doctest.DocTestParser().get_examples(blocks)
        name = str(page.relative_to(ROOT).with_suffix("")).replace("/", "_")
        code = "".join(example.source for example in examples)
        (folder / f"{name}.py").write_text(code, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
