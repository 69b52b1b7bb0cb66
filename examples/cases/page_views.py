"""Page views by country: the published mechanism and ours, measured side by side.

python examples/cases/page_views.py

Rows are invented, in the shape that was published: a device views some pages in a day,
ten different ones count, and cells below 90 are dropped.
"""

import math
import sys
import time
from fractions import Fraction

import numpy as np
import pyarrow as pa

import sordino as sd

RHO = Fraction("0.015")
PAGES_OF_A_DEVICE = 10
LEAST = 90
COUNTRIES = [f"country {place:02}" for place in range(20)]
PAGES = [f"page {place:04}" for place in range(500)]


def invent_views(devices: int) -> pa.Table:
    """A row for each page that a device viewed; some devices view over ten."""
    draw = np.random.default_rng(1)
    viewed = np.minimum(draw.geometric(0.3, devices), 60)
    device = np.repeat(np.arange(devices), viewed)
    country = (len(COUNTRIES) * draw.random(devices) ** 2).astype(int)[device]
    page = (len(PAGES) * draw.random(len(device)) ** 4).astype(int)
    views = pa.table({
        "device": device,
        "country": pa.array(COUNTRIES).take(pa.array(country)),
        "page": pa.array(PAGES).take(pa.array(page)),
    })
    return views.group_by(views.column_names).aggregate([])


def count_cells(views: pa.Table, most: int) -> dict[tuple[str, str], int]:
    """Devices by country and page, of each device its first pages alone."""
    device = views["device"].to_numpy()
    order = np.argsort(device, kind="stable")
    starts = np.searchsorted(device[order], device[order])
    first = views.take(pa.array(order[np.arange(len(order)) - starts < most]))
    cells = first.group_by(["country", "page"]).aggregate([([], "count_all")])
    names = zip(cells["country"].to_pylist(), cells["page"].to_pylist(), strict=True)
    return dict(zip(names, cells["count_all"].to_pylist(), strict=True))


def published_mechanism(views: pa.Table) -> dict[tuple[str, str], int]:
    """Discrete Gaussian noise on every cell of a public list; small ones dropped."""
    counts = count_cells(views, PAGES_OF_A_DEVICE)
    cells = [(country, page) for country in COUNTRIES for page in PAGES]
    exact = np.array([counts.get(cell, 0) for cell in cells])
    noise = sd.DiscreteGaussian(variance=PAGES_OF_A_DEVICE / (2 * RHO))
    noisy = zip(cells, noise(exact).tolist(), strict=True)
    return {cell: number for cell, number in noisy if number >= LEAST}


def ask(views: pa.Table) -> tuple[sd.Price, sd.Release]:
    """The same question here: its price, and its release with every cell."""
    table = sd.PrivateTable(views, protects=sd.AddRowsWithID("device"))
    session = sd.Session({"views": table}, budget=sd.ZCDP(RHO))
    cell = ("country", "page")
    query = (
        sd
        .table("views")
        .enforce(
            sd.MaxGroupsPerID(cell, PAGES_OF_A_DEVICE), sd.MaxRowsPerGroupPerID(cell, 1)
        )
        .group_by(sd.KeySet.from_dict({"country": COUNTRIES, "page": PAGES}))
        .agg(devices=sd.count())
    )
    return session.price(query, sd.ZCDP(RHO)), session.release(query, sd.ZCDP(RHO))


def relative_error(
    shown: dict[tuple[str, str], int], truth: dict[tuple[str, str], int]
) -> float:
    """Median error of the cells that are shown, in per cent of the whole table's."""
    errors = [
        abs(n - truth.get(cell, 0)) / max(truth.get(cell, 0), 1)
        for cell, n in shown.items()
    ]
    return 100 * float(np.median(errors)) if errors else math.nan


def read_cells(
    release: sd.Release,
) -> dict[tuple[str, str], tuple[float, float, float]]:
    """Number and interval of each cell of a release."""
    names = zip(
        release["country"].to_pylist(), release["page"].to_pylist(), strict=True
    )
    ends = (release.errors[f"devices {end}"].to_pylist() for end in ("low", "high"))
    numbers = zip(release["devices"].to_pylist(), *ends, strict=True)
    return dict(zip(names, numbers, strict=True))


def row(what: str, theirs: object, ours: object) -> str:
    """A line of the table."""
    return f"{what:38}{theirs!s:>16}{ours!s:>16}"


def main(devices: int = 300_000) -> list[str]:
    """Both mechanisms on the same rows, in lines of a table."""
    views = invent_views(devices)
    truth = count_cells(views, len(PAGES))
    begun = time.perf_counter()
    theirs = published_mechanism(views)
    between = time.perf_counter()
    price, release = ask(views)
    ended = time.perf_counter()
    cells = read_cells(release)
    ours = {cell: int(n) for cell, (n, _, _) in cells.items() if n >= LEAST}
    held = np.mean([
        low <= truth.get(cell, 0) <= high for cell, (_, low, high) in cells.items()
    ])
    standard = float(RHO) + 2 * math.sqrt(float(RHO) * math.log(1e7))
    deviation = math.sqrt(PAGES_OF_A_DEVICE / (2 * RHO))
    errors = [relative_error(shown, truth) for shown in (theirs, ours)]
    return [
        f"{views.num_rows:,} views of {devices:,} devices, {len(cells):,} cells",
        row("", "published", "ours"),
        row("sd of the noise", f"{deviation:.2f}", f"{price.errors['devices'].sd:.2f}"),
        row(
            "epsilon at delta 1e-7",
            f"{standard:.3f}",
            f"{release.loss.epsilon_at(1e-7):.3f}",
        ),
        row("cells of 90 or more", len(theirs), len(ours)),
        row("median error of these", f"{errors[0]:.1f}%", f"{errors[1]:.1f}%"),
        row("intervals that hold", "none", f"{100 * held:.1f}%"),
        row("seconds", f"{between - begun:.1f}", f"{ended - between:.1f}"),
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(main(*map(int, sys.argv[1:]))) + "\n")
