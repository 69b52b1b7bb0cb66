"""What a person chooses on the page, read from a form; and the job that it makes.

    fields ── choices (each from a list, or a number) ── draft ── text of the job

>>> read_choices([("file", "a.csv"), ("of", "a.csv"), ("epsilon", "1/0")])
Traceback (most recent call last):
sordino.errors.InvalidParameter: epsilon must be a number, got '1/0'. Try 1, or 1e-6.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

from sordino.data.proposals import CsvProposal, propose_declaration
from sordino.data.toml import UNDECIDED, parse_toml
from sordino.errors import InvalidJob, InvalidParameter
from sordino.office.job.draft import (
    Draft,
    draft_text,
    read_schema,
    sql_name,
    table_name,
)
from sordino.office.job.job import Job, job_of
from sordino.office.job.outputs import SCHEDULES

ROWS: Final = "rows"
"""The word of a job for a table that protects each row by itself."""
ENDINGS: Final = (".parquet", ".csv", ".tsv", ".txt", ".xlsx")
TYPES: Final = ("i64", "f64", "text", "bool", "date", "time")
ANSWERS: Final = {"sum": "SUM", "mean": "AVG", "median": "MEDIAN"}
"""What can be asked of a column, and how SQL calls it."""
WHEN: Final = ("once", *SCHEDULES)
_MOST_FILES: Final = 500
_MOST_KEYS: Final = 10_000
_TYPE: Final = "type "
"""How the name of a field begins that has the type of a column."""
_NUMBER: Final = re.compile(r"-?\d{1,15}(\.\d{1,15})?([eE]-?\d{1,2})?", re.ASCII)
_WHOLE: Final = re.compile(r"[1-9]\d{0,5}", re.ASCII)


def list_files(folder: Path) -> list[str]:
    """Files of a folder, and of the folders in it, that a job can read.

    They are plain files, their names can be shown, and no link leads elsewhere.
    """
    home = folder.resolve()
    near = (*folder.iterdir(), *folder.glob("*/*"))
    names = (
        path.relative_to(folder).as_posix()
        for path in near
        if path.suffix.lower() in ENDINGS
        and path.is_file()
        and path.resolve().is_relative_to(home)
    )
    return sorted(filter(str.isprintable, names))[:_MOST_FILES]


@final
@dataclass(frozen=True)
class Choices:
    """Fields of the form, as texts: names of files and columns are not yet compared.

    `ChosenFile` refuses those that are not in the folder, or not in the file.
    """

    file: str = ""
    types: tuple[tuple[str, str], ...] = ()
    """Of columns of a text file, by name; "" of one that is left out."""
    id: str = UNDECIDED
    """A column, "rows", or "?"."""
    group: str = ""
    keys: tuple[str, ...] = ()
    count: bool = True
    people: bool = True
    column: str = ""
    answer: str = "mean"
    low: str = ""
    high: str = ""
    own: bool = False
    """Whether the question is what was written, and not what was chosen."""
    sql: str = ""
    sample: str = ""
    """A file whose rows show what limits lose; without one rows are invented."""
    groups: int = 2
    rows: int = 3
    epsilon: str = "1"
    delta: str = "1e-6"
    part: int = 12
    schedule: str = "monthly"

    @property
    def question(self) -> str:
        """SELECT of the answers that were ticked; a column is clamped to its bounds."""
        by = [sql_name(self.group)] if self.group else []
        lines = [f"SELECT {', '.join([*by, *self._answers()])}"]
        lines.append(f"FROM {table_name(self.file)}")
        return "\n".join([*lines, *(f"GROUP BY {name}" for name in by)])

    def _answers(self) -> Iterator[str]:
        if self.count or not (self.column or (self.people and self.id != ROWS)):
            yield "COUNT(*) AS n"
        if self.people and self.id not in {ROWS, UNDECIDED}:
            yield f"COUNT(DISTINCT {sql_name(self.id)}) AS people"
        if self.column:
            name = sql_name(f"{self.answer}_{self.column}")
            bounded = f"CLAMP({sql_name(self.column)}, {self.low}, {self.high})"
            yield f"{ANSWERS[self.answer]}({bounded}) AS {name}"


def read_choices(fields: Iterable[tuple[str, str]]) -> Choices:
    """Choices of a form; a field that is no choice is refused by name."""
    texts = dict(fields)
    file = texts.get("file", "")
    if texts.get("of") != file:  # what was chosen was chosen for another file
        return Choices(file=file)
    groups, rows = texts.pop("use", "").partition(" ")[::2]
    if rows:  # the button beside limits that were tried
        texts |= {"groups": groups, "rows": rows}
    types = {
        name.removeprefix(_TYPE): _word(name, text, ("", *TYPES))
        for name, text in texts.items()
        if name.startswith(_TYPE)
    }
    keys = tuple(dict.fromkeys(filter(None, texts.get("keys", "").splitlines())))
    if len(keys) > _MOST_KEYS:
        raise InvalidParameter(
            "groups", f"{len(keys)} lines", f"must be {_MOST_KEYS} at most", "List few."
        )
    return Choices(
        file=file,
        types=tuple(types.items()),
        id=texts.get("id") or UNDECIDED,
        group=texts.get("group", ""),
        keys=keys,
        count="count" in texts,
        people="people" in texts,
        column=texts.get("column", ""),
        answer=_word("answer", texts.get("answer", "mean"), tuple(ANSWERS)),
        low=_number("lowest", texts.get("low", "")),
        high=_number("highest", texts.get("high", "")),
        own=texts.get("own") == "yes",
        sql=texts.get("sql", ""),
        sample=texts.get("sample", ""),
        groups=_whole("groups per person", texts.get("groups", "2")),
        rows=_whole("rows per person", texts.get("rows", "3")),
        epsilon=_number("epsilon", texts.get("epsilon", "1")),
        delta=_number("delta", texts.get("delta", "1e-6")),
        part=_whole("releases", texts.get("part", "12")),
        schedule=_word("schedule", texts.get("schedule", "monthly"), WHEN),
    )


def _word(name: str, text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        listed = ", ".join(filter(None, words))
        raise InvalidParameter(name, text, f"must be one of {listed}", "Choose one.")
    return text


def _number(name: str, text: str) -> str:
    plain = text.strip()
    # its digits are bounded: an exponent could ask for more than memory has
    if plain and _NUMBER.fullmatch(plain) is None:
        raise InvalidParameter(name, text, "must be a number", "Try 1, or 1e-6.")
    return plain


def _whole(name: str, text: str) -> int:
    if _WHOLE.fullmatch(text.strip()) is None:
        raise InvalidParameter(name, text, "must be a number above 0", "Try 3.")
    return int(text)


@final
@dataclass(frozen=True)
class ChosenFile:
    """A file of the folder: its columns, and how it is written if it is text."""

    folder: Path
    name: str
    columns: Mapping[str, str]
    proposal: CsvProposal | None

    @classmethod
    def open(cls, folder: Path, choices: Choices) -> "ChosenFile":
        """Look at one that is listed; the types of a text file may be chosen."""
        if choices.file not in list_files(folder):
            raise InvalidParameter(
                "the file", choices.file, "is not among those listed", "Choose one."
            )
        proposal = propose_declaration(str(folder / choices.file))
        if proposal is None:
            columns = read_schema(folder, choices.file)[0]
        else:
            columns = dict(proposal.columns)
        if proposal is not None and columns.keys() >= dict(choices.types).keys():
            columns |= dict(choices.types)  # of very many columns few are shown
        return cls(folder, choices.file, columns, proposal)

    @property
    def usable(self) -> dict[str, str]:
        """Columns that are not left out, and their types."""
        return {name: kind for name, kind in self.columns.items() if kind}

    def source(self, needed: frozenset[str]) -> Any:
        """Where rows are read; of texts that are not needed shapes are told."""
        declared = {
            name: kind
            for name, kind in self.usable.items()
            if kind != "text" or name in needed
        }
        path = str(self.folder / self.name)
        if self.proposal is None or not declared:
            return path
        return self.proposal.source(path, declared)

    def job_text(self, choices: Choices, group: str) -> str:
        """Text of the job that is chosen; limits are by `group`, "" for all rows."""
        used = self.usable
        for name in (choices.id, choices.group, choices.column):
            if name not in {*used, "", ROWS, UNDECIDED}:
                raise InvalidParameter("a column", name, "is not used", "Choose one.")
        if choices.id == ROWS and ROWS in used:
            # a job would say the same of the column and of rows by themselves
            raise InvalidJob("protects", "is a word and a column", "Rename the column.")
        if choices.column and not (choices.low and choices.high):
            raise InvalidParameter(
                f"the bounds of {choices.column}",
                None,
                "are missing: one person could move the answer without limit",
                "Say the lowest and the highest value that count.",
            )
        sql = choices.sql if choices.own else choices.question
        known = bool(choices.keys) and bool(choices.group) and not choices.own
        draft = Draft(
            self.name,
            used,
            choices.id,
            choices.epsilon or UNDECIDED,
            choices.delta or "0",
            group or UNDECIDED,
            format={} if self.proposal is None else self.proposal.arguments,
            sql=sql,
            keys=tuple(_keys_of(choices.keys, used[choices.group])) if known else (),
            groups=choices.groups,
            rows=choices.rows,
            part=choices.part,
            schedule=choices.schedule,
        )
        return draft_text(draft)

    def job(self, text: str) -> Job:
        """Job of a text, read as if it lay in the folder."""
        path = self.folder / "job.toml"
        values = parse_toml(text, "the job", InvalidJob, "docs/guides/jobs.md")
        return job_of(values, path)


def _keys_of(lines: Iterable[str], kind: str) -> Iterator[str | int]:
    for line in lines:
        plain = line.strip()
        if kind == "i64" and re.fullmatch(r"-?\d{1,18}", plain, re.ASCII):
            yield int(plain)
        else:
            yield plain
