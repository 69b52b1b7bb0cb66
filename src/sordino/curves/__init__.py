"""An attacker's error rates as values: delta, epsilon, tpr and beta on arrays.

The way of a curve through the files, from a question to its answer:

- `curve`: what every curve answers; `points`: how numbers enter, and bounds leave;
- `response`, `<noun>_curve`: one file each; `normal`, `concentrated`: their formulas;
- `laws`: what a pair of worlds tells, as masses of the privacy loss;
- `convolution`: sums of independent losses, every error charged; `profile`: bounds at
  points; `table_curve` has both;
- `inverse`, `search`: where decreasing functions fall; `coarseness`, `ticks`: while one
  looks; `loss_variables`: rates of loss variables that users bring.

No curve knows a headline, a name or a budget: those are losses, one floor above.
"""
