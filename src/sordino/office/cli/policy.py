"""The commands of `sordino policy`: rules that an officer signs and a ledger obeys."""

import os
import sys
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
from sordino.ledger.policy_file import (
    ENDING,
    Policy,
    Rules,
    policy_text,
    public_of,
    read_rules,
)
from sordino.office.cli.ledgers import (
    SIGNER,
    open_ledger,
    read_ledger,
    read_signer,
    shown_place,
)
from sordino.office.cli.main import (
    REFUSED,
    YES,
    Command,
    confirm,
    flag,
    is_terminal,
    ledger_place,
    note,
    option,
    say,
    write,
)
from sordino.office.html.page import read_language
from sordino.office.report.policy import policy_sentences

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


def _sign_file(arguments: Namespace) -> int:
    """Show what the rules say, and then sign them: nobody signs what was not read."""
    signer = read_signer(arguments.signer)
    text = policy_text(arguments.path)
    _say_rules(read_rules(text))
    asks = not arguments.yes and is_terminal(sys.stdin) and is_terminal(sys.stdout)
    if asks and not confirm("Is this what you sign?"):
        note("nothing was signed")
        return REFUSED
    policy = Policy.sign(arguments.path, signer, shown=text)
    say(f"{arguments.path}{ENDING} is the signature.")
    _write_digests(policy)
    return 0


def _check_file(arguments: Namespace) -> None:
    policy = Policy.read(arguments.path)
    say(f"{arguments.path} is signed, word for word.")
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
    _say_rules(policy.rules)
    _write_digests(policy)


def _say_rules(rules: Rules) -> None:
    name = f"{rules.title}, number {rules.serial}" if rules.title else ""
    say(f"{name or f'Number {rules.serial}'} says:")
    for sentence in policy_sentences(read_language("en"), rules):
        say(f"  {sentence}")


def _write_digests(policy: Policy) -> None:
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
            "Show what a policy says, and sign it: the signature is written beside it, "
            f"as FILE{ENDING}.",
            "sordino policy sign policy.toml --signer officer.pem",
            _sign_file,
            (
                _FILE,
                option(
                    "--signer", "PEM", "the officer's private key", Path, required=True
                ),
                YES,
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
