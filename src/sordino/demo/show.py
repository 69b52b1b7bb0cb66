"""The scenes of the demonstration, in order."""

import tempfile
from pathlib import Path
from typing import Final

from rich.console import Console

from sordino.demo import beneath, clinic, hospital
from sordino.demo.pages import WIDEST

INTRO: Final = """\
[bold]Sordino[/]: statistics about people, with a proof of privacy

Noise is added to every answer, so that no answer betrays whether any one person
is in the data. How much noise is worked out from the question; how much may be
asked in all is a budget, and it is kept."""
OUTRO: Final = """\
Noise was drawn afresh: run this again and the noisy numbers differ, not the
rest. Next: README.md, docs/guides/first-release.md, help(sordino.Session)."""


def main(visits: int = clinic.VISITS, patients: int = clinic.PATIENTS) -> None:
    """Show every scene; picture, ledger and report stay in a new temporary folder."""
    console = Console(highlight=False)
    console.width = min(console.width, WIDEST)
    console.print(INTRO)
    home = Path(tempfile.mkdtemp(prefix="sordino-demo-"))
    ledger = home / "clinic.ledger"
    with tempfile.TemporaryDirectory(prefix="sordino-") as folder:
        path = Path(folder) / "visits.parquet"
        table = hospital.show_data(console, path, visits, patients)
        session = hospital.open_session(console, path, ledger)
        hospital.show_price(console, session)
        release = hospital.show_listed(console, session, table)
        unknown = hospital.show_unlisted(console, session, table)
    hospital.show_spending(console, session, release.loss + unknown.loss)
    session.close()
    hospital.save_picture(console, release, home)
    beneath.show_mechanisms(console)
    beneath.show_thresholds(console)
    beneath.show_curves(console)
    console.print()
    hospital.save_report(console, ledger)
    console.print()
    console.print(OUTRO)
