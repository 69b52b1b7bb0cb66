"""What a loss means to an attacker, as a sentence and as JSON."""

from typing import Final

from sordino.losses.base import Loss

ALARMS: Final = ("0.01", "0.05", "0.1")
"""Shares of false alarms at which odds are told."""
_USUAL: Final = 0.05


def odds(loss: Loss) -> dict[str, float]:
    """Return the greatest share of true alarms for some shares of false ones."""
    return {alarm: float(loss.tpr_at(alarm)) for alarm in ALARMS}


def odds_sentence(loss: Loss) -> str:
    """Return what a loss means to an attacker, in a sentence.

    >>> from sordino.losses.base import PureDP
    >>> odds_sentence(PureDP(1))
    'Of 100 people in the data an attacker finds at most 14, accusing 5 of 100 others.'
    """
    true = float(loss.tpr_at(_USUAL))
    return (
        f"Of 100 people in the data an attacker finds at most {_percent(true)}, "
        f"accusing {_percent(_USUAL)} of 100 others."
    )


def _percent(share: float) -> str:
    """Return a share of a hundred, never rounded down.

    >>> _percent(0.1359), _percent(0.05), _percent(1.0)
    ('14', '5', '100')
    """
    return f"{-int(-100 * share // 1) if share < 1 else 100:.0f}"
