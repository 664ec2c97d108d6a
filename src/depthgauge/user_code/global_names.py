"""Find the global names that the source text of a class or function uses."""

from __future__ import annotations

import ast
import symtable
from typing import Any


def global_names(text: str) -> set[str]:
    """Return the names that the text uses but does not define, including builtins."""
    names: set[str] = set()
    tables = [symtable.symtable(text, "<source>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        symbols = table.get_symbols()
        names |= {s.get_name() for s in symbols if s.is_referenced() and s.is_global()}
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    return names.union(*map(_read_before_assigned, classes))


def _read_before_assigned(node: ast.ClassDef) -> set[str]:
    """Return the global names that a class body reads and then assigns, as in `A = A`."""
    assigned, read = set[str](), set[str]()
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            used = {n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)}
            targets = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
            read |= (used - assigned) & targets
            assigned |= {
                n.id
                for n in ast.walk(statement)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
    return read & assigned


def annotation_names(text: str) -> set[str]:
    """Return the global names that the text uses only in annotations."""
    bare = _WithoutAnnotations().visit(ast.parse(text))
    return global_names(text) - global_names(ast.unparse(ast.fix_missing_locations(bare)))


def dotted_names(text: str) -> set[str]:
    """Return the chains of attributes in the text, such as `torch.nn.functional`."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)]
    return {ast.unparse(node) for node in nodes}


class _WithoutAnnotations(ast.NodeTransformer):
    """Removes all annotations from a syntax tree."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        value = node.value or ast.Constant(None)
        return ast.copy_location(ast.Assign([node.target], value), node)
