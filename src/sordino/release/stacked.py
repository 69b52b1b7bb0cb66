"""Releases of several sets of columns as one table, as SQL shows its grouping sets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sordino import _validate
from sordino.errors import InvalidParameter
from sordino.losses.base import Budget, compose
from sordino.release.column_names import grouping_name
from sordino.release.release import Release

if TYPE_CHECKING:
    import pyarrow as pa


def stack(releases: Mapping[str, Release], budget: Budget | None = None) -> Release:
    """Return releases as one: a first column names the set of columns of each row.

    Keys that a set does not have are missing in its rows. It is made of noisy numbers
    alone, so it costs nothing more; `budget` is what was asked for all of them, in
    whose terms the price is shown.

    >>> import sordino as sd
    >>> visits = {"ward": ["A", "A", "B"], "days": [2, 5, 1]}
    >>> session = sd.Session(
    ...     tables={"visits": sd.PrivateTable(visits, protects=sd.AddOneRow())},
    ...     budget=sd.PureDP(2),
    ... )
    >>> wards = sd.KeySet.from_dict({"ward": ["A", "B"]})
    >>> sets = sd.table("visits").group_by_sets(wards, ()).agg(n=sd.count())
    >>> sd.stack(session.release_all(sets, sd.PureDP(1))).table.select(
    ...     ["grouping", "ward"]
    ... ).to_pylist()[1:]
    [{'grouping': 'ward', 'ward': 'B'}, {'grouping': 'all', 'ward': None}]
    """
    listed = _check(releases)
    if budget is not None and not isinstance(budget, Budget):
        raise InvalidParameter(
            "budget", budget, "must be a budget", 'Try sd.ApproxDP(1, "1e-6").'
        )
    first = listed[0]
    keys = tuple(dict.fromkeys(name for release in listed for name in release.keys))
    mark = grouping_name({*keys, *first.names})
    return Release(
        _join(releases, mark, keys, "table"),
        _join(releases, mark, keys, "errors"),
        (mark, *keys),
        first.confidence,
        compose([release.loss for release in listed]),
        "\n\n".join(f"{name}:\n{release.plan}" for name, release in releases.items()),
        tuple(dict.fromkeys(note for release in listed for note in release.notes)),
        budget,
    )


def _check(releases: Mapping[str, Release]) -> list[Release]:
    """Return releases whose answers have the same names, refusing anything else."""
    sets: Any = releases
    kinds = isinstance(sets, Mapping) and all(
        isinstance(release, Release) for release in sets.values()
    )
    if not kinds or not sets:
        raise InvalidParameter(
            "releases",
            sets,
            "must be a dict from names to releases",
            "Give what session.release_all returned.",
        )
    first, *others = sets.values()
    for release in others:
        if (release.names, release.confidence) != (first.names, first.confidence):
            raise InvalidParameter(
                "releases",
                list(release.names),
                f"must all have the answers {list(first.names)}, and one confidence",
                "Ask the same of each set: group_by_sets(...).agg(...).",
            )
    for name in sets:
        _validate.unicode_text(releases=name)
    _refuse_other_types([first, *others])
    return [first, *others]


def _refuse_other_types(listed: list[Release]) -> None:
    """Refuse columns of one name and several types: no column can hold them."""
    known: dict[str, pa.DataType] = {}
    for field in (column for release in listed for column in release.table.schema):
        if known.setdefault(field.name, field.type) != field.type:
            raise InvalidParameter(
                "releases",
                [str(known[field.name]), str(field.type)],
                f"must all have columns {field.name!r} of one type",
                "Rename the column of one.",
            )


def _join(
    releases: Mapping[str, Release], mark: str, keys: tuple[str, ...], part: str
) -> "pa.Table":
    """Return the values, or the errors, of all releases below each other."""
    import pyarrow as pa  # noqa: PLC0415 loaded when needed

    tables = []
    for name, release in releases.items():
        table: pa.Table = release.errors if part == "errors" else release.table
        names = pa.array([name] * table.num_rows, pa.string())
        tables.append(table.add_column(0, mark, names))
    whole = pa.concat_tables(tables, promote_options="permissive")
    rest = [name for name in whole.column_names if name not in {mark, *keys}]
    return whole.select([mark, *keys, *rest]).combine_chunks()
