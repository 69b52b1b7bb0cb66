"""The pages of the project: what they link to, and the sections they belong to.

A section begins with a page whose lists and tables link to the others, in the order of
the site. Records of decisions are history: they are pages, and in no section.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
SECTIONS: Final = {
    "Start": DOCS / "start.md",
    "Choose": DOCS / "choose.md",
    "Do": DOCS / "do.md",
    "Recipes": DOCS / "guides/recipes.md",
    "Coming from": DOCS / "coming-from/README.md",
    "Understand": DOCS / "understand.md",
    "Messages": DOCS / "messages.md",
    "Reference": DOCS / "reference.md",
    "Proofs": DOCS / "proofs/README.md",
    "Law book": DOCS / "law/README.md",
}
"""The sections of the site, in order, by the page that begins each."""

_FENCE: Final = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"(`+).+?\1", re.DOTALL)
_LINK: Final = re.compile(r"\]\(([^()\s]+)\)")
_HEADING: Final = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_ELSEWHERE: Final = re.compile(r"[a-z]+:")


@final
class Link(NamedTuple):
    """A link of a page: as written, the file it leads to, and the place there."""

    written: str
    target: Path
    anchor: str


@cache
def pages() -> tuple[Path, ...]:
    """Every page that is read: those at the root, and those of the folder docs."""
    return (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")))


def records() -> set[Path]:
    """Records of decisions, whose links are those of their day."""
    return set((DOCS / "adr").glob("*.md"))


@cache
def text_of(page: Path) -> str:
    """Text of a page without its code, of which no link is one."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


@cache
def links(page: Path, begins: tuple[str, ...] = ("",)) -> tuple[Link, ...]:
    """Links of a page to files, in order, of lines that begin so."""
    text = _CODE.sub(lambda code: code[0].translate({93: 0}), text_of(page))
    lines = [line for line in text.splitlines() if line.startswith(begins)]
    return tuple(_read_link(page, written) for written in _inner("\n".join(lines)))


def _inner(text: str) -> Iterator[str]:
    for written in _LINK.findall(text):
        if not _ELSEWHERE.match(written):
            yield written


def _read_link(page: Path, written: str) -> Link:
    path, _, anchor = written.partition("#")
    target = Path(os.path.normpath(page.parent / path)) if path else page
    return Link(written, target, anchor)


@cache
def anchors(page: Path) -> frozenset[str]:
    """Places of a page that can be linked to, named as on a forge and on the site."""
    seen: Counter[str] = Counter()
    named = set()
    for heading in _HEADING.findall(text_of(page)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        named.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return frozenset(named)


def broken_links(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    return [
        link.written
        for link in links(page)
        if not link.target.exists()
        or (link.anchor and link.anchor not in anchors(link.target))
    ]


@cache
def sections() -> dict[str, tuple[Path, ...]]:
    """Pages of each section: the one that begins it, and those it is the first to name.

    A folder with a page of its own in the list keeps its pages.
    """
    taken = {*SECTIONS.values(), ROOT / "README.md"}
    homes = {
        page.parent: name for name, page in SECTIONS.items() if page.stem == "README"
    }
    divided = {}
    for name, first in SECTIONS.items():
        own = [first]
        for link in links(first, ("- ", "| ")):
            page = link.target
            is_free = page.suffix == ".md" and page not in taken | records()
            if is_free and homes.get(page.parent, name) == name:
                own.append(page)
                taken.add(page)
        divided[name] = tuple(own)
    return divided
