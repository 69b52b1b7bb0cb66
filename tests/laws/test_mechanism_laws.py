"""What every mechanism promises, what is fitted to a loss, and that each is a case."""

import inspect
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sordino as sd
import sordino.losses
import sordino.noise
from sordino.losses.loss import Loss
from sordino.noise.additive import AbstractAdditiveMechanism, AbstractMechanism
from sordino.noise.quantile_intervals import QuantileIntervals
from sordino.numbers import up
from tests.batches import for_each, sampled
from tests.cases import LOSSES, MECHANISMS, SELECTIONS, SUMS, THRESHOLDS
from tests.shipped import shipped

mechanisms = for_each("build", MECHANISMS.values(), ids=list(MECHANISMS))
Build = Callable[[Any], AbstractAdditiveMechanism]
scales = st.fractions(Fraction(1, 1000), 1000)
distances = st.fractions(0, 1000)


def headline(loss: Any) -> Any:
    return loss.epsilon if hasattr(loss, "epsilon") else loss.rho


@mechanisms
@given(scale=scales)
def test_no_distance_costs_nothing(build: Build, scale: Fraction) -> None:
    mechanism = build(scale)
    assert headline(mechanism.map(0)) == 0
    assert headline(mechanism.map(sd.Sensitivity(l0=0))) == 0


@sampled(1)
@mechanisms
@given(scale=scales, pair=st.tuples(distances, distances))
def test_more_distance_never_costs_less(
    build: Build, scale: Fraction, pair: tuple[Fraction, Fraction]
) -> None:
    near, far = sorted(pair)
    assert headline(build(scale).map(near)) <= headline(build(scale).map(far))
    assert headline(build(scale).map(far)) >= headline(build(2 * scale).map(far))


@mechanisms
@given(scale=scales, d_in=distances, slack=st.fractions(-1, 1))
def test_check_agrees_with_map(
    build: Build, scale: Fraction, d_in: Fraction, slack: Fraction
) -> None:
    mechanism = build(scale)
    loss = mechanism.map(d_in)
    kind = sd.PureDP if hasattr(loss, "epsilon") else sd.ZCDP
    allowed = max(headline(loss) * (1 + slack), Fraction(0))
    assert mechanism.check(d_in, kind(allowed)) == (headline(loss) <= allowed)


@mechanisms
def test_incomparable_losses_are_a_plain_no(build: Build) -> None:
    for allowed in (
        sd.PureDP(1),
        sd.ApproxDP(1, "1e-6"),
        sd.ZCDP(1),
        sd.ApproxZCDP(1, "1e-6"),
        sd.GaussianDP(1),
    ):
        assert build("1e-3").check(1, allowed) is False
        assert build(1000).check(0, allowed) is True


@mechanisms
def test_a_number_is_read_as_the_headline_parameter(build: Build) -> None:
    mechanism = build(2)
    limit = mechanism.map(1)
    bare = limit.mu if hasattr(limit, "mu") else headline(limit)
    assert mechanism.check(1, bare) is True
    assert mechanism.check(1, bare / 2) is False
    for nothing in (None, "x", True, [1]):
        with pytest.raises(sd.errors.InvalidParameter):
            mechanism.check(1, nothing)


@mechanisms
def test_public_facts(build: Build) -> None:
    mechanism = build(3)
    assert mechanism.output_measure in {sd.PureDP, sd.ZCDP, sd.GaussianDP}
    assert mechanism.input_metric in {"l1", "l2"}
    assert mechanism.output_type == pa.from_numpy_dtype(mechanism.input_domain.numpy)
    assert mechanism.adds_no_noise is False
    assert mechanism.is_interactive is False


@mechanisms
def test_the_answer_has_the_type_of_the_question(build: Build) -> None:
    mechanism = build(3)
    dtype = mechanism.input_domain.numpy
    plain = int if mechanism.input_domain.is_integer else float
    assert type(mechanism(plain(2))) is plain
    assert type(mechanism(dtype.type(2))) is dtype.type
    assert [type(x) for x in mechanism([plain(1), plain(2)])] == [plain, plain]
    assert type(mechanism((plain(1),))) is tuple
    for shape in ((), (0,), (5,), (2, 3), (0, 4)):
        answer = mechanism(np.zeros(shape, dtype))
        assert isinstance(answer, np.ndarray)
        assert (answer.shape, answer.dtype) == (shape, dtype)
    arrow = mechanism(pa.array(np.zeros(4, dtype)))
    assert isinstance(arrow, pa.Array)
    assert arrow.type == mechanism.output_type
    chunked = mechanism(pa.chunked_array([np.zeros(2, dtype), np.zeros(3, dtype)]))
    assert isinstance(chunked, pa.ChunkedArray)
    assert len(chunked) == 5


