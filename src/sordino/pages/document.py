"""A whole page in one file: it asks nothing of the network and runs nothing.

A policy in it lets a browser take the style sheet, told by its hash, and nothing else:
not even an escape that failed could run, fetch or send.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from sordino.pages.languages import Language
from sordino.pages.markup import Html, join, tag


def document(language: Language, title: str, *content: Html) -> str:
    """Return a file of HTML with a title."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        join(Html("<style>"), Html(look()), Html("</style>")),
    )
    whole = tag("html", head, tag("body", *content), lang=language.code)
    return f"<!doctype html>\n{whole.text}\n"


@cache
def look() -> str:
    """Return the style sheet."""
    return (files("sordino.pages") / "look.css").read_text("utf-8")


def _policy() -> str:
    """Return what a browser may take from this file, and from nowhere else."""
    digest = base64.b64encode(hashlib.sha256(look().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'"
