"""Errors in what a label says, and in whether it is believed."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_LABELS: Final[tuple[Planted, ...]] = (
    Planted(
        "labels",
        "src/sordino/office/label/facts.py",
        "found=Odds(release.loss).finds(FALSE_ALARMS),",
        "found=Odds(release.loss).finds(1),",
        "odds at another number of mistakes than the label says",
    ),
    Planted(
        "labels",
        "src/sordino/release/explanation.py",
        "reach = np.maximum(high - value, value - low)",
        "reach = (high - low) / 2",
        "intervals that were cut at a bound told as half their width",
    ),
    Planted(
        "labels",
        "src/sordino/release/explanation.py",
        'return "public" if known >= set(_texts(by)) else "mixed"',
        'return "public"',
        "groups that are hidden in part called a public list",
    ),
    Planted(
        "labels",
        "src/sordino/office/label/facts.py",
        "if not isinstance(value, dict) or set(value) != set(fields):",
        "if not isinstance(value, dict):",
        "a label with facts that nobody knows taken for one of ours",
    ),
    Planted(
        "labels",
        "src/sordino/office/label/files.py",
        ".hexdigest() != document.get(SHA256):",
        ".hexdigest() is None:",
        "another file's label taken for this file's",
    ),
    Planted(
        "labels",
        "src/sordino/office/cli/publishing.py",
        "published, described = map(ledger.publication, places)",
        "published = described = ledger.publication(places[0])",
        "a label beside a file confirmed by the file alone",
    ),
    Planted(
        "labels",
        "src/sordino/office/cli/publishing.py",
        "found_by_all=None if is_divided else odds.finds(FALSE_ALARMS),",
        "found_by_all=label.facts.found_by_all,",
        "the odds of everything believed of the file, not of the ledger",
    ),
    Planted(
        "labels",
        "src/sordino/ledger/copies.py",
        'NEEDED: Final = (*FIELDS[:7], "administrative/registry_authors")',
        "NEEDED: Final = FIELDS[:7]",
        "an entry that the registry's checker refuses",
    ),
    Planted(
        "labels",
        "src/sordino/office/report/proof.py",
        "Odds(story.bound).finds(FALSE_ALARMS),",
        "Odds(story.bound).finds(1),",
        "this promise held beside others at another number of mistakes",
    ),
)
