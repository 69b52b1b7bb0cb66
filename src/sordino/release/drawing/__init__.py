"""How a release is drawn: tables that fit one picture each, and a sheet of pictures.

release ── parts ── form ── blocks ── sheet ── figure

- `parts`: the tables of a release, with the numbers that can be drawn
- `forms`: which picture fits the shape of a table
- `band_block`, `rank_block`, `line_block`, `cell_block`: one picture each, measured
- `lettering`, `sheet`: widths of texts, places in inches
"""
