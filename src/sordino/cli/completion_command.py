"""What `sordino completion` does: it writes what completes commands in a shell."""

import argparse
from collections.abc import Iterator
from typing import Any, Final

from sordino.cli.main import command_parser
from sordino.cli.terminal import write

EXAMPLE: Final = "sordino completion bash"
WHAT: Final = (
    "Write a script for a shell that completes commands and options. In bash: "
    'eval "$(sordino completion bash)".'
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


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments, and what runs."""
    parser.set_defaults(run=write_completion)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")


def write_completion(arguments: argparse.Namespace) -> None:
    """Print the script of a shell."""
    words = {name: list(_words(parser)) for name, parser in _parsers(command_parser())}
    if arguments.shell == "fish":
        write("\n".join(_fish(words)))
        return
    cases = "\n".join(
        f'    {name}) words="{" ".join(options)}" ;;' for name, options in words.items()
    )
    script = _BASH.format(cases=cases, commands=" ".join(words))
    write(_ZSH + script if arguments.shell == "zsh" else script)


def _fish(words: dict[str, list[str]]) -> Iterator[str]:
    """Yield the lines of a script for fish."""
    commands = " ".join(words)
    yield _FISH.format(condition="__fish_use_subcommand", words=commands)
    for name, options in words.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        yield _FISH.format(condition=seen, words=" ".join(options))


def _parsers(whole: argparse.ArgumentParser) -> Iterator[tuple[str, Any]]:
    """Yield the commands of a parser by name."""
    for action in whole._actions:  # noqa: SLF001 argparse tells it in no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 likewise
            yield from action.choices.items()


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the options of a command, and the commands below it."""
    for action in parser._actions:  # noqa: SLF001 argparse tells it in no other way
        yield from action.option_strings
    for name, _ in _parsers(parser):
        yield name
