"""How a text file is written: what a user declares of it, and nothing that is guessed.

>>> Csv("visits.csv", columns={"day": "date"}, delimiter=";", date="%d.%m.%Y").delimiter
';'
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, final

from sordino import _validate
from sordino._completion import hides
from sordino._fields import fill
from sordino.errors import InvalidParameter
from sordino.expressions.cells import Spelling, fold_ascii
from sordino.expressions.layouts import ISO_DATE, ISO_TIME, Layout
from sordino.expressions.text import BLANKS
from sordino.schema import Column, read_columns
from sordino.sources.text_stream import ENCODINGS

_DECIMALS: Final = (".", ",")
_LONGEST: Final = 100
_PLAIN: Final = Spelling()


@hides("spelling")
@final
@dataclass(frozen=True, init=False, eq=False)
class Csv:
    """Text files with a header, and how they are written.

    | argument | what it says |
    |---|---|
    | `path` | a path, a pattern or a list of them; `.gz`, `.bz2` and `.zst` are unpacked |
    | `columns` | the types of the columns that are used, as for a table |
    | `delimiter` | what stands between fields: one ASCII sign |
    | `quote` | what stands around fields that hold one; None where nothing does |
    | `encoding` | "utf-8", "latin-1", "cp1252", "utf-16", ...; never guessed |
    | `decimal` | "." or "," in numbers |
    | `date`, `time` | formats such as "%d.%m.%Y" and "%d.%m.%Y %H:%M"; None is ISO 8601 |
    | `true`, `false` | the words of truths, in small or capital letters |
    | `null` | what stands, without quotes, for a missing value |

    >>> Csv("visits.csv", columns={"days": "i64"}, decimal=";")
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: decimal must be one of ".", ",", got ';'. Try decimal=".".
    """  # noqa: E501 a table

    path: Any
    columns: Mapping[str, Column] = field(repr=False)
    delimiter: str
    quote: str | None
    encoding: str
    null: tuple[str, ...]
    spelling: Spelling = field(repr=False)

    def __init__(  # noqa: PLR0913 by keyword, and most are left out
        self,
        path: Any,
        columns: Mapping[str, Any] | None = None,
        *,
        delimiter: str = ",",
        quote: str | None = '"',
        encoding: str = "utf-8",
        decimal: str = ".",
        date: str | None = None,
        time: str | None = None,
        true: str | Iterable[str] = _PLAIN.true,
        false: str | Iterable[str] = _PLAIN.false,
        null: str | Iterable[str] = "",
    ) -> None:
        """Check what is declared; the files are opened by a session."""
        words = _words(true=true), _words(false=false)
        for word in set(words[0]) & set(words[1]):
            raise InvalidParameter(
                "true", word, "is also listed in false", "Give it one meaning."
            )
        spelling = Spelling(
            _validate.choice(_DECIMALS, decimal=decimal),
            ISO_DATE if date is None else Layout.of("date", date, clock=False),
            ISO_TIME if time is None else Layout.of("time", time, clock=True),
            *words,
        )
        sign = _sign(delimiter=delimiter)
        held = None if quote is None else _sign(quote=quote)
        if held == sign:
            raise InvalidParameter(
                "quote", quote, "is the delimiter", 'Try quote="\'", or quote=None.'
            )
        fill(
            self,
            path=path,
            columns=read_columns(columns),
            delimiter=sign,
            quote=held,
            encoding=_validate.choice(ENCODINGS, encoding=encoding),
            null=_listed(null=null),
            spelling=spelling,
        )


def _sign(**argument: Any) -> str:
    """Return one sign of ASCII that can stand between or around fields."""
    ((name, given),) = argument.items()
    one = isinstance(given, str) and len(given) == 1 and given.isascii()
    if not one or given.isalnum() or given in "\r\n\0.+-":
        raise InvalidParameter(
            name,
            given,
            "must be a single ASCII character that occurs in no number",
            'Try delimiter=";" or delimiter="\\t".',
        )
    return str(given)


def _listed(**argument: Any) -> tuple[str, ...]:
    """Return one text or several."""
    ((name, given),) = argument.items()
    listed = (given,) if isinstance(given, str) else given
    texts = tuple(listed) if isinstance(listed, (tuple, list, set, frozenset)) else ()
    fit = all(isinstance(one, str) and len(one) <= _LONGEST for one in texts)
    if not texts or len(texts) > _LONGEST or not fit:
        raise InvalidParameter(
            name, given, "must be text or a list of texts", f'Try {name}=("NA", "").'
        )
    return tuple(dict.fromkeys(texts))


def _words(**argument: Any) -> tuple[str, ...]:
    """Return the words of a truth in small letters, without blanks around them."""
    return tuple(
        dict.fromkeys(fold_ascii(one.strip(BLANKS)) for one in _listed(**argument))
    )
