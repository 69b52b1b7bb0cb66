"""Privacy losses: exact guarantees beside a curve, and what is done with them.

- `base`: `Loss`, all that may be asked of one, and `Budget`; `guarantees`, `spending`;
- `closed`, `noise_losses`, `bounded_range`, `vectors`, `rounds`: losses of one release;
- `composition`, `subsampled`, `reserved`, `thresholded`, `joint`: losses of losses;
- `headline`, `explain`, `tradeoff`, `curve_plot`: its words and pictures; `interop`.

The mathematics lies one floor below, in `sordino.curves`.
"""
