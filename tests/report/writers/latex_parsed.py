"""LaTeX read back by a parser that forgives nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pylatexenc.latexwalker import (
    LatexCharsNode,
    LatexCommentNode,
    LatexEnvironmentNode,
    LatexGroupNode,
    LatexMacroNode,
    LatexMathNode,
    LatexSpecialsNode,
    LatexWalker,
)

ASCII = {
    "textbackslash": "\\",
    "textasciicircum": "^",
    "textasciitilde": "~",
    "textasciigrave": "`",
    "textquotesingle": "'",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "allowbreak": "",
}
"""Commands and the characters that they stand for, by the LaTeX companion."""


def parsed(latex: str) -> list[Any]:
    """Its nodes; braces, environments and formulas must be balanced."""
    nodes, position, length = LatexWalker(latex, tolerant_parsing=False).get_latex_nodes()
    assert position + length == len(latex)
    return list(nodes)


def every(nodes: Sequence[Any]) -> Iterator[Any]:
    """All nodes, outside of formulas."""
    for node in nodes:
        if node is None:
            continue
        yield node
        if not isinstance(node, LatexMathNode):
            yield from every(getattr(node, "nodelist", None) or [])
            arguments = getattr(node, "nodeargd", None)
            yield from every(arguments.argnlist if arguments and arguments.argnlist else [])


def check_text(latex: str) -> None:
    """Text alone: nothing in it is taken for a comment, a column, a parameter or an index."""
    assert latex.isascii()
    assert "\n" not in latex
    for node in every(parsed(latex)):
        assert not isinstance(node, LatexCommentNode | LatexEnvironmentNode | LatexSpecialsNode)
        if isinstance(node, LatexCharsNode):
            assert not set(node.chars) & set("\\{}$&#^_~%<>|\"'`"), node.chars


def text_of(latex: str) -> str:
    """The text that LaTeX for ASCII characters stands for."""
    return _text(parsed(latex.replace(r"\texttt{\char34}", '"')))


def _text(nodes: Sequence[Any]) -> str:
    found = ""
    for node in nodes:
        if isinstance(node, LatexCharsNode):
            found += node.chars
        elif isinstance(node, LatexGroupNode):
            found += _text(node.nodelist)
        elif isinstance(node, LatexMacroNode):
            found += ASCII.get(node.macroname, node.macroname)
    return found


def tabulars(latex: str) -> list[tuple[str, list[int]]]:
    """For each `tabular` its columns, and how many cells each of its rows has."""
    found = []
    for node in every(parsed(latex)):
        if isinstance(node, LatexEnvironmentNode) and node.environmentname == "tabular":
            (columns,) = (a.latex_verbatim() for a in node.nodeargd.argnlist if a is not None)
            found.append((columns[1:-1].replace("@{}", ""), _cells(node.nodelist)))
    return found


def _cells(nodes: Sequence[Any]) -> list[int]:
    rows, cells = [], 1
    for node in nodes:
        if isinstance(node, LatexSpecialsNode) and node.specials_chars == "&":
            cells += 1
        elif isinstance(node, LatexMacroNode) and node.macroname == "tabularnewline":
            rows.append(cells)
            cells = 1
    return rows
