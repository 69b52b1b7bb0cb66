"""One noise, one file: its law, its exact sampler, its loss and curve, its mechanism.

- `laplace`, `gaussian`: noise on numbers, real and whole; `randomized_response`
- `exponential`, `quantiles`, `above_threshold`, `key_rounds`: mechanisms that choose
- `threshold/`: noise on maps with unknown keys, released above a threshold
- `sampling/`: exact draws, and the one door to randomness

What all share: `additive` (what every noise and every mechanism is), `law` (tails as
enclosures), `sensitivity` (how far answers lie apart), `numbers` (from the values of a
user and back); `sums`, `bin_counts`.

What holds here: docs/law/noise.md.
"""
