"""What an attacker learns: exact guarantees beside a curve; budgets that bound them.

- `loss`: `Loss`, `Budget`, `PureDP`, and how losses add up; `guarantees`: what is known
  exactly of one; `closed`: those with a closed form; `thresholded`: those of unknown
  keys
- `curves/`: the error rates of an attacker, as values that answer arrays
- `budgets/`: limits, filters, risk, calibration
- `interop`: losses of other libraries, read and written

The losses of one noise lie beside it, in `sordino.noise`.

What holds here: docs/law/losses.md.
"""
