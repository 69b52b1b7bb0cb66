"""What may be said of a row: total, deterministic, with one meaning on every engine.

- `schema`: public facts of columns; `tree`: expressions, and what an operation declares
- `language`: `col`, `lit`, `when`, the methods, and the list of all operations
- a file for each topic: `arithmetic`, `exponentials`, `logic`, `choices`, `bins`,
  `casts`, `dates`, `text`, `regular`; `literals`: values of Python

What holds here: docs/law/expressions.md.
"""
