"""The main scenes: one table, one budget, and answers by ward."""

from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

import sordino as sd
from sordino.demo import clinic
from sordino.demo.pages import (
    columns,
    pair_table,
    print_heading,
    print_indented,
    query_text,
    short_number,
)
from sordino.losses.headline import headline
from sordino.release.whole_files import write_text
from sordino.report.ledger_story import ledger_report

BUDGET: Final = sd.ApproxDP(2, "1e-6")
KNOWN: Final = sd.ApproxDP(1, "2e-7")
UNKNOWN: Final = sd.ApproxDP("0.75", "5e-7")
SHOWN: Final = ("Emergency", "Cardiology", "Urology", "Burns", *clinic.RARE)
_ROWS: Final = sd.table("visits").filter(sd.col("age") >= 18)
_BOUNDED: Final = _ROWS.enforce(
    sd.MaxGroupsPerID("ward", 3), sd.MaxRowsPerGroupPerID("ward", 5)
)
_NONE: Final = (0, None)
"""Of a ward without patients."""
_ASKED: Final[dict[str, Any]] = {
    "patients": sd.count_ids(),
    "days": sd.mean("days", 0, 30),
}


def by_known() -> Any:
    """Return the questions about the wards of a public list."""
    wards = sd.KeySet.from_dict({"ward": list(clinic.WARDS)})
    return _BOUNDED.group_by(wards).agg(**_ASKED)


def by_unknown() -> Any:
    """Return the same questions about wards that nobody listed."""
    return _BOUNDED.group_by("ward").agg(**_ASKED)


def show_data(console: Console, path: Path, visits: int, patients: int) -> pa.Table:
    """Make the table, and say what is in it."""
    summary = (
        TextColumn("inventing visits"),
        BarColumn(40),
        TextColumn("{task.completed:,}"),
    )
    with Progress(*summary, console=console, transient=True) as progress:
        task = progress.add_task("", total=visits)
        table = clinic.write_visits(
            path, visits, patients, lambda done: progress.advance(task, done)
        )
    print_heading(
        console,
        "A table of people",
        f"A hospital has a table of {visits:,} visits, invented here. It wants to\n"
        "publish numbers by ward, and nobody may learn who was a patient.",
    )
    first_rows = columns(*table.column_names)
    for row in table.slice(0, 3).to_pylist():
        first_rows.add_row(*map(str, row.values()))
    first_rows.add_row("...")
    console.print(first_rows)
    return table


def open_session(console: Console, path: Path, ledger: Path) -> sd.Session:
    """Open a session, and say whom it protects and what it may spend."""
    session = sd.Session(
        tables={"visits": sd.PrivateTable(path, protects=sd.AddRowsWithID("patient"))},
        budget=BUDGET,
        ledger=ledger,
        who="the demonstration",
    )
    console.print()
    console.print(
        pair_table([
            ("protected", "a patient with all their visits, however many"),
            ("budget", f"{BUDGET!r}: all answers together"),
        ])
    )
    return session


def show_price(console: Console, session: sd.Session) -> None:
    """Show a question and its price, before any data is read."""
    print_heading(
        console,
        "The price comes first",
        "What an answer costs, and how far it will be off, follows from the question\n"
        "alone: here no data has been read yet.",
    )
    query = by_known()
    print_indented(console, query_text(query))
    console.print()
    price = session.price(query, KNOWN)
    table = columns("asked", "a patient moves it by", "noise", "95% are within")
    for name, error in price.errors.items():
        mechanism: Any = price.noise[name][0]
        change: Any = price.sensitivity[name]
        unit = " / visits" if error.unit else ""
        table.add_row(
            f"{name}, summed" if unit else name,
            f"{float(change.l1):g} in all",
            f"{type(mechanism).__name__}, scale {float(mechanism.scale):.4g}",
            f"± {error.half_width:,.0f}{unit}",
        )
    console.print(table)
    console.print()
    console.print(pair_table([("price", headline(price.loss, KNOWN))]))


