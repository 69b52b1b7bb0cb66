"""The scenes of the demonstration."""

import math
import re
import tempfile
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from pathlib import Path
from typing import Any, Final, final

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

import sordino as sd
from sordino.losses.loss import headline
from sordino.office.demo import clinic
from sordino.office.report.document import ledger_report
from sordino.release.storage import write_text

WIDEST = 80
_BOUNDS = re.compile(r", (?=Max)")
_VERBS = re.compile(r"\.(?=(?:filter|enforce|group_by|agg)\()")


def print_heading(console: Console, title: str, why: str) -> None:
    """Set a title on a line of its own, and below it why the scene is there."""
    console.print()
    console.rule(f"[bold]{title}[/]", align="left", style="dim")
    console.print(why)
    console.print()


def print_indented(console: Console, text: str) -> None:
    """Set a text two columns to the right, as it stands."""
    console.print(Padding(Text(text), (0, 0, 0, 2)))


def query_text(query: Any) -> str:
    """Query as it was written, a step on each line.

    >>> import sordino as sd
    >>> print(query_text(sd.table("visits").agg(n=sd.count())))
    table('visits')
      .agg(n=count())
    """
    return _BOUNDS.sub(",\n           ", _VERBS.sub("\n  .", repr(query)))


def columns(*headings: str) -> Table:
    """Empty table: text on the left, numbers on the right."""
    table = Table(box=None, padding=(0, 0, 0, 2), header_style="dim")
    table.add_column(headings[0])
    for title in headings[1:]:
        table.add_column(title, justify="right")
    return table


def print_pairs(console: Console, *rows: tuple[str, str]) -> None:
    """Print labels with what belongs to them."""
    table = Table(box=None, show_header=False, padding=(0, 0, 0, 2))
    table.add_column(style="dim", width=11)
    table.add_column()
    for label, text in rows:
        table.add_row(label, text)
    console.print(table)


