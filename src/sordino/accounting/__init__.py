"""What was spent, and what it means."""
