"""What may be spent, what was spent, and how much noise a target needs."""
