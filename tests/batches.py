"""One law is one test that asks all of its cases at once and lists those that differ.

    @for_each("form", FORMS)
    def test_facts_hold(form: Form) -> None: ...

is one test. Where cases differ it names them, shows where the first went wrong, and
says how to run one of them alone: `CASE=name pytest tests/...::test_facts_hold`.
"""

import hashlib
import inspect
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, TracebackType
from typing import Any, Final

import pytest

from tests.effort import PROFILE

Batched = Callable[[Callable[..., object]], Callable[..., None]]
"""What makes one test of a test and its cases."""

Way = Callable[[Any], Any]
"""What is asked of a session."""

_Row = tuple[tuple[Any, ...], str | None]
"""The values of a case, and its name."""

TESTS: Final = Path(__file__).parent
SHOWN: Final = 20
"""How many of the cases that differ are named."""


def table_of(name: str) -> dict[str, Any]:
    """Return the cases of a table, `tests/NAME.toml`."""
    return tomllib.loads((TESTS / f"{name}.toml").read_text("utf-8"))


def calls_of(
    name: str, names: Mapping[str, Any], **more_names: Any
) -> dict[str, tuple[Any, ...]]:
    """Return the calls of a table, each with the words that stand behind it there.

    They are read with the names of a module, whatever it defines later included.
    """

    def call_of(text: str) -> Callable[[], Any]:
        return lambda: eval(text, {**names, **more_names})  # noqa: S307 a table of ours

    rows = table_of(name).items()
    return {key: (call_of(text), *more) for key, (text, *more) in rows}


def ways_of(rows: Mapping[str, str], names: Mapping[str, Any]) -> dict[str, Way]:
    """Return what the calls of a table do with a session `s`."""

    def way_of(text: str) -> Way:
        return lambda s: eval(f"({text})", {**names, "s": s})  # noqa: S307 ours

    return {key: way_of(text) for key, text in rows.items()}


class CasesDiffer(AssertionError):
    """Cases of a law for which it does not hold, each with what went wrong."""

    def __init__(self, wrong: Mapping[str, BaseException], asked: int) -> None:
        """Hold what went wrong, by the name of the case."""
        self.wrong = dict(wrong)
        lines = [f"{name}: {_first_line(error)}" for name, error in self.wrong.items()]
        more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
        alone = (
            f"one alone: CASE={next(iter(self.wrong))!r}, then pytest with this test"
        )
        super().__init__(
            "\n".join([
                f"{len(lines)} of {asked} cases differ",
                *lines[:SHOWN],
                *more,
                alone,
            ])
        )


def for_each(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Iterable[str] | Callable[[Any], Any] | None = None,
) -> Batched:
    """Ask a test all cases, as one test.

    Two of these ask every case of one with every case of the other. Each case has a
    folder `tmp_path` and a `monkeypatch` of its own.
    """
    arguments = _split(names)
    labelled = _labelled(arguments, _rows(names, cases), ids)
    assert labelled, f"no case of {names}: a test that asks nothing cannot fail"

    def batched(test: Callable[..., object]) -> Callable[..., None]:
        law = _Law(test, arguments, labelled)
        inner = vars(test).get("law")
        return (law.beside(inner) if isinstance(inner, _Law) else law).as_test(test)

    return batched


def sampled(check: int, day: int | None = None) -> Batched:
    """Let `make check` ask so many of the cases, and `make test` so many, or all.

    The sample is drawn by the names of the cases, so it stays when files move, and
    cases that are added hardly change it. The night asks every one.
    """
    most = {"dev": check, "trial": day, "ci": day}.get(PROFILE)

    def cut(test: Callable[..., object]) -> Callable[..., None]:
        law: _Law = vars(test)["law"]
        law.asked = dict(sorted(law.cases.items(), key=_lot)[:most])
        return law.as_test(test)

    return cut


