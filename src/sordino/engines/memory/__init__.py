"""The meaning of every question, in plain Python."""
