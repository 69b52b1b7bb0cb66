"""Every exception raised on purpose.

    SordinoError
    ├── InvalidParameter   (ValueError)   an argument that cannot mean what it says
    ├── InvalidData        (ValueError)   a value outside the domain of a mechanism
    ├── UnknownName        (ValueError)   a table or a column that does not exist
    ├── InvalidQuery       (ValueError)   a question with no sound answer as it stands
    ├── InvalidSQL         (ValueError)   a text of SQL that is not understood in full
    ├── InvalidJob         (ValueError)   a job file that says what cannot be meant
    ├── InvalidLabel       (ValueError)   a file whose label is missing or is none
    ├── InvalidPolicy      (ValueError)   a policy that cannot be meant, or adopted
    ├── BudgetExceeded     (RuntimeError) a release that costs more than is left
    ├── PolicyRefusal      (RuntimeError) a release that the policy does not allow
    ├── EngineFailure      (RuntimeError) an engine that could not finish
    ├── ProofRefused       (RuntimeError) a charge whose proof the kernel refuses
    ├── EngineUnavailable  (RuntimeError) an engine that cannot begin
    ├── OutputFailure      (RuntimeError) a file of a paid answer that was not written
    ├── SessionMoved       (RuntimeError) a session outside the process that made it
    ├── LedgerDamaged      (RuntimeError) a ledger that is not what was written
    ├── LedgerUnavailable  (RuntimeError) a ledger that could not be written to
    ├── AnswerLost         (RuntimeError) a charged answer that nobody may compute again
    ├── AnswerTooLarge     (RuntimeError) a charged answer that lies in files alone
    ├── EntropyUnavailable (RuntimeError) a system that gives no random bits
    ├── ServerUnavailable  (RuntimeError) a server of requests that does not answer now
    └── MissingDependency  (ImportError)  an optional package that is not installed

and one warning, WeakBudget (UserWarning), of what is accepted and protects nobody.

A refusal names the argument, says what was given and what to do next; it charges
nothing. Catch `SordinoError` to catch them all.

Kernel: mathematics.
"""

import linecache
import math
import os
from collections.abc import Iterator, Sequence
from functools import partial
from types import FrameType
from typing import final

_SHOWN = 60
_NAMED = 3
_SENTENCE = 240
_ADVICE = 400
_BEFORE = 60
_WIDEST = 100


_WHOLE = "SORDINO_TRACEBACK"


class SordinoError(Exception):
    """Anything Sordino refuses to do.

    IPython shows the line that called and the sentence; with SORDINO_TRACEBACK=1 it
    shows all frames, as Python does everywhere else.
    """

    def _render_traceback_(self) -> list[str]:  # noqa: PLW3201 what IPython asks for
        import traceback  # noqa: PLC0415 only where one is shown

        if os.environ.get(_WHOLE, "0") not in {"", "0"}:
            return "".join(traceback.format_exception(self)).splitlines()
        frames = traceback.walk_tb(self.__traceback__)
        sentence = [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]
        return [*_calling_lines(list(frames)), *sentence]

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the finished message, with the texts and numbers that it names."""
        named = {
            name: value
            for name, value in vars(self).items()
            if type(value) in {str, int}
        }
        return partial(restore_error, **named), (type(self), str(self))


@final
class WeakBudget(UserWarning):
    """A session's budget is so large that it protects hardly anybody.

    Remedy: Take a smaller budget: `loss.explain()` says what an attacker can do with
    this one. To learn without a budget, use `sordino.rehearsal`.
    """


@final
class InvalidParameter(SordinoError, ValueError):
    """A public argument is out of range, of the wrong type, or senseless.

    Remedy: Give the argument that the message names a value that it admits. Write a
    number as an integer or as text, "0.1": it is then exact.

    >>> raise InvalidParameter("scale", -1, "must be positive", "Use scale=1.")
    Traceback (most recent call last):
    sordino.errors.InvalidParameter: scale must be positive, got -1. Use scale=1.
    """

    def __init__(self, name: str, value: object, problem: str, remedy: str) -> None:
        message = f"{_trim(name)} {_trim(problem)}, got {show(value)}. {_trim(remedy)}"
        super().__init__(message)
        self.name = name
        self.value = value

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as the finished message, so that worker processes can report it."""
        return partial(restore_error, name=self.name, value=None), (
            type(self),
            str(self),
        )


@final
class InvalidData(SordinoError, ValueError):
    """A value handed to a mechanism is outside its input domain; it is not shown.

    Remedy: Convert the values first: their type and their width must be those of the
    mechanism, and none may be missing or NaN where it admits none.
    """


