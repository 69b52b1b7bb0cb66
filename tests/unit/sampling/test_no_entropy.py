"""A system without random bits: that is told, and no noise is drawn otherwise."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sordino as sd
from sordino.errors import EntropyUnavailable
from sordino.noise.sampling.bits import Bits, fresh_secret
from tests.batches import for_each


@for_each("error", [OSError, NotImplementedError])
def test_no_entropy_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    table = sd.PrivateTable({"n": [1, 2]}, protects=sd.AddOneRow())
    query, tenth = sd.table("t").agg(n=sd.count()), sd.PureDP("0.1")

    def session(name: str) -> sd.Session:
        return sd.Session(
            {"t": table}, sd.PureDP(1), ledger=tmp_path / name, engine="memory"
        )

    def fail(size: int) -> bytes:
        raise error(size)

    asked = session("a")
    acts: list[Callable[[], Any]] = [
        lambda: asked.release(query, tenth, key="k"),
        lambda: session("b"),
        lambda: Bits().words(1000),
        fresh_secret,
    ]
    with monkeypatch.context() as patched:
        patched.setattr(os, "urandom", fail)
        for act in acts:
            with pytest.raises(EntropyUnavailable):
                act()
    assert asked.release(query, tenth, key="k").names == ("n",)
    assert asked.remaining == sd.PureDP("0.9")
    assert not (tmp_path / "b").exists()
