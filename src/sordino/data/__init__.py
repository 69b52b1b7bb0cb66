"""Tables: whom they protect, how much one person holds, how every source is read.

Nothing that a source says of itself is believed, and no source knows an engine.

- `units`, `limits`, `contribution`: whom a table protects, and what one of them can
  hold
- `tables`: `PrivateTable`, `PublicTable`, and which source an object is
- `source`: what every source is; `arrow`, `csv`, `workbooks`, `python_rows`,
  `lazy_frames`, `files`: the kinds of sources; `cell_shapes`: what unreadable cells
  look like; `proposals`: how a text file could be declared
- `keyset`, `key_tree`, `key_columns`: public keys, and their algebra
- `toml`: files that people write

What holds here: docs/law/data.md.
"""

from sordino.data.keyset import KeySet

__all__ = ["KeySet"]
