"""A release in plain sentences."""

from collections.abc import Iterable

from sordino.display.formatting import format_key, format_percent
from sordino.release.column_names import error_names
from sordino.release.coverage_table import coverage_lines
from sordino.release.release_view import ReleaseView


def explain_release(release: ReleaseView) -> str:
    """Return what was released, at which price, how exact, and by which plan."""
    steps = (
        _say_columns,
        _say_price,
        _odds,
        _bars,
        _unknown,
        _say_coverage,
        _notes,
        _plan,
    )
    return "\n".join(text for step in steps if (text := step(release)))


def rows_phrase(release: ReleaseView) -> str:
    """Return which rows there are."""
    if not release.keys:
        return "one row"
    by = _list_names(release.keys)
    count = len(release)
    return f"{count:,} group{'' if count == 1 else 's'} by {by}"


def _say_columns(release: ReleaseView) -> str:
    """Say what the columns and the rows are."""
    columns = _list_names(release.names) or "keys alone"
    return f"Released: {columns}; {rows_phrase(release)}."


def _say_price(release: ReleaseView) -> str:
    """Say the price."""
    return f"Price: {release.price}."


def _odds(release: ReleaseView) -> str:
    """Say what the price means."""
    return release.loss.explain()


def _bars(release: ReleaseView) -> str:
    """Say what the error bars mean."""
    if not release.names:
        return ""
    share = format_percent(release.confidence)
    return (
        "Error bars: sd is the standard deviation of the noise. The exact answer lies "
        f"from low to high with a chance of at least {share}, for each number by "
        "itself. Exact means after clamping and truncation, whose effect no error bar "
        "shows."
    )


def _unknown(release: ReleaseView) -> str:
    """Name the columns without any error bar."""
    silent = [
        name
        for name in release.names
        if all(
            release.errors[part].null_count == len(release)
            for part in error_names(name)
        )
    ]
    return f"No error bars are known for: {_list_names(silent)}." if silent else ""


def _say_coverage(release: ReleaseView) -> str:
    """Say what was left out, as far as that was asked for."""
    counts = list(coverage_lines(release.coverage))
    before = ["Left out or changed, of all rows together:"] if counts else []
    return "\n".join([*before, *(f"  {line}" for line in counts)])


def _notes(release: ReleaseView) -> str:
    """Return the notes, one on each line."""
    return "\n".join(f"Note: {note}" for note in release.notes)


def _plan(release: ReleaseView) -> str:
    """Return the plan, indented."""
    return "\n".join(["Plan:", *(f"  {line}" for line in release.plan.splitlines())])


def _list_names(names: Iterable[str]) -> str:
    """Return names of columns, each on one line."""
    return ", ".join(map(format_key, names))
