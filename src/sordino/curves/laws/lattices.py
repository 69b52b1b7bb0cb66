"""Laws of noise on one integer and of answers among categories: finitely many losses.

A law is made when it is asked for, because its table may be large.
"""

import math
from fractions import Fraction

import numpy as np

from sordino.curves.concentrated_curve import ConcentratedCurve
from sordino.curves.laws.law import DEPTH, REACH, Atoms, GeometricLaw, Laws
from sordino.curves.response import is_revealing, response_law
from sordino.numbers import INFINITE, Exact, Extended, sqrt, up

_MOST_ATOMS = 1 << 18
_LEAST_MARGIN = 1e-14
_FAINTEST = 760.0
"""Beyond this exponent a mass is 0 in doubles."""


def geometric_laws(shift: int, scale: Exact) -> Laws:
    """Return the law of losses two steps of 1 / scale apart."""
    if shift == 0:
        return (response_law(Fraction(0)),)
    if is_revealing(Fraction(shift) / scale):
        return (response_law(INFINITE),)
    return (GeometricLaw(shift, up(1 / scale)),)


def category_laws(epsilon: Extended, categories: int) -> Laws:
    """Return the losses of the truth, of the other's truth, and of the rest."""
    most = up(epsilon)
    if most == 0 or is_revealing(epsilon):
        return (response_law(epsilon),)
    truth = 1 / (1 + (categories - 1) * math.exp(-most))
    lie = truth * math.exp(-most)
    masses = np.array([lie, (categories - 2) * lie, truth])
    losses = np.array([-most, 0.0, most])
    return (Atoms(losses, masses, masses[::-1].copy(), 0.0, most),)


def discrete_gaussian_laws(shift: int, variance: Exact) -> Laws:
    """Return the lattice of losses; for very wide noise the curve of rho."""
    if shift == 0:
        return (response_law(Fraction(0)),)
    if up(sqrt(variance)) * (DEPTH + REACH) > _MOST_ATOMS:
        return ConcentratedCurve(Fraction(shift**2, 2) / variance).laws()
    if is_revealing(Fraction(shift**2) / variance):
        return (response_law(INFINITE),)
    return (_normal_lattice(shift, up(variance)),)


def _normal_lattice(d: int, variance: float) -> Atoms:
    """Return (2 d x - d^2) / (2 variance) at integers x, with its masses."""
    sigma = math.sqrt(variance)
    x = np.arange(math.floor(-DEPTH * sigma), math.ceil(REACH * sigma) + d + 1)
    wide = x.astype(np.longdouble)
    p = np.exp(-((wide - d) ** 2) / (2 * np.longdouble(variance)))
    q = np.exp(-(wide**2) / (2 * np.longdouble(variance)))
    reach = np.arange(-math.ceil(40 * sigma) - 1, math.ceil(40 * sigma) + 2)
    weight = np.exp(-(reach.astype(np.longdouble) ** 2) / (2 * np.longdouble(variance)))
    whole = weight.sum()
    unit = d * (1 if d % 2 else 2) / (2 * variance)
    losses = ((2 * x - d) * d) / (2 * variance)
    beyond = float(
        np.exp(-(np.longdouble(x[-1] - d) ** 2) / (2 * np.longdouble(variance)))
    )
    return Atoms(
        losses,
        (p / whole).astype(np.float64),
        (q / whole).astype(np.float64),
        beyond,
        unit,
        _lattice_margin(d, sigma),
    )


def _lattice_margin(shift: int, sigma: float) -> float:
    """Return a bound on the relative error of the masses of the lattice.

    An exponent u is off by u units of the variance's rounding to a double, and by
    u units of a long double for its own square and division: on some platforms
    that is a plain double, so its size is asked for. exp and the pairwise sum of
    the weights add less than 64 units.
    """
    most = min((REACH + (shift + 1) / sigma) ** 2 / 2, _FAINTEST)
    double = float(np.finfo(np.float64).eps)
    wide = float(np.finfo(np.longdouble).eps)
    return max(_LEAST_MARGIN, most * double + (2 * most + 64) * wide)
