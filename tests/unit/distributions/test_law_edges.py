"""Laws of noise at their edges: guesses that are too high, floors of roots, points."""

from fractions import Fraction

from sordino.noise.gaussian import DiscreteGaussianLaw
from sordino.noise.laplace import LaplaceSumLaw
from sordino.noise.law import _least
from sordino.noise.sums import GaussianBlend
from sordino.numbers import sqrt
from sordino.numbers.exact import floor_exact
from tests.batches import for_each


@for_each("guess", [0, 4, 5, 6, 100, 10**9])
@for_each("least", [0, 1, 5])
def test_the_least_is_found_from_any_guess(guess: int, least: int) -> None:
    assert _least(lambda k: k >= least, guess) == least


@for_each("whole", [0, 1, 2, 9, 10, 80, 81, 82, 10**6])
def test_the_floor_of_roots_is_exact(whole: int) -> None:
    root = sqrt(Fraction(whole))
    assert floor_exact(root) ** 2 <= whole < (floor_exact(root) + 1) ** 2
    fourth = sqrt(root)
    assert floor_exact(fourth) ** 4 <= whole < (floor_exact(fourth) + 1) ** 4


@for_each("variance", [Fraction(1, 3), Fraction(7, 2), Fraction(40)])
def test_masses_of_a_discrete_gaussian_are_all_there_is(variance: Fraction) -> None:
    law = DiscreteGaussianLaw(variance)
    total = sum((law.mass(k) for k in range(-60, 61)), law.mass(0) * 0)
    assert abs(float(total.mid()) - 1) < 1e-12
    beyond = sum((law.mass(k) for k in range(4, 61)), law.mass(0) * 0)
    assert abs(float((beyond - law.tail(4)).mid())) < 1e-12
    assert isinstance(law.blend, GaussianBlend)
    assert law.deviation <= law.spread == float(law.spread)


def test_a_point_of_a_sum_of_laplace_noises_has_no_mass() -> None:
    law = LaplaceSumLaw(3, Fraction(2))
    for x in (Fraction(0), Fraction(5), Fraction(-1, 3)):
        above, least = law.chance_above(x), law.at_least(x)
        assert (above.mid(), above.rad()) == (least.mid(), least.rad())
