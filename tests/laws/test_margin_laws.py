"""Laws of margins: no unit moves them further than they cost, and they are right.

For any two databases of `sordino.auditing.worlds` that differ by the protected change,
the square of what all contrasts move by, in units of their noise, is at most that of
the mu that is charged: both are rationals, and compared as such. The broken rules below
are caught.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pytest

import sordino as sd
from sordino.aggregations.margins import crossing, measuring
from sordino.aggregations.margins.crossing import Halving, Levels, Tree
from sordino.aggregations.margins.measuring import (
    Tally,
    contrasts_of,
    measure,
    restore,
    squares_of,
)
from sordino.auditing.dice import Dice
from sordino.auditing.drawn_queries import draw_query as drawn
from sordino.auditing.worlds import POOLS, neighbour, world
from sordino.engines.memory import MemoryEngine, keyed_order
from sordino.errors import SordinoError
from sordino.numbers import sqrt
from sordino.plan.margins import MarginsPurchase, buy_margins
from tests.batches import for_each
from tests.dice import rolled
from tests.effort import often

BUDGET: Final = sd.GaussianDP(1)
NEIGHBOURS: Final = 3
_SEED: Final = 1810
NESTED: Final = sd.KeySet.from_tuples(
    [("a", 0), ("a", 1), ("b", 2), ("c", None), ("c", 7)], columns=("g", "h")
)


def keys_of(dice: Dice) -> tuple[sd.KeySet, list[tuple[str, ...]]]:
    """Draw public keys: some values of some columns, or two columns that nest."""
    if dice.chance(1, 4):
        more = sd.KeySet.from_dict({"z": [0, 1, None]}, types={"z": "i64"})
        return (NESTED * more if dice.chance(1, 2) else NESTED), [("g", "h")]
    columns = dice.several(("g", "h", "z"), 1, 3)
    types = {"g": "text", "h": "i64", "z": "i64"}
    values = {"g": POOLS["g"], "h": (0, 1, 2, None), "z": (0, 1, 2, None)}
    chosen = {name: dice.several(values[name], 1, 4) for name in columns}
    return sd.KeySet.from_dict(chosen, types={n: types[n] for n in columns}), []


def purchases(dice: Dice) -> Iterator[tuple[MarginsPurchase, list[pa.Table]]]:
    """Draw margins of a database, and yield their exact answers on neighbours."""
    drawn_world = world(dice)
    order = keyed_order(dice.below(2**16))
    first = MemoryEngine(order=order)
    catalog = drawn_world.catalog(first, drawn_world.private)
    try:
        query = drawn(dice, catalog).query
        keys, nested = keys_of(dice)
        request = query.marginals(
            keys,
            order=dice.between(1, len(keys.columns) - len(nested)),
            hierarchies=nested,
        )
        bought = buy_margins(request, catalog, BUDGET)
    except SordinoError:
        return
    answers = [first.prepare(bought.question)()]
    for _ in range(NEIGHBOURS):
        other = MemoryEngine(order=order)
        drawn_world.catalog(other, neighbour(dice, drawn_world))
        answers.append(other.prepare(bought.question)())
    yield bought, answers


def square_shifts(bought: MarginsPurchase, one: pa.Table, other: pa.Table) -> Fraction:
    """Return the square of what all contrasts move by, in units of their noise."""
    trees = bought.request.crossing
    tallies = Tally.of(trees, one), Tally.of(trees, other)
    whole = Fraction(0)
    for part, precision in bought.precisions.parts.items():
        here, there = (
            contrasts_of(trees, part, tally.table(trees, part)).ravel().tolist()
            for tally in tallies
        )
        squares = squares_of(trees, part).ravel().tolist()
        for before, after, square in zip(here, there, squares, strict=True):
            whole += precision * Fraction((before - after) ** 2, square)
    return whole


def complaints(seeds: range) -> tuple[int, int]:
    """Return how many pairs moved further than was paid, and how many were tried."""
    beyond = tried = 0
    for seed in seeds:
        for bought, (first, *others) in purchases(rolled(seed)):
            paid = bought.precisions.square(bought.change)
            for other in others:
                tried += 1
                beyond += square_shifts(bought, first, other) > paid
    return beyond, tried


def test_no_unit_moves_margins_further_than_they_cost() -> None:
    """For any two neighbours, with rows or ids protected and any steps before."""
    beyond, tried = complaints(range(_SEED, _SEED + 40))
    assert beyond == 0
    assert tried > 30


@pytest.mark.slow
def test_no_unit_moves_margins_further_in_many_worlds() -> None:
    beyond, tried = complaints(range(2 * _SEED, 2 * _SEED + often(150, 1500)))
    assert beyond == 0
    assert tried > often(100, 1000)


def drawn_crossing(dice: Dice) -> crossing.Crossing:
    """Draw trees of one or two levels, uneven ones among them."""
    trees = []
    for place in range(dice.between(1, 3)):
        names = (f"a{place}", f"b{place}")
        leaves = dice.between(1, 5)
        if dice.chance(1, 2):
            above = sorted(dice.below(3) for _ in range(leaves))
            pairs = list(zip(above, range(leaves), strict=True))
            trees.append(Tree.of(sd.KeySet.from_tuples(pairs, columns=names), names))
        else:
            keys = sd.KeySet.from_dict({names[0]: range(leaves)})
            trees.append(Tree.of(keys, names[:1]))
    every = crossing.Crossing(tuple(trees), dice.between(1, len(trees)))
    if dice.chance(1, 2):
        return every
    some = {*dice.several(every.tables, 1, 3), every.finest}
    return crossing.Crossing(every.trees, len(trees), tuple(some))


def weights_of(dice: Dice, trees: crossing.Crossing) -> dict[Levels, Fraction]:
    """Draw weights of some tables."""
    some = dice.several(trees.tables, 0, 2)
    return {table: Fraction(dice.between(1, 9), dice.between(1, 9)) for table in some}


def weighed_variance(
    bought: measuring.Precisions, weights: dict[Levels, Fraction]
) -> float:
    """Return what planning makes least: mean variances by their squared weights."""
    return sum(
        float(weights.get(table, 1)) ** 2 * float(bought.variances(table).mean())
        for table in bought.crossing.tables
    )


def is_least(seed: int) -> bool:
    """Tell whether no budget moved between two parts makes variances less."""
    dice = rolled(seed)
    trees = drawn_crossing(dice)
    weights = weights_of(dice, trees)
    bought = measuring.best_precisions(trees, (), weights)
    least = weighed_variance(bought, weights)
    one = measuring.CellChange(sd.Sensitivity(l1=1, l2=1))
    whole = bought.square(one)
    for part, precision in bought.parts.items():
        for factor in (Fraction(7, 8), Fraction(9, 8)):
            moved = {**bought.parts, part: precision * factor}
            other = measuring.Precisions(trees, moved)
            other = other.times(whole / other.square(one))
            if weighed_variance(other, weights) < least * 0.999:
                return False
    return True


def test_no_other_precisions_err_less() -> None:
    """For any trees, tables and weights, a budget moved to a part or from it."""
    assert all(map(is_least, range(60)))


def directions(bought: measuring.Precisions) -> dict[tuple[int, ...], list[Fraction]]:
    """Return for each cell how it moves all contrasts, in squares of their noise."""
    trees = bought.crossing
    shape = trees.shape(trees.finest)
    moved: dict[tuple[int, ...], list[Fraction]] = {}
    for cell in np.ndindex(*shape):
        tally = Tally(tuple(np.array([place]) for place in cell), np.array([1]))
        moved[cell] = [
            Fraction(each)
            for part in bought.parts
            for each in contrasts_of(trees, part, tally.table(trees, part))
            .ravel()
            .tolist()
        ]
    return moved


def scales(bought: measuring.Precisions) -> list[Fraction]:
    """Return the precision of each contrast over its square."""
    return [
        precision / square
        for part, precision in bought.parts.items()
        for square in squares_of(bought.crossing, part).ravel().tolist()
    ]


def is_covered(seed: int) -> bool:
    """Tell whether no change of cells moves contrasts further than it costs.

    Some rows of any sign, all of one sign, and rows that take the place of others: for
    each pair of cells, and for some changes of more.
    """
    dice = rolled(seed)
    trees = drawn_crossing(dice)
    bought = measuring.best_precisions(trees, (), weights_of(dice, trees))
    weights, moved = scales(bought), directions(bought)
    cells = list(moved)

    def square(change: dict[tuple[int, ...], int]) -> Fraction:
        whole = [
            sum((moved[c][k] * d for c, d in change.items()), Fraction(0))
            for k in range(len(weights))
        ]
        return sum(
            (w * each**2 for w, each in zip(weights, whole, strict=True)), Fraction(0)
        )

    def paid(change: dict[tuple[int, ...], int]) -> Fraction:
        numbers = [d for d in change.values() if d]
        size = sd.Sensitivity(
            l1=sum(map(abs, numbers)), l2=sqrt(Fraction(sum(d * d for d in numbers)))
        )
        ways = sum(d for d in numbers if d > 0), -sum(d for d in numbers if d < 0)
        told = measuring.CellChange(size)
        if min(ways) == 0:
            told = measuring.CellChange(size, is_one_way=True)
        elif dice.chance(1, 2):
            told = measuring.CellChange(size, each_way=max(ways))
        return bought.square(told)

    pairs = [dice.several(cells, 2, 2) for _ in range(12)] if len(cells) > 1 else []
    changes = [{one: a, other: b} for one, other in pairs for a, b in ((1, 1), (1, -1))]
    for _ in range(4):
        few = dice.several(cells, 1, min(4, len(cells)))
        sign = 0 if dice.chance(1, 2) else 1
        changes.append({
            cell: dice.between(1, 3) * (1 if sign or dice.chance(1, 2) else -1)
            for cell in few
        })
    return all(square(change) <= paid(change) for change in changes)


def test_no_change_of_cells_moves_contrasts_further_than_it_costs() -> None:
    """For any trees, any cells and any changes of them, up or down, exactly."""
    assert all(map(is_covered, range(often(120, 300))))


def far_apart(bought: measuring.Precisions) -> tuple[Fraction, Fraction]:
    """Return the most that two cells have in common, and how far two are apart."""
    weights, moved = scales(bought), directions(bought)
    common, apart = Fraction(0), Fraction(0)
    for one, other in itertools.combinations(moved.values(), 2):
        products = zip(weights, one, other, strict=True)
        common = max(common, sum((w * a * b for w, a, b in products), Fraction(0)))
        distances = zip(weights, one, other, strict=True)
        far = sum((w * (a - b) ** 2 for w, a, b in distances), Fraction(0))
        apart = max(apart, far)
    return common, apart


@for_each("sizes", [(4,), (3, 2), (2, 2, 3), (5, 3)])
def test_pairs_of_cells_attain_what_they_cost_where_trees_are_even(
    sizes: tuple[int, ...],
) -> None:
    """Lemmas 3 and 4 are equalities: none have more in common, or are further."""
    keys = sd.KeySet.from_dict({f"c{n}": range(size) for n, size in enumerate(sizes)})
    trees = tuple(Tree.of(keys, (name,)) for name in keys.columns)
    bought = measuring.best_precisions(crossing.Crossing(trees, len(trees)))
    assert far_apart(bought) == (bought._added_by_two, bought._distance)
    # lemma 3, where one part alone is measured: of some pair one row comes and one goes
    one = measuring.Precisions(bought.crossing, {bought.crossing.finest: Fraction(1)})
    both = measuring.CellChange(sd.Sensitivity(l1=2, l2=sqrt(Fraction(2))))
    assert far_apart(one)[1] == one.square(both)


def test_all_that_is_paid_is_attained() -> None:
    """One row where all nodes have as many siblings moves by exactly mu."""
    rows = {"a": ["x"], "b": [1]}
    keys = sd.KeySet.from_dict({"a": ["x", "y", "z"], "b": [1, 2]})
    request = sd.table("t").marginals(keys, order=2)
    answers, bought = [], None
    for held in (rows, {"a": ["none"], "b": [0]}):
        session = sd.Session(
            {"t": sd.PrivateTable(held, protects=sd.AddOneRow())},
            BUDGET,
            engine="memory",
        )
        bought = buy_margins(request, session._desk.catalog, BUDGET)
        answers.append(session._desk.engine.prepare(bought.question)())
    assert bought is not None
    assert square_shifts(bought, *answers) == 1 == bought.loss.guarantees.mu


def test_a_row_that_moves_elsewhere_is_paid_and_no_more() -> None:
    """Of all cells that one row can leave for another some two are exactly mu apart."""
    keys = sd.KeySet.from_dict({"a": ["x", "y", "z"], "b": [1, 2]})
    request = sd.table("t").marginals(keys, order=2)
    answers, bought = [], None
    for a, b in itertools.product(["x", "y"], [1, 2]):
        private = sd.PrivateTable({"a": [a], "b": [b]}, protects=sd.ChangeOneRow())
        session = sd.Session({"t": private}, BUDGET, engine="memory")
        bought = buy_margins(request, session._desk.catalog, BUDGET)
        answers.append(session._desk.engine.prepare(bought.question)())
    assert bought is not None
    pairs = itertools.combinations(answers, 2)
    assert max(square_shifts(bought, *pair) for pair in pairs) == 1


@for_each("unit", [sd.AddMaxRows(2), sd.ChangeOneRow(), sd.AddRowsWithID("id")])
def test_only_rows_of_an_id_are_sure_to_come_together(unit: Any) -> None:
    """Rows that are protected one by one can push out others, or replace them."""
    private = sd.PrivateTable({"a": ["x"], "id": [1]}, protects=unit)
    session = sd.Session({"t": private}, BUDGET, engine="memory")
    query = sd.table("t")
    if isinstance(unit, sd.AddRowsWithID):
        query = query.enforce(sd.MaxRowsPerID(2))
    request = query.marginals(sd.KeySet.from_dict({"a": ["x", "y"]}), order=1)
    bought = buy_margins(request, session._desk.catalog, BUDGET)
    assert bought.change.is_one_way == isinstance(unit, sd.AddRowsWithID)


Patch = pytest.MonkeyPatch


def _half_the_noise(patch: Patch) -> None:
    squares = Halving.squares.fget  # type: ignore[attr-defined]
    patch.setattr(Halving, "squares", property(lambda cuts: squares(cuts) // 2))


def _rows_add_up_in_squares(patch: Patch) -> None:
    """Several rows of a unit are priced as if no two moved a contrast together."""
    patch.setattr(measuring.Precisions, "_extra", Fraction(0))


def _rows_together_as_apart(patch: Patch) -> None:
    """What parts two cells in two trees is taken off, as what does in one."""
    whole = measuring._parting_factors

    def odd(*given: Any) -> Any:
        least, most, _ = whole(*given)
        return least, most, least < 1

    patch.setattr(measuring, "_parting_factors", odd)


def _elsewhere_as_once(patch: Patch) -> None:
    """A row that takes the place of another costs what a row costs."""
    patch.setattr(measuring.Precisions, "_distance", Fraction(0))


def _least_instead_of_most(patch: Patch) -> None:
    """The children of the smallest node are counted."""
    patch.setattr(
        measuring,
        "_most_moved",
        lambda tree: [
            Fraction(1),
            *(
                1 - Fraction(1, int(sizes[sizes > 1].min(initial=9)))
                for sizes in tree.children
            ),
        ],
    )


def _totals_for_nothing(patch: Patch) -> None:
    """The sum of all cells is measured, but not paid for."""
    whole = measuring.Precisions._alone.func  # type: ignore[attr-defined]
    patch.setattr(
        measuring.Precisions,
        "_alone",
        property(lambda bought: whole(bought) - min(bought._shifts.values())),
    )


MUTANTS: Final = (
    _half_the_noise,
    _rows_add_up_in_squares,
    _rows_together_as_apart,
    _elsewhere_as_once,
    _least_instead_of_most,
    _totals_for_nothing,
)


@for_each("mutant", MUTANTS)
def test_a_broken_rule_is_caught(
    mutant: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    mutant(monkeypatch)
    assert not all(map(is_covered, range(300)))


def crossed(order: int = 3) -> crossing.Crossing:
    keys = NESTED * sd.KeySet.from_dict({"m": range(7), "x": ["only"], "y": [0, 1]})
    columns = (("g", "h"), ("m",), ("x",), ("y",))
    return crossing.Crossing(tuple(Tree.of(keys, each) for each in columns), order)


def counted(trees: crossing.Crossing, seed: int) -> Tally:
    generator = np.random.default_rng(seed)
    leaves = tuple(
        generator.integers(0, int(tree.sizes[-1]), 300) for tree in trees.trees
    )
    return Tally(leaves, generator.integers(0, 5, 300))


@for_each("order", [1, 2, 3, 4])
def test_contrasts_say_all_of_every_table(order: int) -> None:
    trees = crossed(order)
    tally = counted(trees, order)
    exact = {
        part: contrasts_of(trees, part, tally.table(trees, part)).astype(float)
        for part in trees.tables
    }
    for table in trees.tables:
        assert np.allclose(restore(trees, table, exact), tally.table(trees, table))


def test_chosen_tables_are_made_of_what_is_measured_for_them() -> None:
    """Those that were chosen and no others, whatever was not measured."""
    every = crossed(4)
    chosen = ((1, 1, 0, 0), (2, 0, 1, 1), (0, 0, 0, 0))
    trees = crossing.Crossing(every.trees, 3, chosen)
    assert set(trees.tables) == set(chosen)
    tally = counted(trees, 3)
    bought = measuring.best_precisions(trees)
    assert (2, 1, 0, 0) not in bought.parts
    exact = {
        part: contrasts_of(trees, part, tally.table(trees, part)).astype(float)
        for part in bought.parts
    }
    for table in trees.tables:
        assert np.allclose(restore(trees, table, exact), tally.table(trees, table))


@for_each("sizes", [(1,), (2,), (3,), (7,), (1, 2, 5, 1), (64, 3)])
def test_contrasts_are_orthogonal_integers(sizes: tuple[int, ...]) -> None:
    """Lemma 1: to the sums of their ranges and to each other, of the squares told."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    cuts = Halving.of(starts)
    vectors = cuts.contrasts(np.eye(int(starts[-1]), dtype=np.int64))
    assert len(vectors) == sum(sizes) - len(sizes)
    assert np.array_equal(vectors @ vectors.T, np.diag(cuts.squares))
    assert not np.add.reduceat(vectors, starts[:-1], axis=1).any()


