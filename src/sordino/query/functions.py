"""Python functions of a row, and what makes two of them the same.

A function must depend on its row alone. It runs in this process, once for each row, in
any order; a function that keeps state, reads a clock or writes somewhere is outside the
promise. Where it fails, or returns what was not declared, the values are missing.

What a function answers depends on its code, its defaults, the cells of its closure and
the globals it names. Plain data counts by what it is, functions by what they do;
modules, and what another module has under its own name, count by that name. Anything
else has a state that nobody can read off it: then the function needs name and version.

Bytecode differs between versions of Python, so the syntax counts where the source is at
hand and is certainly what runs: the source is compiled again, and the function's code
must be in what comes out. Comments, blanks and line breaks do not count. Where there is
no such source, the bytecode counts, together with the version it is of.
"""

import __future__

import ast
import builtins
import dis
import linecache
import re
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    EllipsisType,
    FunctionType,
    ModuleType,
    NoneType,
)
from typing import Any, Final, TypeAlias, final

import numpy as np

from sordino.errors import InvalidParameter, InvalidQuery
from sordino.expressions.schema import PLAIN, Column
from sordino.numbers import arguments as _validate
from sordino.numbers.canonical import (
    Verb,
    Words,
    call,
    canonical_text,
    digest,
    worded_pairs,
)

Says: TypeAlias = Callable[[Any], Words]
"""Returns the words of a constant."""
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURE: Final = sum({
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
})
_IGNORED: Final = frozenset({"kind", "type_comment"})
"""Fields of a tree that change nothing of what runs."""


def code_words(function: FunctionType, says: Says) -> Verb:
    """Canonical words of a function's code."""
    node = _node(function)
    if node is None:
        return _bytecode(function.__code__, says)
    # its name, decorators and defaults are not of it: what they are worth counts
    listed = node.args
    arguments = [
        [argument.arg for argument in kind]
        for kind in (listed.posonlyargs, listed.args, listed.kwonlyargs)
    ]
    rest = [
        None if argument is None else argument.arg
        for argument in (listed.vararg, listed.kwarg)
    ]
    words: dict[str, Words] = {"arguments": [*arguments, rest]}
    words |= {"kind": type(node).__name__, "body": _syntax(node.body, says)}
    # where Python was told to leave asserts out, a function that has some is another
    return call("syntax", **words, **({} if __debug__ else {"asserts": False}))


def codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code and all that are made within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _syntax(node: Any, says: Says) -> Words:
    if isinstance(node, list):
        return [_syntax(part, says) for part in node]
    if not isinstance(node, ast.AST):
        return says(node)
    fields = {
        name: _syntax(value, says)
        for name, value in ast.iter_fields(node)
        if name not in _IGNORED and value is not None and value != []
    }
    return call(type(node).__name__, **fields)


def _bytecode(code: CodeType, says: Says) -> Verb:
    constants = [
        _bytecode(constant, says) if isinstance(constant, CodeType) else says(constant)
        for constant in code.co_consts
    ]
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return call(
        "bytecode",
        python=f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}",
        code=code.co_code.hex(),
        flags=code.co_flags,
        counts=list(counts),
        names=[[ascii(name) for name in some] for some in names],
        exceptions=code.co_exceptiontable.hex(),
        constants=constants,
    )


def _node(function: FunctionType) -> Function | None:
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    tree = _compile("".join(lines), code.co_flags & _FUTURE) if lines else None
    if tree is None or code not in tree[1]:
        return None  # the file has changed since: it says nothing of what runs
    functions = [
        node
        for node in ast.walk(tree[0])
        if isinstance(node, Function) and _covers(node, code)
    ]
    return min(functions, key=_extent, default=None)


@lru_cache(maxsize=8)
def _compile(source: str, flags: int) -> tuple[ast.Module, tuple[CodeType, ...]] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile(source, "", "exec", flags, dont_inherit=True)
            return ast.parse(source), tuple(codes(whole))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _covers(node: Function, code: CodeType) -> bool:
    if not isinstance(node, ast.Lambda):
        first = min([
            node.lineno,
            *(decorator.lineno for decorator in node.decorator_list),
        ])
        return (node.name, first) == (code.co_name, code.co_firstlineno)
    if (code.co_name, code.co_firstlineno) != ("<lambda>", node.lineno):
        return False
    body = node.body
    start = (body.lineno, body.col_offset)
    end = (body.end_lineno or 0, body.end_col_offset or 0)
    places = [
        ((line, column), (last, end_column))
        for line, last, column, end_column in code.co_positions()
        if None not in (line, last, column) and column != end_column  # real ones
    ]
    return bool(places) and all(
        start <= begin and stop <= end for begin, stop in places
    )


def _extent(node: Function) -> tuple[int, int]:
    lines = (node.end_lineno or 0) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset


