"""A page as a browser reads it, as far as tests need."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

Element = tuple[str, dict[str, str | None]]


@dataclass
class Page(HTMLParser):
    """Elements in order, the text outside scripts and styles, and the scripts."""

    html: str
    elements: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    scripts: dict[str, str] = field(default_factory=dict)
    inside: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.feed(self.html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside == "script":
            name = self.elements[-1][1].get("id") or f"script {len(self.scripts)}"
            self.scripts[name] = self.scripts.get(name, "") + data
        elif self.inside != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        """What stands on the page, with single spaces."""
        return " ".join(" ".join(self.texts).split())

    @property
    def data(self) -> Any:
        """What the charts are drawn from."""
        return json.loads(self.scripts["data"])

    @property
    def skeleton(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every element with the names of its attributes, whatever their values."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    def values(self, attribute: str) -> list[str]:
        """All values of an attribute."""
        found = (attributes.get(attribute) for _, attributes in self.elements)
        return [value for value in found if value is not None]

    def sections(self) -> list[str]:
        return [a["id"] or "" for tag, a in self.elements if tag == "section"]
