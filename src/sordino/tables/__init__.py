"""Tables that belong together: all margins of some columns, measured once.

The way of the data: columns of keys are trees (`trees`), whose levels are halved again
and again (`halving`): integers that say all that a table has beyond its margins. A
lattice says which tables there are (`lattice`), precisions how exactly each of its
parts is measured and what that costs (`precisions`), `measuring` draws the noise and
makes the tables. Noisy tables of any release are made to agree, and not negative:
level by level where that is always possible (`partitions`, `agreement`, `stages`,
`projection`, `rounding`), by a law of all columns together where it is not
(`joint_law`); `together` chooses, and `invented` draws people from what was fitted.
"""
