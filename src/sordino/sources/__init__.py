"""The border: every source becomes a stream of our types, by a rule for each cell.

Nothing that a source says of itself is believed, and no source knows an engine. One
file for each kind of source: `arrow`, `parquet`, `csv`, `python_objects`; the rules of
cells are in `arrow_kinds`, `arrow_values`, `plain_values` and `python_cells`.
"""
