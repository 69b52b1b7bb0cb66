"""Ledgers whose chain was made anew: what their policies cannot have said is found."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

import sordino as sd
from sordino.errors import InvalidPolicy, LedgerDamaged
from sordino.ledger.file_format import hash_bytes
from sordino.ledger.ledger import Ledger
from sordino.ledger.log import Log
from sordino.ledger.policy_rules import Usage
from tests.batches import for_each
from tests.ledgers import claim
from tests.policies import STRANGER, policy_of
from tests.unit.ledger.test_ledger_forgery import History, forged
from tests.unit.policy.test_policy_files import LENIENT, STRICT


def uses() -> tuple[Usage, ...]:
    return (Usage(tables=frozenset({"visits"})),)


def swap_text(history: History) -> None:
    """Put a text there that nobody signed, with its own hash."""
    fields = history[2][1]
    fields["text"] = fields["text"].replace("0.2", "9.9")
    fields["sha256"] = hash_bytes(fields["text"].encode())


def swap_hash(history: History) -> None:
    """Let the hash be that of another text."""
    history[2][1]["sha256"] = "00" * 32


def swap_officer(history: History) -> None:
    """Let another key have signed the second policy."""
    history[4][1].update(_adopted(policy_of(LENIENT, STRANGER)))


def go_back(history: History) -> None:
    """Adopt the first policy again."""
    history[4][1].update(_adopted(policy_of(STRICT)) | {"serial": 2})


def say_later(history: History) -> None:
    """Let the officer have signed what no version understands."""
    history[4][1].update(_adopted(policy_of("serial = 3\n[weather]\n")))


def say_more(history: History) -> None:
    """Let a policy have another serial than its text says."""
    history[4][1]["serial"] = 9


def forget_digest(history: History) -> None:
    """Let a charge have obeyed nothing."""
    del history[3][1]["policy"]


def name_other(history: History) -> None:
    """Let a charge have obeyed another policy."""
    history[3][1]["policy"]["sha256"] = policy_of(LENIENT).sha256


def count_less(history: History) -> None:
    """Let the sum after a charge be less."""
    history[3][1]["policy"]["sum"]["epsilon"] = "1/100"


def count_endless(history: History) -> None:
    """Let a charge count without end."""
    history[3][1]["policy"]["counted"]["epsilon"] = "inf"


def date_back(history: History) -> None:
    """Let a charge have counted years ago."""
    history[3][1]["policy"]["day"] = "2001-01-01"


def forget_adoption(history: History) -> None:
    """Let a charge obey what was never adopted."""
    del history[2]


def forget_before(history: History) -> None:
    """Let something have been charged before."""
    history[2][1]["before"]["epsilon"] = "1/2"


def say_no_text(history: History) -> None:
    """Let the text of a policy be none that can be encoded."""
    history[2][1]["text"] = "\ud800"


def _adopted(policy: Any) -> dict[str, Any]:
    names = ("text", "officer", "signature", "sha256")
    return {name: getattr(policy, name) for name in names}


FORGERIES: Final = [
    *(swap_text, swap_hash, swap_officer, go_back, say_later, say_more, forget_digest),
    *(name_other, count_less, count_endless, date_back, forget_adoption),
    *(forget_before, say_no_text),
]


@for_each("forgery", FORGERIES, ids=lambda each: each.__name__)
def test_a_forged_policy_is_found_out(
    forgery: Callable[[History], object], tmp_path: Path
) -> None:
    """For any chain whose hashes were made anew: opened or verified, it is refused."""
    path = tmp_path / "a.ledger"
    with Ledger.at(path, sd.PureDP(1), create=True) as ledger:
        ledger.obey(policy_of(STRICT))
        ledger.reserve(claim("a", usages=uses))
        ledger.obey(policy_of(LENIENT))
    with Ledger.at(path) as ledger:
        ledger.verify()
    forged(path, forgery)
    with pytest.raises(LedgerDamaged), Ledger.at(path) as ledger:
        ledger.verify()


def test_a_text_that_nobody_signed_is_not_obeyed(tmp_path: Path) -> None:
    """A charge asks for the signature, not only `verify`."""
    path = tmp_path / "a.ledger"
    with Ledger.at(path, sd.PureDP(1), create=True) as ledger:
        ledger.obey(policy_of(STRICT))
    forged(path, swap_text)
    ledger = Ledger.at(path)
    with pytest.raises(LedgerDamaged, match="has no valid signature"):
        ledger.reserve(claim("a", usages=uses))


def test_a_rule_of_a_later_version_is_not_forgotten() -> None:
    """A ledger that adopted what this version does not understand charges nothing."""
    ledger = Ledger.in_memory(sd.PureDP(1))
    later = policy_of("serial = 1\n[weather]\nsun = true\n")
    fields = {"day": "2026-11-22", "serial": 1, "when": "2026-11-22T00:00:00+00:00"}
    fields |= {"before": {"epsilon": "0/1", "delta": "0/1"}, "who": ""}

    def adopt(log: Log) -> None:
        log.add("adopted", fields | _adopted(later))

    ledger._guarded.use(adopt)
    with pytest.raises(InvalidPolicy, match="the file has no 'weather'"):
        ledger.reserve(claim("a", usages=uses))
    assert ledger.spent() == sd.PureDP(0)
