"""What the user gets back: a noisy table with its errors, its price and its plan."""
