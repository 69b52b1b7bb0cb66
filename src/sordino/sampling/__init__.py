"""Exact draws."""
