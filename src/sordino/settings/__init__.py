"""Files in which people say what shall be done: TOML, read whole, refused by place.

`toml_file` reads a file, and `section` is how a table of it is asked.
"""
