"""Calls for the first few groups and for figures over time, see `tests.worded`."""

from typing import Any, Final

import sordino as sd

BOUNDED: Final = sd.table("visits").enforce(sd.MaxRowsPerID(2))
WARDS: Final = sd.KeySet.from_dict({"ward": ["A", "B"]})
FIRST: Final = BOUNDED.group_by("ward")
FIGURES: Final[dict[str, dict[str, Any]]] = {
    "cumulative": {
        "": BOUNDED.cumulative("days", [1, 2], n=sd.count()),
        "period": BOUNDED.cumulative("cost", [1, 2], n=sd.count()),
        "periods": BOUNDED.cumulative("days", [1, 2, 3], n=sd.count()),
        "last": BOUNDED.cumulative("days", [1, 2], last=2, n=sd.count()),
        "noise": BOUNDED.cumulative("days", [1, 2], noise="laplace", n=sd.count()),
        "weights": BOUNDED.cumulative(
            "days", [1, 2], weights={"n": 2}, n=sd.count(), m=sd.count()
        ),
        "coverage": BOUNDED.cumulative("days", [1, 2], coverage=True, n=sd.count()),
        "aggregations": BOUNDED.cumulative("days", [1, 2], n=sd.sum("days", 0, 9)),
        "answers": BOUNDED.cumulative("days", [1, 2], m=sd.count()),
        "order": BOUNDED.cumulative("ward", ["B", "A"], n=sd.count()),
        "of groups": FIRST.cumulative("days", [1, 2], n=sd.count()),
    },
    "top": {
        "": FIRST.top(2, by=sd.count()),
        "groups": FIRST.top(1, by=sd.count()),
        "by": FIRST.top(2, by=sd.count_ids()),
        "noise": FIRST.top(2, by=sd.count(), noise="gaussian"),
        "weights": FIRST.top(2, by=sd.count(), weights={"rank": 2}),
        "coverage": FIRST.top(2, by=sd.count(), coverage=True),
        "aggregations": FIRST.top(2, by=sd.count(), n=sd.count()),
        "of known keys": BOUNDED.group_by(WARDS).top(2, by=sd.count()),
    },
}
