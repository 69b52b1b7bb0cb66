"""What ids weigh in each of their groups: 1 over the root of how many these are.

All together one id moves the weights by at most 1, in as many groups as it may have
(docs/proofs/keys.md); their sums are integers of 2**-20.
"""

from typing import Final

from sordino.aggregations.base import Setting
from sordino.aggregations.measurements import IntegerMeasurement
from sordino.aggregations.totals import Total
from sordino.expressions.language import col, when
from sordino.mechanisms.kit.key_rounds import weight_steps
from sordino.sensitivity import Sensitivity

WEIGHTS: Final = "weights"
"""The key of the sums of weights."""


def weights_measurement(setting: Setting, size: str) -> IntegerMeasurement:
    """Return the sums of weights of rows that have their number in a column `size`.

    Stated in weights, not in steps: at most `keys` numbers move, by 1 in all.
    """
    people = setting.people()
    steps = weight_steps(int(people.l0))
    *several, (_, last) = steps
    if not several:
        total = Total(col(size).tree, factor=0, shift=last)
        return IntegerMeasurement(WEIGHTS, Sensitivity(l0=1, linf=1), (total,))
    ladder = when(col(size) <= several[0][0]).then(several[0][1])
    for end, weight in several[1:]:
        ladder = ladder.when(col(size) <= end).then(weight)
    total = Total(ladder.otherwise(last).tree)
    change = Sensitivity(l0=people.l0, linf=1, l2=1)
    return IntegerMeasurement(WEIGHTS, change, (total,))
