"""Exact relational work, never noise: one room for each engine."""
