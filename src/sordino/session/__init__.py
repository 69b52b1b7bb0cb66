"""Tables, a budget, and the questions asked of them."""
