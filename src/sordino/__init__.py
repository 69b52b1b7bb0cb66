"""Publish statistics about people with a proof of privacy."""
