"""Commands on Sordino itself: conformance, completion, demo and doctor."""

import json
import os
import platform
import signal
import subprocess  # noqa: S404 what is tried must be killed
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import sordino as sd
from sordino.engines.conformance.verdicts import Verdict, verdicts
from sordino.engines.doors import engine_to_try
from sordino.engines.statements.engine import SQLEngine
from sordino.errors import InvalidParameter, SordinoError
from sordino.ledger.file_system import file_system_of, is_local
from sordino.office.cli.main import (
    COMMANDS,
    JSON,
    REFUSED,
    Command,
    command_named,
    note,
    option,
    say,
    text_table,
    word_option,
    write,
    write_object,
)
from sordino.office.demo import start
from sordino.office.demo.clinic import write_example

DIFFERS: Final = 1
"""The exit code of an engine that computes something else."""
_LONGEST: Final = 1000


def _hold_engine(arguments: Namespace) -> int:
    """Print the verdict on an engine, and return whether it conforms as exit code."""
    engine = engine_to_try(arguments.engine)
    if not isinstance(engine, SQLEngine):
        raise InvalidParameter(
            "engine",
            arguments.engine,
            "is what the others are held against",
            "Name another.",
        )
    cases = list(verdicts(engine))
    wrong = [verdict for verdict in cases if not verdict.conforms]
    (_show_json if arguments.json else _show)(cases, wrong)
    return DIFFERS if wrong else 0


def _counts(cases: list[Verdict]) -> dict[str, int]:
    counts = Counter(verdict.outcome for verdict in cases)
    return {
        outcome: counts[outcome]
        for outcome in ("agrees", "refuses", "differs", "fails")
    }


def _show(cases: list[Verdict], wrong: list[Verdict]) -> None:
    counts = ", ".join(f"{count} {name}" for name, count in _counts(cases).items())
    write(f"{len(cases)} cases: {counts}")
    reasons = Counter(verdict.text for verdict in cases if verdict.outcome == "refuses")
    for reason, count in reasons.most_common():
        say(f"refused {count} times: {reason}")
    for verdict in wrong:
        say(f"{verdict.outcome}: {verdict.name}: {verdict.text[:_LONGEST]}")
    write("it conforms" if not wrong else "IT DOES NOT CONFORM: do not use it")


def _show_json(cases: list[Verdict], wrong: list[Verdict]) -> None:
    shown: dict[str, Any] = {
        "conforms": not wrong,
        "cases": _counts(cases),
        "refused": {
            verdict.name: verdict.text
            for verdict in cases
            if verdict.outcome == "refuses"
        },
        "wrong": {verdict.name: verdict.text for verdict in wrong},
    }
    write(json.dumps(shown, indent=2))


CONFORMANCE: Final = Command(
    "conformance",
    "Ask an engine several hundred questions about small tables of ours, and tell "
    "whether it computes what is meant. Your tables are not touched, and nothing is "
    "written to a server.",
    "sordino conformance --engine postgresql://reader@host/base",
    _hold_engine,
    (
        option(
            "--engine",
            "ENGINE",
            "a name (duckdb), or the address of a server (postgresql://role@host/base)",
            default="duckdb",
        ),
        JSON,
    ),
)
_BASH: Final = """\
_sordino() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{commands}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
  COMPREPLY=($(compgen -W "$words" -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o filenames -F _sordino sordino"""
_ZSH: Final = "autoload -U +X bashcompinit && bashcompinit\n"
_FISH: Final = "complete -c sordino -n {condition} -a '{words}'"


def _write_completion(arguments: Namespace) -> None:
    words = {name: " ".join(command_named(name).words) for name in COMMANDS}
    commands = " ".join(words)
    if arguments.shell == "fish":
        write(_FISH.format(condition="__fish_use_subcommand", words=commands))
        for name, options in words.items():
            seen = f"'__fish_seen_subcommand_from {name}'"
            write(_FISH.format(condition=seen, words=options))
        return
    cases = "\n".join(
        f'    {name}) words="{options}" ;;' for name, options in words.items()
    )
    script = _BASH.format(cases=cases, commands=commands)
    write(_ZSH + script if arguments.shell == "zsh" else script)


COMPLETION: Final = Command(
    "completion",
    "Write a script for a shell that completes commands and options. In bash: "
    'eval "$(sordino completion bash)".',
    "sordino completion bash",
    _write_completion,
    (word_option("shell", ("bash", "zsh", "fish"), "which shell"),),
)


