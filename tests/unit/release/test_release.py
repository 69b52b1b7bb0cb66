"""A release as a value, as text and in a notebook, for every shape of release."""

import math
import re
from fractions import Fraction
from html.parser import HTMLParser

import pyarrow as pa
import pytest

from sordino.errors import InvalidParameter, UnknownName
from sordino.losses.budgets.risk import Advantage
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.interop import TableLoss
from sordino.losses.loss import Budget, Loss, PureDP, headline
from sordino.noise.laplace import Geometric
from sordino.numbers.formatting import text_width
from sordino.release.release import Release
from sordino.release.text import MOST, WIDEST, names_with_errors
from tests.batches import for_each
from tests.releases import HOSTILE, RELEASES, few

VOID = {"br", "hr", "img", "input", "meta"}
each_release = for_each("release", RELEASES.values(), ids=RELEASES)


class Reader(HTMLParser):
    """Reads a page, and refuses tags that do not close."""

    def __init__(self) -> None:
        HTMLParser.__init__(self)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        del attrs
        self.open.append(tag)
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def read(release: Release) -> Reader:
    reader = Reader()
    reader.feed(release._repr_html_())
    assert not reader.open
    return reader


@each_release
def test_text_fits_a_terminal(release: Release) -> None:
    """At most 100 columns, 20 rows and the lines around them, all printable."""
    lines = str(release).splitlines()
    assert max(map(text_width, lines)) <= WIDEST
    assert len(lines) <= MOST + 6
    assert all(line.isprintable() for line in lines)
    assert repr(release) == str(release)
    assert lines[-1] == f"price: {release.price}"


@each_release
def test_pages_are_well_formed_and_harmless(release: Release) -> None:
    """Only our own tags stand in a page, each closed; rows are as long as headings."""
    reader = read(release)
    assert reader.tags <= {
        "div",
        "style",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "p",
        *("svg", "title", "line", "circle"),
    }
    names, below, *body = reader.rows
    assert len(names) == len(release.keys) + len(release.names)
    # a number, its errors where it has any, and their picture where that fits
    assert len(release.names) <= len(below) <= 4 * len(release.names)
    assert len(body) == min(len(release), MOST)
    assert {len(row) for row in body} <= {len(release.keys) + len(below)}


def test_hostile_names_are_shown_as_they_are() -> None:
    reader = read(RELEASES["hostile"])
    assert reader.rows[2][0] == HOSTILE[0]
    assert reader.rows[0][0] == "<b>place</b>"
    assert "<script>" not in RELEASES["hostile"]._repr_html_()


def test_what_is_left_out_is_counted() -> None:
    """Of 1000 groups 20 are shown; an empty release says so."""
    assert "... and 980 more rows" in str(RELEASES["many"])
    assert "... and 980 more rows</p>" in RELEASES["many"]._repr_html_()
    assert "more" not in str(RELEASES["few"]) + RELEASES["few"]._repr_html_()
    assert "no group was shown" in str(RELEASES["empty"])
    assert "no group was shown" in RELEASES["empty"]._repr_html_()
    assert "... and 7 more columns" in str(RELEASES["wide"])


def test_numbers_stand_to_the_right() -> None:
    assert str(few()).splitlines()[:4] == [
        "ward            n  ± sd  95% of the noise  mean days   ± sd  95% of the noise",
        "----------  -----  ----  ----------------  ---------  -----  ----------------",
        "Cardiology  1,340   2.8    1,334 to 1,346      3.410  0.010    3.390 to 3.430",
        "Maternity     120   2.8        114 to 126      12.20   0.40    11.40 to 13.00",
    ]


@each_release
def test_every_release_explains_itself(release: Release) -> None:
    told = release.explain()
    assert f"Price: {release.price}." in told
    assert release.loss.explain() in told
    assert "with a chance of at least 95%, for each number by itself" in told
    assert all(f"Note: {note}" in told for note in release.notes)
    assert "Plan:\n  noise: geometric of scale 2\n    count by group" in told


@for_each(
    ("name", "told"),
    [
        ("few", "Released: n, mean days; 3 groups by ward."),
        ("single", "Released: n, days, mean days; one row."),
        ("many", "1,000 groups by street."),
        ("empty", "0 groups by ward."),
        ("hostile", "No error bars are known for: <i>&."),
    ],
)
def test_what_was_released(name: str, told: str) -> None:
    assert told in RELEASES[name].explain()


