"""How Sphinx builds the site; the pages beside it are staged by tests.site."""

project = "Sordino"
copyright = "the authors of Sordino"  # noqa: A001 the name that Sphinx reads
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Sordino"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options: dict[str, list[str]] = {"top_of_page_buttons": []}
pygments_style = "default"
pygments_dark_style = "github-dark"
# languages of blocks are for readers; a console session need not lex
suppress_warnings = ["misc.highlighting_failure"]
