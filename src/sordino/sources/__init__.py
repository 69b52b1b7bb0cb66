"""The border: every source becomes a stream of our types, by a rule for each cell.

Nothing that a source says of itself is believed, and no source knows an engine.

| file | what it has |
|---|---|
| `readers` | which source an object is |
| `base` | what a source is; a table as it was opened |
| `arrow`, `parquet`, `csv`, `python_objects` | the kinds of sources, one file each |
| `csv_format`, `text_stream`, `wellformed`, `paths` | text files and paths |
| `arrow_kinds`, `arrow_values` | the rule of each Arrow type, a column at once |
| `plain_values`, `python_cells` | the same rules in Python, and for cells of objects |
| `freezing`, `cell_shapes` | public tables read once; what unreadable cells look like |
"""