_DEEPEST: Final = 60
_MOST: Final = 200_000
"""Values within values: whoever holds more gives a version."""
_UNSET: Final = call("unset")
_READS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
"""Instructions that read a global; the last one in classes, from Python 3.12 on."""


def function_words(function: Callable[..., Any]) -> Words:
    """Words of a hash of what a function does, or the refusal to tell."""
    try:
        return call("code", sha256=digest(canonical_text(_Walk().words_of(function))))
    except _UnreadableError as error:
        obstacle = str(error)
    except RecursionError:
        obstacle = "code or values too deep to be read"
    return InvalidQuery(
        f"this Python function cannot be identified, because it holds {obstacle}",
        "Give it a name and a version, and change the version whenever it changes: "
        'sd.udf(f, returns={...}, name="half", version="1").',
    )


@final
class _UnreadableError(Exception):
    """A value whose state nobody can read off it, in words."""


@final
class _Walk:
    """A walk through all that a function holds."""

    def __init__(self) -> None:
        self.above: list[Any] = []
        self.count = 0

    def words_of(self, value: Any) -> Words:
        for place, value_above in enumerate(self.above):  # a list may hold itself
            if value_above is value and isinstance(value, _WITHIN):
                return call("again", place=place)
        with self._go_deeper(value):
            read = _READERS.get(type(value), _read_other)
            return read(self, value)

    def all(self, values: Iterable[Any]) -> list[Words]:
        return [self.words_of(value) for value in values]

    def words_by_name(self, values: Mapping[str, Any]) -> list[Words]:
        return [
            [ascii(name), self.words_of(values[name])]
            for name in sorted(values, key=ascii)
        ]

    @property
    def own(self) -> Mapping[str, Any]:
        """The globals of the enclosing function; its own for the outermost one."""
        namespaces = [
            function.__globals__
            for function in self.above
            if type(function) is FunctionType
        ]
        within = len(namespaces) > 1 and type(self.above[-1]) is FunctionType
        return namespaces[-2 if within else -1] if namespaces else {}

    @contextmanager
    def _go_deeper(self, value: Any) -> Generator[None]:
        """Go one value deeper, unless that is too deep or too much."""
        self.count += 1
        if self.count > _MOST or len(self.above) > _DEEPEST:
            raise _UnreadableError("too many values within values")
        self.above.append(value)
        try:
            yield
        finally:
            self.above.pop()


def _read_function(walk: _Walk, value: FunctionType) -> Words:
    if value.__globals__ is not walk.own and _is_importable(value):
        return _by_name(value)  # another module's own counts by its name
    cells = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
    return call(
        "function",
        code=code_words(value, walk.words_of),
        defaults=walk.words_of(value.__defaults__),
        keywords=walk.words_of(value.__kwdefaults__),
        closure=walk.words_by_name(dict(cells)),
        attributes=walk.words_by_name(vars(value)),
        globals=[
            [ascii(name), _global(walk, value, name)] for name in _names_read(value)
        ],
    )


def _names_read(function: FunctionType) -> list[str]:
    return sorted({
        str(step.argval)
        for code in codes(function.__code__)
        for step in dis.get_instructions(code)
        if step.opname in _READS
    })


def _global(walk: _Walk, function: FunctionType, name: str) -> Words:
    if name in function.__globals__:
        return walk.words_of(function.__globals__[name])
    return call("builtin", name=name) if hasattr(builtins, name) else _UNSET


def _read_cell(walk: _Walk, value: CellType) -> Words:
    try:
        return walk.words_of(value.cell_contents)
    except ValueError:
        return _UNSET


def _read_partial(walk: _Walk, value: "partial[Any]") -> Words:
    return call(
        "partial",
        function=walk.words_of(value.func),
        arguments=walk.all(value.args),
        keywords=walk.words_by_name(value.keywords),
    )


def _read_builtin(walk: _Walk, value: BuiltinFunctionType) -> Words:
    of = value.__self__
    if of is None or type(of) is ModuleType:
        return _by_name(value)
    return call("method", name=value.__name__, of=walk.words_of(of))


def _read_array(_walk: _Walk, value: "np.ndarray[Any, Any]") -> Words:
    if value.dtype.hasobject or value.dtype.fields is not None:
        raise _UnreadableError("a NumPy array that is not of plain numbers")
    numbers = value.tobytes().hex()
    shape: list[Words] = [int(size) for size in value.shape]
    return call("array", type=value.dtype.str, shape=shape, sha256=digest(numbers))


def _read_moment(walk: _Walk, value: Any) -> Words:
    bare = value.replace(tzinfo=None).isoformat()
    return call(
        "datetime", value=bare, fold=value.fold, zone=walk.words_of(value.tzinfo)
    )


def _read_set(walk: _Walk, value: Any) -> Words:
    # sorted: a set has another order in every process
    return call(type(value).__name__, of=sorted(walk.all(value), key=canonical_text))


