"""The templates of pages, read by Jinja2: loaded only when a page is made."""

import re
from functools import cache
from typing import Final, final

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension

_BREAK: Final = re.compile(r"(?<=[>}])(\n\s*)|(\n\s*)(?=[<{])")


@final
class _Indented(Extension):
    """Keeps the line breaks and indentation of a template off its page.

    A break after a tag or before one vanishes; any other stays.
    """

    def preprocess(
        self, source: str, name: str | None, filename: str | None = None
    ) -> str:
        del name, filename
        # a comment, and not nothing: the line numbers of errors stay those of the file
        return _BREAK.sub(lambda match: f"{{#{match[0]}#}}", source)


@cache
def environment() -> Environment:
    """Templates of the office: text is escaped, and a name without a value fails."""
    return Environment(
        loader=PackageLoader("sordino.office", "."),
        # names of groups and columns come from private tables and foreign hands
        autoescape=True,
        # a fact that is misspelled must not become an empty place in a promise
        undefined=StrictUndefined,
        extensions=[_Indented],
    )
