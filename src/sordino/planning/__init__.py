"""What an answer costs and how far off it is, from public facts: no data is read.

request ── plan ── purchases ── price

- `plan`: the ways to answer a request, each a set of measurements with their shares
- `purchase`: the mechanisms that a budget buys for a plan, and their loss
- `buying`: the best of them; `first_stage`, `first_shares`: the first few groups
- `price`, `plan_text`: what the user sees of a purchase
- `bundle`, `batch`: several requests within one budget, and what the user sees of them
- `coverage`, `questions`: what is counted beside the answers; what an engine is asked
"""