def _show_demo(arguments: Namespace) -> None:
    if arguments.folder is None:
        start.main()
        return
    written = write_example(arguments.folder)
    note(
        f"Wrote {', '.join(map(str, written))} (invented visits).\n"
        f"Next: cd {arguments.folder} && sordino check"
    )


DEMO: Final = Command(
    "demo",
    "Show Sordino at work on an invented hospital; or, with a folder, write an "
    "invented table and a job file there, to be tried by hand.",
    "sordino demo clinic",
    _show_demo,
    (option("folder", "FOLDER", "a new folder", Path, nargs="?"),),
)
_GOOD: Final = "ok"
_PATIENCE: Final = 30
"""Seconds that a folder may be tried; it takes a few."""


def _examine(arguments: Namespace) -> int:
    """Print what was tried; 1 if something is wrong."""
    results = {name: _result_of(check) for name, check in _CHECKS.items()}
    if arguments.folder is not None:
        results |= _examine_folder(arguments.folder)
    if arguments.json:
        write_object("doctor", results)
    else:
        text_table(list(results.items()))
    return REFUSED if any(text.startswith("NOT") for text in results.values()) else 0


def _result_of(check: Callable[[], str]) -> str:
    try:
        return check()
    except (SordinoError, ImportError, OSError, ArithmeticError) as error:
        return f"NOT here: {type(error).__name__}"


def _packages() -> str:
    versions = []
    for package in ("duckdb", "pyspark", "psycopg"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _random() -> str:
    return _GOOD if len(os.urandom(32)) == 32 else "NOT here"


def _exact() -> str:
    drawn: Any = sd.Laplace(1)(0.0)
    return _GOOD if isinstance(drawn, float) else "NOT here"


def _answers() -> str:
    table = sd.PrivateTable({"day": [1, 2]}, protects=sd.AddOneRow())
    session = sd.Session({"visits": table}, sd.PureDP(1))
    release = session.release(sd.table("visits").agg(n=sd.count()), sd.PureDP(1))
    return _GOOD if len(release) == 1 else "NOT here"


def _ledger() -> str:
    with TemporaryDirectory(dir=Path.cwd(), prefix=".sordino-") as folder:
        path = Path(folder) / "tried.ledger"
        with sd.Ledger.at(path, sd.PureDP(1), create=True) as ledger:
            ledger.allot("tried", sd.PureDP(1))
        with sd.Ledger.at(path) as ledger:
            return _GOOD if ledger.verify().records == 3 else "NOT here"


def _examine_folder(folder: Path) -> dict[str, str]:
    """Findings of trials in a folder, which is left as it was."""
    if not folder.is_dir():
        raise InvalidParameter(
            "FOLDER", str(folder), "must be a folder", "Name one that exists."
        )
    kind = file_system_of(folder)
    results = {"file system": kind or "of a kind that the system does not tell"}
    if not is_local(kind):
        results["file system"] = f"NOT a disk of this machine: {kind}"
    try:
        with TemporaryDirectory(dir=folder, prefix=".sordino-") as place:
            return results | _try_in_child(Path(place).resolve())
    except OSError as error:
        return results | {"locks": f"NOT here: {type(error).__name__}"}


def _try_in_child(place: Path) -> dict[str, str]:
    # -P: nothing of this folder is imported in place of what is tried
    words = [sys.executable, "-P", "-m", "sordino.ledger.place_trial", str(place)]
    with subprocess.Popen(  # noqa: S603 this Python, and this package
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        try:
            out, _ = child.communicate(timeout=_PATIENCE)
            return dict(json.loads(out))
        except (subprocess.TimeoutExpired, ValueError):
            return {"locks": f"NOT known: no end within {_PATIENCE} seconds"}
        finally:
            with suppress(ProcessLookupError):  # the whole group: the trial forks
                os.killpg(child.pid, signal.SIGKILL)


_CHECKS: Final[dict[str, Callable[[], str]]] = {
    "sordino": lambda: version("sordino"),
    "python": lambda: f"{platform.python_version()} on {sys.platform}",
    "engines": _packages,
    "random bits": _random,
    "exact noise": _exact,
    "an answer": _answers,
    "a ledger on this disk": _ledger,
}
DOCTOR: Final = Command(
    "doctor",
    "Say whether all that Sordino needs is here: its engine, random bits, exact "
    "arithmetic, and a disk on which a ledger lasts.",
    "sordino doctor",
    _examine,
    (
        option(
            "folder",
            "FOLDER",
            "where a ledger shall lie: locks, kills and faults are tried there",
            Path,
            nargs="?",
        ),
        JSON,
    ),
)
