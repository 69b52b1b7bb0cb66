"""Tables that belong together: all margins of some columns, measured once.

The way of the data: columns of keys are trees (`trees`), whose levels are halved again
and again (`halving`): integers that say all that a table has beyond its margins. A
`crossing` says which tables there are; `precisions` how exactly each of its parts is
measured, and what that costs; `measuring` draws the noise and makes the tables, which
`public_totals` that everybody knows are part of, and `named_tables` shows.

Noisy tables are made to agree (`agreement`; of several releases `key_crossing` finds
what they have in common) and not negative: level by level where that is always possible
(`levels_down`, `projection`, `whole_cells`), by a law of all columns together where it
is not (`joint_law`). `joint_fit` chooses, and `coarser` adds up.
"""
