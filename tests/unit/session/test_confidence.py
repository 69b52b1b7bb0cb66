"""Any confidence can be asked for: it moves intervals, and nothing else."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sordino as sd
from sordino.query.request import CONFIDENCE, with_confidence
from sordino.session.charging import batch_identity, request_identity
from tests.batches import for_each

BUDGET = sd.ApproxDP(1, "1e-6")
QUERY = sd.table("t").agg(n=sd.count(), m=sd.mean("x", 0, 10), s=sd.sum("x", 0, 10))


def opened() -> sd.Session:
    values = np.random.default_rng(1).uniform(0, 10, 1000)
    facts = {"x": sd.Column("f64", nullable=False, nan=False)}
    table = sd.PrivateTable({"x": values}, protects=sd.AddOneRow(), columns=facts)
    return sd.Session({"t": table}, sd.ApproxDP(1000, "0.5"))


@for_each("given", ["0.5", 0.9, Fraction(99, 100), "0.999999"])
def test_intervals_have_the_confidence_that_was_asked_for(given: Any) -> None:
    session = opened()
    release = session.release(QUERY, BUDGET, confidence=given)
    price = session.price(QUERY, BUDGET, confidence=given)
    assert release.confidence == Fraction(str(given))
    low, high = (release.errors[f"n {end}"][0].as_py() for end in ("low", "high"))
    assert high - low == pytest.approx(2 * price.errors["n"].half_width, abs=2)
    percent = f"{100 * float(Fraction(str(given))):.10g}%"
    assert f"{percent} of the noise" in str(release)
    assert f"at least {percent}" in release.explain()


def test_surer_intervals_are_wider_and_noise_is_the_same() -> None:
    session = opened()
    reaches = []
    for given in ("0.5", "0.95", "0.9999"):
        price = session.price(QUERY, BUDGET, confidence=given)
        assert price.noise == session.price(QUERY, BUDGET).noise
        reaches.append([price.errors[name].half_width for name in "nms"])
    assert (np.diff(reaches, axis=0) > 0).all()


def test_a_batch_has_one_confidence() -> None:
    session, requests = opened(), {"a": QUERY, "b": QUERY}
    releases = session.release_all(requests, BUDGET, confidence="0.8")
    assert {one.confidence for one in releases.values()} == {Fraction(4, 5)}
    narrow = session.price_all(requests, BUDGET, confidence="0.8").prices["a"]
    usual = session.price_all(requests, BUDGET).prices["a"]
    assert narrow.errors["n"].half_width < usual.errors["n"].half_width


def test_a_key_is_of_one_confidence() -> None:
    session = opened()
    first = session.release(QUERY, BUDGET, key="a", confidence="0.9")
    again = session.release(QUERY, BUDGET, key="a", confidence=0.9)
    assert again.errors.equals(first.errors)
    with pytest.raises(sd.errors.SordinoError, match="key"):
        session.release(QUERY, BUDGET, key="a")
    recalled = session.answer("a")
    assert isinstance(recalled, sd.Release)
    assert recalled.confidence == Fraction(9, 10)


def test_the_words_of_the_usual_confidence_are_those_of_before() -> None:
    """A request at 95 % has the words, and the fingerprint, that it always had."""
    catalog = opened()._desk.catalog
    plain = request_identity(QUERY, catalog, BUDGET, "a")
    assert (
        request_identity(with_confidence(QUERY, "0.95"), catalog, BUDGET, "a") == plain
    )
    assert '"confidence":"19/20"' in plain.words.replace(" ", "")
    other = request_identity(with_confidence(QUERY, "0.5"), catalog, BUDGET, "a")
    assert other.fingerprint != plain.fingerprint
    together = batch_identity({"a": QUERY}, catalog, BUDGET, "a")
    same = {"a": with_confidence(QUERY, CONFIDENCE)}
    assert batch_identity(same, catalog, BUDGET, "a") == together


@for_each(
    "given", [0, 1, 95, -0.1, "0.9999999999", 1e-12, True, None, "x", np.nan, [0.9]]
)
def test_what_is_no_confidence_is_refused_before_the_charge(given: Any) -> None:
    session = opened()
    before = session.remaining
    for one in (session.release, session.price):
        with pytest.raises(sd.errors.InvalidParameter, match="confidence"):
            one(QUERY, BUDGET, confidence=given)
    for several in (session.release_all, session.price_all):
        with pytest.raises(sd.errors.InvalidParameter, match="confidence"):
            several({"a": QUERY}, BUDGET, confidence=given)
    assert session.remaining == before
