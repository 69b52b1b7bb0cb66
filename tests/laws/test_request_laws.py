"""Laws of the words of a request: everything that is asked counts, and nothing else."""

import inspect
import json
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.aggregations.aggregation import AbstractAggregation
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.drawn_queries import draw_request as asked_of
from sordino.auditing.worlds import world
from sordino.data.limits import AbstractConstraint, AbstractTruncation
from sordino.data.units import AbstractUnit
from sordino.engines.memory import MemoryEngine
from sordino.errors import SordinoError
from sordino.expressions.language import Expression
from sordino.losses.loss import Loss
from sordino.numbers.canonical import Words, call, canonical_text
from sordino.plan.bundle import share_budget
from sordino.plan.price import price_request
from sordino.query.builder import Query
from sordino.query.groups import Grouped
from sordino.query.nodes import AbstractNode
from sordino.query.request import Request
from sordino.session.charging import batch_identity, request_identity
from tests import worded
from tests.batches import for_each, sampled
from tests.dice import rolled
from tests.worded_cells import CELLS

VECTORS: Final = Path(__file__).parents[1] / "vectors" / "request_words.json"
REQUESTS: Final = worded.requests()
VALUES: Final = {
    "budgets": worded.BUDGETS,
    "bounds": worded.BOUNDS,
    "truncations": worded.TRUNCATIONS,
    "units": worded.UNITS,
}
"""What has words of its own, whatever the tables."""
_COMPARED: Final = ("eq", "ne", "lt", "le", "gt", "ge")
PRIVATE: Final = {
    *("resolve", "words", "call", "names", "column", "value", "same"),
    *("tree", "steps", "asked", "table", "query", "by", "keyset", "split_filters"),
}


def public_verbs(kind: type) -> set[str]:
    found = {name for name in vars(kind) if not name.startswith("_")}
    return found - PRIVATE


def operators() -> set[str]:
    made = {name for name in vars(Expression) if name.startswith("__")}
    plain = set(vars(object)) - {f"__{name}__" for name in _COMPARED}
    plain |= {"__module__", "__bool__", "__abs__"}
    return {
        name for name in made - plain if inspect.isfunction(getattr(Expression, name))
    }


def named(kind: type) -> set[str]:
    classes = {name: getattr(sd, name) for name in dir(sd)}
    return {
        name
        for name, one in classes.items()
        if isinstance(one, type) and issubclass(one, kind)
    }


def questions() -> set[str]:
    """Return the public functions that make an aggregation."""
    functions = {name: getattr(sd, name) for name in dir(sd)}
    return {
        name
        for name, one in functions.items()
        if inspect.isfunction(one)
        and isinstance(inspect.signature(one).return_annotation, type)
        and issubclass(inspect.signature(one).return_annotation, AbstractAggregation)
    }


def test_every_public_verb_has_a_case() -> None:
    queries = public_verbs(Query) | public_verbs(Grouped) | {"table", "udf"}
    assert set(worded.QUERIES) == queries
    cells = public_verbs(Expression) | operators() | {"col", "lit", "when"}
    assert set(CELLS) == cells
    assert set(worded.AGGREGATIONS) == questions()
    assert set(worded.BUDGETS) == named(Loss) - {"Loss"} | {"Advantage", "ErrorRates"}
    assert set(worded.UNITS) == named(AbstractUnit)
    assert set(worded.BOUNDS) == named(AbstractConstraint)
    assert set(worded.TRUNCATIONS) == named(AbstractTruncation)


def arguments(kind: str, verb: str) -> set[str]:
    if kind == "query":
        homes: tuple[Any, ...] = (Query, Grouped, sd)
    else:
        homes = (Expression, sd) if kind == "cell" else (sd,)
    home = next(one for one in homes if hasattr(one, verb))
    found = set(inspect.signature(getattr(home, verb)).parameters)
    refused = (
        {"others"} if verb == "marginals" else set()
    )  # names that it does not have
    return found - refused - ({"self"} if kind == "query" else set())