@for_each(
    ("loss", "told"),
    [
        (PureDP("1/3"), "epsilon = 0.3334"),
        (PureDP(2), "epsilon = 2"),
        (ApproxDP("0.1", "1e-9"), "epsilon = 0.1, delta = 1e-09"),
        (GaussianDP("sqrt(2)"), "mu = 1.415"),
        (ZCDP("0.5"), "rho = 0.5"),
        (ApproxZCDP("0.5", "1e-7"), "rho = 0.5, delta = 1e-07"),
        (Geometric(10).map(1), "epsilon = 0.1"),
        (Geometric.no_noise().map(1), "epsilon = inf at delta = 1e-06"),
        (TableLoss(PureDP(1).tradeoff.laws()), "epsilon = 1 at delta = 1e-06"),  # type: ignore[arg-type]
    ],
)
def test_prices_are_rounded_up(loss: Loss, told: str) -> None:
    """The headline shows four digits, never fewer than were spent."""
    shown = headline(loss)
    assert shown == told
    value = float(re.findall(r"[0-9.e+-]+|inf", shown.partition("=")[2])[0])
    exact = loss.guarantees
    known = next((x for x in (exact.epsilon, exact.mu, exact.rho) if x != math.inf), 0)
    assert value >= known


@for_each(
    ("loss", "budget", "told"),
    [
        (GaussianDP("0.2"), ApproxDP(1, "1e-6"), "epsilon = 0.8342 at delta = 1e-06 ("),
        (ZCDP("0.1"), ApproxDP(1, 0), "rho = 0.1"),
        (PureDP(1), ApproxDP(1, "1e-6"), "epsilon = 1"),
        (PureDP(1), ZCDP("0.5"), "rho = 0.4622 (epsilon = 1)"),
        (GaussianDP(1), ZCDP("0.5"), "rho = 0.5 (mu = 1)"),
        (PureDP("0.1"), GaussianDP(1), "mu = 0.1254 (epsilon = 0.1)"),
        (GaussianDP(1), GaussianDP(2), "mu = 1"),
        (PureDP("0.2"), Advantage("0.1"), "advantage = 0.09967 (epsilon = 0.2)"),
        (PureDP(1), None, "epsilon = 1"),
    ],
)
def test_prices_speak_as_the_budget_does(
    loss: Loss, budget: Budget | None, told: str
) -> None:
    """What was asked for in epsilon is told in epsilon, rounded up."""
    assert headline(loss, budget).startswith(told)


def test_columns_are_arrow_arrays() -> None:
    release = few()
    assert isinstance(release["n"], pa.Array)
    assert release["n"].to_pylist() == [1340, 120, 77]
    assert (len(release), release.names) == (3, ("n", "mean days"))
    for name in ("mean day", 3, None):
        with pytest.raises(UnknownName, match="there is no column"):
            release[name]  # type: ignore[index]


@for_each(
    ("change", "problem"),
    [
        ({"keys": ("n",)}, "table must begin with the key columns"),
        ({"keys": ()}, "errors has the wrong columns"),
        ({"errors": few().table}, "errors has the wrong columns"),
        ({"errors": few().errors.slice(1)}, "errors has the wrong number of rows"),
        (
            {"table": few().table.rename_columns(["ward", "n", "n sd"])},
            "columns names two columns",
        ),
    ],
)
def test_tables_that_do_not_belong_together_are_refused(
    change: dict[str, object], problem: str
) -> None:
    given = {**vars(few()), **change}
    with pytest.raises(InvalidParameter, match=problem):
        Release(**given)


def test_without_keys_there_are_not_two_rows() -> None:
    given = {**vars(RELEASES["single"])}
    two = [given[name].take([0, 0]) for name in ("table", "errors")]
    given["table"], given["errors"] = two
    with pytest.raises(
        InvalidParameter, match="must have at most one row if there are no keys"
    ):
        Release(**given)


def test_clashing_names_are_refused_beforehand() -> None:
    assert names_with_errors(("ward",), ("n",)) == [
        "ward",
        "n",
        "n sd",
        "n low",
        "n high",
    ]
    for keys, names in ((("n low",), ("n",)), (("a",), ("a",)), ((), ("b", "b"))):
        with pytest.raises(InvalidParameter, match="names two columns"):
            names_with_errors(keys, names)


def test_releases_are_frozen() -> None:
    with pytest.raises(AttributeError):
        few().confidence = Fraction(1, 2)  # type: ignore[misc]
