"""What an editor offers after a dot is what the documents name."""

import inspect
import re
from pathlib import Path
from typing import Any, Final

import jedi

import sordino
import sordino as sd
from sordino.numbers.frozen import make
from tests.batches import for_each, sampled

PROJECT = jedi.Project(Path(sordino.__file__).parents[1])
DOCS = Path(__file__).parents[2] / "docs"
PAGES = (DOCS / "reference.md", *sorted((DOCS / "guides").glob("*.md")))
KNOWN = set(re.findall(r"\w+", "\n".join(page.read_text("utf-8") for page in PAGES)))
CLASSES = {
    name: kind
    for name in dir(sordino)
    if inspect.isclass(kind := getattr(sordino, name)) and not inspect.isabstract(kind)
}
LOSS = {"delta_at", "epsilon_at", "beta_at", "advantage", "explain", "curve"}


@sampled(1, 4)
@for_each(
    ("code", "wanted"),
    [
        ("sd.Laplace(10).map(1).", LOSS | {"epsilon"}),
        ("sd.Gaussian(scale=2).map(1).", LOSS | {"mu", "rho"}),
        ("sd.Laplace(10).map(sd.Sensitivity(l1=1)).", LOSS),
        ("(sd.PureDP(1) + sd.ZCDP(1)).", LOSS),
        ("sd.Laplace.for_loss(sd.PureDP(1), 1).", {"scale", "map", "error"}),
        ("sd.PureDP(1).curve().", {"plot", "alpha", "tpr"}),
        ("sd.table('a').filter(sd.col('b') > 1).", {"group_by", "agg", "enforce"}),
        ("sd.Session({}).price(sd.table('a').agg(n=sd.count())).", {"noise", "loss"}),
        ("sd.Lap", {"Laplace", "LaplaceThreshold", "LaplaceLoss"}),
    ],
)
def test_what_is_offered(code: str, wanted: set[str]) -> None:
    """Without running anything: types are told by signatures alone."""
    script = jedi.Script(f"import sordino as sd\n{code}", project=PROJECT)
    offered = {one.name for one in script.complete()}
    assert wanted <= offered


@for_each("kind", CLASSES.values(), ids=CLASSES)
def test_what_completes_is_written_about(kind: Any) -> None:
    if getattr(kind, "_is_protocol", False):
        return
    value = make(kind, **dict.fromkeys(getattr(kind, "__dataclass_fields__", ())))
    assert {name for name in dir(value) if name[0] != "_"} - KNOWN == set()


REFERENCE: Final = PAGES[0].read_text("utf-8")
QUERY: Final = sd.table("visits")
REQUEST: Final = QUERY.agg(n=sd.count())
SESSION: Final = sd.Session(
    {"visits": sd.PrivateTable({"ward": ["A"]}, protects=sd.AddOneRow())},
    sd.PureDP(9),
    engine="memory",
)
VALUES: Final[dict[str, Any]] = {
    "session": SESSION,
    "query": QUERY,
    "grouped": QUERY.group_by("ward"),
    "request": REQUEST,
    "price": SESSION.price(REQUEST, sd.PureDP(1)),
    "batch": SESSION.price_all({"n": REQUEST}, sd.PureDP(1)),
    "outlook": SESSION.what_if(REQUEST, sd.PureDP(1)),
    "release": SESSION.release(REQUEST, sd.PureDP(1)),
}


@for_each("name", VALUES)
def test_what_is_offered_is_in_the_reference(name: str) -> None:
    offered = [one for one in dir(VALUES[name]) if not one.startswith("_")]
    assert [one for one in offered if not re.search(rf"\b{one}\b", REFERENCE)] == []
    assert offered