@mechanisms
@for_each("library", ["pandas", "polars"])
def test_series_keep_their_names(build: Build, library: str) -> None:
    module = pytest.importorskip(library)
    mechanism = build(3)
    values = np.zeros(3, mechanism.input_domain.numpy)
    series = (
        module.Series("n", values)
        if library == "polars"
        else module.Series(values, index=["a", "b", "c"], name="n")
    )
    answer = mechanism(series)
    assert type(answer) is type(series)
    assert (answer.name, len(answer), answer.dtype) == ("n", 3, series.dtype)
    assert library == "polars" or list(answer.index) == ["a", "b", "c"]


@mechanisms
@given(scale=st.fractions(Fraction(1, 50), 50), p=st.fractions(0, 1))
def test_quantiles_invert_the_distribution(
    build: Build, scale: Fraction, p: Fraction
) -> None:
    mechanism = build(scale)
    x = mechanism.inverse_cdf(p)
    if 0 < p < 1:
        assert mechanism.cdf(x) >= p * (1 - Fraction(1, 10**12))
        step = (
            Fraction(1, 16) if mechanism.input_domain.is_integer else Fraction(1, 999)
        )
        below = Fraction(x) - (1 if mechanism.input_domain.is_integer else step)
        assert mechanism.cdf(below) <= up(p)  # cdf is rounded to a double
    else:
        assert x == (float("inf") if p else -float("inf"))


@mechanisms
def test_error_bounds_the_noise(build: Build) -> None:
    """Nineteen in twenty of 100,000 draws lie within the 95 % error (6.5 sigma)."""
    mechanism = build(7)
    values = np.zeros(100_000, mechanism.input_domain.numpy)
    noise = np.abs(mechanism(values).astype(float))
    error = mechanism.error("0.95")
    slack = 6.5 * (0.95 * 0.05 / noise.size) ** 0.5
    assert np.mean(noise <= error) >= 0.95 - slack
    assert np.mean(noise < error) <= 0.95 + slack


@mechanisms
def test_mechanisms_are_values(build: Build) -> None:
    mechanism = build("1/3")
    mechanism(np.zeros(3, mechanism.input_domain.numpy))
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism == build(Fraction(1, 3))
    assert len({again, mechanism}) == 1
    assert len(pickle.dumps(mechanism)) < 2000
    assert len(repr(build(1e300))) < 120
    with pytest.raises(AttributeError):
        mechanism.dtype = "f64"  # type: ignore[attr-defined]


