"""How values show themselves: numbers and names as people read them, and pages of them.

- `formatting`: numbers, keys and percentages as texts, cut to a width
"""
