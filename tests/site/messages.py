"""The page of messages, made of the docstrings of errors: docs/messages.md.

    python -m tests.site.messages

The first sentences of a class say the cause, the paragraph that begins with "Remedy:"
says what to do, and the example shows a message.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sordino import errors

PAGE: Final = Path(__file__).parents[2] / "docs" / "messages.md"
HEAD: Final = """# Messages

Every refusal has a type, and each type has a section here. Python and notebooks
show the type in front of the text; the command line shows it in brackets at the
end. The text names the argument, what was given and what to do next. This page
says what all texts of a type have in common. A question that is refused has
read no private row and costs nothing, unless its section says otherwise.

`python -m pydoc sordino.errors.InvalidQuery` prints a section without a network.
`except sordino.errors.SordinoError` catches all of them. In a notebook a refusal
shows the line that asked and its text; with `SORDINO_TRACEBACK=1` it shows all
frames. [The command line](cli.md) lists the codes with which commands end. This
page is made of the docstrings by `python -m tests.site.messages`.
"""
_TOLD: Final = re.compile(r"\A(.*?)\n\nRemedy: (.*?)(?:\n\n|\Z)", re.DOTALL)
_SHOWN: Final = re.compile(r"^sordino\.errors\.(\w+: .*)\Z", re.DOTALL | re.MULTILINE)


def refusals() -> Iterator[type[Exception]]:
    """Yield every class of refusals and warnings, in the order of their file."""
    for kind in vars(errors).values():
        is_kind = inspect.isclass(kind) and issubclass(kind, Exception)
        if is_kind and kind is not errors.SordinoError:
            yield kind


def page() -> str:
    """Text of the page."""
    return "\n".join([HEAD, *map(_section, refusals())])


def _section(kind: type[Exception]) -> str:
    told = inspect.getdoc(kind) or ""
    ((cause, remedy),) = _TOLD.findall(told)
    shown = _SHOWN.search(told)
    base = kind.__mro__[1 if kind is errors.WeakBudget else 2].__name__
    parts = [
        f"## {kind.__name__}\n",
        f"**Cause.** {_one_line(cause)}\n",
        f"**Remedy.** {_one_line(remedy)}\n",
        f"It is a `{base}`, too.\n",
    ]
    if shown:
        parts.append(f"```text\n{shown[1].rstrip()}\n```\n")
    return "\n".join(parts)


def _one_line(paragraph: str) -> str:
    return " ".join(paragraph.split())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
