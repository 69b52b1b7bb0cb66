"""`%load_ext sordino`, and then SQL in a cell that begins with `%%dp`."""

from typing import Any, Final, final

from sordino.errors import InvalidParameter
from sordino.notebook.arguments import Said, read_arguments, variable
from sordino.query.request import Request
from sordino.session.session import Session
from sordino.session.sql_request import NOTHING, SqlGiven, sql_request, stacked_release

_NAME: Final = "dp"
_NOTHING_SAID: Final[dict[str, Any]] = {
    "limits": (),
    "bounds": NOTHING,
    "keys": NOTHING,
}


@final
class DPMagic:
    """What the cells that begin with `%%dp` do.

    `%%dp session --epsilon 0.5 --delta 5e-7` releases what the text below it asks. With
    `--price` it says what that would cost, and without a budget it is the request
    alone. `--limits`, `--bounds` and `--keys` name variables, `--into` the variable
    that keeps the result; `--rho` and `--mu` are other budgets; `--key`, `--why` and
    `--dialect` are those of `session.release` and `session.sql`.
    """

    def __init__(self, shell: Any) -> None:
        """Work in the notebook of a shell."""
        self._shell = shell

    def __call__(self, line: str, cell: str) -> Any:
        """Return the request, the price or the release of a text."""
        options = read_arguments(line)
        result = self._answer(options, cell)
        if options.into is not None:
            self._shell.push({options.into: result})
        return result

    def _answer(self, options: Said, text: str) -> Any:
        """Return what is question for."""
        known = self._shell.user_ns
        session = variable(options.session, known)
        if not isinstance(session, Session):
            raise InvalidParameter(
                options.session,
                type(session).__name__,
                "must be a session",
                "Name a variable that holds one: %%dp clinic.",
            )
        beside = {
            name: variable(value, known) for name, value in options.beside.items()
        }
        arguments = SqlGiven(**{**_NOTHING_SAID, **beside}, dialect=options.dialect)
        catalog = session._desk.catalog  # noqa: SLF001 priced before it is released
        question = sql_request(catalog, text, options.budget, arguments)
        request, budget = question.request, question.budget
        if budget is None:
            return request
        if isinstance(request, Request):
            if options.price:
                return session.price(request, budget)
            return session.release(request, budget, key=options.key, why=options.why)
        if options.price:
            return session.price_all(request, budget)
        releases = session.release_all(
            request, budget, key=options.key, why=options.why
        )
        return stacked_release(question, releases)


def load_ipython_extension(ipython: Any) -> None:
    """Make `%%dp` known to a notebook: `%load_ext sordino` calls this."""
    ipython.register_magic_function(DPMagic(ipython), "cell", _NAME)
