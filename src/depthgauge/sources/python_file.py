"""Import a Python file, or read it without importing."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from depthgauge.errors import UserError, one_line


def import_file(name: str, path: Path) -> ModuleType:
    """Import the file as a module; the same content is imported once."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UserError(f"{path} cannot be imported: {one_line(error)}") from error
    return module


def read_summary(where: str) -> str | None:
    """Read `summary = "…"` in the class `module:Class` without importing it, if it is there."""
    module, _, name = where.partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return None
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name]
    for line in [line for node in classes for line in node.body]:
        match line:
            case ast.Assign(targets=[ast.Name("summary")], value=ast.Constant(str(summary))):
                return summary
    return None