def show_listed(console: Console, session: sd.Session, table: pa.Table) -> sd.Release:
    """Release numbers for every ward of a public list."""
    print_heading(
        console,
        "Wards from a public list",
        "Every ward of the list has a row, so the rows tell nothing: a ward without\n"
        "any patient looks like a ward with one. (Exact numbers are shown as these\n"
        "patients are invented.)",
    )
    release = session.release(by_known(), KNOWN, key="listed wards")
    console.print(_compare(release, table, (*SHOWN, clinic.CLOSED)))
    console.print()
    print_indented(console, f"and {len(release) - len(SHOWN) - 1} more wards")
    print_indented(console, f"price: {release.price}")
    return release


def show_unlisted(console: Console, session: sd.Session, table: pa.Table) -> sd.Release:
    """Release numbers for wards that come from the data."""
    print_heading(
        console,
        "Wards that nobody listed",
        "Where names come from the data, a rare name betrays a patient by standing\n"
        "there at all. A ward is shown when its noisy number of patients is large.",
    )
    query = by_unknown()
    release = session.release(query, UNKNOWN, key="wards nobody listed")
    console.print(_compare(release, table, SHOWN))
    console.print()
    (threshold,) = session.price(query, UNKNOWN).thresholds
    wards = len(set(table["ward"].to_pylist()))
    print_indented(
        console,
        f"{len(release)} of {wards} wards are shown: those with {float(threshold):.0f} "
        "patients or more, noise included",
    )
    print_indented(console, f"price: {release.price}")
    return release


def show_spending(console: Console, session: sd.Session, whole: sd.Loss) -> None:
    """Show what is left, what it all means, and that too much is refused."""
    print_heading(
        console,
        "What it means, and what is left",
        "Epsilon persuades nobody. Both releases together, as an attacker who knows\n"
        "all other patients would use them:",
    )
    for sentence in whole.explain().splitlines():
        print_indented(console, sentence)
    console.print()
    console.print(
        pair_table([("spent", repr(session.spent)), ("left", repr(session.remaining))])
    )
    try:
        session.release(by_known(), BUDGET)
    except sd.errors.BudgetExceeded as refusal:
        console.print(pair_table([("refused", str(refusal))]))


def save_picture(console: Console, release: sd.Release, folder: Path) -> Path:
    """Save a picture of the largest wards, and say where."""
    path = folder / "wards.png"
    figure: Any = release.plot("patients", "days", top=20)
    figure.savefig(path, dpi=110)
    console.print(pair_table([("picture", str(path))]))
    return path


def save_report(console: Console, ledger: Path) -> Path:
    """Save what a reader should know of all that was released, and say where."""
    path = ledger.with_name("report.html")
    with sd.Ledger.at(ledger) as opened:
        write_text(path, ledger_report(opened, "The clinic of the demonstration", "en"))
    console.print(pair_table([("report", f"{path} (for a browser)")]))
    return path


def _compare(release: sd.Release, table: pa.Table, wards: tuple[str, ...]) -> Table:
    """Return noisy numbers beside the exact ones, dashes where a ward is not shown."""
    exact = _exact(table)
    noisy = {row["ward"]: row for row in release.table.to_pylist()}
    bars = {row["ward"]: row for row in release.errors.to_pylist()}
    ward_table = columns(
        "ward", "patients", "± 95%", "exact", "mean days", "± 95%", "exact"
    )
    for ward in wards:
        cells: list[str] = []
        for name, truth in zip(
            ("patients", "days"), exact.get(ward, _NONE), strict=True
        ):
            cells += _cells(name, noisy.get(ward), bars.get(ward))
            cells.append("-" if truth is None else short_number(truth))
        ward_table.add_row(ward, *cells)
    return ward_table


def _cells(name: str, row: Any, bars: Any) -> tuple[str, str]:
    """Return a noisy number and how far the exact one may be from it."""
    if row is None:
        return "-", "-"
    value = row[name]
    ends = (bars[f"{name} low"], bars[f"{name} high"])
    return short_number(value), short_number(
        type(value)(max(abs(value - end) for end in ends))
    )


def _exact(table: pa.Table) -> dict[str, tuple[int, float]]:
    """Return the exact answers for each ward, of invented patients only."""
    adults = table.filter(pc.greater_equal(table["age"], 18))
    days = pc.min_element_wise(adults["days"], 30)
    rows = (
        adults
        .append_column("stay", days)
        .group_by("ward")
        .aggregate([("patient", "count_distinct"), ("stay", "mean")])
    )
    return {
        row["ward"]: (row["patient_count_distinct"], row["stay_mean"])
        for row in rows.to_pylist()
    }