class _Law:
    """A test, the names of its arguments that cases give, and the cases."""

    def __init__(
        self,
        test: Callable[..., object],
        arguments: list[str],
        cases: dict[str, tuple[Any, ...]],
    ) -> None:
        self.test = test
        self.arguments = arguments
        self.cases = cases
        self.asked = cases
        """Those that are asked unless one of all is named."""

    def beside(self, inner: "_Law") -> "_Law":
        """Return the law that asks every case of both."""
        cases = {
            f"{mine}-{other}": (*values, *more)
            for mine, values in self.cases.items()
            for other, more in inner.cases.items()
        }
        return _Law(inner.test, [*self.arguments, *inner.arguments], cases)

    def as_test(self, marked: Callable[..., object]) -> Callable[..., None]:
        """Return what pytest finds in a module, with the marks that were put on it."""
        marks = list(getattr(marked, "pytestmark", []))

        def ask(*case: Any, **fixtures: Any) -> None:
            if case:  # called by hand, with the values of one case
                self.test(*case, **fixtures)
            else:
                self.ask(fixtures)

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(ask, name, getattr(self.test, name))
        vars(ask)["__signature__"] = self.signature()
        vars(ask)["law"] = self
        vars(ask)["pytestmark"] = marks
        return ask

    def signature(self) -> inspect.Signature:
        """Return the arguments that are left for pytest, and for further cases."""
        signature = inspect.signature(self.test)
        unknown = set(self.arguments) - set(signature.parameters)
        assert not unknown, f"{self.test.__qualname__} takes no {sorted(unknown)}"
        left = [
            part
            for name, part in signature.parameters.items()
            if name not in self.arguments
        ]
        return signature.replace(parameters=left)

    def ask(self, fixtures: Mapping[str, Any]) -> None:
        """Ask all cases; fail if some differ, skip if there is none to ask."""
        wrong: dict[str, BaseException] = {}
        skipped: list[str] = []
        one = os.environ.get("CASE", "")
        chosen = {one: self.cases[one]} if one in self.cases else self.asked
        for number, (label, values) in enumerate(chosen.items()):
            case = dict(zip(self.arguments, values, strict=True))
            try:
                with _Own(fixtures, number) as own:
                    self.test(**own, **case)
            except pytest.skip.Exception as reason:
                skipped.append(str(reason))
            except (Exception, pytest.fail.Exception) as why:  # noqa: BLE001
                wrong[label] = why
        if wrong:
            raise CasesDiffer(wrong, len(chosen)) from next(iter(wrong.values()))
        if len(skipped) == len(chosen) > 0:
            pytest.skip(skipped[0])


class _Own:
    """What belongs to one case: a folder, and patches that end with it."""

    def __init__(self, fixtures: Mapping[str, Any], number: int) -> None:
        self.fixtures = dict(fixtures)
        self.number = number
        self.patches: pytest.MonkeyPatch | None = None

    def __enter__(self) -> dict[str, Any]:
        if isinstance(folder := self.fixtures.get("tmp_path"), Path):
            self.fixtures["tmp_path"] = folder / str(self.number)
            self.fixtures["tmp_path"].mkdir()
        if "monkeypatch" in self.fixtures:
            self.patches = self.fixtures["monkeypatch"] = pytest.MonkeyPatch()
        for name in ("capsys", "capfd"):
            if name in self.fixtures:
                self.fixtures[name].readouterr()
        return self.fixtures

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.patches is not None:
            self.patches.undo()


def _split(names: str | Sequence[str]) -> list[str]:
    """Return the names of arguments, as pytest reads them."""
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


def _rows(names: str | Sequence[str], cases: Iterable[Any]) -> Iterator[_Row]:
    """Yield the values of each case, and its name if it has one."""
    alone = isinstance(names, str) and len(_split(names)) == 1
    for case in cases:
        if isinstance(case, type(pytest.param())):
            assert not case.marks, f"marks are for whole tests: {case}"
            yield tuple(case.values), str(case.id) if case.id else None
        else:
            yield (case,) if alone else tuple(case), None


def _labelled(
    arguments: list[str],
    rows: Iterable[_Row],
    ids: Iterable[str] | Callable[[Any], Any] | None,
) -> dict[str, tuple[Any, ...]]:
    """Return the values of each case by a name of its own."""
    labels = [] if ids is None or callable(ids) else list(ids)
    named = ids if callable(ids) else _label
    labelled: dict[str, tuple[Any, ...]] = {}
    for number, (values, given) in enumerate(rows):
        parts = zip(arguments, values, strict=True)
        told = [str(named(value) or f"{name}{number}") for name, value in parts]
        label = labels[number] if labels else given or "-".join(told)
        labelled[label if label not in labelled else f"{label}#{number}"] = values
    return labelled


def _label(value: object) -> str:
    """Return a short text for a value that has one."""
    match value:
        case type() | FunctionType():
            return value.__name__
        case bool() | float() | str() | None:
            return repr(value).strip("'")[:60]
        case int() if abs(value) < 2**64:
            return str(value)
    return ""


def _lot(labelled: tuple[str, object]) -> str:
    """Order cases by chance, and so that more of them hardly change a sample."""
    return hashlib.sha256(labelled[0].encode()).hexdigest()


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:300]
