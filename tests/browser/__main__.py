"""Look at pages: `python -m tests.browser build/seen page.html` writes what is seen."""

import sys
from pathlib import Path

from tests.browser.sight import look_at


def main(folder: Path, *pages: Path) -> int:
    """Write each page as pictures and PDF, and print its problems."""
    folder.mkdir(parents=True, exist_ok=True)
    count, write = 0, sys.stdout.write
    for page in pages:
        sight = look_at(page, pictures=True)
        for view, picture in sight.pictures.items():
            ending = "pdf" if view == "print" else "png"
            name = f"{page.stem}-{view.replace(', ', '-')}.{ending}"
            (folder / name).write_bytes(picture)
        write(f"{page}: {len(sight.figures)} figures, {sight.pages} pages printed\n")
        for problem in sight.problems:
            write(f"  {problem.kind} ({'; '.join(problem.views)}): {problem.text}\n")
        count += len(sight.problems)
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
