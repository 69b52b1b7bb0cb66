"""Adjusted tables: they agree, are not negative, and are near to the noisy ones."""

from typing import Any, Final

import numpy as np
import pytest

import sordino as sd
from sordino.aggregations.margins import fitting, joint_law
from sordino.aggregations.margins.crossing import (
    Crossing,
    Levels,
    Tree,
    add_up,
    spread_out,
)
from sordino.aggregations.margins.fitting import (
    Groups,
    JointFit,
    WayDown,
    nearest_both,
    nearest_sums,
    round_cells,
)
from sordino.aggregations.margins.joint_law import Cuts, Matrix, agree
from sordino.aggregations.margins.measuring import (
    best_precisions,
    contrasts_of,
    restore,
    squares_of,
)
from sordino.errors import InvalidQuery
from tests.batches import for_each, sampled

PLACES: Final = sd.KeySet.from_tuples(
    [("n", 1), ("n", 2), ("n", 3), ("s", 4), ("s", 5), ("w", 6)],
    columns=("state", "county"),
)


def crossing_of(*more: int, order: int = 2) -> Crossing:
    columns = {f"c{place}": range(size) for place, size in enumerate(more)}
    keys = PLACES * sd.KeySet.from_dict(columns) if columns else PLACES
    named = (("state", "county"), *((name,) for name in columns))
    return Crossing(tuple(Tree.of(keys, names) for names in named), order)


def noisy_tables(crossing: Crossing, seed: int, sd_of_noise: float = 3.0) -> JointFit:
    """Return tables of mostly empty cells that were measured apart."""
    generator = np.random.default_rng(seed)
    cells = generator.poisson(0.7, crossing.shape(crossing.finest)).astype(float)
    tables = {
        table: add_up(crossing, crossing.finest, cells, table)
        + generator.normal(0, sd_of_noise, crossing.shape(table))
        for table in crossing.tables
    }
    return JointFit.of_tables(crossing, tables, dict.fromkeys(tables, sd_of_noise**2))


@sampled(8)
@for_each("seed", range(12))
@for_each("more", [(), (4,), (3, 2), (2, 2, 3)])
def test_cells_are_not_negative_and_whole_ones_are_near(
    more: tuple[int, ...], seed: int
) -> None:
    """For any number of columns and mostly empty cells."""
    together = noisy_tables(crossing_of(*more), seed)
    assert together.cells.min() >= 0
    assert np.isfinite(together.cells).all()
    whole = together.whole_cells
    assert whole.dtype == np.int64
    assert whole.min() >= 0
    assert abs(int(whole.sum()) - together.cells.sum()) <= 0.5 + 1e-6
    far = np.abs(whole - together.cells).max()
    assert far <= 1 if len(more) != 1 else far < 3


@sampled(6)
@for_each("seed", range(8))
@for_each("size", [1, 2, 5])
def test_the_totals_of_two_trees_stay_as_they_were_told(size: int, seed: int) -> None:
    crossing = crossing_of(size)
    together = noisy_tables(crossing, seed)
    top = restore(crossing, (0, 0), together.contrasts)
    assert together.cells.sum() == pytest.approx(max(float(top), 0.0), abs=1e-6)
    states = restore(crossing, (1, 0), together.contrasts)
    kept = nearest_sums(
        states, Groups(np.zeros(3, np.int64), np.array([max(float(top), 0.0)]))
    )
    sums = add_up(crossing, crossing.finest, together.cells, (1, 0))
    assert np.allclose(sums, kept, atol=1e-5)


def test_tables_that_agree_and_are_not_negative_stay() -> None:
    crossing = crossing_of(4)
    cells = np.random.default_rng(0).poisson(5, crossing.shape(crossing.finest))
    exact = {
        table: add_up(crossing, crossing.finest, cells.astype(float), table)
        for table in crossing.tables
    }
    together = JointFit.of_tables(crossing, exact, dict.fromkeys(exact, 1.0))
    assert np.allclose(together.cells, cells, atol=1e-5)
    assert np.array_equal(together.whole_cells, cells)


