"""Privacy losses: exact guarantees beside a curve, and what is done with them.

- `answers`: what may be asked of a loss; `guarantees`, `allowance`, `conversion`;
- `base`: `Loss`, `Budget`, and how losses add up (`folding`); `PureDP`, the zero;
- `closed`, `noise_losses`, `bounded_range`, `vectors`, `rounds`: losses of one release;
- `thresholded`, `joint`: losses of releases over unknown keys; mixtures;
- `headline`, `explain`, `tradeoff`, `curve_plot`: its words and pictures; `interop`.

The mathematics lies one floor below, in `sordino.curves`.
"""
