"""Pages of the theorems, one for each row of the table in docs/proofs/README.md.

They are made when the site is built, of what stands elsewhere: the statement and its
proof on the proof's page, what is assumed and what holds it in the table's page, the
machine's form in proofs/*.v, the law in its test, the error in tests/mutants/errors.
"""

import ast
import re
from functools import cache
from typing import Final, NamedTuple, final

from tests.mutants.planted import PLANTED
from tests.site.links import DOCS, ROOT

TABLE: Final = DOCS / "proofs" / "README.md"
_ROW: Final = re.compile(
    r"^\| \[([a-z-]+)\]\(\1\.md\) ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$",
    re.MULTILINE,
)
_LABEL: Final = re.compile(r"^(?:\*\*|## )(Lemma|Theorem|Claim)( \d+)?\b", re.MULTILINE)
_HEADING: Final = re.compile(r"^##+ .*$", re.MULTILINE)
_ASSUMED: Final = re.compile(r"^## .*(?:is assumed|must be true).*\n", re.MULTILINE)
_CHECKED: Final = re.compile(r"^\*Machine-checked: .*\*\n+", re.MULTILINE)
_PROOF: Final = re.compile(r"^ *\*Proof", re.MULTILINE)


@final
class Theorem(NamedTuple):
    """A row of the table: the page of the proof, and what holds it."""

    proof: str
    words: str
    checked: str
    law: str
    errors: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name of its page, beside that of the proof."""
        return self.proof + re.sub(r"\W+", "-", f" {self.words.split(',')[0]}")

    @property
    def title(self) -> str:
        """What it is called."""
        kind = "" if self.words[0].isalpha() else "Lemma "
        return f"{kind}{self.words[0].upper()}{self.words[1:]} ({self.proof})"


@cache
def theorems() -> tuple[Theorem, ...]:
    """Return every row of the table."""
    rows = _ROW.findall(TABLE.read_text(encoding="utf-8"))
    return tuple(
        Theorem(proof, words, checked, law, tuple(map(str.strip, errors.split(";"))))
        for proof, words, checked, law, errors in rows
    )


def named_by(words: str) -> set[str]:
    """The statements that a row is for: a section is none, and a claim no lemma."""
    kind, _, rest = words.partition(" ")
    if kind in {"theorem", "claim"}:
        return {f"{kind} {number}" for number in re.findall(r"\d+", rest)} or {kind}
    if kind in {"section", "sections"}:
        return set()
    lemmas = {f"lemma {number}" for number in re.findall(r"\d+", words)}
    return lemmas | ({"theorem"} if "theorem" in rest else set())


@cache
def _text(proof: str) -> str:
    text = (DOCS / "proofs" / f"{proof}.md").read_text(encoding="utf-8")
    return _CHECKED.sub("", text)


def stated(proof: str) -> dict[str, list[str]]:
    """The statements of a page with what follows each, by kind and number."""
    text = _text(proof)
    ends = [*(found.start() for found in _HEADING.finditer(text)), len(text)]
    labels = list(_LABEL.finditer(text))
    kept: dict[str, list[str]] = {}
    for label in labels:
        later = [found.start() for found in labels if found.start() > label.start()]
        end = min(place for place in [*ends, *later] if place > label.start())
        name = f"{label[1]}{label[2] or ''}".lower()
        kept.setdefault(name, []).append(text[label.start() : end].strip())
    return kept


def section(proof: str, number: str) -> str:
    """A numbered section of a page."""
    parts = re.split(r"^(?=## )", _text(proof), flags=re.MULTILINE)
    return next(part for part in parts if part.startswith(f"## {number}. ")).strip()


def statements_of(theorem: Theorem) -> list[str]:
    """Return what a row is for, as its page says it."""
    first, _, about = theorem.words.partition(", ")
    if first.startswith("section"):
        numbers = [int(number) for number in re.findall(r"\d+", first)]
        chosen = range(numbers[0], numbers[-1] + 1)
        return [section(theorem.proof, str(number)) for number in chosen]
    there = stated(theorem.proof)
    blocks = []
    for name in sorted(named_by(first)):
        fitting = [text for text in there[name] if about and f"({about})" in text[:99]]
        blocks.append((fitting or there[name])[0])
    return blocks


def setting(theorem: Theorem) -> list[str]:
    """What a page says before its sections, and a section before its statement."""
    text = _text(theorem.proof).partition("\n")[2]
    told = [re.split(rf"(?m){_LABEL.pattern}|{_HEADING.pattern}", text)[0].strip()]
    for block in statements_of(theorem):
        before = text[: text.index(block)]
        heads = list(_HEADING.finditer(before))
        if block.startswith("## ") or not heads:
            continue
        lead = _LABEL.split(before[heads[-1].end() :])[0].strip()
        told += [lead] if lead and lead not in told else []
    return told


def linked(text: str) -> str:
    """The table with each statement led to its page."""
    for theorem in theorems():
        proof = f"| [{theorem.proof}]({theorem.proof}.md) "
        led = f"{proof}[{theorem.words}]({theorem.name}.md) |"
        text = text.replace(f"{proof}{theorem.words} |", led)
    return text


def assumed(proof: str) -> list[str]:
    """What is assumed, by number: of all proofs, and of the page alone."""
    page = TABLE.read_text(encoding="utf-8")
    item = re.compile(r"^(\d)\. (.*(?:\n +.*)*)", re.MULTILINE)
    general = {number: " ".join(told.split()) for number, told in item.findall(page)}
    ((numbers),) = re.findall(rf"^\| {proof} \| ([\d, ]+) \|$", page, re.MULTILINE)
    told = [f"- ({number}) {general[number]}" for number in numbers.split(", ")]
    for own in _ASSUMED.finditer(_text(proof)):
        lines = _text(proof)[own.end() :].partition("\n## ")[0].strip()
        told += ["", "And on its page:", "", lines]
    return told


def _machine(theorem: Theorem) -> list[str]:
    if theorem.checked == "-":
        return ["No: the statement is held by the page and by the law."]
    file = ROOT / "proofs" / f"{theorem.proof.replace('-', '_')}.v"
    link = f"[proofs/{file.name}](../../proofs/{file.name})"
    told = [f"Yes, its arithmetic, by Coq in {link}, which rests on no axiom:"]
    text = file.read_text(encoding="utf-8")
    for name in re.findall(r"`(\w+)`", theorem.checked):
        form = rf"^(?:\(\*(?:(?!\*\)).)*\*\)\n)?(?:Lemma|Theorem) {name}\b.*?\.$"
        (stated,) = re.findall(form, text, re.MULTILINE | re.DOTALL)
        told += ["", f"```coq\n{stated}\n```"]
    return told


def _laws(theorem: Theorem) -> list[str]:
    paths = re.findall(r"`([^`]+)`", theorem.law)
    return [line for path in paths for line in _law(path)]


@cache
def _law(path: str) -> tuple[str, ...]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    about = (ast.get_docstring(tree) or "").partition("\n\n")[0]
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
    names = [part.name for part in functions if part.name.startswith("test_")]
    tests = ", ".join(f"`{name}`" for name in names)
    about = " ".join(about.split())
    return f"[`{path}`](../../{path}): {about}", "", f"Its tests: {tests}.", ""


def _errors(theorem: Theorem) -> list[str]:
    if theorem.errors == ("-",):
        return ["None. A twin of the law shows that it can fail."]
    told = []
    for says in theorem.errors:
        error = next(error for error in PLANTED if error.says == says)
        lines = [f"- {line}" for line in error.before.splitlines()]
        lines += [f"+ {line}" for line in error.after.splitlines()]
        change = "\n".join(lines)
        told += [f"{says[0].upper()}{says[1:]}, in `{error.file}`:", ""]
        told += [f"```diff\n{change}\n```", ""]
    return told


def page(theorem: Theorem) -> str:
    """Text of the page of a theorem."""
    proof = f"[{theorem.proof}]({theorem.proof}.md)"
    parts = [f"# {theorem.title}", "", "## Statement", ""]
    for block in statements_of(theorem):
        stated = _PROOF.split(block, maxsplit=1)[0]
        parts += [_lowered(stated.strip()), ""]
    parts += [f"Its proof and what follows stand on the page {proof}.", ""]
    parts += ["## Setting", "", *(f"{_lowered(told)}\n" for told in setting(theorem))]
    parts += ["## Assumptions", "", *assumed(theorem.proof), ""]
    parts += ["## Checked by machine", "", *_machine(theorem), ""]
    parts += ["## The law that holds it", "", *_laws(theorem)]
    parts += ["## The error that the law catches", "", *_errors(theorem)]
    return "\n".join(parts)


def _lowered(text: str) -> str:
    """A text without headings of its own."""
    return re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE)
