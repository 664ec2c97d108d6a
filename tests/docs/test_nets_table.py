"""The table of networks in docs/nets/README.md has all networks and their usual widths."""

from __future__ import annotations

import re
from pathlib import Path

from depthgauge.nets.architectures.choice import choose_net
from depthgauge.registry import NETS

README = Path(__file__).parents[2] / "docs" / "nets" / "README.md"


def test_every_network_is_in_the_table_with_its_width() -> None:
    rows = re.findall(r"^\| \[(\w+)\]\(.*?\) \|.*?\|.*?\| (.*?) \|", README.read_text(), re.M)
    widths = {name: choose_net(name).usual_width for name in NETS.built_in}
    assert dict(rows) == {name: str(width or "the task's") for name, width in widths.items()}


def test_every_option_is_explained() -> None:
    text = README.read_text()
    for name in NETS.built_in:
        for option in type(choose_net(name).options).model_fields:
            assert f"`{option}`" in text
