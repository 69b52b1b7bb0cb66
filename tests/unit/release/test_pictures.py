"""Pictures of a release: no text over another, and every wish is met or refused."""

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from sordino.errors import InvalidParameter, UnknownName
from sordino.office.pictures import parts
from sordino.office.pictures.curves import DARK, LIGHT, THEMES
from sordino.office.report.document import single_report
from sordino.release.release import Release
from tests.batches import for_each, sampled
from tests.pictured import PICTURED, crossed, drawn, seen_texts, structure, weeks
from tests.releases import RELEASES, few, made, many
from tests.reports import read_page

VECTORS: Final = Path(__file__).parents[2] / "vectors" / "pictures.json"
each_shape = for_each("shape", PICTURED.values(), ids=PICTURED)


@cache
def picture_of(shape: Callable[[], Release]) -> Any:
    """Return the picture of a release, drawn once for all that is asked of it."""
    return drawn(shape().plot())


def overlaps(figure: Any) -> list[tuple[str, str]]:
    """Return the texts that lie over one another, or out of the picture."""
    texts = seen_texts(figure)
    whole = figure.bbox
    outside = [
        (text, "the edge")
        for text, box in texts
        if min(box.x0, box.y0) < 0 or box.x1 > whole.x1 or box.y1 > whole.y1
    ]
    pairs = combinations(texts, 2)
    return outside + [(one[0], two[0]) for one, two in pairs if one[1].overlaps(two[1])]


@sampled(6, 10)
@each_shape
def test_no_text_lies_over_another(shape: Callable[[], Release]) -> None:
    """Names, digits, ticks and titles stand apart, in the picture, off the bands."""
    figure = picture_of(shape)
    assert overlaps(figure) == []
    inside = [axes for axes in figure.axes if not axes.texts]
    digits = [part.get_window_extent() for part in figure.texts]
    assert not [box for axes in inside for box in digits if axes.bbox.overlaps(box)]


@sampled(4, 10)
@each_shape
def test_pictures_are_as_they_were_looked_at(shape: Callable[[], Release]) -> None:
    name = next(name for name, each in PICTURED.items() if each is shape)
    assert structure(picture_of(shape)) == json.loads(VECTORS.read_text())[name]


