"""What a notebook adds: SQL in a cell, `%load_ext sordino` and then `%%dp`.

How values show themselves there is theirs: each room has its pages.

- `magics`: the words of a cell become a request, its price or its release
- `arguments`: what stands after `%%dp`
"""
