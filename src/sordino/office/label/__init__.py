"""The privacy facts that a file carries: written beside the numbers, and read back."""
