"""Answers of several groups and of several releases, computed with each other.

Every block of groups is one repetition, with noise of its own. A law that is true is
called false once in 1e9 runs (`FALSE_ALARM`).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sordino as sd
from tests.batches import for_each
from tests.effort import often
from tests.statistics import is_at_least, is_at_most

Floats = NDArray[np.float64]
BLOCKS: Final = often(800, 12_000)
SIZES: Final = (40, 90, 60)
"""Rows of each year in a block."""
WEIGHTS: Final = {2019: 0.5, 2020: 0.3, 2021: 0.2}
BUDGETS: Final = {"Laplace": sd.PureDP(1), "Gaussian": sd.ApproxDP(1, "1e-6")}
N, A = sd.col("n"), sd.col("a")


@cache
def session(keys_of: str) -> tuple[sd.Session, Any, Floats]:
    """A session, its request, and the exact sums of each block and year."""
    rng = np.random.default_rng(5)
    blocks = np.repeat(np.arange(BLOCKS), sum(SIZES))
    years = np.tile(np.repeat([*WEIGHTS], SIZES), BLOCKS)
    x = 10 * rng.beta(2, 3, blocks.size)
    table = sd.PrivateTable(
        pa.table({"b": blocks, "y": years, "x": x}),
        protects=sd.AddOneRow(),
        columns={"x": sd.Column("f64", nullable=False, nan=False)},
    )
    pairs = [(block, year) for block in range(BLOCKS) for year in WEIGHTS]
    if keys_of == "uneven":  # every third block lacks a year
        pairs = [pair for pair in pairs if pair[0] % 3 or pair[1] != 2019]
    keys = sd.KeySet.from_tuples(pairs, columns=("b", "y"))
    request = sd.table("t").group_by(keys).agg(n=sd.count(), a=sd.sum("x", 0, 10))
    places = np.arange(0, blocks.size).reshape(BLOCKS, -1)
    starts = np.cumsum([0, *SIZES[:-1]])
    sums = np.add.reduceat(x[places], starts, axis=1)
    opened = sd.Session({"t": table}, sd.ApproxDP(500, "1e-2"))
    return opened, request, sums


@cache
def released(budget: str, keys_of: str = "even") -> sd.Release:
    opened, request, _ = session(keys_of)
    return opened.release(request, BUDGETS[budget], key=budget)


def counts() -> Floats:
    return np.tile(np.array(SIZES, np.float64), (BLOCKS, 1))


def held(release: sd.Release, name: str, exact: Floats) -> NDArray[np.bool_]:
    """Whether intervals hold, of the rows in the order of their keys."""
    low, high = (
        release.errors[f"{name} {end}"].to_numpy(zero_copy_only=False)
        for end in ("low", "high")
    )
    assert low.shape == exact.shape
    return np.asarray((low <= exact) & (exact <= high))


def just(inside: NDArray[np.bool_]) -> bool:
    """Tell whether 93 to 97 of 100 intervals hold."""
    return is_at_least(inside, 0.95) and is_at_most(inside, 0.97)


def weighted(sums: Floats) -> Floats:
    return np.asarray(sums @ np.array([*WEIGHTS.values()]), np.float64)


def _sums(release: sd.Release) -> tuple[sd.Release, Floats]:
    _, _, sums = session("even")
    return release.add_up("b").rename({"a": "z"}), sums.sum(axis=1)


def _means(release: sd.Release) -> tuple[sd.Release, Floats]:
    _, _, sums = session("even")
    made = release.add_up("b").with_columns(z=A / N)
    return made, sums.sum(axis=1) / sum(SIZES)


def _weighted(release: sd.Release) -> tuple[sd.Release, Floats]:
    _, _, sums = session("even")
    made = release.add_up("b", weights=WEIGHTS).with_columns(z=A / N)
    return made, weighted(sums) / weighted(counts())


def _change(release: sd.Release) -> tuple[sd.Release, Floats]:
    _, _, sums = session("even")
    made = release.with_baseline(y=2019).with_columns(
        z=100 * (A / sd.col("a before") - 1)
    )
    return made, (100 * (sums[:, 1:] / sums[:, :1] - 1)).ravel()


def _share(release: sd.Release) -> tuple[sd.Release, Floats]:
    _, _, sums = session("even")
    base = sd.col("a before")
    made = release.with_baseline(y=2021).with_columns(z=A / (A + base))
    return made, (sums[:, :2] / (sums[:, :2] + sums[:, 2:])).ravel()


def _releases(release: sd.Release) -> tuple[sd.Release, Floats]:
    opened, request, sums = session("even")
    other = opened.release(request, BUDGETS["Gaussian"])
    made = release.join(other).with_columns(z=A / sd.col("n before") + 0)
    return made, (sums / counts()).ravel()


FORMS: Final[Mapping[str, Any]] = {
    "sums": _sums,
    "means of sums": _means,
    "weighted means": _weighted,
    "changes": _change,
    "shares with a baseline": _share,
    "of two releases": _releases,
}


@for_each("budget", list(BUDGETS))
@for_each("form", list(FORMS))
def test_intervals_hold(budget: str, form: str) -> None:
    """In 93 to 97 of 100 rows, whatever is computed of several groups or releases."""
    release, exact = FORMS[form](released(budget))
    assert just(held(release, "z", exact))


def test_sums_of_as_many_groups_as_there_are() -> None:
    """Where blocks have other numbers of groups, each has the noise of its own."""
    _, _, sums = session("even")
    lacks = np.arange(BLOCKS) % 3 == 0
    exact = np.where(lacks, sums[:, 1:].sum(axis=1), sums.sum(axis=1))
    release = released("Gaussian", "uneven").add_up("b")
    assert just(held(release, "a", exact))
    spread = release.errors["a sd"].to_numpy()
    assert spread[1] / spread[0] == pytest.approx(1.5**0.5)


def test_without_keys_all_groups_are_one() -> None:
    release = released("Laplace").add_up()
    assert release.keys == ()
    assert release["n"].to_pylist() == [sum(released("Laplace")["n"].to_pylist())]
    assert release.errors["n low"].null_count == 0


def test_a_paid_answer_that_is_given_again_has_the_same_noise() -> None:
    """Planted: taken for another one, its difference would seem to have noise."""
    opened, request, _ = session("even")
    one = released("Laplace")
    again = opened.release(request, BUDGETS["Laplace"], key="Laplace")
    same = one.join(again).with_columns(z=N - sd.col("n before"))
    assert set(same.errors["z high"].to_pylist()) == {0.0}
    assert same.loss == one.loss
    other = opened.release(request, BUDGETS["Laplace"])
    apart = one.join(other).with_columns(z=N - sd.col("n before"))
    assert min(apart.errors["z sd"].to_pylist()) > 1
    assert apart.loss.epsilon == 2


def test_where_it_is_not_known_whose_noise_it_is_there_is_no_interval() -> None:
    """Of a release without a charge, of rows that were exchanged, of sums again."""
    one = released("Laplace")
    unknown = replace(one, provenance=replace(one.provenance, charge=None))
    nobody = replace(unknown, read_laws=lambda: None)
    swapped = one.rename({"b": "c"}).rename({"c": "b"})
    moved = one.filter(sd.col("y") == 2019).add_up("b")
    twice = one.with_baseline(y=2019).add_up("b")
    again = one.add_up("b")
    for first, second in ((one, nobody), (moved, again), (again, moved)):
        made = first.join(second).with_columns(z=N - sd.col("n before"))
        assert made.errors["z low"].null_count == len(made)
    assert twice.errors["n low"].null_count == len(twice)
    assert one.join(swapped).with_columns(z=N - sd.col("n before")).errors[
        "z high"
    ].to_pylist() == [0.0] * len(one)


def test_requests_of_one_charge_may_share_noise() -> None:
    """Counts of a survey do, so of two of them nothing is known together."""
    opened, request, _ = session("even")
    pair = {"one": request, "other": request.filter(sd.col("n") > -(10**6))}
    both = opened.release_all(pair, BUDGETS["Laplace"])
    made = both["one"].join(both["other"]).with_columns(z=N - sd.col("n before"))
    assert made.errors["z low"].null_count == len(made)
    other = opened.release(request, BUDGETS["Laplace"])
    made = both["one"].join(other).with_columns(z=N - sd.col("n before"))
    assert made.errors["z low"].null_count == 0


def test_what_showed_itself_has_no_sum() -> None:
    """What did not show is missing, and nobody knows how much it was."""
    opened, _, _ = session("even")
    request = sd.table("t").group_by("b", "y").agg(n=sd.count())
    release = opened.release(request, sd.ApproxDP(1, "1e-6")).add_up("y")
    assert release.errors["n low"].null_count == len(release)
    assert any("did not show" in note for note in release.notes)


REFUSED: Final[dict[str, tuple[Any, str]]] = {
    "no key": (lambda r: r.add_up("x"), "key"),
    "of a file": (
        lambda r: sd.Release(
            r.table, r.errors, r.keys, r.confidence, r.loss, r.plan
        ).add_up("b"),
        "nobody knows",
    ),
    "a quotient": (lambda r: r.with_columns(m=A / N).add_up("b"), "does not add up"),
    "no weight": (lambda r: r.add_up("b", weights={2019: 1}), "has no weight"),
    "weights of two": (lambda r: r.add_up(weights={2019: 1}), "one key"),
    "no weights": (lambda r: r.add_up("b", weights={}), "dict of numbers"),
    "a text": (lambda r: r.add_up("b", weights={2019: "x"}), "weights"),
    "no baseline": (lambda r: r.with_baseline(), "must name a key"),
    "no such key": (lambda r: r.with_baseline(z=1), "key"),
    "a name twice": (lambda r: r.with_baseline(y=2019, suffix=" sd"), "second"),
    "other keys": (lambda r: r.join(r.add_up("b")), "other keys"),
    "no release": (lambda r: r.join(3), "must be a release"),
}


@for_each("name", list(REFUSED))
def test_refused(name: str) -> None:
    ask, said = REFUSED[name]
    with pytest.raises(sd.errors.SordinoError, match=said):
        ask(released("Laplace"))


def test_it_may_be_asked_before_the_charge() -> None:
    """A request takes the steps as well; what cannot be done is refused unpaid."""
    opened, request, _ = session("even")
    asked = request.add_up("b").with_columns(m=A / N)
    release = opened.release(asked, BUDGETS["Laplace"])
    assert release.keys == ("b",)
    assert release.errors["m low"].null_count == 0
    spent = opened.spent
    with pytest.raises(sd.errors.InvalidQuery, match="does not add up"):
        opened.release(asked.add_up(), BUDGETS["Laplace"])
    assert opened.spent == spent
