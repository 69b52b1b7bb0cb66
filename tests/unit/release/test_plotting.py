"""What is asked of a picture: which numbers, which groups, in which order."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

from sordino.errors import InvalidParameter, UnknownName
from sordino.release.release import Release
from tests.batches import for_each
from tests.pictured import crossed, drawn, structure
from tests.releases import RELEASES, few, made


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
    """Return the tables of a release of some keys."""
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
