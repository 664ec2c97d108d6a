"""The table of rules in docs/rules/README.md says of each rule what the rule declares."""

from __future__ import annotations

import re
from pathlib import Path

from depthgauge.registry import RULES
from depthgauge.rules.access import access_of

README = Path(__file__).parents[2] / "docs" / "rules" / "README.md"


def test_what_each_rule_sees_and_how_its_credit_is_normalised_by_default():
    rows = re.findall(
        r"^\| \[(\w+)\]\(.*?\) \|.*\| (.*) \| (.*) \| (\w+) \|$", README.read_text(), re.M
    )
    declared = []
    for name in RULES.built_in:
        rule = RULES.find(name)[0]
        access, options = access_of(rule), rule.Options()
        carried = " and ".join(f"the {part}" for part in access.transports) or "–"
        declared.append((name, ", ".join(access.sees), carried, options.normalise))
    assert rows == declared
