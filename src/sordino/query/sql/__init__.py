"""SQL in, our own requests out: what is not understood in full is refused."""
