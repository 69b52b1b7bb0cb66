"""How values show themselves: numbers and names as people read them, and pages of them.

- `formatting`: numbers, keys and percentages as texts, cut to a width
- `elements`: the parts of a page for notebooks, made harmless
- `small_bars`, `curves`, `diagram`: shares, intervals, curves and steps as pictures
- `inks`: colours of Matplotlib's pictures, on a light and on a dark ground
"""
