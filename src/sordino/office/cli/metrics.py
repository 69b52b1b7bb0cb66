"""Losses as numbers, for programs that watch; metrics of a job for a monitor.

>>> from sordino.losses.closed import ApproxDP
>>> quantities(ApproxDP("1/3", 0))["exact"]
{'epsilon': '1/3', 'delta': '0/1'}
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, Final

from sordino.ledger.record_kinds import DATASET
from sordino.losses.budgets.limits import exact_text
from sordino.losses.loss import Loss
from sordino.numbers import down, up
from sordino.office.job.forecast import forecast
from sordino.office.job.running import JobDesk

_TERMS: Final = ("epsilon", "mu", "rho")
"""In the order in which a headline chooses among them."""


def quantities(loss: Loss, rounded: Callable[[Any], float] = up) -> dict[str, Any]:
    """Parameters of a loss as doubles, rounded up, with exact texts.

    They are in the terms that its headline has: a loss in terms of mu has no epsilon.
    """
    guarantees = asdict(loss.guarantees)
    terms = [name for name in _TERMS if guarantees[name] != math.inf][:1]
    finite = {name: guarantees[name] for name in (*terms, "delta")}
    exact = {name: exact_text(value) for name, value in finite.items()}
    return {**{name: rounded(value) for name, value in finite.items()}, "exact": exact}


_ESCAPES: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


Samples = Iterable[tuple[Mapping[str, str], float]]
"""Values of a gauge, each with its labels."""


def _gauge(name: str, what: str, samples: Samples, unit: str = "") -> Iterator[str]:
    listed = list(samples)
    if not listed:
        return
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"
    yield f"# HELP {name} {what.translate(_ESCAPES)}"
    for labels, value in listed:
        yield f"{name}{_labels_text(labels)} {_number_text(value)}"


def metrics_text(desk: JobDesk, day: date, now: datetime) -> str:
    """Numbers of a job and its ledger, as OpenMetrics; no private row is read."""
    lines = (*_budgets(desk), *_days_left(desk, day), *_releases(desk, day, now))
    return "\n".join([*lines, "# EOF", ""])


def _budgets(desk: JobDesk) -> Iterator[str]:
    ledger = desk.session.ledger
    limits = {name: limit.rule.promise for name, limit in ledger.limits().items()}
    if ledger.division is None:
        left = {name: ledger.remaining(name) for name in limits}
    else:
        # each block has a rest of its own, and the dataset none
        left = {name: ledger.remaining(name) for name in limits if name != DATASET}
    blocks = {block.name: block.remaining for block in ledger.blocks()}
    yield from _gauge(
        "sordino_limit",
        "Limit of a budget; with blocks, of each block.",
        _by_quantity("budget", limits),
    )
    yield from _gauge(
        "sordino_left",
        "What is left of a budget.",
        _by_quantity("budget", left, down),
    )
    yield from _gauge(
        "sordino_block_left",
        "What is left in a block of the table.",
        _by_quantity("block", blocks, down),
    )


def _days_left(desk: JobDesk, day: date) -> Iterator[str]:
    if desk.session.ledger.division is not None:
        return
    ends = forecast(desk, day).ends  # None: not within the year that it looks at
    days = float("inf") if ends is None else float((ends - day).days)
    yield from _gauge(
        "sordino_days_until_empty",
        "Days until the schedule asks for more than is left; +Inf from a year on.",
        [({}, days)],
    )


def _releases(desk: JobDesk, day: date, now: datetime) -> Iterator[str]:
    entries, names = desk.session.ledger.entries(), list(desk.job.releases)
    newest = {
        name: entry.when
        for entry in entries
        for name in names
        if entry.answered and (entry.key or "").startswith(f"{name}/")
    }
    ages = [
        ({"release": name}, (now - when).total_seconds())
        for name, when in newest.items()
    ]
    yield from _gauge(
        "sordino_newest_release_age_seconds",
        "How long ago the newest answered release was charged.",
        ages,
        unit="seconds",
    )
    yield from _gauge(
        "sordino_charged_releases",
        "Releases that the ledger has charged.",
        [({}, float(len(entries)))],
    )
    yield from _gauge(
        "sordino_due_releases",
        "Releases that are due today and not made.",
        [({}, float(sum(1 for _ in desk.due(day))))],
    )


def _by_quantity(
    label: str, losses: Mapping[str, Loss], rounded: Callable[[Any], float] = up
) -> Samples:
    for name, loss in losses.items():
        numbers = quantities(loss, rounded)
        del numbers["exact"]
        for quantity, value in numbers.items():
            yield {label: name, "quantity": quantity}, value


def _labels_text(labels: Mapping[str, str]) -> str:
    pairs = (f'{name}="{text.translate(_ESCAPES)}"' for name, text in labels.items())
    return f"{{{','.join(pairs)}}}" if labels else ""


def _number_text(value: float) -> str:
    """Number as OpenMetrics writes it.

    >>> _number_text(float("inf")), _number_text(0.25)
    ('+Inf', '0.25')
    """
    return "+Inf" if value == float("inf") else repr(value)
