"""Find the source text of a user's class or function, in a file, a notebook cell or a script."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from types import FunctionType
from typing import Any

from depthgauge.errors import UserError

MAIN = ("__main__", "__mp_main__")
"""The module names of a notebook or of the running script, which cannot be imported by name."""

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def file_of_definition(value: Any) -> Path | None:
    """Return the file that defines a class or function; None for a notebook or running script."""
    module = sys.modules.get(value.__module__)
    path = Path(getattr(module, "__file__", None) or "")
    return path.resolve() if value.__module__ not in MAIN and path.is_file() else None


def written_source(value: Any) -> str:
    """Return the source lines of a class or function of a notebook or script, with decorators."""
    if value.__qualname__ != value.__name__:
        raise UserError(
            f"{value.__qualname__} is defined inside a function or class; define it at the top "
            f"level, or put it into a file and give path/to/file.py:{value.__name__}"
        )
    for text, line in _places(value):
        node = _find_definition(text, value, line)
        if node is not None:
            lines = text.splitlines()[_first_line(node) - 1 : node.end_lineno]
            return dedent("\n".join(lines)) + "\n"
    raise UserError(
        f"cannot find the source of {value.__name__}; define it in a notebook cell or a script, "
        f"or put it into a file and give path/to/file.py:{value.__name__}"
    )


def namespace_of(value: Any) -> Mapping[str, Any]:
    """Return the global variables that a class or function can use, by name."""
    for function in own_functions(value):
        return function.__globals__
    return vars(sys.modules[value.__module__])


def own_functions(value: Any) -> list[FunctionType]:
    """Return the methods that a class itself defines; for a function, the function alone."""
    if not isinstance(value, type):
        return [function for function in [inspect.unwrap(value)] if inspect.isfunction(function)]
    members = [getattr(member, "fget", member) for member in vars(value).values()]
    functions = [inspect.unwrap(getattr(member, "__func__", member)) for member in members]
    return [
        function
        for function in functions
        if inspect.isfunction(function)
        and function.__qualname__ == f"{value.__qualname__}.{function.__name__}"
    ]


def main_texts(namespace: Mapping[str, Any]) -> list[str]:
    """Return the texts of a notebook's cells, newest first, or the text of the running script."""
    cells = namespace.get("In")
    if isinstance(cells, list):
        return [str(cell) for cell in reversed(cells)]
    path = namespace.get("__file__")
    return ["".join(linecache.getlines(path))] if isinstance(path, str) else []


def _places(value: Any) -> Iterator[tuple[str, int | None]]:
    """Yield texts that may define `value`, with a line number inside the definition if known."""
    for function in own_functions(value):
        code = function.__code__
        yield "".join(linecache.getlines(code.co_filename)), code.co_firstlineno
    if isinstance(value, type):
        for text in main_texts(namespace_of(value)):
            yield text, None


def _find_definition(text: str, value: Any, line: int | None) -> Definition | None:
    """Return the last definition of `value` at the top level of a text; None if there is none."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in reversed(list(_top_level(tree))):
        if node.name != value.__name__:
            continue
        if line is None:
            if _annotated(node) == set(inspect.get_annotations(value)):
                return node
        elif _first_line(node) <= line <= (node.end_lineno or 0):
            return node
    return None


def _top_level(node: ast.AST) -> Iterator[Definition]:
    """Yield the definitions in a module, also those under `if`, `try` and `with`."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _top_level(child)


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _annotated(node: Definition) -> set[str]:
    """Return the annotated names in the body of a class."""
    lines = [line for line in node.body if isinstance(line, ast.AnnAssign)]
    return {line.target.id for line in lines if isinstance(line.target, ast.Name)}
