"""TOML files read whole, refused by place.

>>> section = Section("releases.wards", {"schedule": "monthly", "wyh": "x"})
>>> section.text("schedule")
'monthly'
>>> section.refuse_others("schedule", "why")
Traceback (most recent call last):
sordino.errors.InvalidJob: releases.wards has no 'wyh'. Did you mean 'why'?
"""

import os
import re
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, final

from sordino.errors import InvalidJob, InvalidPolicy, SordinoError, show
from sordino.expressions.schema import unknown

_LARGEST: Final = 1 << 20
_MOST_PARTS: Final = 64
"""Of a dotted name: the time to read one grows with the square of these."""
_MOST_TABLES: Final = 4000
_ENDS_NAME: Final = re.compile(r"[\n=,]")


def read_toml(path: Path) -> dict[str, Any]:
    """Content of a job file; floats stay the decimals that are written."""
    try:
        text = small_text(path)
    except (OSError, UnicodeDecodeError, ValueError):
        raise InvalidJob(
            str(path),
            "cannot be read as text of at most 1 MB",
            "See docs/guides/jobs.md for an example.",
        ) from None
    return parse_toml(text, str(path), InvalidJob, "docs/guides/jobs.md")


def parse_toml(
    text: str,
    title: str,
    refusal: type[InvalidJob] | type[InvalidPolicy],
    example: str,
) -> dict[str, Any]:
    """Content of TOML text; floats stay the decimals that are written."""
    if _parts(text) > _MOST_PARTS or text.count("\n[") > _MOST_TABLES:
        raise refusal(
            title,
            f"has a name of more than {_MOST_PARTS} parts, or more than "
            f"{_MOST_TABLES} tables",
            f"See {example} for an example.",
        )
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        problem = f"is not TOML: {error}"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:
        problem = "has a number of too many digits"
    raise refusal(title, problem, f"See {example} for an example.")


def _parts(text: str) -> int:
    """Return a bound on the parts of the longest dotted name in a text.

    >>> _parts("a.b.c = 1"), _parts('keys = ["A01.1", "A01.2", "A01.3"]')
    (3, 2)
    """
    longest = run = 0
    for between in text.split("."):
        run += 1
        longest = max(longest, run)
        inner = between.strip(" \t")
        if not inner or _ENDS_NAME.search(inner):
            run = 1  # what follows the end begins another name
    return longest


def read_text(folder: Path, name: str, place: str) -> str:
    """Return the text of a file that a job names."""
    try:
        return small_text(folder / name)
    except (OSError, UnicodeDecodeError, ValueError):
        raise InvalidJob(
            place,
            f"names {name!r}, which cannot be read as text of at most 1 MB",
            f"It is looked for in {folder}.",
        ) from None


def small_text(path: Path) -> str:
    """Return the text of a file that is no larger than a person would write."""
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)  # one byte more tells a larger file
    if len(content) > _LARGEST:
        raise ValueError
    return content.decode()


UNDECIDED: Final = "?"
"""What stands in a new file where a person has to choose."""


@final
@dataclass(frozen=True)
class Section:
    """Names and values of a table, and where it stands in the file."""

    place: str
    values: Mapping[str, Any]
    refusal: type[InvalidJob] | type[InvalidPolicy] = InvalidJob
    """What is raised where the file says what cannot be meant."""

    @property
    def title(self) -> str:
        """Return the place of the table itself."""
        return self.place or "the file"

    def refuse_others(self, *names: str) -> None:
        """Refuse every name but these, with the nearest one."""
        for name in self.values:
            if name not in names:
                near = str(unknown("name", name, names)).partition(". ")[2]
                raise self.refusal(self.title, f"has no {show(name)}", near)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def at(self, name: str) -> str:
        """Return the place of a value."""
        return f"{self.place}.{name}" if self.place else name

    def value(self, name: str) -> Any:
        """Return a value that must be there and be decided."""
        if name not in self.values:
            raise self.refusal(self.title, f"has no {name}", f"Say {name} = ...")
        value = self.values[name]
        if value == UNDECIDED:
            raise self.refusal(
                self.at(name),
                "is still to be decided",
                'Put what you choose in place of "?".',
            )
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text."""
        value = self.value(name) if default is None else self.values.get(name, default)
        if not isinstance(value, str):
            raise self.wrong(name, "must be text", f'Write {name} = "...".')
        return str(self.value(name)) if name in self.values else value

    def truth(self, name: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise self.wrong(
                name, "must be true or false", f"Write {name} = {str(default).lower()}."
            )
        return value

    def texts(self, name: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Return one text or several."""
        value = self.values.get(name, list(default))
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(t, str) for t in listed):
            raise self.wrong(
                name, "must be text or a list of texts", f'Write {name} = ["..."].'
            )
        return tuple(listed)

    def section(self, name: str) -> "Section":
        """Return a table in this one; an empty one if there is none."""
        value = self.values.get(name, {})
        if value == UNDECIDED:
            self.value(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "must be a table", f"Write [{self.at(name)}].")
        return replace(self, place=self.at(name), values=value)

    def sections(self, name: str) -> dict[str, "Section"]:
        """Return the tables in a table, by name."""
        outer = self.section(name)
        return {inner: outer.section(inner) for inner in outer}

    def secret(self, name: str) -> str:
        """Return a text, or that of the environment: `{ env = "NAME" }`."""
        value = self.value(name)
        if not isinstance(value, dict):
            self.text(name)
            return self.open_texts(name)[0]
        section = self.section(name)
        section.refuse_others("env")
        variable = section.text("env")
        if not os.environ.get(variable):
            raise self.refusal(
                section.at("env"),
                f"names {variable}, which the environment does not have",
                "Set it before the command runs.",
            )
        return os.environ[variable]

    def open_texts(self, name: str) -> tuple[str, ...]:
        """Return texts that may be kept for ever: no address with a password."""
        texts = self.texts(name)
        if any("@" in text.partition("://")[2] for text in texts):
            raise self.refusal(
                self.at(name),
                "has an address with a name or a password, which the ledger would keep",
                'Put it into the environment, and write { env = "CLINIC_DATABASE" }.',
            )
        return texts

    def wrong(self, name: str, problem: str, remedy: str) -> InvalidJob | InvalidPolicy:
        """Return the refusal of a value."""
        shown = file_value(self.values.get(name))
        return self.refusal(self.at(name), f"{problem}, got {show(shown)}", remedy)

    @contextmanager
    def place_refusals(self, name: str) -> Generator[None]:
        """Tell the place of what is refused meanwhile."""
        try:
            yield
        except (InvalidJob, InvalidPolicy):
            raise
        except SordinoError as error:
            refusal = self.refusal(self.at(name), f"is refused: {error}", "")
        else:
            return
        raise refusal


def file_value(value: Any) -> Any:
    """Return a value as the file has it, of numbers their digits."""
    match value:
        case Decimal():
            return str(value)
        case dict():
            return {name: file_value(inner) for name, inner in value.items()}
        case list():
            return [file_value(inner) for inner in value]
    return value
