"""Exact draws: from random bits to noise, certified wherever doubles leave a doubt.

- `bits` is the only door for randomness; `uniform` draws whole numbers below a limit;
- a `shape` (`gaussian`, `laplace`) is drawn by dominated `blocks`;
- a `sampler` adds the noise and compares sums: `integers`, or `floats` rounded once;
- `tails` draws beyond a threshold, `choice` among candidates by their weights;
- `certified` settles what doubles cannot decide, with further bits.
"""
