"""Privacy loss as a value."""