@for_each(
    "silent",
    [
        sd.Laplace.no_noise(),
        sd.Gaussian.no_noise(),
        sd.Geometric.no_noise(),
        sd.DiscreteGaussian.no_noise(),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_no_noise_is_explicit_and_costs_everything(
    silent: AbstractAdditiveMechanism,
) -> None:
    assert silent.adds_no_noise
    assert headline(silent.map(1)) == float("inf")
    assert headline(silent.map(0)) == 0
    assert silent(7) == 7
    assert silent([1, 2]) == [1, 2]
    assert (silent.error("0.99"), silent.cdf(0), silent.cdf("-0.1")) == (0, 1, 0)


@for_each("kind", ["Laplace", "Geometric", "DiscreteGaussian"])
@given(scale=st.integers(1, 40), l0=st.integers(1, 6), linf=st.integers(1, 3))
def test_bounds_on_each_value_never_cost_more(
    kind: str, scale: int, l0: int, linf: int
) -> None:
    """A Sensitivity gives the same headline as its norm, and at most its delta."""
    mechanism = MECHANISMS[kind](scale)
    apart = sd.Sensitivity(l0=l0, linf=linf)
    pure = mechanism.input_metric == "l1"
    known = mechanism.map(apart)
    plain = mechanism.map(apart.l1 if pure else apart.l2)
    if pure:
        assert known.guarantees.epsilon == plain.guarantees.epsilon
    else:
        assert known.guarantees.rho == plain.guarantees.rho
    for epsilon in (0.0, float(l0) / scale / 2):
        assert known.delta_at(epsilon) <= plain.delta_at(epsilon) * (1 + 1e-6)


BUDGETS: dict[str, Any] = {
    "pure": sd.PureDP("0.7"),
    "approximate": sd.ApproxDP("0.7", "1e-6"),
    "concentrated": sd.ZCDP("0.03"),
    "approximately concentrated": sd.ApproxZCDP("0.03", "1e-6"),
    "gaussian": sd.GaussianDP("0.3"),
    "advantage": sd.Advantage("0.1"),
    "error rates": sd.ErrorRates(fpr="0.01", tpr="0.03"),
}
PAIRS = [
    (kind, name)
    for kind in (sd.Laplace, sd.Geometric, sd.Gaussian, sd.DiscreteGaussian)
    for name in BUDGETS
    if not (kind in {sd.Gaussian, sd.DiscreteGaussian} and name == "pure")
    if not (kind is sd.DiscreteGaussian and name == "gaussian")
]


@sampled(14, 14)
@for_each(
    ("kind", "name"), PAIRS, ids=[f"{kind.__name__} {name}" for kind, name in PAIRS]
)
@for_each("d_in", [1, Fraction(7, 2)], ids=str)
def test_the_least_noise_within_a_loss(kind: Any, name: str, d_in: Any) -> None:
    """The answer's own map is within the loss, and with 0.1 % less noise it is not."""
    budget = BUDGETS[name]
    fitted = kind.for_loss(budget, d_in)
    assert fitted.check(d_in, budget)
    less = fitted.scale * Fraction(999, 1000)
    thinner = kind(less) if kind in {sd.Laplace, sd.Geometric} else kind(scale=less)
    assert not thinner.check(d_in, budget)


def test_closed_forms_are_exact() -> None:
    """Where the headline decides, the scale is the exact quotient."""
    assert sd.Laplace.for_loss(sd.PureDP("1/3"), 2).scale == 6
    assert sd.Geometric.for_loss(sd.PureDP("1/3"), 2).scale == 6
    assert sd.Gaussian.for_loss(sd.ZCDP("1/3"), 2).variance == 6
    assert sd.Gaussian.for_loss(sd.GaussianDP("1/3"), 2).variance == 36
    assert sd.DiscreteGaussian.for_loss(sd.ZCDP("1/3"), 2).variance == 6


def test_a_delta_lowers_the_scale() -> None:
    """Within (1, 1e-6) the analytic Gaussian scale is 4.2247, not the textbook 5.3."""
    fitted = sd.Gaussian.for_loss(sd.ApproxDP(1, "1e-6"), 1)
    assert float(fitted.scale) == pytest.approx(4.224679, rel=1e-6)
    many = sd.Laplace.for_loss(sd.ApproxDP(1, "1e-6"), sd.Sensitivity(l0=100, linf=1))
    assert float(many.scale) < 42


def test_options_are_kept() -> None:
    fitted = sd.Laplace.for_loss(sd.PureDP(1), 1, dtype="f32", granularity=-2)
    assert (fitted.dtype, fitted.granularity) == ("f32", -2)
    assert fitted.scale == Fraction(5, 4)
    assert sd.Geometric.for_loss(sd.PureDP(1), 1, dtype="u8").dtype == "u8"


def fits(case: int) -> tuple[sd.ApproxDP, tuple[int, Any, int]]:
    """Return a budget and a distance between maps, drawn from a seed."""
    rng = random.Random(f"fits {case}")
    epsilon = Fraction(round(10 ** rng.uniform(-2, 0.7), 4)).limit_denominator(10**4)
    delta = Fraction(1, 10 ** rng.randint(3, 15))
    keys, each = rng.choice([1, 2, 7, 40, 100]), rng.randint(1, 3)
    return sd.ApproxDP(epsilon, delta), (keys, rng.randint(each, keys * each), each)


@sampled(5, 8)
@for_each("case", range(5))
@for_each("name", THRESHOLDS)
def test_a_fitted_threshold_is_within_its_loss(name: str, case: int) -> None:
    """For any budget and distance the map of what was fitted is within the budget.

    Asked of the joint curve that is published, not of the one that was searched.
    """
    budget, distance = fits(case)
    model: Any = THRESHOLDS[name](1, 9)
    options = {"dtype": model.dtype, "granularity": model.granularity}
    fitted = type(model).for_loss(budget, distance, **options)
    loss = fitted.map(distance)
    assert budget.admits(loss)
    assert Fraction(loss.delta_at(budget.epsilon)) <= budget.delta


every_mechanism = for_each(
    "kind",
    shipped(AbstractMechanism, sordino.noise),
    ids=lambda kind: kind.__name__,
)


def listed() -> set[type[Any]]:
    """Return the kinds of mechanisms that the laws examine."""
    built: list[Any] = [build(1) for build in MECHANISMS.values()]
    built += [build(1, 9) for build in THRESHOLDS.values()]
    built += [build(1, 9) for build in SUMS.values()]
    built += [choice.build(1) for choice in SELECTIONS.values()]
    return {type(mechanism) for mechanism in built}


@every_mechanism
def test_every_mechanism_is_a_case(kind: type[Any]) -> None:
    # made of cases, and walked whole in tests/unit/mechanisms/test_quantiles.py
    assert kind in {*listed(), QuantileIntervals}


@every_mechanism
def test_every_map_says_why_it_holds(kind: type[Any]) -> None:
    """Each map's docstring gives the reason in a line or links a proof."""
    reason = " ".join((inspect.getdoc(kind.map) or "").lower().split())
    reasons = "for any", "any shift", "docs/proofs", "each its own release"
    assert any(words in reason for words in reasons)


@for_each("kind", shipped(Loss, sordino.losses), ids=lambda kind: kind.__name__)
def test_every_loss_is_a_case(kind: type[Any]) -> None:
    assert kind in {type(loss) for loss in LOSSES.values()}
