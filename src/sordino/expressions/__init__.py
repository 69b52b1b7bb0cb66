"""What may be done to the columns of a row: total, deterministic, one meaning each."""
