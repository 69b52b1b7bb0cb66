"""What makes two Python functions the same: their code, and all the values they hold.

What a function answers depends on its code, its defaults, the cells of its closure and
the globals it names. Plain data counts by what it is, functions by what they do;
modules, and what another module has under its own name, count by that name. Anything
else has a state that nobody can read off it: then the function needs name and version.
"""

import builtins
import dis
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    EllipsisType,
    FunctionType,
    ModuleType,
    NoneType,
)
from typing import Any, Final, final

import numpy as np

from sordino.errors import InvalidQuery
from sordino.query.code import code_words, codes
from sordino.words import Words, call, canonical_text, digest

_DEEPEST: Final = 60
_MOST: Final = 200_000
"""Values within values: whoever holds more gives a version."""
_UNSET: Final = call("unset")
_READS: Final = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
"""Instructions that read a global; the last one in classes, from Python 3.12 on."""


def function_words(function: Callable[..., Any]) -> Words:
    """Return the hash of what a function does, or the refusal to say."""
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
        """Begin outside of everything."""
        self.above: list[Any] = []
        self.count = 0

    def words_of(self, value: Any) -> Words:
        """Return the words of a value: a number where it lies within itself."""
        for place, value_above in enumerate(self.above):
            if value_above is value and isinstance(value, _WITHIN):
                return call("again", place=place)
        with self._go_deeper(value):
            read = _READERS.get(type(value), _read_other)
            return read(self, value)

    def all(self, values: Iterable[Any]) -> list[Words]:
        """Return the words of several values in order."""
        return [self.words_of(value) for value in values]

    def words_by_name(self, values: Mapping[str, Any]) -> list[Words]:
        """Return the words of several values by name."""
        return [
            [ascii(name), self.words_of(values[name])]
            for name in sorted(values, key=ascii)
        ]

    @property
    def own(self) -> Mapping[str, Any]:
        """Return the globals of the function that holds what is being read.

        Of a function that no other holds they are its own.
        """
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
    """Read the code of a function and what it holds."""
    if value.__globals__ is not walk.own and _is_importable(value):
        return _by_name(value)
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
    """Return the globals that a function, or one made within it, may read."""
    return sorted({
        str(step.argval)
        for code in codes(function.__code__)
        for step in dis.get_instructions(code)
        if step.opname in _READS
    })


def _global(walk: _Walk, function: FunctionType, name: str) -> Words:
    """Return the words of a global, of a builtin, or of neither."""
    if name in function.__globals__:
        return walk.words_of(function.__globals__[name])
    return call("builtin", name=name) if hasattr(builtins, name) else _UNSET


def _read_cell(walk: _Walk, value: CellType) -> Words:
    """Read what is in a cell of a closure, which may be nothing yet."""
    try:
        return walk.words_of(value.cell_contents)
    except ValueError:
        return _UNSET


def _read_partial(walk: _Walk, value: "partial[Any]") -> Words:
    """Read a function whose first arguments are given."""
    return call(
        "partial",
        function=walk.words_of(value.func),
        arguments=walk.all(value.args),
        keywords=walk.words_by_name(value.keywords),
    )


def _read_builtin(walk: _Walk, value: BuiltinFunctionType) -> Words:
    """Read a function written in C, and what it is a method of."""
    of = value.__self__
    if of is None or type(of) is ModuleType:
        return _by_name(value)
    return call("method", name=value.__name__, of=walk.words_of(of))


def _read_module(walk: _Walk, value: ModuleType) -> Words:
    """Read the name of a module."""
    del walk
    return call("module", name=value.__name__)


def _read_pattern(walk: _Walk, value: "re.Pattern[Any]") -> Words:
    """Read a regular expression."""
    return call("pattern", of=walk.words_of(value.pattern), flags=value.flags)


def _read_array(walk: _Walk, value: "np.ndarray[Any, Any]") -> Words:
    """Read an array of numbers, whatever its place in memory."""
    if value.dtype.hasobject or value.dtype.fields is not None:
        raise _UnreadableError("a NumPy array that is not of plain numbers")
    del walk
    numbers = value.tobytes().hex()
    shape: list[Words] = [int(size) for size in value.shape]
    return call("array", type=value.dtype.str, shape=shape, sha256=digest(numbers))


def _read_plain(walk: _Walk, value: Any) -> Words:
    """Read what its `repr` says to the last digit."""
    del walk
    return call(type(value).__name__, value=ascii(value))


def _read_moment(walk: _Walk, value: Any) -> Words:
    """Read a date with a clock, and its zone."""
    bare = value.replace(tzinfo=None).isoformat()
    return call(
        "datetime", value=bare, fold=value.fold, zone=walk.words_of(value.tzinfo)
    )


def _read_several(walk: _Walk, value: Any) -> Words:
    """Read a list or a tuple."""
    return call(type(value).__name__, of=walk.all(value))


def _read_set(walk: _Walk, value: Any) -> Words:
    """Read a set, which has no order."""
    return call(type(value).__name__, of=sorted(walk.all(value), key=canonical_text))


def _read_dict(walk: _Walk, value: dict[Any, Any]) -> Words:
    """Read a dictionary in its order."""
    return call("dict", of=[walk.all(pair) for pair in value.items()])


def _read_other(walk: _Walk, value: Any) -> Words:
    """Return the name under which another module has a value, or None."""
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
    """Say whether a module has this very function or class under its own name."""
    module = sys.modules.get(str(value.__module__))
    return module is not None and vars(module).get(value.__qualname__) is value


def _by_name(value: Any) -> Words:
    """Return the words of what is known by its name."""
    return call("known", module=str(value.__module__), name=str(value.__qualname__))


_WITHIN: Final = (list, dict, tuple, set, frozenset, FunctionType, partial, CellType)
"""What can lie within itself."""
_PLAIN: Final = (
    *(NoneType, bool, int, float, complex, str, bytes, range, EllipsisType),
    *(Fraction, Decimal, date, timedelta, timezone),
)
_READERS: Final[Mapping[type, Callable[[_Walk, Any], Words]]] = {
    **dict.fromkeys(_PLAIN, _read_plain),
    **dict.fromkeys((list, tuple), _read_several),
    **dict.fromkeys((set, frozenset), _read_set),
    dict: _read_dict,
    datetime: _read_moment,
    FunctionType: _read_function,
    BuiltinFunctionType: _read_builtin,
    CellType: _read_cell,
    partial: _read_partial,
    ModuleType: _read_module,
    re.Pattern: _read_pattern,
    np.ndarray: _read_array,
}
