"""What a notebook adds: every value as a page; `%load_ext sordino`, then `%%dp`."""
