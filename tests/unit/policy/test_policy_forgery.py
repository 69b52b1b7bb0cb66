"""A policy that was forged is found out in every process, by keys of large order."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sordino as sd
from sordino.errors import InvalidPolicy, LedgerDamaged, PolicyRefusal
from sordino.ledger.file_format import hash_bytes
from sordino.ledger.log import Log
from sordino.ledger.policy_file import is_signed, public_of, sign
from sordino.ledger.policy_rules import Usage
from sordino.ledger.record_kinds import Claim
from tests.batches import for_each
from tests.ledgers import FRESH, claim
from tests.policies import STRANGER, policy_of
from tests.unit.ledger.test_ledger_forgery import History, forged
from tests.unit.policy.test_policy_files import LENIENT, STRICT


def uses() -> tuple[Usage, ...]:
    return (Usage(tables=frozenset({"visits"})),)


def swap_text(history: History) -> None:
    fields = history[2][1]
    fields["text"] = fields["text"].replace("0.2", "9.9")
    fields["sha256"] = hash_bytes(fields["text"].encode())


def swap_hash(history: History) -> None:
    history[2][1]["sha256"] = "00" * 32


def swap_officer(history: History) -> None:
    history[4][1].update(_adopted(policy_of(LENIENT, STRANGER)))


def go_back(history: History) -> None:
    history[4][1].update(_adopted(policy_of(STRICT)) | {"serial": 2})


def say_later(history: History) -> None:
    history[4][1].update(_adopted(policy_of("serial = 3\n[weather]\n")))


def say_more(history: History) -> None:
    history[4][1]["serial"] = 9


def forget_digest(history: History) -> None:
    del history[3][1]["policy"]


def name_other(history: History) -> None:
    history[3][1]["policy"]["sha256"] = policy_of(LENIENT).sha256


def count_less(history: History) -> None:
    history[3][1]["policy"]["sum"]["epsilon"] = "1/100"


def count_endless(history: History) -> None:
    """Let a charge count without end."""
    history[3][1]["policy"]["counted"]["epsilon"] = "inf"


def date_back(history: History) -> None:
    history[3][1]["policy"]["day"] = "2001-01-01"


def forget_adoption(history: History) -> None:
    """Let a charge obey what was never adopted."""
    del history[2]


def forget_before(history: History) -> None:
    history[2][1]["before"]["epsilon"] = "1/2"


def say_no_text(history: History) -> None:
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
    with sd.Ledger.at(path, sd.PureDP(1), create=True) as ledger:
        ledger.obey(policy_of(STRICT))
        ledger.reserve(claim("a", usages=uses))
        ledger.obey(policy_of(LENIENT))
    with sd.Ledger.at(path) as ledger:
        ledger.verify()
    forged(path, forgery)
    with pytest.raises(LedgerDamaged), sd.Ledger.at(path) as ledger:
        ledger.verify()


def test_a_text_that_nobody_signed_is_not_obeyed(tmp_path: Path) -> None:
    """A charge asks for the signature, not only `verify`."""
    path = tmp_path / "a.ledger"
    with sd.Ledger.at(path, sd.PureDP(1), create=True) as ledger:
        ledger.obey(policy_of(STRICT))
    forged(path, swap_text)
    ledger = sd.Ledger.at(path)
    with pytest.raises(LedgerDamaged, match="has no valid signature"):
        ledger.reserve(claim("a", usages=uses))


def test_a_rule_of_a_later_version_is_not_forgotten() -> None:
    """A ledger that adopted what this version does not understand charges nothing."""
    ledger = sd.Ledger.in_memory(sd.PureDP(1))
    later = policy_of("serial = 1\n[weather]\nsun = true\n")
    fields = {"day": "2026-11-22", "serial": 1, "when": "2026-11-22T00:00:00+00:00"}
    fields |= {"before": {"epsilon": "0/1", "delta": "0/1"}, "who": ""}

    def adopt(log: Log) -> None:
        log.add("adopted", fields | _adopted(later))

    ledger._guarded.use(adopt)
    with pytest.raises(InvalidPolicy, match="the file has no 'weather'"):
        ledger.reserve(claim("a", usages=uses))
    assert ledger.spent() == sd.PureDP(0)


YEARLY: Final = 'serial = 1\n[year]\nepsilon = 2\ndelta = "1e-6"\n'
TRIES: Final = 6


def charge_all(path: Path, refusals: Path) -> None:
    """Charge a quarter as often as there is time for, and count what is refused."""
    quarter = sd.PureDP("1/4")
    claim = Claim(request="r", asked=quarter, loss=quarter, usages=uses)
    ledger, refused = sd.Ledger.at(path), 0
    for _ in range(TRIES):
        try:
            ledger.reserve(claim)
        except PolicyRefusal:
            refused += 1
    with refusals.open("a", encoding="ascii") as file:
        file.write("refused\n" * refused)


@pytest.mark.slow
def test_processes_share_a_year(tmp_path: Path) -> None:
    """For any order of three processes: as many are charged as the year allows."""
    path, refusals = tmp_path / "a.ledger", tmp_path / "refusals"
    with sd.Ledger.at(path, sd.PureDP(100), create=True) as ledger:
        ledger.obey(policy_of(YEARLY))
    several = [
        FRESH.Process(target=charge_all, args=(path, refusals)) for _ in range(3)
    ]
    for each in several:
        each.start()
    for each in several:
        each.join(120)
    assert [each.exitcode for each in several] == [0, 0, 0]
    with sd.Ledger.at(path) as ledger:
        assert ledger.verify().releases == 8
    assert refusals.read_text().count("refused") == 3 * TRIES - 8


@for_each("twin", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_refusals_survive_being_pickled(twin: type) -> None:
    refusal = twin(PolicyRefusal("release.epsilon = 1", "it costs 2", "Ask for less."))
    assert refusal.rule == "release.epsilon = 1"
    assert str(refusal).endswith("Ask for less. Nothing was charged.")
    wrong = twin(InvalidPolicy("policy.toml", "is not signed", "Ask its officer."))
    assert wrong.place == "policy.toml"
    assert str(wrong) == "policy.toml is not signed. Ask its officer."


PRIME: Final = 2**255 - 19
OF_ORDER_8: Final = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    "little",
)
"""One of two; a test below shows that eight times its point is nothing."""
HEIGHTS: Final = (0, 1, PRIME - 1, OF_ORDER_8, PRIME - OF_ORDER_8)
WRITTEN: Final = (*HEIGHTS, PRIME, PRIME + 1)
"""Each way in which 255 bits say one of them."""
TRIVIAL: Final = (bytes([1]) + bytes(63)).hex()
"""The signature of the neutral element and the number 0."""
TEXTS: Final = tuple(f"serial = {number}\n".encode() for number in range(1, 101))


def small_keys() -> list[bytes]:
    """Return all encodings of points of small order, with both signs of x."""
    return [
        (y + (sign_bit << 255)).to_bytes(32, "little")
        for y in WRITTEN
        for sign_bit in (0, 1)
    ]


def height_of_double(y: int) -> int:
    """Return y of twice a point, by the curve -x^2 + y^2 = 1 + d x^2 y^2."""
    d = -121665 * pow(121666, -1, PRIME)
    x_square = (y * y - 1) * pow(d * y * y + 1, -1, PRIME)
    return (y * y + x_square) * pow(1 - d * x_square * y * y, -1, PRIME) % PRIME


@for_each("public", small_keys(), ids=bytes.hex)
def test_nobody_signs_by_a_key_of_small_order(public: bytes) -> None:
    """For any of 100 texts: about one in eight would be signed, were it believed."""
    assert not any(is_signed(public.hex(), TRIVIAL, text) for text in TEXTS)
    assert not sd.Policy(TEXTS[0].decode(), public.hex(), TRIVIAL).is_signed


def test_the_heights_are_those_of_all_points_of_small_order() -> None:
    """Eight times each point is (0, 1); two have no x but 0, so that they are eight."""
    assert len(set(HEIGHTS)) == 5
    for height in HEIGHTS:
        y = height
        for _ in range(3):
            y = height_of_double(y)
        assert y == 1


def test_keys_that_are_drawn_are_believed() -> None:
    for text in TEXTS[:50]:
        key = Ed25519PrivateKey.generate()
        assert is_signed(public_of(key), sign(key, text), text)
        assert not is_signed(public_of(key), TRIVIAL, text)