def test_overlapping_text_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With widths taken for half of what they are, the test above would fail."""
    measure = parts.text_inches

    def less(*arguments: Any, **options: Any) -> float:
        return measure(*arguments, **options) / 3

    for file in ("bands", "cells_and_lines", "parts"):
        monkeypatch.setattr(f"sordino.office.pictures.{file}.text_inches", less)
    assert overlaps(drawn(few().plot()))
    assert overlaps(drawn(crossed().plot()))


def bands(figure: Any) -> list[tuple[float, float]]:
    return [
        (shape.get_x(), shape.get_x() + shape.get_width())
        for shape in figure.axes[0].patches
    ]


def test_bands_are_the_intervals() -> None:
    release = few()
    figure = release.plot("n", sort="key")
    low, high = (release.errors[f"n {end}"].to_pylist() for end in ("low", "high"))
    assert np.array(bands(figure)) == pytest.approx(np.array([low, high]).T)
    _, ticks = figure.axes[0].collections
    marks = [np.array(path.vertices)[0, 0] for path in ticks.get_paths()]
    assert marks == release["n"].to_pylist()
    hostile = RELEASES["hostile"].plot("<i>&").axes[0]
    (rings,) = [line for line in hostile.lines if line.get_marker() == "o"]
    assert len(rings.get_xdata()) == len(RELEASES["hostile"])  # type: ignore[arg-type]
    assert rings.get_markerfacecolor() == "none"
    assert not hostile.patches


def test_a_value_may_lie_outside_its_own_band() -> None:
    """A count of -25 whose interval is 0 to 65 is drawn where it is."""
    release = made({"k": ["a"]}, {"n": ([-25], 10.0)})
    bars = release.errors.to_pydict() | {"n low": [0.0], "n high": [65.0]}
    moved = Release(**{
        **vars(release),
        "errors": type(release.errors).from_pydict(bars),
    })
    axes = moved.plot().axes[0]
    assert axes.get_xlim()[0] < -25 < 65 < axes.get_xlim()[1]
    assert bands(moved.plot()) == [(0, 65)]


def test_more_groups_are_hairlines_by_rank() -> None:
    """The first twelve are named, each other one is a line from low to high."""
    release = many(300)
    figure = release.plot("n")
    named = [text for text, _ in seen_texts(drawn(figure)) if text.startswith("street")]
    assert len(named) == 12
    named_axes, rest = figure.axes
    assert len(named_axes.patches) == 12
    lines = np.array(rest.collections[0].get_segments())  # type: ignore[attr-defined]
    order = np.argsort(-release["n"].to_numpy(), kind="stable")[12:]
    assert lines[:, 0, 1] == pytest.approx(release.errors["n low"].to_numpy()[order])
    assert lines[:, 1, 1] == pytest.approx(release.errors["n high"].to_numpy()[order])
    assert lines[:, 0, 0].tolist() == list(range(13, 301))
    assert len(release.plot("n", top=40).axes[0].patches) == 40
    assert len(many(30).plot("n").axes) == 1


def test_dates_are_a_line_with_a_ribbon() -> None:
    """It is broken where a number is missing, and in order of time."""
    visits = weeks().plot("visits").axes[0]
    line = visits.lines[0]
    values = weeks()["visits"].to_pylist()
    assert np.isnan(line.get_ydata()[7])  # type: ignore[index]
    assert [y for y in line.get_ydata() if y == y] == [v for v in values if v]  # type: ignore[union-attr]  # noqa: PLR0124 not NaN
    (hours, *_) = PICTURED["moments"]().plot().axes[0].lines
    assert (np.diff(np.array(hours.get_xdata())) > 0).all()
    assert list(hours.get_ydata()) == [3, 4, 1, 2]  # type: ignore[arg-type]
    month = drawn(PICTURED["months"]().plot())
    told = " ".join(text for text, _ in seen_texts(month))
    assert "most 20 (16 to 24) at 2026-02; least 10 (6 to 14) at 2026-01" in told
    assert "without a period: 3" in told


def test_lines_of_facets_have_one_scale() -> None:
    axes = PICTURED["facets"]().plot().axes
    assert len({each.get_ylim() for each in axes}) == 1
    assert len(axes) == 3


def test_two_keys_are_cells() -> None:
    """Each number stands in its cell; the greatest is darkest, rough ones italic."""
    figure = drawn(crossed(3).plot("visits"))
    cells = figure.axes[0]
    assert len(cells.patches) == 13
    texts = {text.get_text(): text for text in cells.texts}
    assert texts["–"].get_position()[1] == pytest.approx(0.5)
    assert texts["-250"].get_style() == "italic" or texts["-10"].get_style() == "italic"
    assert texts["1,190"].get_style() == "normal"
    shades = [np.mean(patch.get_facecolor()[:3]) for patch in cells.patches]
    assert shades[-1] == min(shades)
    assert shades[0] == max(shades)


def test_groupings_have_a_picture_each() -> None:
    told = [text for text, _ in seen_texts(drawn(PICTURED["stacked"]().plot()))]
    headings = ["all", "ward", "ward, age"]
    assert [text for text in told if text in headings] == headings
    assert "missing" not in told


@for_each("form", ["bands", "line", "cells"])
def test_a_form_can_be_asked_for(form: str) -> None:
    release = crossed() if form == "cells" else weeks()
    figure = drawn(release.plot(form=form))
    assert overlaps(figure) == []
    assert bool(figure.axes[0].patches) == (form != "line")


@sampled(1)
@for_each(
    "release",
    [few(), weeks(), crossed(), PICTURED["stacked"](), RELEASES["empty"]],
    ids=["bands", "line", "cells", "stacked", "empty"],
)
def test_panels_go_where_the_user_says(release: Release) -> None:
    figure = Figure(figsize=(12, 6), layout="constrained")
    axes = np.ravel(figure.subplots(1, len(release.names)))
    assert release.plot(ax=axes) is figure
    price = f" ({release.price})"
    assert [each.get_title(loc="left") for each in axes] == [
        name + price for name in release.names
    ]
    assert overlaps(drawn(figure)) == []


def test_given_axes_say_what_they_leave_out() -> None:
    figure = Figure(figsize=(6, 9))
    RELEASES["many"].plot("n", ax=figure.subplots())
    assert "the first 30 of 1,000 groups" in str(structure(drawn(figure)))


@for_each(
    ("settings", "inks"),
    [
        ({"figure.facecolor": "white"}, LIGHT),
        ({"figure.facecolor": "#14181b"}, DARK),
        ({"figure.facecolor": "none", "text.color": "white"}, DARK),
        ({"figure.facecolor": "none", "text.color": "black"}, LIGHT),
    ],
)
def test_colours_follow_the_ground(settings: Any, inks: Any) -> None:
    """That of Matplotlib, or the theme that is asked for; axes have their own."""
    with mpl.rc_context(settings):
        assert few().plot().texts[0].get_color() == inks.ink
        assert few().plot(theme="light").texts[0].get_color() == LIGHT.ink
        assert few().plot(theme="dark").get_facecolor() == pytest.approx(
            mpl.colors.to_rgba(DARK.paper)
        )
    black = Figure().subplots()
    black.set_facecolor("black")
    few().plot("n", ax=black)
    assert black.xaxis.get_tick_params()["labelcolor"] == DARK.soft


def test_habits_of_users_do_not_cross_pictures() -> None:
    """Grids, a layout of their own, and names read as formulas."""
    habits: Any = {"axes.grid": True, "figure.autolayout": True, "font.size": 20}
    with mpl.rc_context(habits):
        figure = drawn(RELEASES["hostile"].plot())
    assert overlaps(figure) == []
    assert "$\\frac{1$ of 5" in structure(figure)["texts"]


def write_pictures() -> None:
    folder = Path("build/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    known = {}
    for name, shape in PICTURED.items():
        known[name] = structure(drawn(shape().plot()))
        for theme in THEMES:
            shape().plot(theme=theme).savefig(folder / f"{name}-{theme}.png")
    text = json.dumps(known, indent=1, ensure_ascii=False)
    VECTORS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_pictures()


def streets(figure: Any) -> list[str]:
    texts = structure(drawn(figure))["texts"]
    return [text for text in texts if text.startswith("street")]


def test_rows_come_by_value_or_by_key() -> None:
    """The greatest values stand above, or the first keys; missing come last."""
    release = RELEASES["many"]
    values = np.array(release["mean days"].to_pylist())
    names = release["street"].to_pylist()
    first = [names[i] for i in np.argsort(-values)[:3]]
    assert streets(release.plot("mean days", top=3)) == first
    by_key = release.plot("mean days", sort="key", top=2)
    assert streets(by_key) == names[:2]
    assert "1,000 groups by street, in order" in str(structure(by_key))
    figures = structure(drawn(RELEASES["hostile"].plot("$n_{$")))["texts"]
    rows = [text for text in figures if text in {"missing", "(empty text)"}]
    assert rows[-1] == "missing" or rows[-2:] == ["(empty text)", "missing"]


RANGES: Final = {
    "numbers": ["[-5, 0)", "[0, 5)", "[5, 18)", "[18, 40)", "[40, 1e+03]"],
    "days": ["[2026-01-09, 2026-02-01)", "[2026-02-01, 2026-12-01]"],
    "months": [dt.date(2026, month, 1) for month in (1, 2, 3, 12)],
}


@for_each("names", RANGES.values(), ids=RANGES)
def test_ranges_and_periods_stay_in_their_order(names: list[Any]) -> None:
    """However they come and however large they are, in every form and in a report."""
    sizes = [7.0, 900.0, 3.0, 40.0, 8.0][: len(names)]
    mixed = sorted(zip(map(str, names), names, sizes, strict=True), reverse=True)
    keys = [name for _, name, _ in mixed]
    release = made({"k": keys}, {"n": ([size for *_, size in mixed], 1.0)})
    shown = [str(name)[: 7 if isinstance(name, dt.date) else None] for name in names]
    by_height = sorted(seen_texts(drawn(release.plot(form="bands"))), key=_from_above)
    assert [text for text, _ in by_height if text in shown] == shown
    if isinstance(names[0], str):
        page = read_page(single_report(release, "k", "en")).words
        assert sorted(shown, key=page.index) == shown


def _from_above(text: tuple[str, Any]) -> float:
    return -float(text[1].y0)


def test_a_length_is_drawn_from_zero_or_not_at_all() -> None:
    """Far from zero there are marks alone; a number that is chosen is a ring always."""
    far = made({"ward": ["A", "B"]}, {"m": ([4650.0, 4685.0], 1.0)})
    guides = [c for c in far.plot().axes[0].collections if c.get_zorder() == 1]
    assert not guides
    near = made({"ward": ["A", "B"]}, {"m": ([4650.0, 85.0], 1.0)})
    (lines,) = [c for c in near.plot().axes[0].collections if c.get_zorder() == 1]
    assert {path.vertices[0][0] for path in lines.get_paths()} == {0.0}  # type: ignore[index]
    chosen = replace(
        made({"ward": ["A", "B"]}, {"m": ([5.0, 9.0], None)}), ranks={"m": "±8 ranks"}
    )
    texts = structure(drawn(chosen.plot()))["texts"]
    assert texts.count("±8 ranks") == 2
    assert any("in ranks" in text or "ranks" in text for text in texts)


def test_the_first_few_stay_in_their_order() -> None:
    """Their ranks are told by the rows, and are drawn where nothing else is."""
    keys = {"page": ["street b", "street c", "street a"]}
    ranks: Any = ([1, 2, 3], None)
    release = made(keys, {"rank": ranks, "reads": ([20, 30, 10], 2.0)})
    assert streets(release.plot()) == keys["page"]
    assert "rank" not in structure(drawn(release.plot()))["texts"]
    assert "rank" in structure(drawn(made(keys, {"rank": ranks}).plot()))["texts"]


@for_each(
    ("names", "options", "problem"),
    [
        (("ward",), {}, "there is no aggregate 'ward'"),
        ((3,), {}, "there is no aggregate 3"),
        (("n",), {"sort": "size"}, "sort must be one of"),
        (("n",), {"sort": None}, "sort must be one of"),
        (("n",), {"top": 0}, "top must be at least 1"),
        (("n",), {"top": 301}, "top must be at most 300"),
        (("n",), {"top": 2.5}, "top must be an integer"),
        (("n",), {"form": "pie"}, "form must be one of"),
        (("n",), {"form": 3}, "form must be one of"),
        (("n",), {"form": "cells"}, "form is a map of cells, and there are 1 keys"),
        (("n",), {"theme": "blue"}, "theme must be one of"),
        (("n",), {"theme": 1}, "theme must be one of"),
        ((), {"ax": Figure().subplots()}, "ax must be 2 Axes"),
        (("n",), {"ax": "axes"}, "ax must be 1 Axes"),
    ],
)
def test_bad_wishes_are_refused(
    names: tuple[Any, ...], options: dict[str, Any], problem: str
) -> None:
    with pytest.raises((InvalidParameter, UnknownName), match=problem):
        few().plot(*names, **options)


def test_forms_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="form is a line, and there are 2 keys"):
        crossed().plot(form="line")
    keys = {"a": list(range(50)), "b": list(range(50))}
    wide = Release(**{**vars(few()), **made_of(keys)})
    with pytest.raises(InvalidParameter, match="a key has more than 40 values"):
        wide.plot(form="cells")


def made_of(keys: dict[str, Any]) -> dict[str, Any]:
    size = len(next(iter(keys.values())))
    ends = {f"n {part}": [1.0] * size for part in ("sd", "low", "high")}
    table = pa.table({**keys, "n": [1] * size})
    return {"table": table, "errors": pa.table({**keys, **ends}), "keys": tuple(keys)}


def test_only_numbers_are_drawn() -> None:
    table = few().table.append_column("word", pa.array(["a", "b", None]))
    errors = few().errors
    for part in ("sd", "low", "high"):
        errors = errors.append_column(f"word {part}", pa.nulls(3, pa.float64()))
    release = Release(**{**vars(few()), "table": table, "errors": errors})
    assert len(release.plot().axes) == 2
    with pytest.raises(InvalidParameter, match="names is not a column of numbers"):
        release.plot("word")
    words = table.select(["ward", "word"])
    bars = errors.select(["ward", "word sd", "word low", "word high"])
    only = Release(**{**vars(few()), "table": words, "errors": bars})
    with pytest.raises(InvalidParameter, match="release has no column of numbers"):
        only.plot()
    assert "missing" in str(only)
