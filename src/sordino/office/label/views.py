"""The label of a published file: what it says of privacy and exactness, on one card.

facts ── words of a language ── one list of rows ── HTML, a picture, text
   └── JSON
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, final

from sordino.errors import InvalidParameter
from sordino.numbers import arguments
from sordino.numbers.frozen import hides
from sordino.office.html.elements import fill_template, html_page
from sordino.office.html.page import Language, document, read_language
from sordino.office.label.facts import LabelFacts
from sordino.office.label.files import label_json
from sordino.office.label.label import (
    LabelTexts,
    label_texts,
    plain_label,
)
from sordino.release.storage import write_whole

Form: TypeAlias = Literal["html", "png", "json", "text"]
Status: TypeAlias = Literal[
    "", "claimed", "confirmed", "unknown", "unlabelled", "stands", "published"
]
"""How sure the facts are: "" where a release tells them itself. What a file says of
itself is claimed; or confirmed by a ledger that saw it published; or the ledger knows
nothing of the file, or the file but not the label beside it. Without the ledger: the
file stands under the head that lies beside it, or under one that the reader knows."""


@hides("texts")
@final
@dataclass(frozen=True, repr=False)
class Label:
    """Privacy facts of a release or of a published file.

    A notebook shows it as a card, `print` as text. `html` is a page of its own, and
    `save` writes a page, a picture or JSON by the ending of the name.
    """

    facts: LabelFacts
    file: str = ""
    """The name of the file that it belongs to, if there is one."""
    status: Status = ""
    language: Language = field(default_factory=lambda: read_language("en"))
    head: str = ""
    """Digits of the head of a ledger under which the file stands, if it shows that."""

    @property
    def texts(self) -> LabelTexts:
        """Return everything it says, in order."""
        of_file = (self.file, self.status, self.head)
        return label_texts(self.facts, self.language, *of_file)

    @property
    def html(self) -> str:
        """Return a page of its own: no script, nothing fetched, light and dark."""
        texts = self.texts
        title = f"{texts.title}: {texts.file}" if texts.file else texts.title
        card = fill_template("label/card.html", texts=texts)
        return document(self.language, title, card)

    @property
    def json(self) -> str:
        """Return the facts as linked data (JSON-LD) that a program can read."""
        return label_json(self.facts, self.texts)

    def translate(self, language: str) -> "Label":
        """Return the same facts in another language: "de", "en" or "fr"."""
        return replace(self, language=read_language(language))

    def save(self, path: "str | Path") -> None:
        """Write the whole card to a file: .html, .png (with Matplotlib), .json or .txt.

        An existing file is replaced; nothing is left behind if this fails.
        """
        content = self.render(_form(path))
        write_whole(path, lambda target: target.write_bytes(content))

    def render(self, form: Form) -> bytes:
        """Return the whole card as "html", "png", "json" or "text"."""
        arguments.choice(tuple(_RENDERERS), form=form)
        return _RENDERERS[form](self)

    def __str__(self) -> str:
        return plain_label(self.texts)

    def __repr__(self) -> str:
        return plain_label(self.texts)

    def _repr_html_(self) -> str:  # noqa: PLW3201 the name notebooks look for
        return html_page(fill_template("label/panel.html", texts=self.texts))


def _picture(label: Label) -> bytes:
    from sordino.office.label.picture import label_png  # noqa: PLC0415 matplotlib is slow

    return label_png(label.texts)


_RENDERERS: Final[Mapping[str, Callable[[Label], bytes]]] = {
    "html": lambda label: label.html.encode(),
    "png": _picture,
    "json": lambda label: f"{label.json}\n".encode(),
    "text": lambda label: f"{label}\n".encode(),
}
_ENDINGS: Final[Mapping[str, Form]] = {
    ".html": "html",
    ".png": "png",
    ".json": "json",
    ".txt": "text",
}
"""What a label is written as, by the ending of the name."""


def _form(path: Any) -> Form:
    ending = Path(path).suffix.lower() if isinstance(path, (str, Path)) else ""
    if ending not in _ENDINGS:
        raise InvalidParameter(
            "path",
            str(path) if isinstance(path, Path) else path,
            f"must be a file that ends with {', '.join(_ENDINGS)}",
            'Try label.save("wards.html").',
        )
    return _ENDINGS[ending]
