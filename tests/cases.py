"""The list of parts: what holds for every one of them is tested in tests/laws."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

import sordino as sd
from sordino.engines.duckdb.session import duckdb_engine
from sordino.engines.engine import AbstractEngine
from sordino.engines.memory import MemoryEngine
from sordino.losses.closed import ZCDP, ApproxDP, ApproxZCDP, GaussianDP
from sordino.losses.curves.laws import Atoms
from sordino.losses.interop import TableLoss
from sordino.losses.loss import Loss, PureDP, compose
from sordino.losses.thresholded import mixture, threshold_loss
from sordino.noise.above_threshold import AboveThreshold
from sordino.noise.additive import AbstractAdditiveMechanism
from sordino.noise.exponential import BoundedRangeLoss, Exponential
from sordino.noise.gaussian import DiscreteGaussianLoss
from sordino.noise.key_rounds import KeyRounds, ToldNumbers
from sordino.noise.laplace import GeometricLoss, LaplaceLoss
from sordino.noise.quantiles import Quantiles
from sordino.noise.randomized_response import RandomizedResponse, RandomizedResponseLoss
from sordino.noise.threshold.laplace import LaplaceSumThreshold
from sordino.noise.threshold.mechanism import AbstractThresholdMechanism
from tests import choices
from tests.choices import ANSWERS, SCORES, TABLES, Choice

MECHANISMS: Final[dict[str, Callable[[Any], AbstractAdditiveMechanism]]] = {
    "Laplace": lambda scale: sd.Laplace(scale),
    "Laplace f32": lambda scale: sd.Laplace(scale, dtype="f32"),
    "Laplace grid": lambda scale: sd.Laplace(scale, granularity=-4, values=1),
    "Geometric": lambda scale: sd.Geometric(scale),
    "Gaussian": lambda scale: sd.Gaussian(scale=scale),
    "Gaussian grid": lambda scale: sd.Gaussian(scale=scale, granularity=-4, values=1),
    "DiscreteGaussian": lambda scale: sd.DiscreteGaussian(scale=scale),
    "DiscreteGaussian i16": lambda scale: sd.DiscreteGaussian(scale=scale, dtype="i16"),
}
"""Every mechanism that adds noise to numbers, by its scale."""

THRESHOLDS: Final[dict[str, Callable[[Any, Any], AbstractThresholdMechanism]]] = {
    "LaplaceThreshold": lambda scale, level: sd.LaplaceThreshold(scale, level),
    "LaplaceThreshold f32": lambda scale, level: sd.LaplaceThreshold(
        scale, level, dtype="f32"
    ),
    "LaplaceThreshold i32": lambda scale, level: sd.LaplaceThreshold(
        scale, level, dtype="i32"
    ),
    "LaplaceThreshold grid": lambda scale, level: sd.LaplaceThreshold(
        scale, level, granularity=-2
    ),
    "GaussianThreshold": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level
    ),
    "GaussianThreshold i64": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level, dtype="i64"
    ),
    "GaussianThreshold grid": lambda scale, level: sd.GaussianThreshold(
        scale=scale, threshold=level, granularity=-2
    ),
}
"""Every mechanism that releases maps above a threshold, by its scale and threshold."""

SUMS: Final[dict[str, Callable[[Any, Any], LaplaceSumThreshold]]] = {
    f"LaplaceSumThreshold of {numbers}": partial(LaplaceSumThreshold, numbers=numbers)
    for numbers in (1, 2, 3, 4)
}
"""Every mechanism that shows keys by the sum of their noisy numbers."""

SELECTIONS: Final[dict[str, Choice]] = {
    "Exponential": Choice(
        Exponential,
        Exponential.for_loss,
        SCORES,
        choices.by_scores,
        choices.draw_scores,
    ),
    "RandomizedResponse": Choice(
        RandomizedResponse,
        RandomizedResponse.for_loss,
        ANSWERS,
        choices.by_truth(2),
        choices.draw_answers,
    ),
    "RandomizedResponse of 7": Choice(
        lambda epsilon: RandomizedResponse(epsilon, 7),
        lambda loss, d_in: RandomizedResponse.for_loss(loss, d_in, 7),
        ANSWERS,
        choices.by_truth(7),
        choices.draw_answers,
    ),
    "Quantiles": Choice(
        lambda epsilon: Quantiles(("0.1", "0.5", "0.9"), epsilon, parts=3),
        lambda loss, d_in: Quantiles.for_loss(loss, d_in, ("0.1", "0.5", "0.9")),
        TABLES,
        choices.by_recursion("0.1", "0.5", "0.9", parts=3),
        choices.draw_quantiles,
    ),
    "AboveThreshold": Choice(
        AboveThreshold,
        AboveThreshold.for_loss,
        TABLES,
        choices.by_walk,
        choices.draw_walks,
    ),
}
"""Every mechanism that chooses, with the inputs and the chances it is held against."""

LOSSES: Final[dict[str, Loss]] = {
    "nothing": PureDP(0),
    "pure": PureDP("0.5"),
    "approximate": ApproxDP(1, "1e-5"),
    "breach": ApproxDP(0, "0.1"),
    "concentrated": ZCDP("0.1"),
    "approximately concentrated": ApproxZCDP("0.1", "1e-6"),
    "gaussian": GaussianDP("0.7"),
    "laplace": LaplaceLoss("0.8"),
    "geometric": GeometricLoss(3, 4),
    "discrete gaussian": DiscreteGaussianLoss(2, 9),
    "randomized response": RandomizedResponseLoss("0.6", 5),
    "bounded range": BoundedRangeLoss("0.9"),
    "wide bounded range": BoundedRangeLoss(4),
    "bounded range, thrice": BoundedRangeLoss("0.4") * 3,
    "pure, often": PureDP("0.1") * 20,
    "laplace, often": LaplaceLoss("0.1") * 50,
    "all sorts": compose([
        LaplaceLoss("0.2"),
        GaussianDP("0.3"),
        GeometricLoss(1, 3),
        PureDP("0.1"),
    ]),
    "with a reserve": LaplaceLoss("0.3") * 2 + ApproxDP("0.1", "1e-6"),
    "sampled gaussian": GaussianDP(1).subsampled("0.1"),
    "sampled gaussian, often": GaussianDP(1).subsampled("0.02") * 100,
    "sampled response": PureDP(1).subsampled("0.2"),
    "thresholded gaussian": threshold_loss(
        lambda kept: GaussianDP("0.4") if kept else PureDP(0), key_delta="1e-6", keys=3
    ),
    "thresholded laplace": threshold_loss(
        lambda kept: LaplaceLoss(Fraction(1, 10)) * kept, key_delta="1e-7", keys=12
    ),
    "keys in rounds": KeyRounds(
        3, (Fraction(180), Fraction(20)), (Fraction(70), Fraction(24))
    ).loss((ToldNumbers(Fraction(1, 50), Fraction(1, 3)),)),
    "release above a threshold": sd.LaplaceThreshold(2, 30).map((3, 3, 1)),
    "table": TableLoss((
        Atoms(np.log([1 / 3, 3]), np.array([0.25, 0.75]), np.array([0.75, 0.25]), 0.0),
    )),
    "mixture": mixture([("1/3", PureDP(1)), ("2/3", GaussianDP("0.5"))]),
}
"""Every form of loss."""

ENGINES: Final[dict[str, Callable[[], AbstractEngine]]] = {
    "memory": MemoryEngine,
    "duckdb": lambda: duckdb_engine(threads=1),
    "duckdb, many threads": lambda: duckdb_engine(threads=8),
}
"""Every engine."""