@for_each(
    ("kind", "verbs"),
    [
        ("query", worded.QUERIES),
        ("cell", CELLS),
        ("question", worded.AGGREGATIONS),
        *((kind, verbs) for kind, verbs in VALUES.items()),
    ],
)
def test_every_argument_of_every_verb_has_a_case(
    kind: str, verbs: Mapping[str, Mapping[str, Any]]
) -> None:
    for verb, calls in verbs.items():
        assert arguments(kind, verb) <= set(calls), verb


def test_what_differs_in_anything_has_other_words() -> None:
    """For any two calls of any two verbs: they are different requests.

    Two verbs are two ways to write the same: agg without questions is keys, and a name
    for a part of a query is the query.
    """
    opened = worded.session()
    alike: dict[str, str] = {}
    for name, request in REQUESTS.items():
        found = worded.said(opened, request)
        assert alike.setdefault(found.words, name) == name
        assert json.loads(found.words)[1]["form"] == 1


@for_each("kind", VALUES)
def test_what_differs_in_a_value_has_other_words(kind: str) -> None:
    """For any two budgets, bounds, truncations or units of the cases."""
    told = [
        canonical_text(made.words)
        for calls in VALUES[kind].values()
        for made in calls.values()
    ]
    assert len(set(told)) == len(told)


def test_words_are_what_their_text_says() -> None:
    opened = worded.session()
    for request in REQUESTS.values():
        words = request.words(opened._desk.catalog)
        assert json.loads(canonical_text(words)) == listed(words)


def listed(words: Words) -> Any:
    if isinstance(words, Mapping):
        return {name: listed(one) for name, one in words.items()}
    if isinstance(words, (list, tuple)):
        return [listed(one) for one in words]
    return words


def plans_by_words(requests: list[Request], catalog: Any) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    budget = sd.ApproxDP(1, "1e-3")
    for request in requests:
        try:
            plan = price_request(request, catalog, budget).plan
        except SordinoError:
            continue
        told = request_identity(request, catalog, budget, "key").words
        found.setdefault(told, set()).add(plan)
    return found


def ask_many(seed: int) -> dict[str, set[str]]:
    """Draw many requests of the same few tables."""
    dice = rolled(seed)
    catalog = world(dice).catalog(MemoryEngine(), world(dice).private)
    requests = []
    for _ in range(150):
        try:
            requests.append(asked_of(drawn(dice, catalog)))
        except SordinoError:
            continue
    return plans_by_words(requests, catalog)


@sampled(1, 2)
@for_each("seed", range(4))
def test_the_same_words_have_the_same_plan(seed: int) -> None:
    """For any two drawn requests with the same words: the planner knows no more."""
    found = ask_many(seed)
    assert len(found) > 20
    assert all(len(plans) == 1 for plans in found.values())


def test_an_argument_left_out_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = property(lambda _: call("MaxRowsPerID"))
    monkeypatch.setattr(sd.MaxRowsPerID, "words", forgetful)
    with pytest.raises(AssertionError):
        test_what_differs_in_anything_has_other_words()
    with pytest.raises(AssertionError):
        test_what_differs_in_a_value_has_other_words("bounds")


NUMBERS: Final = {
    "1/10": (0.1, Decimal("0.1"), "0.1", Fraction(1, 10), "1/10", "1e-1"),
    "2": (2, 2.0, Decimal(2), "2", "4/2", Fraction(2)),
    "1/3": ("1/3", Fraction(1, 3), "2/6"),
    "sqrt(2)": ("sqrt(2)", "sqrt(8)/2", "2/sqrt(2)"),
}


@for_each("numbers", NUMBERS.values(), ids=NUMBERS)
def test_a_number_is_what_was_written(numbers: tuple[Any, ...]) -> None:
    """For any two ways to write a number: the same budget has the same words."""
    told = {canonical_text(sd.PureDP(number).words) for number in numbers}
    assert len(told) == 1
    if "sqrt(2)" in numbers:
        return
    opened = worded.session()
    calls: tuple[Callable[[Any], Any], ...] = (
        lambda number: worded.aggregated(sd.sum("cost", number, 5, nulls=number)),
        lambda number: worded.aggregated(sd.mean("cost", -1, number, nulls=number)),
        lambda number: worded.BOUNDED.agg(weights={"n": number}, n=sd.count()),
    )
    for ask in calls:
        assert len({worded.said(opened, ask(number)).words for number in numbers}) == 1


