"""What an answer costs and how far off it is, from public facts: no data is read.

    request ── plan ── purchase ── price

- `plan`: a way to answer a request; `candidates`: all of them; `keys_first`: keys shown
  first
- `purchase`: the mechanisms that a budget buys for a plan, and their loss
- `price`: what the user sees; `bundle`: requests bought together; `margins`: all tables

What holds here: docs/law/plan.md.
"""
