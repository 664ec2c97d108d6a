"""Import a Python file, or read the constants of a class from it without importing it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from depthgauge.errors import UserError, one_line


class _UncachedLoader(SourceFileLoader):
    """Compiles the file at every import, and uses no bytecode file.

    Python compares only size and time, in whole seconds, to decide whether a bytecode file is
    valid. So after a quick change Python might run the old text.
    """

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled code of the file's present text."""
        return compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)


def import_file(name: str, path: Path) -> ModuleType:
    """Import the file as the module `name`, unless a module of that name is already imported."""
    if name in sys.modules:
        return sys.modules[name]
    if path.suffix != ".py":
        raise UserError(f"cannot import {path}: the name of a Python file must end in .py")
    loader = _UncachedLoader(name, str(path))
    module = importlib.util.module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(f"{path} cannot be imported: {one_line(error)}") from error
    return module


def read_literals(where: str) -> dict[str, object]:
    """Return the constants that a class assigns, without importing the class's module.

    `where` names the class as `module:Class`. Constants are texts, numbers, and frozensets of texts
    or numbers. If there is no such class, the result is empty.
    """
    module, _, name = where.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return {}
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    literals: dict[str, object] = {}
    for line in [line for node in classes for line in node.body]:
        match line:
            case ast.Assign(targets=[ast.Name(target)], value=ast.Constant(value)):
                literals[target] = value
            case ast.Assign(
                targets=[ast.Name(target)],
                value=ast.Call(func=ast.Name("frozenset"), args=arguments),
            ):
                literals[target] = frozenset(*map(ast.literal_eval, arguments))
    return literals