def test_a_name_and_a_column_of_it_are_the_same() -> None:
    opened = worded.session()
    one = worded.aggregated(sd.sum("days", 0, 3, nulls="drop"))
    other = worded.aggregated(sd.sum(sd.col("days"), 0, 3, nulls="drop"))
    assert worded.said(opened, one) == worded.said(opened, other)


def test_a_view_is_short_for_its_query() -> None:
    opened = worded.session()
    opened.view("seen", worded.BOUNDED)
    opened.view("again", sd.table("seen").filter(sd.col("days") > 1))
    short = worded.counted(sd.table("again"))
    long = worded.counted(worded.BOUNDED.filter(sd.col("days") > 1))
    assert worded.said(opened, short) == worded.said(opened, long)


def golden() -> list[dict[str, Any]]:
    """Return the words and the fingerprint of every request, in order."""
    opened = worded.session()
    many = {"one": REQUESTS["query agg"], "two": REQUESTS["query group_by keys"]}
    told = {name: worded.said(opened, request) for name, request in REQUESTS.items()}
    told["together"] = worded.said(opened, many)
    shares = share_budget(many, {"one": 3})
    told["together by weights"] = batch_identity(
        many, opened._desk.catalog, worded.BUDGET, "key", shares.words
    )
    for name, calls in worded.BUDGETS.items():
        for argument, budget in calls.items():
            place = f"budget {name} {argument}".strip()
            told[place] = worded.said(opened, REQUESTS["query agg"], budget)
    return [
        {"name": name, "words": json.loads(one.words), "sha256": one.fingerprint}
        for name, one in told.items()
    ]


def test_words_are_for_ever() -> None:
    """Every request has the words and the fingerprint that it had in version 0.2.

    New lines stand at the end of the file, whatever the order of the cases.
    """
    known = json.loads(VECTORS.read_text("utf-8"))["requests"]
    assert sorted(golden(), key=str) == sorted(known, key=str)


def test_the_page_says_what_is_written() -> None:
    people = sd.PrivateTable(
        {"patient": [1], "days": [2]}, protects=sd.AddRowsWithID("patient")
    )
    opened = sd.Session({"visits": people}, sd.PureDP(1), engine="memory")
    query = sd.table("visits").enforce(sd.MaxRowsPerID(5)).filter(sd.col("days") >= 3)
    found = worded.said(opened, query.agg(n=sd.count()), sd.PureDP(0.5))
    page = (VECTORS.parents[2] / "docs" / "ledger-format.md").read_text("utf-8")
    assert found.words in page
    assert found.fingerprint in page


def private_classes() -> list[type]:
    """Return every class of Sordino that is not public."""
    modules = [module for name, module in sys.modules.items() if "sordino." in name]
    found = {
        one
        for module in modules
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__.startswith("sordino.")
    }
    public = {getattr(sd, name) for name in dir(sd)}
    return sorted(found - public, key=repr)


@contextmanager
def renamed(classes: list[type]) -> Generator[None]:
    """Give classes other names for a while."""
    names = {one: (one.__name__, one.__qualname__) for one in classes}
    try:
        for one in classes:
            one.__name__ = one.__qualname__ = f"Renamed{one.__name__}"
        yield
    finally:
        for one, (name, full) in names.items():
            one.__name__, one.__qualname__ = name, full


def test_names_and_plans_are_not_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = golden()
    for node in AbstractNode.__subclasses__():
        monkeypatch.setattr(node, "describe", lambda _: "reworded")
    for kind in (Query, Request, *AbstractAggregation.__subclasses__()):
        monkeypatch.setattr(kind, "__repr__", lambda _: "reworded")
    with renamed(private_classes()):
        assert AbstractNode.__name__ == "RenamedAbstractNode"
        assert golden() == before