@final
class UnknownName(SordinoError, ValueError):
    """A table or a column that does not exist, with the names that come near.

    Remedy: Take a name that the message offers; `session.describe()` lists all of them.

    >>> raise UnknownName("column", "aeg", ["age"])
    Traceback (most recent call last):
    sordino.errors.UnknownName: there is no column 'aeg'. Did you mean 'age'?
    """

    def __init__(
        self, kind: str, name: object, near: Sequence[str], why: str = ""
    ) -> None:
        listed = " or ".join(map(show, near[:_NAMED]))
        more = ", among others" if len(near) > _NAMED else ""
        hint = f" Did you mean {listed}{more}?" if near else " There are none."
        super().__init__(f"there is no {kind} {show(name)}{why or '.' + hint}")
        self.kind = kind
        self.name = name


@final
class InvalidQuery(SordinoError, ValueError):
    """A question that has no sound answer as it stands.

    Remedy: Add what the message asks for: a limit on what one id contributes
    (`enforce`), bounds of a value, a rule for missing values (`nulls=`), public keys,
    or a delta.

    >>> raise InvalidQuery("nothing bounds the values of sum('days')", "Give two.")
    Traceback (most recent call last):
    sordino.errors.InvalidQuery: nothing bounds the values of sum('days'). Give two.
    """

    problem = ""
    needs: tuple[str, ...] = ()
    """What it lacks: "rows" or "groups" with columns, or "delta"; each door says it."""

    def __init__(self, problem: str, remedy: str, *, needs: Sequence[str] = ()) -> None:
        most = _ADVICE if needs else _SENTENCE
        super().__init__(f"{_trim(problem)}. {_trim(remedy, most)}")
        self.problem, self.needs = problem, tuple(needs)


@final
class InvalidSQL(SordinoError, ValueError):
    """A text of SQL that is not understood in full, or means something else here.

    Remedy: Rewrite the part that is marked (`line`, `column`), as the message says.
    What is not SQL, such as a limit, is an argument of `session.sql` or an option of
    `sordino sql`.

    >>> remedy = "Write AVG(CLAMP(age, 0, 99))."
    >>> text = "SELECT AVG(age) FROM members"
    >>> raise InvalidSQL("AVG needs bounds", remedy, text, 7, 15)
    Traceback (most recent call last):
    sordino.errors.InvalidSQL: AVG needs bounds.
      line 1, column 8:
        SELECT AVG(age) FROM members
               ^^^^^^^^
    Write AVG(CLAMP(age, 0, 99)).
    """

    def __init__(
        self, problem: str, remedy: str, text: str, start: int, end: int
    ) -> None:
        first = text.rfind("\n", 0, start) + 1
        row = text[first:].split("\n", 1)[0]
        self.line = text.count("\n", 0, start) + 1
        self.column = start - first + 1
        begin = max(0, self.column - 1 - _BEFORE)
        row = "".join(letter if letter.isprintable() else " " for letter in row)
        seen = row[begin : begin + _WIDEST]
        place = self.column - 1 - begin
        carets = "^" * max(1, min(end - start, len(seen) - place))
        super().__init__(
            f"{_trim(problem)}.\n"
            f"  line {self.line}, column {self.column}:\n"
            f"    {seen}\n"
            f"    {' ' * place}{carets}\n"
            f"{_trim(remedy)}"
        )


@final
class InvalidJob(SordinoError, ValueError):
    """A job file says something that cannot be meant; nothing was opened or charged.

    Remedy: Change the file at the place that is named, and run `sordino check`: it
    reads the whole file, and charges nothing.

    >>> raise InvalidJob("releases.wards", "has no budget", 'Add budget.epsilon = "1".')
    Traceback (most recent call last):
    sordino.errors.InvalidJob: releases.wards has no budget. Add budget.epsilon = "1".
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{_trim(place)} {problem.rstrip('.')}. {remedy}".rstrip())
        self.place = place


@final
class InvalidPolicy(SordinoError, ValueError):
    """A policy says what cannot be meant, or is not to be obeyed; nothing was charged.

    Remedy: Its officer writes it anew and signs it with `sordino policy sign`.

    >>> raise InvalidPolicy("policy.toml", "is not signed", "Ask its officer.")
    Traceback (most recent call last):
    sordino.errors.InvalidPolicy: policy.toml is not signed. Ask its officer.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{_trim(place)} {problem.rstrip('.')}. {remedy}".rstrip())
        self.place = place


@final
class InvalidLabel(SordinoError, ValueError):
    """A file carries no label, or one that cannot be read or belongs to another file.

    Remedy: Ask who published the file for it; a file that was saved again has lost its
    label.

    >>> raise InvalidLabel("wards.csv", "carries no label")
    Traceback (most recent call last):
    sordino.errors.InvalidLabel: wards.csv carries no label. Ask who published it.
    """

    def __init__(
        self, name: str, problem: str, remedy: str = "Ask who published it."
    ) -> None:
        super().__init__(f"{_trim(name)} {_trim(problem)}. {remedy}")


