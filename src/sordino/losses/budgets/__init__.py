"""What may be spent: limits, the filters that keep them, and how much noise fits.

- `risk`: budgets stated as what an attacker may achieve; the least noise within one
- `limits`: a budget as it was stated, with the filter that keeps it; `filters`: these
- `charge`: what releases add up to; `blocks`: blocks of tables, with a limit each

A ledger stands above: it records charges, and asks a limit whether the next one fits.
"""
