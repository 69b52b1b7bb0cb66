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
        mark = None if quote is None else _sign(quote=quote)
        if mark == sign:
            raise InvalidParameter(
                "quote", quote, "is the delimiter", 'Try quote="\'", or quote=None.'
            )
        fill(
            self,
            path=path,
            columns=read_columns(columns),
            delimiter=sign,
            quote=mark,
            encoding=_validate.choice(ENCODINGS, encoding=encoding),
            null=_read_texts(null=null),
            spelling=spelling,
        )


def _sign(**argument: Any) -> str:
    """Return one sign of ASCII that can stand between or around fields."""
    ((name, sign),) = argument.items()
    single = isinstance(sign, str) and len(sign) == 1 and sign.isascii()
    if not single or sign.isalnum() or sign in "\r\n\0.+-":
        raise InvalidParameter(
            name,
            sign,
            "must be a single ASCII character that occurs in no number",
            'Try delimiter=";" or delimiter="\\t".',
        )
    return str(sign)


def _read_texts(**argument: Any) -> tuple[str, ...]:
    """Return one text or several."""
    ((name, value),) = argument.items()
    listed = (value,) if isinstance(value, str) else value
    texts = tuple(listed) if isinstance(listed, (tuple, list, set, frozenset)) else ()
    fit = all(isinstance(text, str) and len(text) <= _LONGEST for text in texts)
    if not texts or len(texts) > _LONGEST or not fit:
        raise InvalidParameter(
            name, value, "must be text or a list of texts", f'Try {name}=("NA", "").'
        )
    return tuple(dict.fromkeys(texts))


def _words(**argument: Any) -> tuple[str, ...]:
    """Return the words of a truth in small letters, without blanks around them."""
    return tuple(
        dict.fromkeys(
            fold_ascii(text.strip(BLANKS)) for text in _read_texts(**argument)
        )
    )
