"""The picture of a report that README shows: `make picture` makes it anew.

The report is a real one, of what `sordino demo clinic` invents, by the commands that
a user types. Its noise is drawn afresh, so the picture changes each time.
"""

import io
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image

from tests.browser.sight import look_at

TARGET: Final = Path(__file__).parents[2] / "docs" / "pictures" / "report.png"
LARGEST: Final = 150_000
_HEIGHT: Final = 900
_COLOURS: Final = 48
_COMMANDS: Final = (
    "demo clinic",
    "release clinic/sordino.toml ward-activity --yes",
    'report clinic/clinic.ledger -o report.html --title "Harbour Clinic"',
)


def report_page(folder: Path) -> Path:
    program = Path(sys.executable).parent / "sordino"
    for command in _COMMANDS:
        words = [str(program), *shlex.split(command)]
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder / "report.html"


def cut_picture(png: bytes) -> bytes:
    """Return the upper part of a page, in few colours."""
    whole = Image.open(io.BytesIO(png)).convert("RGB")
    upper = whole.crop((0, 0, whole.width, _HEIGHT)).quantize(_COLOURS)
    sink = io.BytesIO()
    upper.save(sink, "PNG", optimize=True)
    return sink.getvalue()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sight = look_at(report_page(Path(folder)), pictures=True)
    assert sight.problems == (), sight.problems
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(cut_picture(sight.pictures["desk, light"]))


if __name__ == "__main__":
    main()
