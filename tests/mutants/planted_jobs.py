"""Planted errors of what a job tells whoever watches it, and of where it writes."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

PLANTED_JOBS: Final[tuple[Planted, ...]] = (
    Planted(
        "jobs",
        "src/sordino/session/charging.py",
        "        if ticket.fence == 1 and ticket.answer is None:\n",
        "        if ticket.fence == 1:\n",
        "a run that says it was charged where another was",
    ),
    Planted(
        "jobs",
        "src/sordino/engines/postgres/server.py",
        '("0A", "28", "3D", "3F", "42", "54")',
        '("0A", "28", "3F", "54")',
        "a misspelt table that a scheduler tries again for ever",
    ),
    Planted(
        "jobs",
        "src/sordino/release/storage.py",
        "        for place in filter(Path.is_symlink, places.values()):\n"
        "            raise _refusal(place, LINK)\n",
        "",
        "a label written over a link",
    ),
    Planted(
        "jobs",
        "src/sordino/office/job/outputs.py",
        "    for path in filter(Path.is_symlink, (*paths, *map(_label_path, paths))):\n",  # noqa: E501 as it stands
        "    for path in ():\n",
        "a link in the place of an output that is found after the charge",
    ),
)
