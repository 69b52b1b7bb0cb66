"""Mechanisms, one file each: a randomised answer, and the map that prices it.

`mechanism` is the root of everything that has a price; `noise_mechanism` is what adds
noise to numbers, and `threshold_mechanism` to the values of maps with unknown keys.

- noise: `laplace`, `gaussian`, `geometric`, `discrete_gaussian`;
- noise above a threshold: `laplace_threshold`, `gaussian_threshold`;
- choices: `exponential`, `quantiles`, `above_threshold`, `randomized_response`.

What only serves them lies in `kit`.
"""
