"""Noise on the values of a map with unknown keys; what reaches the threshold is shown.

`mechanism`: what they share; `laplace`, `gaussian`: the two; `fitting`: the least noise
and threshold within a loss; `maps`: maps of the caller, opened and closed.
"""
