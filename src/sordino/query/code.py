"""What a Python function does, as its source says it: the same in every Python.

Bytecode differs between versions of Python, so the syntax counts where the source is at
hand and is certainly what runs: the source is compiled again, and the function's code
must be in what comes out. Comments, blanks and line breaks do not count.
Where there is no such source, the bytecode counts, together with the version it is of.
"""

import __future__

import ast
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, TypeAlias

from sordino.words import Verb, Words, call

Says: TypeAlias = Callable[[Any], Words]
"""Returns the words of a constant."""
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURE: Final = sum({
    getattr(__future__, name).compiler_flag for name in __future__.all_feature_names
})
_IGNORED: Final = frozenset({"kind", "type_comment"})
"""Fields of a tree that change nothing of what runs."""


def code_words(function: FunctionType, says: Says) -> Verb:
    """Return the words of a function's code."""
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
    """Return the words of a part of a tree."""
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
    """Return the words of a code of this version of Python."""
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
    """Return the syntax of a function, if its source is at hand and is what runs."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    tree = _compile("".join(lines), code.co_flags & _FUTURE) if lines else None
    if tree is None or code not in tree[1]:
        return None
    functions = [node for node in _functions(tree[0]) if _covers(node, code)]
    return min(functions, key=_extent, default=None)


@lru_cache(maxsize=8)
def _compile(source: str, flags: int) -> tuple[ast.Module, tuple[CodeType, ...]] | None:
    """Return the syntax of a source and every code in it, if it can be compiled."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            whole = compile(source, "", "exec", flags, dont_inherit=True)
            return ast.parse(source), tuple(codes(whole))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _functions(module: ast.Module) -> Iterator[Function]:
    """Yield every function of a module."""
    for node in ast.walk(module):
        if isinstance(node, Function):
            yield node


def _covers(node: Function, code: CodeType) -> bool:
    """Say whether a function in a tree may be that of a code: name, line and places."""
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
    """Return how far a function reaches, in lines and columns."""
    lines = (node.end_lineno or 0) - node.lineno
    return lines, (node.end_col_offset or 0) - node.col_offset