def _read_other(walk: _Walk, value: Any) -> Words:
    if issubclass(type(value), np.generic):
        return call("number", type=value.dtype.str, value=walk.words_of(value.item()))
    ours = walk.own.get("__name__")
    if (
        issubclass(type(value), type)
        and value.__module__ != ours
        and _is_importable(value)
    ):
        return _by_name(value)
    raise _UnreadableError(f"a value of the type {type(value).__name__!r}")


def _is_importable(value: Any) -> bool:
    module = sys.modules.get(str(value.__module__))
    return module is not None and vars(module).get(value.__qualname__) is value


def _by_name(value: Any) -> Words:
    return call("known", module=str(value.__module__), name=str(value.__qualname__))


_WITHIN: Final = (list, dict, tuple, set, frozenset, FunctionType, partial, CellType)
"""What can lie within itself."""
_PLAIN: Final = (
    *(NoneType, bool, int, float, complex, str, bytes, range, EllipsisType),
    *(Fraction, Decimal, date, timedelta, timezone),
)
_READERS: Final[Mapping[type, Callable[[_Walk, Any], Words]]] = {
    **{
        kind: lambda _, value: call(type(value).__name__, value=ascii(value))
        for kind in _PLAIN
    },
    **{
        kind: lambda walk, value: call(type(value).__name__, of=walk.all(value))
        for kind in (list, tuple)
    },
    **dict.fromkeys((set, frozenset), _read_set),
    dict: lambda walk, value: call("dict", of=[*map(walk.all, value.items())]),
    datetime: _read_moment,
    FunctionType: _read_function,
    BuiltinFunctionType: _read_builtin,
    CellType: _read_cell,
    partial: _read_partial,
    ModuleType: lambda _, value: call("module", name=value.__name__),
    re.Pattern: lambda walk, value: call(
        "pattern", of=walk.words_of(value.pattern), flags=value.flags
    ),
    np.ndarray: _read_array,
}


@final
@dataclass(frozen=True)
class Udf:
    """A Python function of a row and the columns that it returns."""

    function: Callable[[dict[str, Any]], Any]
    returns: tuple[tuple[str, Column], ...]
    name: str | None = None
    """What the function is called, if its code is not to say which it is."""
    version: str | None = None

    @property
    def words(self) -> Words:
        """Name and version; without them, the hash of what it does now."""
        if self.name is None:
            return function_words(self.function)
        return call("function", name=self.name, version=self.version)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(name for name, _ in self.returns)

    @property
    def types(self) -> Words:
        """Words of the columns and their types."""
        return worded_pairs((name, column.type) for name, column in self.returns)


def udf(
    function: Callable[[dict[str, Any]], Any],
    returns: Mapping[str, Any],
    *,
    name: str | None = None,
    version: str | None = None,
) -> Udf:
    """Return a function for `with_columns` or `flat_map`.

    It takes a dict; `returns` gives the type of each new column. A row on which the
    function fails, or returns something else, has missing values there.

    What a function does tells one request from another: its code, its defaults, its
    closure and the globals it names. With a name and a version these tell instead, and
    whoever changes the function changes the version.

    >>> import sordino as sd
    >>> half = sd.udf(lambda row: {"half": row["age"] / 2}, returns={"half": "f64"})
    """
    if (name is None) != (version is None):
        raise InvalidParameter(
            "version",
            version,
            "and name must be given together",
            'Try name="half", version="1".',
        )
    for argument, text in (("name", name), ("version", version)):
        if text is not None:
            _validate.text(**{argument: text})
    return Udf(function, returned_columns(function, returns), name, version)


def udf_of(function: Any, returns: Mapping[str, Any] | None) -> Udf:
    """Complete a function that was given bare, or take one made by `udf`."""
    if not isinstance(function, Udf):
        return Udf(function, returned_columns(function, returns))
    if returns is not None:
        raise InvalidParameter(
            "returns", returns, "was already given to sd.udf", "Leave it out here."
        )
    return function


def returned_columns(
    function: object, returns: Mapping[str, Any] | None
) -> tuple[tuple[str, Column], ...]:
    """Declared columns of a function; anything else is refused."""
    if not callable(function):
        raise InvalidParameter(
            "function", function, "must be a function of a row", "Try lambda row: {}."
        )
    if not isinstance(returns, Mapping) or not returns:
        raise InvalidParameter(
            "returns",
            returns,
            "must be a dict from column names to types",
            'Try returns={"half": "f64"}.',
        )
    return tuple(
        (_validate.text(returns=name), _returned_column(kind))
        for name, kind in returns.items()
    )


def _returned_column(kind: Any) -> Column:
    if isinstance(kind, Column):
        kind = kind.type
    if kind not in PLAIN:
        raise InvalidParameter(
            "returns", kind, f"must be one of {', '.join(PLAIN)}", 'Try "f64".'
        )
    return Column(kind, unsettled="a Python function may fail on a row")
