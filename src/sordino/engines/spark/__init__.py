"""Spark: questions answered where one machine is not enough.

- `dialect`, `entries`: the forms that decide about privacy; each operation as its SQL
- `cluster`, `session`: the Spark of this process, and a session of our own in it
- `tables`: frames, tables and files as sources; `plans`: what Spark is about to run,
  read
- `workers`: noise where the rows are, and the files that workers write
"""
