"""What every SQL engine shares: plans as SQL, statements and totals, in a dialect."""
