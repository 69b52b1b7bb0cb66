"""What was asked: pure values that know no engine and no data."""