def short_number(value: float) -> str:
    """Count in full, or an amount to the hundredth.

    >>> short_number(12345), short_number(12345.678)
    ('12,345', '12,345.68')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def rounded_up_text(value: Any) -> str:
    """Two digits of a small number, rounded up."""
    # up, twice: the double may lie below the number, and a loss is never understated
    digits = Decimal(math.nextafter(float(value), 1))
    return f"{Context(prec=2, rounding=ROUND_CEILING).create_decimal(digits):.1e}"


def hundredths(value: float) -> str:
    """Number rounded up to the hundredth."""
    return f"{math.ceil(100 * value) / 100:.2f}"


DELTA: Final = 1e-6
DIAGNOSES: Final = {"Asthma": 612, "Diabetes": 407, "Gout": 15, "Scurvy": 3, "Fabry": 1}


@final
@dataclass(frozen=True)
class NoiseRow:
    """A mechanism, an exact number, and how far one person can move it."""

    name: str
    mechanism: Any
    exact: float
    d_in: int

    @property
    def loss(self) -> sd.Loss:
        """Loss of an answer."""
        loss: sd.Loss = self.mechanism.map(self.d_in)
        return loss


def noises() -> tuple[NoiseRow, ...]:
    """Four kinds of noise."""
    return (
        NoiseRow("Geometric", sd.Geometric(2), 120, 1),
        NoiseRow("Laplace", sd.Laplace(60), 1834.5, 30),
        NoiseRow("Discrete Gaussian", sd.DiscreteGaussian(scale=4), 1210, 2),
        NoiseRow("Gaussian", sd.Gaussian(scale=60), 20411.0, 30),
    )


def show_mechanisms(console: Console) -> None:
    """Show each kind of noise on one number, twice."""
    print_heading(
        console,
        "Beneath: noise",
        "Each number is moved by a fresh draw from a known law, exact to the bit.\n"
        "A second draw is shown to let you see the noise; it would not be published.",
    )
    drawn = ("published", "again")
    table = columns("noise", "exact", *drawn, "± 95%", "price")
    for noise in noises():
        answers = [short_number(noise.mechanism(noise.exact)) for _ in drawn]
        error, exact = math.ceil(noise.mechanism.error(0.95)), short_number(noise.exact)
        table.add_row(noise.name, exact, *answers, f"{error:,}", loss_text(noise.loss))
    console.print(table)


def show_thresholds(console: Console) -> None:
    """Show a release of keys that nobody listed."""
    budget = sd.ApproxDP(1, DELTA)  # noise and threshold are solved together for it
    fitted = sd.LaplaceThreshold.for_loss(budget, (1, 1, 1), dtype="i64")
    loss = fitted.map((1, 1, 1))
    print_heading(
        console,
        "Beneath: a threshold",
        "A diagnosis shows if its noisy count is large enough: a rare one vanishes,\n"
        "key and all. delta is the chance that one patient's own diagnosis appears.",
    )
    passing = fitted(DIAGNOSES)
    table = columns("diagnosis", *DIAGNOSES)
    table.add_row("exact", *map(short_number, DIAGNOSES.values()), style="dim")
    noisy = [short_number(passing[key]) if key in passing else "-" for key in DIAGNOSES]
    table.add_row("published", *noisy)
    console.print(table)
    reach = f"keep {fitted.threshold} or more; scale and threshold solved for a budget"
    cost = f"epsilon = {loss.epsilon}, exactly; delta = {rounded_up_text(loss.delta)}"
    console.print()
    print_pairs(console, ("threshold", reach), ("price", cost))


def show_curves(console: Console) -> None:
    """Show that losses add up as one curve, less than the sum of their epsilons."""
    losses = [noise.loss for noise in noises()]
    epsilons = [float(loss.epsilon_at(DELTA)) for loss in losses]
    print_heading(
        console,
        "Beneath: losses add up as curves",
        "The four answers above, about the same patients, cost less together than the\n"
        "sum of their epsilons (at delta = 1e-6, rounded up):",
    )
    apart = " + ".join(map(hundredths, epsilons))
    whole = f"epsilon = {hundredths(total_epsilon(losses))}"
    print_pairs(console, ("one by one", apart), ("together", whole))


def total_epsilon(losses: list[sd.Loss]) -> float:
    """Epsilon of all losses as one curve."""
    return float(sd.compose(losses).epsilon_at(DELTA))


def loss_text(loss: sd.Loss) -> str:
    """Exact parameter of a loss."""
    guarantees = loss.guarantees
    named = {"epsilon": guarantees.epsilon, "mu": guarantees.mu, "rho": guarantees.rho}
    for name, value in named.items():
        if value != math.inf:
            return f"{name} = {value}"
    return f"epsilon = {loss.epsilon_at(DELTA)}"


BUDGET: Final = sd.ApproxDP(2, "1e-6")
KNOWN: Final = sd.ApproxDP(1, "2e-7")
UNKNOWN: Final = sd.ApproxDP("0.75", "5e-7")
SHOWN: Final = ("Emergency", "Cardiology", "Urology", "Burns", *clinic.RARE)
_ROWS: Final = sd.table("visits").filter(sd.col("age") >= 18)
_BOUNDED: Final = _ROWS.enforce(
    sd.MaxGroupsPerID("ward", 3), sd.MaxRowsPerGroupPerID("ward", 12)
)
_NONE: Final = (0, None)
"""Of a ward without patients."""
_ASKED: Final[dict[str, Any]] = {
    "patients": sd.count_ids(),
    "days": sd.mean("days", 0, 30),
}


def by_known() -> Any:
    """Questions about the wards of a public list."""
    wards = sd.KeySet.from_dict({"ward": list(clinic.WARDS)})
    return _BOUNDED.group_by(wards).agg(**_ASKED)


def by_unknown() -> Any:
    """The same questions about wards that nobody listed."""
    return _BOUNDED.group_by("ward").agg(**_ASKED)


def show_data(console: Console, path: Path, visits: int, patients: int) -> pa.Table:
    """Make the table, and say what is in it."""
    parts = TextColumn("inventing visits"), BarColumn(40)
    done = TextColumn("{task.completed:,}")
    with Progress(*parts, done, console=console, transient=True) as progress:
        task = progress.add_task("", total=visits)
        table = clinic.write_visits(
            path, visits, patients, lambda rows: progress.advance(task, rows)
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
    print_pairs(
        console,
        ("protected", "a patient with all their visits, however many"),
        ("budget", f"{BUDGET!r}: all answers together"),
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
    print_pairs(console, ("price", headline(price.loss, KNOWN)))


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
    print_pairs(
        console, ("spent", repr(session.spent)), ("left", repr(session.remaining))
    )
    try:
        session.release(by_known(), BUDGET)
    except sd.errors.BudgetExceeded as refusal:
        print_pairs(console, ("refused", str(refusal)))


def save_picture(console: Console, release: sd.Release, folder: Path) -> None:
    """Save a picture of the largest wards, and say where."""
    path = folder / "wards.png"
    figure: Any = release.plot("patients", "days", top=20)
    figure.savefig(path, dpi=110)
    print_pairs(console, ("picture", str(path)))


def save_report(console: Console, ledger: Path) -> None:
    """Save what a reader should know of all that was released, and say where."""
    path = ledger.with_name("report.html")
    with sd.Ledger.at(ledger) as opened:
        write_text(path, ledger_report(opened, "The clinic of the demonstration", "en"))
    print_pairs(console, ("report", f"{path} (for a browser)"))


def _compare(release: sd.Release, table: pa.Table, wards: tuple[str, ...]) -> Table:
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
    """A noisy number, and how far the exact one may be from it."""
    if row is None:
        return "-", "-"
    value = row[name]
    ends = (bars[f"{name} low"], bars[f"{name} high"])
    return short_number(value), short_number(
        type(value)(max(abs(value - end) for end in ends))
    )


def _exact(table: pa.Table) -> dict[str, tuple[int, float]]:
    """Exact answers for each ward, of invented patients only."""
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
        table = show_data(console, path, visits, patients)
        session = open_session(console, path, ledger)
        show_price(console, session)
        release = show_listed(console, session, table)
        unknown = show_unlisted(console, session, table)
    show_spending(console, session, release.loss + unknown.loss)
    session.close()
    save_picture(console, release, home)
    show_mechanisms(console)
    show_thresholds(console)
    show_curves(console)
    console.print()
    save_report(console, ledger)
    console.print()
    console.print(OUTRO)
