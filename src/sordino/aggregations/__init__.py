"""What can be asked of a group: one file for each aggregation.

An aggregation says which exact totals it needs, how far one unit can move them, and
what it makes of their noisy values.

    aggregation ── estimators ── measurements ── totals (exact) ── noise ── finish
"""
