"""Noise mechanisms, one file each."""
