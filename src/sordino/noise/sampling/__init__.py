"""Exact draws: random bits, decisions in balls, and shapes drawn by dominated blocks.

`bits` is the one door to randomness. `blocks`, `choice`: draws from a shape, choices by
weight; `integers`, `floats`: a value plus noise, in whole steps or rounded once.
"""
