"""What Markdown comes out as, by an independent renderer."""

from __future__ import annotations

from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

RENDERER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def plain(token: Token) -> str:
    """The text of an inline token that has nothing but text in it."""
    children = token.children or []
    assert {child.type for child in children} <= {"text", "text_special"}, token.content
    return "".join(child.content for child in children)


def rendered_tables(text: str) -> list[list[list[str]]]:
    """Every table as rows of cells, each of which must be nothing but text."""
    tables: list[list[list[str]]] = []
    inside = False
    for token in RENDERER.parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("td_open", "th_open"):
            inside = True
        elif token.type in ("td_close", "th_close"):
            inside = False
        elif token.type == "inline" and inside:
            tables[-1][-1].append(plain(token))
    return tables


def rendered_items(text: str) -> list[str]:
    """The text of every list item, in which bold labels are the only markup."""
    tokens, items = RENDERER.parse(text), []
    for before, token in pairwise(tokens):
        if token.type == "inline" and before.type == "paragraph_open" and before.level == 2:
            kinds = [child.type for child in token.children or []]
            assert set(kinds) <= {"text", "text_special", "strong_open", "strong_close"}
            assert kinds.count("strong_open") == 1
            items.append("".join(child.content for child in token.children or []))
    return items
