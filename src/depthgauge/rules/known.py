"""The rules that have a name, by where their classes are; none is loaded, nor is torch."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

ENTRY_POINT_GROUP = "depthgauge.rules"
BUILT_IN = {
    "bp": "depthgauge.rules.bp:BP",
    "fa": "depthgauge.rules.fa:FA",
    "dfa": "depthgauge.rules.dfa:DFA",
    "state_bridge": "depthgauge.rules.state_bridge:StateBridge",
    "credit_bridge": "depthgauge.rules.credit_bridge:CreditBridge",
    "ep": "depthgauge.rules.ep:EP",
    "sdfa": "depthgauge.rules.sdfa:SignDFA",
    "drtp": "depthgauge.rules.drtp:DRTP",
}


def known_rules() -> dict[str, str]:
    """Names and references (`module:Class`) of all built-in and installed third-party rules."""
    return {name: point.value for name, point in installed_rules().items()} | BUILT_IN


@cache
def installed_rules() -> dict[str, EntryPoint]:
    """Rules of installed packages; looking through all packages takes a while, so once."""
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