def test_agreement_is_least_squares() -> None:
    """As a dense solver finds it, for tables of different errors."""
    crossing = crossing_of(3)
    generator = np.random.default_rng(1)
    shape = crossing.shape(crossing.finest)
    noisy = {t: generator.normal(10, 5, crossing.shape(t)) for t in crossing.tables}
    variances = {t: float(generator.uniform(0.1, 9)) for t in noisy}
    rows, wanted = [], []
    for table, values in noisy.items():
        for place in range(values.size):
            unit = np.zeros(values.size)
            unit[place] = 1
            matrix = spread_out(
                crossing, table, unit.reshape(values.shape), crossing.finest
            )
            rows.append(matrix.ravel() / np.sqrt(variances[table]))
            wanted.append(values.ravel()[place] / np.sqrt(variances[table]))
    known = np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]
    found = agree(crossing, crossing.finest, noisy, variances)
    assert np.allclose(found, known.reshape(shape), atol=1e-5)


def test_the_nearest_cells_with_both_sums() -> None:
    """No feasible move of mass around a rectangle comes nearer."""
    generator = np.random.default_rng(2)
    cells = generator.normal(0, 3, (5, 4))
    rows = np.repeat(np.arange(5), 4)
    columns = np.tile(np.arange(4), 5)
    sums = generator.uniform(0, 4, (5, 4))
    groups = Groups(rows, sums.sum(1)), Groups(columns, sums.sum(0))
    nearest = nearest_both(cells.ravel(), *groups)
    assert nearest.min() >= 0
    assert np.allclose(groups[0].add(nearest), groups[0].sums, atol=1e-6)
    assert np.allclose(groups[1].add(nearest), groups[1].sums, atol=1e-6)
    best = nearest.reshape(5, 4)
    for _ in range(2000):
        (up, down), (left, right) = (
            generator.choice(size, 2, replace=False) for size in (5, 4)
        )
        moved = best.copy()
        step = min(best[up, left], best[down, right]) * generator.uniform(0, 0.2)
        moved[[up, down], [left, right]] -= step
        moved[[up, down], [right, left]] += step
        assert ((moved - cells) ** 2).sum() >= ((best - cells) ** 2).sum() - 1e-6


@sampled(6)
@for_each("seed", range(20))
def test_whole_cells_have_whole_sums(seed: int) -> None:
    """For any rectangle and any whole sums not below those of the floors."""
    generator = np.random.default_rng(seed)
    rows, columns = generator.integers(1, 7, 2)
    cells = generator.uniform(0, 3, (rows, columns))
    floors = np.floor(cells)
    more = generator.multinomial(
        generator.integers(0, rows * columns * 2), [1 / cells.size] * cells.size
    ).reshape(cells.shape)
    kinds = (
        Groups(np.repeat(np.arange(rows), columns), (floors + more).sum(1)),
        Groups(np.tile(np.arange(columns), rows), (floors + more).sum(0)),
    )
    whole = round_cells(cells.ravel(), *kinds)
    assert (whole >= floors.ravel()).all()
    for kind in kinds:
        assert np.array_equal(kind.add(whole), kind.sums)


def test_a_law_of_three_columns_is_near_what_was_measured() -> None:
    """Without noise the fitted law has the contrasts, but for its simplicity."""
    crossing = crossing_of(3, 2)
    cells = np.random.default_rng(3).poisson(400, crossing.shape(crossing.finest))
    contrasts = {
        part: contrasts_of(crossing, part, add_up(crossing, (2, 1, 1), cells, part))
        for part in crossing.tables
    }
    parts = best_precisions(crossing).parts
    together = JointFit(
        crossing, crossing.tables, contrasts, {p: float(t) for p, t in parts.items()}
    )
    for table in crossing.tables:
        exact = add_up(crossing, crossing.finest, cells, table)
        sums = add_up(crossing, crossing.finest, together.cells, table)
        assert np.allclose(sums, exact, rtol=0.02, atol=2)


def test_known_tables_are_met() -> None:
    crossing = crossing_of(3, 2)
    noisy = noisy_tables(crossing, 5)
    known: dict[Levels, Any] = {
        (0, 1, 0): np.array([30, 0, 12]),
        (0, 0, 0): np.array(42),
    }
    together = JointFit(
        crossing, crossing.tables, noisy.contrasts, noisy.precisions, known
    )
    sums = add_up(crossing, crossing.finest, together.cells, (0, 1, 0))
    assert np.allclose(sums, [30, 0, 12])


