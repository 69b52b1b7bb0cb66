"""The words of a request: what is asked, in a form that outlives the program.

Words are a tree: a verb with its arguments by name, lists, texts, whole numbers, truths
and nothing. They hold public words and exact numbers alone, so a version that computes,
names or prints anything otherwise writes the same ones (docs/ledger-format.md).

>>> days = call("col", name="days")
>>> canonical_text(call("sum", column=days, low=number(0), high=number(30)))
'["sum",{"column":["col",{"name":"days"}],"high":"30/1","low":"0/1"}]'

Kernel: mathematics.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias, runtime_checkable

from sordino.errors import InvalidParameter, SordinoError
from sordino.numbers import Exact, Radical, shortest

FORM: Final = 1
"""The number of the form: other words for the same request would be another form."""

Words: TypeAlias = (
    "bool | int | str | Sequence[Words] | Mapping[str, Words] | SordinoError | None"
)
"""A refusal stands where something has no words that tell it from everything else."""

Verb: TypeAlias = tuple[str, Mapping[str, Words]]
"""A verb and its arguments by name."""


@runtime_checkable
class Worded(Protocol):
    """What has words of its own."""

    @property
    def words(self) -> Words:
        """Canonical words: a public verb and its arguments."""


def call(verb: str, /, **arguments: Words) -> Verb:
    """Return a verb with its arguments."""
    return verb, arguments


def number(value: "Exact | float") -> str:
    """Return an exact number: "1/10", "(2/1)^(1/2)" for the root of 2, or "inf".

    A double is the number that its shortest decimal says, which no other double has.

    >>> from fractions import Fraction
    >>> number(0.1), number(Fraction(2, 20)), number(math.inf)
    ('1/10', '1/10', 'inf')
    """
    if isinstance(value, Radical):
        return f"({number(value.radicand)})^(1/{value.index})"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    exact = shortest(value) if isinstance(value, float) else value
    return f"{exact.numerator}/{exact.denominator}"


def exact_words(value: "Exact") -> Words:
    """Return an exact number as a certificate has it: "1/10", or the root of one.

    >>> from fractions import Fraction
    >>> from sordino.numbers import sqrt
    >>> exact_words(Fraction(1, 10)), exact_words(sqrt(Fraction(2)))
    ('1/10', ['sqrt', '2'])
    """
    if isinstance(value, Radical):
        return ["sqrt", str(value**2)]
    return str(value)


def worded_pairs(named: "Iterable[tuple[str, Words]]") -> Words:
    """Return names and what they stand for, in their order."""
    return [[name, words] for name, words in named]


def refuse_wordless(refusal: SordinoError) -> None:
    """Refuse what has no words."""
    raise refusal


def skip_wordless(refusal: SordinoError) -> None:
    """Pass over what has no words: it stands as nothing."""
    del refusal


def canonical_text(
    words: Words, wordless: Callable[[SordinoError], None] = refuse_wordless
) -> str:
    r"""Return words as canonical JSON: names sorted, no spaces, in UTF-8.

    Different words have different texts: reading a text as JSON gives its words back.
    Half of a pair of surrogates is refused, since two halves read as one letter.

    >>> canonical_text(["\ud800"])
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: query must be valid Unicode (no lone ...
    """
    try:
        written = json.dumps(
            words,
            sort_keys=True,  # one text for one request, however it was written
            separators=(",", ":"),
            ensure_ascii=False,
            # NaN is no JSON: other readers of a ledger would refuse it
            allow_nan=False,
            default=wordless,
        )
        written.encode()
    except UnicodeEncodeError as error:
        raise InvalidParameter(
            "query",
            error.object[error.start : error.end],
            "must be valid Unicode (no lone surrogates)",
            "Decode the name or text again from its source.",
        ) from None
    return written


def matches_fingerprint(written: str, fingerprint: str) -> bool:
    """Say whether a text is that of a request in some form, with this fingerprint.

    >>> written = canonical_text(call("release", form=1))
    >>> [matches_fingerprint(text, digest(text)) for text in (written, written + " ")]
    [True, False]
    """
    try:
        read = json.loads(written)
        verb, arguments = read
        # by type: True equals 1
        named = isinstance(verb, str) and type(arguments["form"]) is int
        return (
            named and canonical_text(read) == written and digest(written) == fingerprint
        )
    except (LookupError, RecursionError, TypeError, ValueError):
        return False


def digest(written: str) -> str:
    """Return the SHA-256 of a text, in hexadecimal digits."""
    return hashlib.sha256(written.encode()).hexdigest()
