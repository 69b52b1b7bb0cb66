"""What may be spent: limits, the filters that keep them, and how much noise fits.

- `risk` are budgets stated as what an attacker may achieve;
- `calibration` finds the least noise within a budget, `parameter` the largest
  parameter of a family of losses;
- `limits` is a budget as it was stated, with the filter that `filter_choice` chose;
- `filters` is the contract of a filter, `filter_sums` and `filter_either` keep it;
- `table_blocks` are blocks of tables, each with a limit of its own, which `touched`
  puts in words;
- `charge` is what they add up, and `budget_text` how a ledger writes a budget.

A ledger stands above: it records charges, and asks a limit whether the next one fits.
"""
