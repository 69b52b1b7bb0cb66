"""The commands of `sordino policy`: rules that an officer signs and a ledger obeys."""

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from sordino.errors import InvalidParameter
from sordino.ledger.policy_file import ENDING, Policy, public_of
from sordino.office.cli.ledgers import (
    add_only_writer_option,
    add_signer_option,
    open_ledger,
    read_ledger,
    read_signer,
)
from sordino.office.cli.main import say, write

POLICY_EXAMPLE: Final = "sordino policy sign policy.toml --signer officer.pem"
POLICY_WHAT: Final = (
    "Sign a file of rules that a ledger then obeys, check it, adopt it, and show the "
    "one that is in force. Nothing is charged."
)
_OWN_EYES: Final = 0o600


def add_policy_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands on policies."""
    named = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in POLICY_COMMANDS:
        inner = named.add_parser(
            command.name,
            help=command.what,
            description=command.what,
            epilog=f"example: {command.example}",
        )
        inner.set_defaults(run=command.run)
        command.options(inner)


def make_key(arguments: argparse.Namespace) -> None:
    """Write a new private key to a file that nobody else may read."""
    key = Ed25519PrivateKey.generate()
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(arguments.path, flags, _OWN_EYES), "wb") as file:
            file.write(written)
    except FileExistsError:
        raise InvalidParameter(
            "PATH", str(arguments.path), "is there already", "Name a new file."
        ) from None
    say(f"{arguments.path} is a private key: keep it, and show it to nobody.")
    say("Publish its public half:")
    write(public_of(key))


def sign_file(arguments: argparse.Namespace) -> None:
    """Sign a policy, once it can be understood."""
    policy = Policy.sign(arguments.path, read_signer(arguments.signer))
    say(f"{arguments.path}{ENDING} is the signature. Rules:")
    _show_rules(policy)


def check_file(arguments: argparse.Namespace) -> None:
    """Say what a policy allows, and who signed it."""
    policy = Policy.read(arguments.path)
    say(f"{arguments.path} is signed, word for word. Rules:")
    _show_rules(policy)


def adopt_file(arguments: argparse.Namespace) -> None:
    """Let a ledger obey a policy from now on."""
    with open_ledger(arguments, read_signer(arguments.signer)) as ledger:
        policy = ledger.adopt(arguments.policy, who=arguments.who)
    say(f"{arguments.path} obeys {arguments.policy} from now on:")
    _show_rules(policy)


def show_policy(arguments: argparse.Namespace) -> None:
    """Show the policy that a ledger obeys, word for word or by its rules."""
    with read_ledger(arguments) as ledger:
        policy = ledger.policy()
    if policy is None:
        say(f"{arguments.path} obeys no policy.")
    elif arguments.text:
        write(policy.text.removesuffix("\n"))
    else:
        _show_rules(policy)


def _show_rules(policy: Policy) -> None:
    """Print each rule, and what tells this policy from any other."""
    for sentence in policy.rules.sentences:
        say(f"  {sentence}")
    write(f"sha256   {policy.sha256}")
    write(f"officer  {policy.officer}")


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="the file")


def _add_signer(parser: argparse.ArgumentParser) -> None:
    """Add which file, and whose key signs it."""
    _add_file(parser)
    parser.add_argument(
        "--signer",
        type=Path,
        metavar="PEM",
        required=True,
        help="the officer's private key",
    )


def _add_ledger(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, metavar="PATH", help="the ledger's file")
    parser.add_argument(
        "--witness", type=Path, metavar="PATH", help="its witness, if it has one"
    )


def _add_policy(parser: argparse.ArgumentParser) -> None:
    """Add which ledger and policy, and who says so."""
    _add_ledger(parser)
    parser.add_argument("policy", type=Path, metavar="FILE", help="the policy")
    parser.add_argument("--who", default="", metavar="WHO", help="who says so")
    add_signer_option(parser, "the private key of a signed ledger")
    add_only_writer_option(parser)


def _add_text(parser: argparse.ArgumentParser) -> None:
    """Add which ledger, and whether to show every word."""
    _add_ledger(parser)
    parser.add_argument("--text", action="store_true", help="show it word for word")


@final
@dataclass(frozen=True)
class PolicyCommand:
    """A command on a policy."""

    name: str
    run: Callable[[argparse.Namespace], None]
    what: str
    example: str
    options: Callable[[argparse.ArgumentParser], None]


POLICY_COMMANDS: Final = (
    PolicyCommand(
        "key",
        make_key,
        "Make the private key of an officer, once.",
        "sordino policy key officer.pem",
        _add_file,
    ),
    PolicyCommand(
        "sign",
        sign_file,
        f"Sign a policy: the signature is written beside it, as FILE{ENDING}.",
        "sordino policy sign policy.toml --signer officer.pem",
        _add_signer,
    ),
    PolicyCommand(
        "check",
        check_file,
        "Say what a policy allows, and by which key it is signed.",
        "sordino policy check policy.toml",
        _add_file,
    ),
    PolicyCommand(
        "adopt",
        adopt_file,
        "Let a ledger obey a policy from now on, whoever opens it.",
        "sordino policy adopt clinic.ledger policy.toml --who curator",
        _add_policy,
    ),
    PolicyCommand(
        "show",
        show_policy,
        "Show the policy that a ledger obeys.",
        "sordino policy show clinic.ledger",
        _add_text,
    ),
)
"""Every command of `sordino policy`."""