@final
class BudgetExceeded(SordinoError, RuntimeError):
    """A release that costs more than what is left; nothing was charged.

    Remedy: Ask for less: `session.what_if(query, budget)` says what fits. An answer
    that was paid for under a key is given again at no cost.
    """


@final
class PolicyRefusal(SordinoError, RuntimeError):
    """A release that a rule of the policy does not allow; nothing was charged.

    Remedy: Ask as the `rule` allows, or ask the officer for another policy.

    >>> rule = "release.epsilon = 1"
    >>> raise PolicyRefusal(rule, "this costs epsilon = 2", "Ask for less.")
    Traceback (most recent call last):
    sordino.errors.PolicyRefusal: the policy says release.epsilon = 1, and this costs...
    """

    def __init__(self, rule: str, problem: str, remedy: str) -> None:
        super().__init__(
            f"the policy says {_trim(rule)}, and {_trim(problem)}. {_trim(remedy)} "
            "Nothing was charged."
        )
        self.rule = rule


@final
class SessionMoved(SordinoError, RuntimeError):
    """A session outside the process that made it would spend its budget again.

    Remedy: Make a session in each process, all of them on one ledger.
    """

    def __init__(self, how: str, what: str = "session") -> None:
        super().__init__(
            f"a {what} cannot be {how}: its budget would be spent twice. "
            f"Make a {what} where it is used."
        )


@final
class LedgerDamaged(SordinoError, RuntimeError):
    """A ledger was changed, cut, mixed up or rolled back; nothing was charged.

    Remedy: Keep the file, and restore it with its witness: `sordino ledger restore`.

    >>> str(LedgerDamaged("clinic.ledger", "record 7 is not what was written"))[:57]
    'the ledger clinic.ledger is not to be trusted: record 7 i'
    """

    def __init__(self, path: object, problem: str) -> None:
        super().__init__(
            f"the ledger {path} is not to be trusted: {problem}. Keep the file, count "
            "the whole budget as spent, and make no other ledger of the same data: "
            "older copies forget charges. Restored by a witness, it forgets none."
        )


@final
class LedgerUnavailable(SordinoError, RuntimeError):
    """A ledger could not be written to; a charge may have been made, no answer left.

    Remedy: Mend what the message names, then ask again with the same key: whatever was
    charged is not charged twice.
    """

    def __init__(self, path: object, problem: str, remedy: str) -> None:
        super().__init__(f"the ledger {path} {problem}. {remedy}")


@final
class AnswerLost(SordinoError, RuntimeError):
    """A charged request whose answer was never stored, and was computed twice.

    Remedy: Ask again later with the same key; with another key the request is charged
    anew.
    """

    def __init__(self, key: str) -> None:
        super().__init__(
            f"the answer of key {show(key)} was started twice and is not there: it "
            "was lost, or is being computed. Ask again later with the same key, or "
            "with another key, which is charged anew."
        )


@final
class AnswerTooLarge(SordinoError, RuntimeError):
    """A charged answer of more bytes than a ledger keeps, which lies in files.

    Remedy: Read the files in its `folder`; next time, `session.release_files` writes
    files.

    >>> raise AnswerTooLarge(20_000_000, 2**30, "clinic.ledger-answer-7")
    Traceback (most recent call last):
    sordino.errors.AnswerTooLarge: the answer has 20,000,000 groups, more than the ...
    """

    def __init__(self, groups: int, most: int, folder: str, again: str = "") -> None:
        super().__init__(
            f"the answer has {groups:,} groups, more than the {most:,} bytes that a "
            "ledger keeps of one. It is paid for and was drawn once; its place is the "
            f"folder {folder}, as Parquet files with their label, which you may move. "
            f"{again or 'The ledger has their SHA-256: sordino verify FILE.'}"
        )
        self.groups = groups
        self.folder = folder


@final
class EngineFailure(SordinoError, RuntimeError):
    """An engine could not finish; what it said may quote data and is kept back.

    Remedy: Free memory or disk, see that the source can be read, and ask again with the
    same key.
    """

    def __init__(self) -> None:
        super().__init__(
            "the engine could not finish this query. What was charged stays charged; "
            "free memory or disk, check that the source can be read, and retry."
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), ()  # its constructor takes nothing


@final
class ProofRefused(SordinoError, RuntimeError):
    """A charge that the kernel refuses: our error, and nothing was charged.

    Remedy: Report it, with its `certificate`, which holds no data.
    """

    def __init__(self, why: str, certificate: str) -> None:
        super().__init__(
            f"the proof of this price is refused: {_trim(why)}. Nothing was charged. "
            "This is an error of Sordino: please report it with error.certificate, "
            "which holds no data."
        )
        self.certificate = certificate

    def __reduce__(self) -> tuple[object, ...]:
        return restore_error, (type(self), str(self)), {"certificate": self.certificate}


