"""Sums of independent losses: `grid`, `transform`, `grid_sums`, `block_sums`.

A law is put on a grid by connecting the dots, tilted, transformed and multiplied; very
many laws are summed block by block; what comes out is a profile of upper bounds.
"""
