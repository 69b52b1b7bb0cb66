"""Pages of the reference: every public object, from its signature and docstrings.

The sections are those of docs/reference.md, which names each object in one line.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

import sordino

_SECTION: Final = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
_WIDE: Final = 76
_NAME: Final = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def objects(reference: str) -> dict[str, list[str]]:
    """Public names by the section of the reference that has them."""
    named = {title: _NAME.findall(body) for title, body in _SECTION.findall(reference)}
    return {
        title: [name for name in dict.fromkeys(names) if name in dir(sordino)]
        for title, names in named.items()
    }


def page(title: str, names: list[str]) -> str:
    """Text of the page of a section."""
    return "\n".join([f"# Objects: {title.lower()}\n", *map(_object, names)])


def _object(name: str) -> str:
    public = getattr(sordino, name)
    if inspect.ismodule(public):
        return f"## {name}\n\n{_prose(inspect.getdoc(public) or '')}\n"
    parts = [f"## {name}\n", _call(name, public), _prose(inspect.getdoc(public) or "")]
    if inspect.isclass(public):
        parts += [part for member in _members(public) for part in member]
    return "\n\n".join(parts) + "\n"


def _members(public: type[Any]) -> Iterator[tuple[str, str, str]]:
    for name in sorted(dir(public)):
        member = inspect.getattr_static(public, name)
        told = inspect.getdoc(getattr(public, name, None))
        is_own = inspect.isfunction(member) or isinstance(
            member, property | classmethod | staticmethod
        )
        if name.startswith("_") or not told or not is_own:
            continue
        call = (
            "" if isinstance(member, property) else _call(name, getattr(public, name))
        )
        yield f"### {public.__name__}.{name}", call, _prose(told)


def _call(name: str, called: Any) -> str:
    try:
        signature = str(inspect.signature(called))
    except ValueError:
        return ""
    return f"```python\n{_fold(name + _shorten(signature))}\n```"


def _shorten(signature: str) -> str:
    """A signature without the modules of its types."""
    signature = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z])", "", signature)
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", signature)
    return signature.replace("(self, ", "(").replace("(self)", "()")


def _fold(call: str) -> str:
    """A long call, an argument on each line: commas within brackets are of types."""
    if len(call) <= _WIDE:
        return call
    parts, depth = [""], 0
    for sign in call:
        depth += (sign in "([{") - (sign in ")]}")
        parts[-1] += sign
        if sign == "," and depth == 1:
            parts.append("   ")
    return "\n".join(parts)


def _prose(told: str) -> str:
    """A docstring as Markdown: its examples are blocks, its signs are letters."""
    paragraphs = told.split("\n\n")
    return "\n\n".join(map(_paragraph, paragraphs))


def _paragraph(words: str) -> str:
    if words.lstrip().startswith(">>>"):
        return f"```pycon\n{inspect.cleandoc(words)}\n```"
    if words.startswith(" "):
        return f"```text\n{words}\n```"
    parts = re.split(r"(`[^`]*`)", words)
    plain = [
        re.sub(r"([*_\[\]])", r"\\\1", part).replace("<", "&lt;") for part in parts[::2]
    ]
    parts[::2] = plain
    return "".join(parts)