def nested_fit(seed: int) -> tuple[JointFit, dict[Levels, Any]]:
    """Return tables of three trees that lie in each other, some of them public."""
    generator = np.random.default_rng(seed)
    crossing = crossing_of(3, 2)
    cells = generator.poisson(0.7, crossing.shape(crossing.finest)).astype(float)
    asked = [(0, 1, 1), (1, 1, 1), (2, 1, 1)][generator.integers(0, 2) :]
    noisy: dict[Levels, Any] = {
        table: add_up(crossing, crossing.finest, cells, table)
        + generator.normal(0, 3, crossing.shape(table))
        for table in asked
    }
    fit = JointFit.of_tables(crossing, noisy, dict.fromkeys(noisy, 9.0))
    known: dict[Levels, Any] = {
        table: add_up(crossing, crossing.finest, cells, table)
        for table in [[], [(1, 0, 0)], [(2, 0, 0), (0, 1, 0)]][seed % 3]
    }
    parts = {
        part: contrasts_of(crossing, part, add_up(crossing, table, counts, part))
        for table, counts in known.items()
        for part in np.ndindex(*np.add(table, 1))
    }
    return JointFit(
        crossing, asked, {**fit.contrasts, **parts}, fit.precisions, known
    ), known


def is_nearest(fit: JointFit, way: WayDown, rough: Any, table: Levels) -> bool:
    """Tell whether the cells that are not empty moved alike below one table above.

    Others would have moved further: the conditions of the nearest cells.
    """
    crossing, (above,) = fit.crossing, way.above[table]
    made, before = (
        add_up(crossing, crossing.finest, cells, table) for cells in (fit.cells, rough)
    )
    group = fitting._groups(crossing, above, np.zeros(crossing.shape(above)), table)
    moved, filled = (before - made).ravel(), made.ravel() > 1e-9
    most = np.full(group.sums.size, -np.inf)
    np.maximum.at(most, group.places[filled], moved[filled])
    least = np.full(group.sums.size, np.inf)
    np.minimum.at(least, group.places[filled], moved[filled])
    some = np.isfinite(most)
    alike = np.allclose(most[some], least[some], atol=1e-6)
    rest = ~filled & some[group.places]
    return alike and bool(
        (before.ravel()[rest] <= most[group.places[rest]] + 1e-6).all()
    )


@sampled(6)
@for_each("seed", range(24))
def test_tables_that_lie_in_each_other_are_nearest_from_the_top_down(seed: int) -> None:
    """Each below the one above it; none negative, public totals as they are."""
    fit, known = nested_fit(seed)
    crossing = fit.crossing
    way = WayDown.find(crossing, fit.tables, fit.known)
    assert way is not None
    assert fit.cells.min() >= 0
    for table, counts in known.items():
        assert np.allclose(add_up(crossing, crossing.finest, fit.cells, table), counts)
    rough = restore(crossing, crossing.finest, fit.contrasts)
    under_one = [table for table, above in way.above.items() if len(above) == 1]
    # public tables that cross others stand beside them
    assert len(under_one) == len(way.above) - 1 or known
    assert all(is_nearest(fit, way, rough, table) for table in under_one)
    whole = fit.whole_cells
    assert whole.min() >= 0
    assert np.abs(whole - fit.cells).max() < 2
    for table, counts in known.items():
        assert np.array_equal(add_up(crossing, crossing.finest, whole, table), counts)


@for_each("tables", [[(1, 0), (0, 1)], [(2, 1), (1, 1)], [(2, 1), (2, 0), (0, 1)]])
def test_a_way_down_is_through_tables_that_rectangles_are_made_of(tables: Any) -> None:
    """Of two trees there is one always: each table has at most two above it."""
    way = WayDown.find(crossing_of(4), tables, ())
    assert way is not None
    assert set(tables) <= set(way.above)
    for table, above in way.above.items():
        assert len(above) <= 2
        assert not above or tuple(map(max, *above, above[0])) <= table


SIZES: Final = [(2,), (7,), (1, 3, 2, 1), (40, 1, 30), (5,) * 20]


