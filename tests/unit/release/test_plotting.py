"""Pictures of releases: drawn without warnings, no text over another."""

from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sordino.errors import InvalidParameter, UnknownName
from sordino.release.release import Release
from tests.releases import RELEASES, few

each_release = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)


def drawn(figure: Any) -> Any:
    """Return a figure after it was drawn; warnings are errors in tests."""
    FigureCanvasAgg(figure).draw()  # type: ignore[no-untyped-call]
    return figure


def texts(figure: Any) -> list[Any]:
    """Return the places of all texts that are seen."""
    renderer = figure.canvas.get_renderer()
    parts: list[Any] = [figure._suptitle, figure._supxlabel]
    for axes in figure.axes:
        low, high = sorted(axes.get_xlim())
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        parts += [label for place, label in ticks if low <= place <= high]
        parts += axes.texts
        if axes.yaxis.get_tick_params()["labelleft"]:
            parts += axes.get_yticklabels()
        parts += [axes._left_title]
    boxes = (part.get_window_extent(renderer) for part in parts if part.get_text())
    return [box for box in boxes if box.width > 0]


@pytest.mark.sampled(1)
@each_release
def test_no_text_lies_over_another(release: Release) -> None:
    """Titles, labels, ticks and words stand apart, and within the picture."""
    figure = drawn(release.plot())
    boxes = texts(figure)
    for one, other in combinations(boxes, 2):
        assert not one.overlaps(other)
    whole = figure.bbox
    for box in boxes:
        assert box.x0 >= whole.x0
        assert box.x1 <= whole.x1
        assert box.y0 >= whole.y0
        assert box.y1 <= whole.y1


def test_overlapping_text_is_noticed() -> None:
    """With the ticks of the panels made large, the test above would fail."""
    figure = few().plot()
    for axes in figure.axes:
        axes.tick_params(labelsize=40)
    boxes = texts(drawn(figure))
    assert any(one.overlaps(other) for one, other in combinations(boxes, 2))


def labels(figure: Any) -> list[str]:
    """Return the names of the rows."""
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_rows_come_by_value_or_by_key() -> None:
    """The greatest values stand above, or the first keys; missing come last."""
    release = RELEASES["many"]
    by_value = release.plot("mean days", top=3)
    values = np.array(release["mean days"].to_pylist())
    names = release["street"].to_pylist()
    assert labels(by_value) == [names[i] for i in np.argsort(-values)[:3]]
    assert labels(release.plot("mean days", sort="key", top=2)) == names[:2]
    assert "the first 3 of 1,000 groups" in by_value._supxlabel.get_text()  # type: ignore[attr-defined]
    assert len(labels(release.plot("n"))) == 30
    assert not labels(RELEASES["hostile"].plot())[-1]


def test_names_are_no_formulas() -> None:
    """Dollars and braces of a key are shown, not set as mathematics."""
    figure = drawn(RELEASES["hostile"].plot("$n_{$"))
    assert "$\\frac{1$ of 5" in labels(figure)
    assert figure._suptitle.get_text() == "price: epsilon = 0.5, delta = 5e-07"


def test_lines_are_the_intervals() -> None:
    """Each line goes from low to high; a number without one is a ring."""
    (lines,) = few().plot("n").axes[0].collections
    low, high = (np.array(few().errors[f"n {end}"]) for end in ("low", "high"))
    segments = np.array(lines.get_segments())  # type: ignore[attr-defined]
    assert (segments[:, 0, 0] == low).all()
    assert (segments[:, 1, 0] == high).all()
    discs, rings = RELEASES["hostile"].plot("<i>&").axes[0].lines
    assert len(discs.get_xdata()) == 0  # type: ignore[arg-type]
    assert len(rings.get_xdata()) == len(RELEASES["hostile"])  # type: ignore[arg-type]
    assert rings.get_markerfacecolor() == "none"


def test_panels_go_where_the_user_says() -> None:
    """Given axes are filled, the price in each title, and their figure returned."""
    figure = Figure(layout="constrained")
    left, right = figure.subplots(1, 2)
    assert few().plot(ax=[left, right]) is figure
    assert left.get_title(loc="left") == "n (epsilon = 0.5, delta = 5e-07)"
    assert few().plot("n", ax=right) is figure
    drawn(figure)


@pytest.mark.parametrize(
    ("names", "options", "problem"),
    [
        (("ward",), {}, "there is no aggregate 'ward'"),
        ((3,), {}, "there is no aggregate 3"),
        (("n",), {"sort": "size"}, "sort must be one of"),
        (("n",), {"sort": None}, "sort must be one of"),
        (("n",), {"top": 0}, "top must be at least 1"),
        (("n",), {"top": 2.5}, "top must be an integer"),
        ((), {"ax": Figure().subplots()}, "ax must be 2 Axes"),
        (("n",), {"ax": "axes"}, "ax must be 1 Axes"),
    ],
)
def test_bad_wishes_are_refused(
    names: tuple[Any, ...], options: dict[str, Any], problem: str
) -> None:
    """Each refusal names the argument."""
    with pytest.raises((InvalidParameter, UnknownName), match=problem):
        few().plot(*names, **options)


def test_only_numbers_are_drawn() -> None:
    """Words are left out when nothing is named, and refused when they are."""
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
