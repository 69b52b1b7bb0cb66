"""Curves: how well an attacker can tell two worlds apart, by four views of one fact.

- `delta(epsilon)`: the least delta for which a release is (epsilon, delta)-DP;
- `epsilon(delta)`: the least epsilon for a delta;
- `tpr(alpha)`: how often the best attack finds a person when it may raise a false
  alarm with probability alpha; `beta(alpha)`: how often it misses.

tpr(alpha) is the least of delta(e) + exp(e) alpha over all e. Every answer errs towards
the attacker: delta, epsilon, tpr and advantage are upper bounds, beta and the Bayes
risk are lower bounds, rounding included. Numbers enter and leave by the methods that
end in `_at` (docs/proofs/losses.md, section 6).

Kernel: mathematics.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from sordino.losses.curves import normal, points
from sordino.losses.curves.laws import (
    AbstractLossLaw,
    Atoms,
    GaussianLaw,
    Laws,
    Profile,
    mirror_law,
)
from sordino.losses.curves.normal import inverse
from sordino.losses.curves.points import ELEMENTARY, Answer, Floats, grow
from sordino.numbers import INFINITE, Extended, down, up


@final
class End(NamedTuple):
    """The point that is known exactly: from `epsilon` on, delta is at most `delta`."""

    epsilon: Extended
    delta: Fraction
    is_bounded: bool
    """Whether nothing but `delta` can be seen with certainty."""

    @property
    def is_start(self) -> bool:
        """Tell whether nothing is revealed at all."""
        return self.epsilon == 0 == self.delta


UNKNOWN = End(INFINITE, Fraction(0), is_bounded=False)
"""The end of a curve that is known exactly at no point."""


class AbstractCurve(ABC):
    """What an attacker can achieve against one release, as functions of arrays.

    Proof obligation: for any two neighbouring databases, the trade-off curve between
    the two laws of outputs lies on or above `beta`.
    """

    gains_by_rho: ClassVar[bool] = False
    """Whether what rho implies may say more than `laws`, composed often."""

    @property
    @abstractmethod
    def end(self) -> End:
        """Return the point that is known exactly."""

    @abstractmethod
    def laws(self) -> Laws:
        """Return dominating laws of the loss: removing a unit, then adding one.

        One law alone serves both directions.
        """

    @abstractmethod
    def delta(self, epsilon: Floats) -> Floats:
        """Return upper bounds on delta for epsilon >= 0."""

    @abstractmethod
    def epsilon(self, delta: Floats) -> Floats:
        """Return upper bounds on the least epsilon >= 0, infinite where none serves."""

    @abstractmethod
    def tpr(self, alpha: Floats) -> Floats:
        """Return upper bounds on the true positive rate."""

    @abstractmethod
    def beta(self, alpha: Floats) -> Floats:
        """Return lower bounds on the false negative rate."""

    def delta_at(self, epsilon: Any) -> Answer:
        """Least delta for which the release is (epsilon, delta)-DP.

        Below zero it follows from the other direction by exchanging the two laws:
        delta(-e) = 1 - exp(-e) (1 - delta(e)).
        """
        question = points.read(-1, least=-np.inf, epsilon=epsilon)
        size, end = np.abs(question.values), self.end
        delta = self._raised_delta(size)
        # what was written decides, not the double that stands for it
        at_end = question.reaches(end.epsilon) | (np.isinf(size) & end.is_bounded)
        least = points.double_of_bound(end.delta)
        delta = np.where(at_end, np.minimum(delta, least), delta)
        with np.errstate(all="ignore"):
            mirrored = points.grow(-np.expm1(-size) + np.exp(-size) * delta)
        return question.answer(
            np.where(question.values < 0, np.minimum(mirrored, 1), delta)
        )

    def _raised_delta(self, epsilon: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return points.raise_bounds(self.delta(epsilon))

    def epsilon_at(self, delta: Any) -> Answer:
        """An epsilon for which the release is (epsilon, delta)-DP."""
        question, end = points.read(-1, most=1.0, delta=delta), self.end
        with np.errstate(all="ignore"):
            epsilon = points.raise_epsilons(self.epsilon(question.lower_values))
        capped = np.minimum(epsilon, points.double_of_bound(end.epsilon))
        epsilon = np.where(question.reaches(end.delta), capped, epsilon)
        return question.answer(np.where(question.values >= 1, 0.0, epsilon))

    def tpr_at(self, alpha: Any) -> Answer:
        """Return the greatest true positive rate at a false positive rate alpha."""
        question = points.read(1, most=1.0, alpha=alpha)
        values, end = question.values, self.end
        if end.is_start:  # nothing is revealed: the rates are equal, exactly
            return question.answer(values)
        with np.errstate(all="ignore"):
            # blind guessing attains alpha
            tpr = np.maximum(points.raise_bounds(self.tpr(values)), values)
        surely = points.double_of_bound(end.delta) if end.is_bounded else 1.0
        return question.answer(np.where(values == 0, np.minimum(tpr, surely), tpr))

    def beta_at(self, alpha: Any) -> Answer:
        """Return the least false negative rate at a false positive rate alpha."""
        question = points.read(1, most=1.0, alpha=alpha)
        guess, end = points.complement(question.values), self.end
        if end.is_start:
            return question.answer(guess)
        with np.errstate(all="ignore"):
            # blind guessing misses no more
            beta = np.minimum(points.lower_bounds(self.beta(question.values)), guess)
        surely = down(1 - end.delta) if end.is_bounded else 0.0
        return question.answer(
            np.where(question.values == 0, np.maximum(beta, surely), beta)
        )

    def advantage(self) -> float:
        """Return the greatest true minus false positive rate, which is delta(0)."""
        return float(self.delta_at(0.0))

    def bayes_risk(self, prior: Any) -> Answer:
        """Return the least chance of a wrong guess when the prior is `prior`.

        The minimum over tests of (1 - prior) alpha + prior beta. With prior <= 1/2 that
        is prior (1 - delta(ln((1 - prior)/prior))), and the mirror image above 1/2.
        """
        question = points.read(1, most=1.0, prior=prior)
        rarer = np.minimum(question.values, 1 - question.values)
        with np.errstate(all="ignore"):
            log_odds = np.log1p(-rarer) - np.log(rarer)
            # an epsilon too small only enlarges delta
            log_odds = np.where(np.isfinite(log_odds), log_odds, 0.0)
            safe = np.maximum(points.shrink(log_odds) - points.ELEMENTARY, 0.0)
            risk = points.shrink(rarer * (1 - self._raised_delta(safe)))
        return question.answer(np.maximum(risk, 0.0))


_FOLLOWED = 1e30
"""Losses up to this size are added up as doubles."""
_NONE = np.zeros(0)


@final
@dataclass(frozen=True, eq=False)
class ResponseCurve(AbstractCurve):
    """With probability `reserve` everything, else the truth with odds exp(limit)."""

    limit: Extended
    reserve: Fraction = Fraction(0)

    @property
    def end(self) -> End:
        return End(self.limit, self.reserve, self.limit is not INFINITE)

    def laws(self) -> Laws:
        return (response_law(self.limit, self.reserve),)

    def delta(self, epsilon: Floats) -> Floats:
        """Return d + (1 - d) (1 - exp(e - limit)) / (1 + exp(-limit)), e < limit."""
        most, reserve = up(self.limit), up(self.reserve)
        if math.isinf(most):
            return np.ones_like(epsilon)
        below = np.minimum(epsilon - most, 0.0)
        inner = -np.expm1(below) / (1 + math.exp(-most))
        # epsilon - most is off by ulps of most
        slack = ELEMENTARY * most * np.exp(below)
        mixed = reserve + (1 - reserve) * grow(inner + slack)
        return np.where(
            epsilon >= most, reserve, np.minimum(mixed * (1 + ELEMENTARY), 1)
        )

    def epsilon(self, delta: Floats) -> Floats:
        most, reserve = up(self.limit), up(self.reserve)
        if math.isinf(most):
            return np.full_like(delta, math.inf)
        epsilon = inverse(self.delta, np.maximum(delta, reserve))
        return np.where(delta < reserve, math.inf, np.minimum(epsilon, most))

    def tpr(self, alpha: Floats) -> Floats:
        return response_profile(self.limit, self.reserve).rates(alpha)[0]

    def beta(self, alpha: Floats) -> Floats:
        return response_profile(self.limit, self.reserve).rates(alpha)[1]


@lru_cache(maxsize=1024)
def response_profile(limit: Extended, reserve: Fraction) -> Profile:
    """Return the two points that hold the whole curve: at 0 and at the limit."""
    most, least = up(limit), up(reserve)
    if math.isinf(most) or most == 0:
        return Profile(np.zeros(1), np.array([least if most == 0 else 1.0]))
    start = float(ResponseCurve(limit, reserve).delta(np.zeros(1))[0])
    return Profile(np.array([0.0, most]), np.array([start, least]))


def is_revealing(size: Extended) -> bool:
    """Tell whether a loss of this size is beyond what doubles can follow.

    For any such loss all is taken for revealed, which is more.
    """
    return up(size) > _FOLLOWED


def response_law(limit: Extended, reserve: Fraction = Fraction(0)) -> AbstractLossLaw:
    """Return the law of randomized response that fails with a chance."""
    most, least = up(limit), up(reserve)
    if is_revealing(limit) or most == 0:
        lost = least if most == 0 else 1.0
        return mirror_law(_NONE, _NONE, _NONE, lost)
    truth = (1 - least) / (1 + math.exp(-most))
    lie = truth * math.exp(-most)
    ends = np.array([-most, most])
    masses = np.array([lie, truth])
    return Atoms(ends, masses, masses[::-1].copy(), least, most)


@final
@dataclass(frozen=True, eq=False)
class GaussianCurve(AbstractCurve):
    """No worse than telling N(0, 1) from N(mu, 1)."""

    mu: Extended

    @property
    def end(self) -> End:
        epsilon = Fraction(0) if self.mu == 0 else INFINITE
        return End(epsilon, Fraction(0), self.mu is not INFINITE)

    def laws(self) -> Laws:
        if self.mu == 0:
            return (response_law(Fraction(0)),)
        if is_revealing(self.mu):
            return (response_law(INFINITE),)
        return (GaussianLaw(up(self.mu)),)  # upwards: a larger mu only reveals more

    def delta(self, epsilon: Floats) -> Floats:
        if self.mu is INFINITE or self.mu == 0:
            return np.full_like(epsilon, float(self.mu != 0))
        return normal.gaussian_delta(self.mu, epsilon)

    def epsilon(self, delta: Floats) -> Floats:
        return inverse(self.delta, delta)

    def tpr(self, alpha: Floats) -> Floats:
        if self.mu is INFINITE or self.mu == 0:
            return alpha if self.mu == 0 else np.ones_like(alpha)
        return normal.gaussian_tpr(self.mu, alpha)

    def beta(self, alpha: Floats) -> Floats:
        if self.mu is INFINITE or self.mu == 0:
            return 1 - alpha if self.mu == 0 else np.zeros_like(alpha)
        return normal.gaussian_beta(self.mu, alpha)
