"""Laws of noise: tails and quantiles as rigorous enclosures.

`base` is the contract of a law; `laplace`, `gaussian` and `point` keep it. `blends` and
`laplace_sums` are the laws of sums of such noises, in doubles, for intervals.
"""
