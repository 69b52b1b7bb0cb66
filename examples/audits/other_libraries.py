"""Audits of other libraries, of what their documents state, and what they find.

    python examples/audits/other_libraries.py            # whatever is installed
    python examples/audits/other_libraries.py opendp

Each function says what `sd.audit` is to compare: a run on each of two neighbouring
inputs, and the loss that the library claims between them. The last three need no
library but NumPy: they do what a document says, and claim what it says.
"""

import importlib.util
import math
import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

import sordino as sd

Run = Callable[[int], Any]
Pair = tuple[Run, Run, Any]


class Audited(NamedTuple):
    """What is audited, where it comes from, and what comes of it."""

    make: Callable[[], Pair]
    module: str
    samples: int
    is_broken: bool
    because: str


def opendp_integer_threshold() -> Pair:
    """Nobody, or one person alone under each of n keys that are not known."""
    import opendp.prelude as dp  # noqa: PLC0415 a peer

    dp.enable_features("contrib")
    counts = dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int))
    apart = dp.l01inf_distance(dp.absolute_distance(T=int))
    release = (counts, apart) >> dp.m.then_laplace_threshold(scale=1.0, threshold=5)

    def shown(count: int, keys: int) -> Any:
        answer = release(dict.fromkeys(range(keys), 1))
        return np.array([key in answer for key in range(count)])

    claim = sd.ApproxDP(*release.map((1, 1, 1)))
    return lambda n: shown(n, 0), lambda n: shown(n, n), claim


def diffprivlib_laplace() -> Pair:
    """A count of 0, or of 1."""
    from diffprivlib.mechanisms import Laplace  # noqa: PLC0415 a peer

    noise = Laplace(epsilon=1.0, sensitivity=1.0)

    def noisy(value: float) -> Run:
        return lambda n: [noise.randomise(value) for _ in range(n)]

    return noisy(0.0), noisy(1.0), sd.PureDP(1)


def pipeline_dp_sum() -> Pair:
    """Three people in each partition, or a fourth whose value is not a number."""
    import pipeline_dp as peer  # noqa: PLC0415 a peer

    metrics = [peer.Metrics.SUM]
    bounds = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1}
    values = {"min_value": 0, "max_value": 2}
    params = peer.AggregateParams(
        metrics=metrics, noise_kind=peer.NoiseKind.LAPLACE, **bounds, **values
    )
    columns = peer.DataExtractors(
        privacy_id_extractor=itemgetter(0, 1),
        partition_extractor=itemgetter(1),
        value_extractor=itemgetter(2),
    )

    def sums(cells: Sequence[float]) -> Run:
        def run(count: int) -> Any:
            rows = [
                (person, group, cell)
                for group in range(count)
                for person, cell in enumerate(cells)
            ]
            budget = peer.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
            engine = peer.DPEngine(budget, peer.LocalBackend())
            groups = list(range(count))
            answer = engine.aggregate(rows, params, columns, public_partitions=groups)
            budget.compute_budgets()
            told = dict(answer)
            return [told[group].sum for group in groups]

        return run

    return sums([1, 1, 1]), sums([1, 1, 1, math.nan]), sd.ApproxDP(1, "1e-6")


def smartnoise_sum() -> Pair:
    """Three people in each group, or a fourth at the largest value."""
    import snsql as peer  # noqa: PLC0415 a peer

    columns = {
        "person": {"type": "int", "private_id": True},
        "trial": {"type": "int"},
        "x": {"type": "int", "lower": 0, "upper": 5},
    }
    table = {"rows": 100_000, "max_ids": 1, "censor_dims": False, **columns}

    def sums(cells: Sequence[int]) -> Run:
        def run(count: int) -> Any:
            trials = np.repeat(np.arange(count), len(cells))
            rows = pd.DataFrame({
                "person": np.arange(len(trials)),
                "trial": trials,
                "x": np.tile(cells, count),
            })
            reader = peer.from_df(
                rows,
                privacy=peer.Privacy(epsilon=1.0, delta=1e-6),
                metadata={"": {"s": {"t": table}}},
            )
            answer = reader.execute("SELECT trial, SUM(x) AS a FROM s.t GROUP BY trial")
            told = dict(answer[1:])
            return [told[trial] for trial in range(count)]

        return run

    return sums([1, 1, 1]), sums([1, 1, 1, 5]), sd.ApproxDP(1, "1e-6")


def tumult_gaussian() -> Pair:
    """An average of 0, or of 1."""
    import tmlt.core.domains.numpy_domains as domains  # noqa: PLC0415 a peer
    import tmlt.core.measurements.noise_mechanisms as peer  # noqa: PLC0415 a peer

    noise = peer.AddGaussianNoise(domains.NumpyFloatDomain(), 1)

    def noisy(value: float) -> Run:
        return lambda n: [float(noise(np.float64(value))) for _ in range(n)]

    return noisy(0.0), noisy(1.0), sd.GaussianDP(1)


