"""Errors in rows that a user's engine makes, which the fast tests must notice."""

from __future__ import annotations

from typing import Final

from tests.mutants.planting import Planted

_RELATIONS: Final = "src/sordino/engines/duckdb/tables.py"
_JUDGE: Final = "src/sordino/engines/duckdb/row_by_row.py"
_FRAMES: Final = "src/sordino/data/lazy_frames.py"

PLANTED_VIEWS: Final[tuple[Planted, ...]] = (
    Planted(
        "views",
        _RELATIONS,
        'make_setting(cursor, "enable_optimizer", exp.false(), "SESSION")',
        "pass",
        "a relation read with the optimisers of its connection",
    ),
    Planted(
        "views",
        _RELATIONS,
        "            same = self._judge() == self._text\n",
        "            same = True\n",
        "a view that was replaced is not noticed",
    ),
    Planted(
        "views",
        _JUDGE,
        '        return f"TRY({self._judge_text(expression)})"\n',
        "        return self._judge_text(expression)\n",
        "one cell decides whether there is an answer",
    ),
    Planted(
        "views",
        _JUDGE,
        "        if value and name not in allowed | _PLACES:\n",
        "        if value and name in _WHY and name not in allowed | _PLACES:\n",
        "parts of a text that are not known are passed over",
    ),
    Planted(
        "views",
        "src/sordino/session/tables.py",
        "        if table.vouched_by is None:\n",
        "        if not reason:\n",
        "rows that are computed of many are taken without a word",
    ),
    Planted(
        "views",
        _FRAMES,
        "self._frame.collect(optimizations=plain)",
        "self._frame.collect()",
        "a lazy frame collected with what files say of themselves",
    ),
    Planted(
        "views",
        _FRAMES,
        '        self.doubt = next(_reasons(frame), "")\n',
        "",
        "a lazy frame that is not judged",
    ),
    Planted(
        "views",
        "src/sordino/data/arrow.py",
        "        if _is_filtered(dataset):\n",
        "        if not fields_of(dataset.schema):\n",
        "a filter of Arrow pushed to the footers",
    ),
)
