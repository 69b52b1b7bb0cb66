"""An attacker's error rates as values: delta, epsilon, tpr and beta on arrays.

The way of a curve, from a question to its answer:

- `points`: how numbers enter, and bounds leave; `curve`: the four views of every curve
- `normal`, `concentrated`: curves by formula; `combined`: of several cases
- `laws`: what a pair of worlds tells, as masses of the privacy loss
- `composition`, `transform`: sums of independent losses, every error charged; `tables`
- `tradeoff`: a curve as arrays, and rates of loss variables that users bring

No curve knows a headline, a name or a budget: those are losses, one floor above.
"""
