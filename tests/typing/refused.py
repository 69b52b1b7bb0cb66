"""What type checkers must refuse: each line fails, or its comment does.

mypy complains of a comment that hides nothing (`warn_unused_ignores`, strict), and so
does pyright (`reportUnnecessaryTypeIgnoreComment`). Nothing runs.
"""

import sordino as sd


def noise() -> None:
    """Noise for integers takes integers; noise takes numbers, and gives them back."""
    sd.Geometric(1)(2.5)  # type: ignore[call-overload]
    sd.Laplace(1)("2.5")  # type: ignore[call-overload]
    sd.Laplace(1)(["a"])  # type: ignore[arg-type]
    sd.Laplace(1)({"a": 1})  # type: ignore[call-overload]
    answer: int = sd.Laplace(1)(3)  # type: ignore[assignment]
    del answer
    sd.LaplaceThreshold(1, 20)(3)  # type: ignore[call-overload]
    sd.Exponential(1)([0.5, 0.25])  # type: ignore[list-item]


def parameters() -> None:
    """A parameter is a number or its text; an option is one that there is."""
    sd.Laplace([1])  # type: ignore[arg-type]
    sd.Laplace(scale=1, digits=3)  # type: ignore[call-arg]
    sd.Laplace(1).map((1, 1, 1))  # type: ignore[call-overload]
    sd.LaplaceThreshold(1, 20).map(1)  # type: ignore[arg-type]
    sd.Geometric.for_loss(sd.PureDP(1), 1, granularity=3)  # type: ignore[call-arg]
    sd.Laplace.for_loss(1, 1)  # type: ignore[arg-type]


def names(loss: sd.Loss) -> None:
    """A name that is not public is no name, and a curve is asked at numbers."""
    sd.Laplacian(1)  # type: ignore[attr-defined]
    loss.delta_at({1: 2})  # type: ignore[call-overload]
    loss.tpr_at(None)  # type: ignore[call-overload]
    loss.epsilon_for("1e-6")  # type: ignore[attr-defined]


def queries(session: sd.Session, rows: sd.Query) -> None:
    """A query is no request until it aggregates."""
    session.release(rows, sd.PureDP(1))  # type: ignore[arg-type]
    request: sd.Request = rows  # type: ignore[assignment]
    del request