@for_each("sizes", SIZES)
def test_factors_of_any_tree_are_the_same_matrix(sizes: tuple[int, ...]) -> None:
    """Cut by cut and multiplied out: contrasts, their adjoint, their inverse."""
    pairs = [(n, (n, each)) for n, many in enumerate(sizes) for each in range(many)]
    rows = [(str(n), str(leaf)) for n, leaf in pairs]
    keys = sd.KeySet.from_tuples(rows, columns=("a", "b"))
    tree = Tree.of(keys, ("a", "b"))
    cuts = Cuts(tree, (0, 1, 2), 2)
    leaves = int(tree.sizes[-1])
    matrix = cuts.contrasts(np.eye(leaves))
    numbers = np.random.default_rng(0).normal(size=(leaves, 3))
    for factor in (cuts, Matrix(matrix)):
        assert np.allclose(factor.squares, (matrix**2).sum(axis=1))
        assert np.allclose(factor.contrasts(numbers), matrix @ numbers)
        assert np.allclose(factor.spread(numbers), matrix.T @ numbers)
        assert np.allclose(factor.restore(matrix @ numbers), numbers)


def skewed_fit() -> JointFit:
    """Return all tables of two of three columns, whose cells fall by their squares."""
    keys = sd.KeySet.from_dict({"a": range(70), "b": range(9), "c": range(5)})
    trees = tuple(Tree.of(keys, (name,)) for name in keys.columns)
    crossing = Crossing(trees, 2)
    sizes = [np.arange(1.0, n + 1) ** -2 for n in (70, 9, 5)]
    generator = np.random.default_rng(7)
    likely = np.multiply.outer(np.multiply.outer(*sizes[:2]), sizes[2])
    cells = generator.poisson(20_000 * likely / likely.sum()).astype(float)
    parts = best_precisions(crossing).parts
    contrasts = {}
    for part, precision in parts.items():
        exact = contrasts_of(crossing, part, add_up(crossing, (1, 1, 1), cells, part))
        noise = np.sqrt(squares_of(crossing, part) / float(precision))
        contrasts[part] = exact + 2 * noise * generator.normal(size=exact.shape)
    precisions = {part: float(t) / 4 for part, t in parts.items()}
    return JointFit(crossing, crossing.tables, contrasts, precisions)


def test_a_skewed_law_is_fitted_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """In 400 products and not in thousands; by plain gradients it is the same."""
    fit, products = skewed_fit(), [0]
    solve = joint_law.solve

    def counted(weigh: Any, *rest: Any) -> Any:
        def weighed(step: Any) -> Any:
            products[0] += 1
            return weigh(step)

        return solve(weighed, *rest)

    monkeypatch.setattr(joint_law, "solve", counted)
    cells = fit.cells
    assert not fit.note
    assert products[0] < 400
    monkeypatch.setattr(
        joint_law,
        "solve",
        lambda weigh, wanted, _, *__: solve(weigh, wanted, np.copy, 0.01, 3000),
    )
    plain = skewed_fit()
    assert np.abs(plain.cells - cells).max() < 0.1


def test_a_fit_that_ends_early_says_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(joint_law, "_LAW_STEPS", 2)
    fit = skewed_fit()
    assert fit.cells.min() >= 0
    assert fit.note.startswith("The fit stopped after 2 steps: ")
    assert "of 7 tables are up to " in fit.note


def test_public_totals_that_no_people_have_are_told() -> None:
    """Each two of three columns differ: of yes and no one must be as another."""
    fit = noisy_tables(crossing_of(2, 2), 1)
    crossing = fit.crossing
    differ = np.array([[0, 30], [30, 0]])
    known: dict[Levels, Any] = {(0, 1, 1): differ, (1, 0, 1): None, (1, 1, 0): None}
    sides = np.array([[30, 0], [0, 30], [0, 0]])
    known[1, 1, 0], known[1, 0, 1] = sides, sides
    fit = JointFit(crossing, crossing.tables, fit.contrasts, fit.precisions, known)
    assert np.isfinite(fit.cells).all()
    assert fit.note.startswith("Public totals are met within ")


def test_too_many_combinations_are_refused() -> None:
    keys = sd.KeySet.from_dict({f"c{place}": range(8) for place in range(8)})
    trees = tuple(Tree.of(keys, (name,)) for name in keys.columns)
    together = JointFit(Crossing(trees, 2), Crossing(trees, 2).tables, {}, {})
    with pytest.raises(InvalidQuery, match="which add up as they are"):
        _: Any = together.cells