def document_of_thresholds() -> Pair:
    """Keys at or above 5 are shown; delta is said to be the tail above 5 - 1."""
    rng = np.random.default_rng()
    each = 1 - math.exp(-1)
    threshold = 5

    def shown(value: int, count: int) -> Any:
        up, down = rng.geometric(each, (2, count))
        return (value > 0) & (value + up - down >= threshold)

    # P[noise > 4] of integers, where P[noise >= 4] is meant
    delta = math.exp(-threshold) / (1 + math.exp(-1))
    claim = sd.ApproxDP(1, delta)
    return lambda n: shown(0, n), lambda n: shown(1, n), claim


def document_of_private_joins() -> Pair:
    """A join that keeps two rows of each key: said to move by 2 * 2, moves by twice it.

    One row more on each side takes the place of a row that was kept: one leaves, and
    one comes, and each of them meets two rows of the other side.
    """
    rng = np.random.default_rng()

    def kept(rows: Sequence[tuple[str, int, int]], key: str) -> list[int]:
        """Return the values of the two rows of a key that come first by their hash."""
        return [
            value
            for at, _, value in sorted((h, k, v) for k, h, v in rows if k == key)[:2]
        ]

    def total(left: Any, right: Any) -> int:
        """Return the sum of what both sides hold, from -1 to 1 in each joined row."""
        pairs = [
            (mine, theirs)
            for key in ("a", "b")
            for mine in kept(left, key)
            for theirs in kept(right, key)
        ]
        return sum(max(-1, min(1, mine + theirs)) for mine, theirs in pairs)

    left = [("a", 5, -1), ("a", 2, 0), ("b", 1, 0), ("b", 2, 0)]
    right = [("b", 5, -1), ("b", 2, 0), ("a", 1, 0), ("a", 2, 0)]
    before = total(left, right)
    after = total([*left, ("a", 1, 1)], [*right, ("b", 1, 1)])
    scale = 2 * 2

    def noisy(value: int) -> Run:
        # of integers, so that no low bits of doubles tell
        alpha = 1 - math.exp(-1 / scale)
        return lambda n: value + rng.geometric(alpha, n) - rng.geometric(alpha, n)

    return noisy(before), noisy(after), sd.PureDP(1)


def document_of_gaussian_noise() -> Pair:
    """Noise is a double that is added to a double."""
    rng = np.random.default_rng()
    return (
        lambda n: 0.0 + rng.normal(0, 1, n),
        lambda n: 1.0 + rng.normal(0, 1, n),
        sd.GaussianDP(1),
    )


AUDITS: Final = {
    "opendp": Audited(
        opendp_integer_threshold, "opendp", 120_000, True,
        "the chance to lie at the threshold is left out of delta (opendp issue 2922)",
    ),
    "diffprivlib": Audited(
        diffprivlib_laplace, "diffprivlib", 10_000, True,
        "doubles are added to doubles, and last bits tell (diffprivlib issue 94)",
    ),
    "pipeline-dp": Audited(
        pipeline_dp_sum, "pipeline_dp", 2_000, True,
        "one value that is no number decides the sum (google/differential-privacy 411)",
    ),
    "smartnoise-sql": Audited(
        smartnoise_sum, "snsql", 4_000, False,
        "a sum is clamped, and its noise is drawn on a lattice",
    ),
    "tumult": Audited(
        tumult_gaussian, "tmlt.core", 6_000, True,
        "noise is rounded to a double before it is added, and last bits tell",
    ),
    "thresholds, as documented": Audited(
        document_of_thresholds, "numpy", 120_000, True,
        "P[noise > 4] stands where P[noise >= 4] is meant",
    ),
    "private joins, as documented": Audited(
        document_of_private_joins, "numpy", 20_000, True,
        "a row that is added takes the place of one, and both sides may change",
    ),
    "Gaussian noise, as documented": Audited(
        document_of_gaussian_noise, "numpy", 10_000, True,
        "a double is added to a double, and last bits tell",
    ),
}  # fmt: skip


def is_installed(name: str) -> bool:
    """Tell whether what is audited can be asked here."""
    try:
        return importlib.util.find_spec(AUDITS[name].module) is not None
    except ModuleNotFoundError:  # its parent is absent, too
        return False


def audit(name: str) -> Any:
    """Audit one; a true claim is called false once in a billion times."""
    make, _, samples, *_ = AUDITS[name]
    return sd.audit(*make(), samples=samples, confidence="0.999999999")


def main(names: Sequence[str]) -> None:
    """Print what is found."""
    for name in names or [name for name in AUDITS if is_installed(name)]:
        words = f"{name}: {audit(name)}\nExpected, since {AUDITS[name].because}.\n\n"
        sys.stdout.write(words)


if __name__ == "__main__":
    main(sys.argv[1:])