def far_off(releases: int, shrink: float = 1.0) -> float:
    """Return how far the squares of errors lie from their means, in deviations.

    Each contrast over the root of its variance is a standard normal, so the sum of n
    squares has the mean n and the variance 2 n; tables likewise, cell by cell.
    """
    trees = crossed(2)
    bought = measuring.best_precisions(trees)
    tally = counted(trees, 0)
    exact = {
        part: contrasts_of(trees, part, tally.table(trees, part))
        for part in trees.tables
    }
    squares: list[float] = []
    for _ in range(releases):
        noisy = measure(bought, tally)
        for part, precision in bought.parts.items():
            scale = np.sqrt(squares_of(trees, part) / float(precision)) * shrink
            squares += (((noisy[part] - exact[part]) / scale) ** 2).ravel().tolist()
    return abs(sum(squares) - len(squares)) / math.sqrt(2 * len(squares))


def test_noise_has_the_variances_that_were_paid_for() -> None:
    """For some 2,500 contrasts; seven deviations are passed once in 10^10 runs."""
    assert far_off(40) < 7


def test_a_little_less_noise_is_caught() -> None:
    """A fifth less deviation is 20 deviations of the sum."""
    assert far_off(40, shrink=1.25) > 7


@pytest.mark.slow
def test_tables_err_as_they_say() -> None:
    """Each table's mean square over its variance, in 400 releases of 9 to 70 cells.

    Of independent releases the mean over cells and releases has a deviation of at most
    sqrt(2 / 400) = 0.071 where all cells of a table err together; seven are passed once
    in 10^11, and there are 15 tables.
    """
    trees = crossed(2)
    bought = measuring.best_precisions(trees)
    tally = counted(trees, 1)
    sums = dict.fromkeys(trees.tables, 0.0)
    for _ in range(400):
        noisy = measure(bought, tally)
        for table in trees.tables:
            off = restore(trees, table, noisy) - tally.table(trees, table)
            sums[table] += float(np.mean(off**2 / bought.variances(table))) / 400
    assert max(abs(mean - 1) for mean in sums.values()) < 0.5


def test_samplers_are_few() -> None:
    """A column of 3,334 values and one of 12 need fewer than 200 scales together."""
    keys = sd.KeySet.from_dict({"a": range(3334), "b": range(12)})
    trees = crossing.Crossing(
        tuple(Tree.of(keys, (name,)) for name in ("a", "b")), order=2
    )
    squares = [np.unique(squares_of(trees, part)) for part in trees.tables]
    assert sum(map(len, squares)) < 200
    assert measuring._MOST == 2**53
