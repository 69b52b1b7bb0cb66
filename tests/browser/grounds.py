"""The pages that show what values show of themselves: notebooks, light and dark.

A notebook has a theme of its own, which need not be that of the system.
"""

from typing import Final

GROUNDS: Final = {
    "light": ("#ffffff", "rgba(0, 0, 0, 0.87)"),
    "dark": ("#212121", "rgba(255, 255, 255, 0.87)"),
}
"""The ground and the letters of a theme."""


def cell_page(shown: str, theme: str) -> str:
    """Return a notebook of one cell, in which a value shows itself."""
    ground, ink = GROUNDS[theme]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Notebook</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
html {{ background: {ground}; color: {ink};
  font: 14px/1.4 "Liberation Sans", Arial, sans-serif; }}
main {{ margin: 12px; }}
h1 {{ font-size: 1rem; }}
.output {{ overflow: auto; }}
@media print {{ html {{ background: white; color: black; }} }}
</style></head>
<body><main><h1>Notebook</h1><div class="output">{shown}</div></main></body></html>
"""
