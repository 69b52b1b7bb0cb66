"""Exact relational work, never noise: one file for each engine."""
