"""Build the site of the pages: `python -m tests.site build/site`, without a network.

Pages are copied into a folder, links are led to where they lie there, and Sphinx makes
HTML of them, strictly: a warning ends the build, and so does whatever the site would
load from elsewhere.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.site import reference, theorems
from tests.site.links import DOCS, ROOT, pages, records, sections

HERE: Final = Path(__file__).parent
_PARTS: Final = re.compile(r"(^ *```.*?^ *```$|`+[^`]+`+)", re.DOTALL | re.MULTILINE)
_LINK: Final = re.compile(r"\]\(([^()\s]+)\)")
_PICTURE: Final = re.compile(r"^!\[[^\]]*\]\(([\w/.-]+\.svg)\)$", re.MULTILINE)
_DEFINED: Final = re.compile(r"^\[[^\]]+\]: \.\..*\n?", re.MULTILINE)
"""Where links of a changelog lead on a forge."""
_STYLE: Final = re.compile(r"<style>.*?</style>\n", re.DOTALL)
_LOADED: Final = re.compile(
    r"""<(?:script|img|iframe|source|link)\b[^>]*?(?:src|href)=["'](?:https?:)?//[^"']+"""
    r"""|@import[^;]*//|url\(["']?(?:https?:)?//"""
)
_MENDED: Final = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
    '<aside class="sidebar': '<aside aria-label="Site" class="sidebar',
    '<aside class="toc': '<aside aria-label="This page" class="toc',
}
"""What the theme leaves out for those who read by keyboard or by ear."""
_ALIKE: Final = {DOCS / "guides": DOCS / "do.md"}
"""Folders that a page links to, and the page that stands for each."""


def staged(path: Path) -> Path:
    """Place of a file among the staged pages."""
    if path.name == "README.md":
        path = path.with_name("index.md")
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS)
    if path.suffix == ".md":
        return path.relative_to(ROOT)
    return Path("files") / path.relative_to(ROOT)


def stage(folder: Path) -> None:
    """Write every page, and what they link to, into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "_static").mkdir(parents=True)
    shutil.copy(HERE / "conf.py", folder)
    shutil.copy(HERE / "site.css", folder / "_static")
    trees = contents(folder)
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if page in records():
            text = f"---\norphan: true\nnosearch: true\n---\n\n{text}"
        elif page == DOCS / "reference.md":
            text = name_objects(text)
        elif page == theorems.TABLE:
            text = theorems.linked(text)
        write(folder / staged(page), lead(text, page, folder) + trees.get(page, ""))


def contents(folder: Path) -> dict[Path, str]:
    """The lists of pages that the site's navigation is made of, by their page."""
    divided = sections()
    first = {name: staged(own[0]).with_suffix("") for name, own in divided.items()}
    entries = [f"{name} <{page}>" for name, page in first.items()]
    trees = {ROOT / "README.md": tree(entries)}
    for own in divided.values():
        listed = [f"/{staged(page).with_suffix('')}" for page in own[1:]]
        if own[0] == DOCS / "reference.md":
            listed += object_pages(folder)
        trees[own[0]] = tree(listed)
    for page, listed in theorem_pages(folder).items():
        trees[page] = tree(listed)
    return trees


def object_pages(folder: Path) -> list[str]:
    """Write the pages of the public objects, and return where they are."""
    written = []
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    for title, names in reference.objects(text).items():
        if names:
            place = f"reference/{slug(title)}"
            write(folder / f"{place}.md", reference.page(title, names))
            written.append(f"/{place}")
    return written


def theorem_pages(folder: Path) -> dict[Path, list[str]]:
    """Write the pages of the theorems, and return where they are, by their proof."""
    written: dict[Path, list[str]] = {}
    for theorem in theorems.theorems():
        proof = theorems.TABLE.with_name(f"{theorem.proof}.md")
        place = proof.with_stem(theorem.name)
        text = lead(theorems.page(theorem), place, folder)
        # the words of a statement are looked for on the page of its proof
        write(folder / staged(place), f"---\nnosearch: true\n---\n\n{text}")
        written.setdefault(proof, []).append(f"/{staged(place).with_suffix('')}")
    return written


def tree(entries: list[str]) -> str:
    """A list of pages, as Sphinx reads it."""
    if not entries:
        return ""
    return "\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"


def slug(title: str) -> str:
    """Name of a file that a title gets."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def name_objects(text: str) -> str:
    """The reference with each object led to its own place."""
    for title, names in reference.objects(text).items():
        for name in names:
            place = f"reference/{slug(title)}.md#{name.lower()}"
            text = text.replace(f"\n| `{name}` |", f"\n| [`{name}`]({place}) |")
    return text


def lead(text: str, page: Path, folder: Path) -> str:
    """The text of a page with its links led to where files lie on the site."""
    text = _PICTURE.sub(lambda found: inlined(page.parent / found[1]), text)
    text = _DEFINED.sub("", text)
    parts = _PARTS.split(text)
    for place in range(0, len(parts), 2):
        parts[place] = _LINK.sub(
            lambda found: f"]({led(found[1], page, folder)})", parts[place]
        )
    return "".join(parts)


def inlined(picture: Path) -> str:
    """A picture as part of its page, so that it follows the theme."""
    drawn = _STYLE.sub("", picture.read_text(encoding="utf-8")).strip()
    return f'<div class="idea">\n{drawn}\n</div>'


def led(written: str, page: Path, folder: Path) -> str:
    """A link, as the staged page has it."""
    path, mark, anchor = written.partition("#")
    if not path or ":" in path or path.startswith("reference/"):
        return written
    target = Path(os.path.normpath(page.parent / path))
    target = _ALIKE.get(target, target)
    if target.is_dir():
        target /= "README.md"
    place = folder / staged(target)
    if target.suffix != ".md":
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(target, place)
    here = (folder / staged(page)).parent
    return Path(os.path.relpath(place, here)).as_posix() + mark + anchor


def write(path: Path, text: str) -> None:
    """Write a file, and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def mend(site: Path) -> None:
    """Add what readers by keyboard and by ear need."""
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for before, after in _MENDED.items():
            text = text.replace(before, after)
        page.write_text(text, encoding="utf-8")


def foreign(site: Path) -> list[str]:
    """What pages of the site would load from elsewhere."""
    return [
        f"{page.relative_to(site)}: {found[0]}"
        for page in sorted(site.rglob("*.*"))
        if page.suffix in {".html", ".css"}
        for found in _LOADED.finditer(page.read_text(encoding="utf-8"))
    ]


def main(site: Path) -> int:
    """Stage, build and check."""
    source = site.with_name(f"{site.name}-pages")
    stage(source)
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "2"]
    cache = site.with_name(f"{site.name}-cache")
    done = subprocess.run(
        [*command, "-d", str(cache), str(source), str(site)], check=False
    )
    mend(site)
    loaded = foreign(site)
    for line in loaded:
        sys.stderr.write(f"LOADED FROM ELSEWHERE: {line}\n")
    if not done.returncode and not loaded:
        sys.stdout.write(f"{len(pages())} pages: {site / 'index.html'}\n")
    return done.returncode or min(len(loaded), 1)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
