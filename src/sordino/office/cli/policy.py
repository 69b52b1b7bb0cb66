"""The commands of `sordino policy`: rules that an officer signs and a ledger obeys."""

import os
from argparse import Namespace
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from sordino.errors import InvalidParameter
from sordino.ledger.policy_file import ENDING, Policy, public_of
from sordino.office.cli.ledgers import (
    SIGNER,
    open_ledger,
    read_ledger,
    read_signer,
    shown_place,
)
from sordino.office.cli.main import (
    Command,
    flag,
    ledger_place,
    option,
    say,
    write,
)

_OWN_EYES: Final = 0o600


def _make_key(arguments: Namespace) -> None:
    key = Ed25519PrivateKey.generate()
    written = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        # the mode of its making: no moment at which others may read it
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


def _sign_file(arguments: Namespace) -> None:
    policy = Policy.sign(arguments.path, read_signer(arguments.signer))
    say(f"{arguments.path}{ENDING} is the signature. Rules:")
    _show_rules(policy)


def _check_file(arguments: Namespace) -> None:
    policy = Policy.read(arguments.path)
    say(f"{arguments.path} is signed, word for word. Rules:")
    _show_rules(policy)


def _adopt_file(arguments: Namespace) -> None:
    with open_ledger(arguments) as ledger:
        policy = ledger.adopt(arguments.policy, who=arguments.who)
    say(f"{shown_place(arguments, ledger)} obeys {arguments.policy} from now on:")
    _show_rules(policy)


def _show_policy(arguments: Namespace) -> None:
    with read_ledger(arguments) as ledger:
        policy = ledger.policy()
    if policy is None:
        say(f"{shown_place(arguments, ledger)} obeys no policy.")
    elif arguments.text:
        write(policy.text.removesuffix("\n"))
    else:
        _show_rules(policy)


def _show_rules(policy: Policy) -> None:
    for sentence in policy.rules.sentences:
        say(f"  {sentence}")
    write(f"sha256   {policy.sha256}")
    write(f"officer  {policy.officer}")


_FILE: Final = option("path", "FILE", "the file", Path)
_LEDGER: Final = (
    option("path", "PATH", "the ledger's file, or its address", ledger_place),
    option("--witness", "PATH", "its witness, if it has one", ledger_place),
)
POLICY: Final = Command(
    "policy",
    "Sign a file of rules that a ledger then obeys, check it, adopt it, and show the "
    "one that is in force. Nothing is charged.",
    "sordino policy sign policy.toml --signer officer.pem",
    below=(
        Command(
            "key",
            "Make the private key of an officer, once.",
            "sordino policy key officer.pem",
            _make_key,
            (_FILE,),
        ),
        Command(
            "sign",
            f"Sign a policy: the signature is written beside it, as FILE{ENDING}.",
            "sordino policy sign policy.toml --signer officer.pem",
            _sign_file,
            (
                _FILE,
                option(
                    "--signer", "PEM", "the officer's private key", Path, required=True
                ),
            ),
        ),
        Command(
            "check",
            "Say what a policy allows, and by which key it is signed.",
            "sordino policy check policy.toml",
            _check_file,
            (_FILE,),
        ),
        Command(
            "adopt",
            "Let a ledger obey a policy from now on, whoever opens it.",
            "sordino policy adopt clinic.ledger policy.toml --who curator",
            _adopt_file,
            (
                *_LEDGER,
                option("policy", "FILE", "the policy", Path),
                option("--who", "WHO", "who says so", default=""),
                *SIGNER,
            ),
        ),
        Command(
            "show",
            "Show the policy that a ledger obeys.",
            "sordino policy show clinic.ledger",
            _show_policy,
            (*_LEDGER, flag("--text", "show it word for word")),
        ),
    ),
)
