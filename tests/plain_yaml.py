"""A reader of the YAML 1.1 that the registry takes: mappings, lists, quoted scalars.

It knows what the registry's own checker lets through (plain scalars, '...' and block
text after |) and raises on everything else, such as folded text or tabs.
"""

import re
from typing import Any, Final

FLOAT: Final = re.compile(r"[-+]?[0-9][0-9_]*\.[0-9]*([eE][-+][0-9]+)?")
"""What YAML 1.1 reads as a double: an exponent needs a sign, and a point before it."""
_WHOLE: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_PLAIN: Final = re.compile(r"[\w-][\w -]*")
_PAIR: Final = re.compile(r"( *)([a-z_]+):(?: (.*))?")
_ITEM: Final = re.compile(r"( *)- (.*)")


def read_yaml(text: str) -> dict[str, Any]:
    """Return what a file of the registry says."""
    lines = text.split("\n")
    assert not lines.pop(), "it must end with a line"
    read, rest = _mapping(lines, 0)
    assert rest == []
    return read


def _mapping(lines: list[str], indent: int) -> tuple[dict[str, Any], list[str]]:
    """Return the names and values at an indent, and the lines after them."""
    read: dict[str, Any] = {}
    while lines:
        pair = _PAIR.fullmatch(lines[0])
        if pair is None or len(pair[1]) < indent:
            break
        assert len(pair[1]) == indent, lines[0]
        assert pair[2] not in read, "each name stands once"
        read[pair[2]], lines = _value(pair[3], lines[1:], indent + 2)
    return read, lines


def _value(scalar: str | None, lines: list[str], indent: int) -> tuple[Any, list[str]]:
    if scalar == "|":
        block = []
        while lines and (not lines[0] or lines[0].startswith(" " * indent)):
            block.append(lines.pop(0)[indent:])
        return "\n".join(block) + "\n", lines
    if scalar is not None:
        return _scalar(scalar), lines
    if _ITEM.fullmatch(lines[0]):
        items = []
        while lines and (item := _ITEM.fullmatch(lines[0])) and len(item[1]) == indent:
            items.append(_scalar(item[2]))
            lines = lines[1:]
        return items, lines
    return _mapping(lines, indent)


def _scalar(text: str) -> Any:
    """Return a scalar: a quoted text, a number, or a plain word."""
    if text.startswith("'"):
        assert text.endswith("'"), text
        inner = text[1:-1]
        assert re.search(r"(?<!')'(?:'')*(?!')", inner) is None, text
        assert inner.isprintable(), text
        return inner.replace("''", "'")
    if FLOAT.fullmatch(text):
        return float(text)
    if _WHOLE.fullmatch(text):
        return int(text)
    assert _PLAIN.fullmatch(text), text
    return text
