"""What a user asks of a picture beyond its numbers."""

from typing import NamedTuple, final


@final
class Wishes(NamedTuple):
    """The order of groups, how many are named, and the form; None leaves it to us."""

    sort: str
    top: int | None
    form: str | None
