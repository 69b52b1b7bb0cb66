"""Laws of noise: tails and quantiles as rigorous enclosures."""
