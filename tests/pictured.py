"""Releases of every shape that is drawn, and what a picture of them is made of."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
from matplotlib.backends.backend_agg import FigureCanvasAgg

from sordino.release.release import Release
from tests.releases import RELEASES, made, many

WARDS: Final = ("Cardiology", "Ear, nose and throat", "Maternity", "Surgery")
AGES: Final = ("0-17", "18-34", "35-64", "65 and over")
NOTHING: Final = pa.nulls(2, pa.float64())
_START: Final = dt.date(2026, 5, 4)


def waves(count: int) -> list[int]:
    """Return whole numbers that rise and fall."""
    return [int(800 + 200 * np.sin(place / 3)) for place in range(count)]


def weeks() -> Release:
    """Return numbers over dates, one of them missing."""
    dates = [_START + dt.timedelta(weeks=place) for place in range(26)]
    gap = [None if place == 7 else value for place, value in enumerate(waves(26))]
    means = [3 + place % 5 / 5 for place in range(26)]
    return made({"week of": dates}, {"visits": (gap, 46), "mean days": (means, 0.2)})


def moments() -> Release:
    """Return numbers over times, out of order, and one of no time."""
    zone = dt.UTC
    times = [dt.datetime(2026, 5, 4, hour, tzinfo=zone) for hour in (9, 8, 11, 10)]
    return made({"at": [*times, None]}, {"n": ([4, 3, 2, 1, 9], 0.5)})


def months() -> Release:
    """Return numbers over names of periods."""
    names = ["2026-02", "2026-01", None, "2026-03", "2026-04"]
    return made({"month": names}, {"n": ([20, 10, 3, 15, None], 2.0)})


def cumulative() -> Release:
    """Return figures of each week, and to date."""
    each = waves(52)
    figures: dict[str, tuple[Any, Any]] = {
        "n": (each, 3),
        "n_to_date": (np.cumsum(each).tolist(), 7),
        "n_last_4": ([sum(each[max(0, k - 3) : k + 1]) for k in range(52)], 5),
    }
    return made({"week": list(range(1, 53))}, figures)


def crossed(holes: int = 0) -> Release:
    """Return wards by ages; some numbers negative, some pairs absent."""
    pairs = [(ward, age) for ward in WARDS for age in AGES][holes:]
    keys = {"ward": [ward for ward, _ in pairs], "age": [age for _, age in pairs]}
    numbers = [120 * place - 250 for place in range(len(pairs))]
    means = [place / 7 for place in range(len(pairs))]
    spread = [0.1 * (1 + place) for place in range(len(pairs))]
    return made(keys, {"visits": (numbers, 30), "mean days": (means, spread)})


def facets() -> Release:
    """Return a line for each of three wards."""
    days = [_START + dt.timedelta(days=place) for place in range(30)]
    keys = {"day": [day for day in days for _ in range(3)], "ward": WARDS[:3] * 30}
    return made(keys, {"n": ([value // 10 for value in waves(90)], 5)})


def days() -> Release:
    """Return more dates than are marked, and one ward of a single day."""
    days = [_START + dt.timedelta(days=place) for place in range(90)]
    keys = {"day": [*days, _START], "ward": ["North"] * 90 + ["South"]}
    return made(keys, {"n": (waves(91), 5)})


def long_groupings() -> Release:
    """Return groupings of long names, with more groups than are named."""
    keys = {"grouping": ["x" * 100] * 40, "ward": [f"w{place}" for place in range(40)]}
    return made(keys, {"n": ([1] * 40, None)})


def no_groupings() -> Release:
    none = pa.array([], pa.string())
    keys = {"grouping": none, "ward": none}
    return made(keys, {"n": (pa.array([], pa.int64()), 1.0)})


def stacked() -> Release:
    """Return tables of several sets of columns."""
    two = WARDS[:2]
    keys = {
        "grouping": ["all", "ward", "ward", *["ward, age"] * 4],
        "ward": [None, *two, *[ward for ward in two for _ in range(2)]],
        "age": [None] * 3 + ["young", "old"] * 2,
    }
    return made(keys, {"n": ([1000, 600, 400, 350, 250, 300, 100], 10)})


def foreign() -> Release:
    """Return names that are written from the right, and none at all."""
    names = ["תל אביב", "ירושלים", "مدينة صغيرة", "Haifa חיפה 12", None, ""]
    return made({"עיר": names}, {"n": ([5, 3, -2, 120, 7, 8], 4)})


def huge() -> Release:
    """Return numbers that are beyond every scale."""
    large = ([10**18, -(10**17), 3, None, 5 * 10**17], 1e16)
    larger = ([1e308, -1e308, 1e-5, 2.0, None], [1e300, 1, 1, 1, 1])
    return made({"key": list("abcde")}, {"n": large, "x": larger})


def negative() -> Release:
    """Return numbers below zero, and numbers far from it."""
    keys = {"key": [f"k{place}" for place in range(8)]}
    below = [-100 * place for place in range(8)]
    far = [1000.0 + place for place in range(8)]
    return made(keys, {"n": (below, 40), "far": (far, 0.5)})


PICTURED: Final[dict[str, Callable[[], Release]]] = {
    **{name: partial(RELEASES.__getitem__, name) for name in RELEASES},
    "three hundred": lambda: many(300),
    "weeks": weeks,
    "moments": moments,
    "months": months,
    "cumulative": cumulative,
    "crossed": crossed,
    "crossed with holes": lambda: crossed(3),
    "facets": facets,
    "stacked": stacked,
    "days": days,
    "long groupings": long_groupings,
    "no groupings": no_groupings,
    "foreign": foreign,
    "huge": huge,
    "negative": negative,
    "one": lambda: made({"ward": ["Only"]}, {"n": ([5], 2.0)}),
    "zero": lambda: made({"ward": ["A", "B"]}, {"n": ([0, 0], 0.0)}),
    "missing": lambda: made({"ward": ["A", "B"]}, {"n": (NOTHING, 1.0)}),
    "quantiles": lambda: made(
        {"ward": WARDS},
        {"q 0.25": ([1, 2, 3, 4], None), "q 0.75": ([5, 6, 7, 8], None)},
    ),
}


def drawn(figure: Any) -> Any:
    """Return a figure after it was drawn; warnings are errors in tests."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure


def seen_texts(figure: Any) -> list[tuple[str, Any]]:
    renderer = figure.canvas.get_renderer()
    parts = list(figure.texts)
    for axes in figure.axes:
        parts += axes.texts
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            labels = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            parts += [label for place, label in labels if low <= place <= high]
            parts.append(axis.label)
        parts += [axes.title, axes._left_title]
    boxes = [(part.get_text(), part.get_window_extent(renderer)) for part in parts]
    return [(text, box) for text, box in boxes if text and box.width > 0]


def structure(figure: Any) -> dict[str, Any]:
    """Return what a picture is made of: its texts, and how many shapes of each kind."""
    kinds: Counter[str] = Counter()
    for axes in figure.axes:
        kinds.update(type(shape).__name__ for shape in axes.patches)
        kinds.update(type(shape).__name__ for shape in axes.lines)
        for collection in axes.collections:
            kinds[type(collection).__name__] += len(collection.get_paths())
    return {
        "texts": [text for text, _ in seen_texts(figure)],
        "shapes": dict(sorted(kinds.items())),
    }
