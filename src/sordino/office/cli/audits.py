"""The command that audits Sordino itself, and its page."""

import json
from argparse import Namespace
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from sordino.auditing.suite import memory_engine, run_suite
from sordino.engines.duckdb.session import duckdb_engine
from sordino.errors import InvalidParameter
from sordino.losses.closed import GaussianDP
from sordino.losses.loss import Loss, PureDP
from sordino.office.cli.main import (
    JSON,
    REFUSED,
    Command,
    note,
    option,
    say,
    text_table,
    word_option,
    write,
    write_object,
)
from sordino.office.html.elements import fill_template
from sordino.office.html.page import document, read_language
from sordino.office.html.small_pictures import share_bar

_LONGEST: Final = 24 * 60
_SIDE: Final = 300
_ENGINES: Final = {
    "memory": memory_engine,
    "duckdb": lambda salt: duckdb_engine(threads=1, salt=salt),
}


def _audit(arguments: Namespace) -> int:
    """Run the suite, show what it found, and write what was asked for."""
    minutes = arguments.minutes
    if not 0 < minutes <= _LONGEST:
        raise InvalidParameter(
            "minutes", minutes, "must be above 0, and a day at most", "Try 3."
        )
    named = arguments.engine
    facts = run_suite(arguments.seed, minutes, _ENGINES[named])
    command = f"sordino audit --minutes {minutes:g} --seed {arguments.seed}"
    facts |= {
        "command": command if named == "memory" else f"{command} --engine {named}",
        "version": version("sordino"),
    }
    if arguments.out is not None:
        arguments.out.write_text(audit_page(facts), encoding="utf-8")
        note(f"Wrote {arguments.out}.")
    if arguments.facts is not None:
        arguments.facts.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    if arguments.json:
        write_object("audit", facts)
    else:
        _show(facts)
    return 0 if facts["is_clean"] else REFUSED


def _show(facts: Mapping[str, Any]) -> None:
    meter = facts["meter"]
    rows = [
        (kind, f"{row['pairs']:,} pairs", f"{row['largest']:.6f}")
        for kind, row in meter["kinds"].items()
    ]
    text_table([("request", "measured", "largest share of the charge"), *rows])
    write()
    for each in facts["audits"]:
        planted = (
            f", {float(each['planted']):.0%} less noise" if each["planted"] else ""
        )
        verdict = "accused" if each["is_broken"] else "not accused"
        say(f"{each['name']}{planted}: {verdict} ({each['samples']:,} outcomes)")
    for finding in meter["findings"]:
        say(f"FOUND seed {finding['seed']}, {finding['kind']}: {finding['what']}")
    write("nothing was found" if facts["is_clean"] else "SOMETHING WAS FOUND")


def audit_page(facts: Mapping[str, Any]) -> str:
    """Page of an audit: largest ratio by kind of request, claimed curves, attacks."""
    language = read_language("en")
    bars = {
        kind: share_bar(row["largest"], f"{row['largest']:.4f} of the charge")
        for kind, row in facts["meter"]["kinds"].items()
    }
    dots = [
        {
            "x": _SIDE * each["alpha"],
            "y": _SIDE * (1 - each["beta"]),
            "planted": each["planted"],
        }
        for each in facts["audits"]
        if each["is_broken"] or not each["planted"]
    ]
    curves = [_line(PureDP(1), "epsilon = 1"), _line(GaussianDP(1), "mu = 1")]
    body = fill_template(
        "html/audit.html",
        facts=facts,
        bars=bars,
        dots=dots,
        curves=curves,
        version=facts["version"],
    )
    return document(language, "Audit", body)


def _line(loss: Loss, name: str) -> dict[str, Any]:
    rates = np.linspace(0, 1, 101)
    pairs = zip(rates.tolist(), loss.beta_at(rates).tolist(), strict=True)
    # misses grow upwards, as in every picture of a trade-off
    place = 70 if name.startswith("eps") else 3
    points = [(_SIDE * alpha, _SIDE * (1 - beta)) for alpha, beta in pairs]
    return {
        "name": name,
        "points": " ".join(f"{x:.1f},{y:.1f}" for x, y in points),
        "at": (points[place][0] + 6, points[place][1] - 4),
    }


AUDIT: Final = Command(
    "audit",
    "Try to prove Sordino wrong on invented tables: draw worlds, requests and "
    "neighbours, measure what reaches the noise against the charge, and audit answers. "
    "It ends with 1 if anything is found. Nothing of yours is read or charged.",
    "sordino audit --minutes 3 --out audit.html",
    _audit,
    (
        option("--minutes", "N", "how long (3)", float, default=3.0),
        option("--seed", "N", "from which seed worlds are drawn (1)", int, default=1),
        word_option("--engine", tuple(_ENGINES), "which engine answers", "memory"),
        option("--out", "FILE", "a page with pictures", Path),
        option("--facts", "FILE", "all figures as JSON", Path),
        JSON,
    ),
)