@final
class EntropyUnavailable(SordinoError, RuntimeError):
    """A system that gave no random bits, so that nothing was drawn.

    Remedy: Mend the source of random bits of the system, and ask again with the same
    key.
    """


@final
class EngineUnavailable(SordinoError, RuntimeError):
    """An engine cannot begin: nothing private was read, and nothing charged.

    Remedy: Mend what the message names, and ask again.

    >>> raise EngineUnavailable("No space left on device")
    Traceback (most recent call last):
    sordino.errors.EngineUnavailable: the engine refuses: No space left on device. ...
    """

    def __init__(self, problem: str, *, lasts: bool = False) -> None:
        problem = _trim(problem.rstrip("."))
        super().__init__(f"the engine refuses: {problem}. Nothing was charged.")
        self.lasts = int(lasts)


@final
class ServerUnavailable(SordinoError, RuntimeError):
    """A server of requests that cannot be reached, or serves no more of them now.

    Remedy: Ask again later, with the same key: an answer that was paid for is kept.

    >>> raise ServerUnavailable("clinic.example:8443", "cannot be reached")
    Traceback (most recent call last):
    sordino.errors.ServerUnavailable: the server clinic.example:8443 cannot be rea...
    """

    def __init__(
        self,
        server: str,
        problem: str,
        remedy: str = "Ask again later, with the same key: what was paid for is kept.",
    ) -> None:
        super().__init__(f"the server {_trim(server)} {_trim(problem)}. {remedy}")


@final
class OutputFailure(SordinoError, RuntimeError):
    """A file could not be written; the answer is paid for, and kept.

    Remedy: Make room, and ask again in the same way: it costs nothing.
    """

    def __init__(
        self,
        path: str,
        remedy: str = "The answer is paid for and kept: make room "
        "and ask again in the same way, which costs nothing.",
    ) -> None:
        super().__init__(f"{path} could not be written. {remedy}")


@final
class MissingDependency(SordinoError, ImportError):
    """An optional package is needed for this call and is not installed.

    Remedy: Install the extra that the message names.
    """

    def __init__(self, what: str, package: str, extra: str) -> None:
        # no name of an index: ours is not taken there, and whoever takes it is trusted
        super().__init__(
            f"{what} needs {package}. Install the extra {extra}: "
            f"pip install '.[{extra}]' in a clone, or 'FILE.whl[{extra}]' of a wheel."
        )


def _calling_lines(frames: Sequence[tuple[FrameType, int]]) -> Iterator[str]:
    """Yield the lines of the caller's own code: none of ours, none of IPython's."""
    for frame, number in frames:
        module = str(frame.f_globals.get("__name__"))
        if module.partition(".")[0] == __name__.partition(".")[0]:
            return
        line = linecache.getline(frame.f_code.co_filename, number, frame.f_globals)
        # a magic is its whole cell, which stands right above
        is_magic = module.startswith("IPython.") or line.startswith("get_ipython().")
        if line.strip() and not is_magic:
            yield f"{_place(frame)}, line {number}"
            yield f"    {line.strip()}"
            yield ""


def _place(frame: FrameType) -> str:
    name = frame.f_code.co_filename
    try:  # the number of a cell is IPython's to know
        compiled = frame.f_globals["get_ipython"]().compile
        return " ".join(compiled.format_code_name(name) or (name,))
    except Exception:  # noqa: BLE001 nothing may hide the refusal
        return name


def _trim(sentence: str, most: int = _SENTENCE) -> str:
    if len(sentence) > most:
        half = most // 2
        sentence = f"{sentence[:half]}...{sentence[-half:]}"
    if sentence.isprintable():
        return sentence
    return "".join(
        # a name with line ends must not forge lines of a log
        letter if letter.isprintable() else repr(letter)[1:-1]
        for letter in sentence
    )


def show(value: object) -> str:
    """Text of a value that a user gave, cut to a readable length.

    >>> show(10**300)
    '10000000000000000000...(301 digits)'
    """
    # Python refuses to print integers of over 4300 digits
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return _shown_long(value)
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001 a broken repr must not hide the refusal
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _shown_long(value: int) -> str:
    sign = "-" if value < 0 else ""
    size = abs(value)
    count = int((size.bit_length() - 1) * math.log10(2))  # one or two too few
    while size >= 10**count:
        count += 1
    head = size // 10 ** (count - 20)
    return f"{sign}{head}...({count} digits)"


def restore_error(
    kind: type[SordinoError], message: str, /, **beside: object
) -> SordinoError:
    """Return an error of another process, with its finished message."""
    # constructors take parts of the message, not the whole
    error = kind.__new__(kind, message)
    error.args = (message,)
    vars(error).update(beside)
    return error
